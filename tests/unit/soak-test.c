/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HOURS (24) of model time: mixed load, pauses, and whatever the drive does
 * by itself.  Nothing may be lost or come twice, nothing may take longer
 * than it can, memory may not grow, and the platter must be at the end where
 * it would be if it had turned evenly all the time.
 */
#include <malloc.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "drives.h"
#include "fixed.h"

#define HOUR_NS (INT64_C (3600) * 1000000000)

/* No command may take longer than all retries, the deepest rest and a full
 * queue of others.
 */
#define LONGEST_NS (INT64_C (300) * 1000000000)

/* The sector whose angle is watched, and how often. */
#define WATCHED 12345678
#define WATCH_NS (INT64_C (600) * 1000000000)

struct soak {
  struct profile profile;
  struct disk *disk;
  uint64_t random;
  int64_t now_ns, end_ns, watch_ns;
  int in_flight, depth;
  uint64_t next_tag;
  bool waits[DISK_MAX_QUEUE];   /* by tag */
  int64_t commands, destaged, last_destage_ns;
  int64_t angle;                /* of WATCHED, in thirds of a ns; -1 */
  size_t heap;
};

static int64_t
pick (struct soak *s, int64_t n)
{
  return (int64_t) (splitmix64 (&s->random) % (uint64_t) n);
}

static void
on_destaged (void *opaque, int64_t lba, int64_t sectors, int64_t when_ns)
{
  struct soak *s = opaque;

  assert_true (lba >= 0 && sectors > 0 &&
               lba + sectors <= s->profile.geometry.sectors);
  assert_true (when_ns >= s->last_destage_ns);
  s->last_destage_ns = when_ns;
  s->destaged += sectors;
}

static void
check (struct soak *s, const struct disk_completion *c)
{
  const struct disk_times *t = &c->times;

  assert_true (s->waits[c->request.tag]);
  s->waits[c->request.tag] = false;
  s->in_flight--;
  s->commands++;
  assert_true (c->arrival_ns <= c->start_ns &&
               c->start_ns <= c->complete_ns);
  assert_true (t->queue_ns >= 0 && t->overhead_ns >= 0 &&
               t->actuator_ns >= 0 && t->seek_ns >= 0 && t->settle_ns >= 0 &&
               t->rotation_ns >= 0 && t->media_ns >= 0 && t->bus_ns >= 0);
  assert_int_equal (c->complete_ns - c->arrival_ns,
                    t->queue_ns + t->overhead_ns + t->actuator_ns +
                    t->seek_ns + t->settle_ns + t->rotation_ns +
                    t->media_ns + t->bus_ns);
  assert_true (c->complete_ns - c->arrival_ns < LONGEST_NS);
}

/* Let the drive go on to t_ns. */
static void
run_to (struct soak *s, int64_t t_ns)
{
  struct disk_completion c;

  while (disk_advance (s->disk, t_ns, &c))
    check (s, &c);
  s->now_ns = t_ns;
}

static void
submit (struct soak *s, enum disk_op op, unsigned flags, int64_t lba,
        int64_t sectors)
{
  struct disk_request r = { s->next_tag, op, flags, lba, sectors };

  while (s->waits[r.tag])
    r.tag = (r.tag + 1) % DISK_MAX_QUEUE;
  s->next_tag = (r.tag + 1) % DISK_MAX_QUEUE;
  assert_int_equal (disk_submit (s->disk, s->now_ns, &r), 0);
  s->waits[r.tag] = true;
  s->in_flight++;
}

static void
drain (struct soak *s)
{
  while (s->in_flight > 0)
    run_to (s, disk_next_event (s->disk));
}

/* A pause: mostly none, often short, sometimes minutes. */
static int64_t
pause_ns (struct soak *s)
{
  switch (pick (s, 1000)) {
  case 0:
    return pick (s, 300 * INT64_C (1000000000));
  case 1 ... 20:
    return pick (s, 2 * INT64_C (1000000000));
  case 21 ... 300:
    return pick (s, 40000000);
  default:
    return pick (s, 200000);
  }
}

/* Some commands of one kind: random, or a run of neighbours. */
static void
burst (struct soak *s)
{
  int64_t sectors = s->profile.geometry.sectors, lba = pick (s, sectors);
  int64_t kind = pick (s, 20), n = 1 + pick (s, 40);
  bool in_order = pick (s, 2);

  for (int64_t i = 0; i < n; i++) {
    int64_t each = min_i64 (8 << pick (s, 6), sectors - lba);
    enum disk_op op = kind < 9 ? DISK_READ : kind < 18 ? DISK_WRITE
      : kind == 18 ? DISK_TRIM : DISK_FLUSH;

    while (s->in_flight >= s->depth)
      run_to (s, disk_next_event (s->disk));
    run_to (s, s->now_ns + pause_ns (s));
    if (op == DISK_FLUSH)
      submit (s, op, 0, 0, 0);
    else
      submit (s, op, op == DISK_WRITE && pick (s, 10) == 0 ? DISK_FUA : 0,
              lba, each);
    if (op == DISK_FLUSH)
      break;
    lba = in_order && lba + each < sectors ? lba + each : pick (s, sectors);
  }
}

/* Where on its turn the watched sector begins.  At 7200 rpm a turn is
 * 25000000 thirds of a nanosecond.
 */
static void
watch_angle (struct soak *s)
{
  struct disk_completion c;
  int64_t begins_ns, angle, change;

  drain (s);
  do
    /* Elsewhere first, so that the buffer does not have it; alone, and
     * without a retry, so that it is known when it begins.
     */
    for (int i = 0; i < 2; i++) {
      if (i == 0)
        for (int j = 0; j < 64; j++) {
          submit (s, DISK_WRITE, DISK_FUA, WATCHED - 8, 24);
          drain (s);
        }
      submit (s, DISK_READ, 0, WATCHED, 1);
      assert_true (disk_advance (s->disk, disk_next_event (s->disk), &c));
      check (s, &c);
      s->now_ns = c.complete_ns;
      if (c.hit == DISK_HIT_MISS)
        break;
    }
  while (c.hit != DISK_HIT_MISS || c.retries > 0);
  begins_ns = c.start_ns + c.times.overhead_ns + c.times.actuator_ns +
    c.times.seek_ns + c.times.settle_ns + c.times.rotation_ns;
  angle = begins_ns % INT64_C (25000000) * 3 % INT64_C (25000000);
  if (s->angle >= 0) {
    change = (angle - s->angle + INT64_C (37500000)) % INT64_C (25000000) -
      INT64_C (12500000);
    if (llabs (change) > 6)
      fail_msg ("after %lld s the angle is off by %lld ns",
                (long long) (s->now_ns / 1000000000),
                (long long) change / 3);
  }
  else
    s->angle = angle;
}

static void
soak (struct soak *s)
{
  const char *hours = getenv ("HOURS");
  const struct disk_stats *stats;

  s->end_ns = (hours ? atoi (hours) : 24) * HOUR_NS;
  s->angle = -1;
  s->random = 1;
  s->disk = disk_new (&s->profile, 1);
  assert_non_null (s->disk);
  disk_on_destaged (s->disk, on_destaged, s);
  for (int64_t lba = 1000003; lba < s->profile.geometry.sectors;
       lba += 1000003)
    assert_int_equal (disk_add_fault (s->disk, lba, 3, lba % 2
                                      ? DISK_FAULT_HARD : 2, lba % 1000), 0);
  s->heap = mallinfo2 ().uordblks;
  while (s->now_ns < s->end_ns) {
    burst (s);
    if (s->now_ns >= s->watch_ns) {
      watch_angle (s);
      s->watch_ns = s->now_ns + WATCH_NS;
    }
  }
  submit (s, DISK_FLUSH, 0, 0, 0);
  drain (s);
  assert_int_equal (mallinfo2 ().uordblks, s->heap);
  stats = disk_get_stats (s->disk);
  assert_int_equal (stats->dirty_sectors, 0);
  assert_int_equal (stats->reads + stats->writes + stats->flushes +
                    stats->trims, s->commands);
  assert_true (stats->sectors_destaged <= s->destaged);
  printf ("# %lld h: %lld commands, %lld sectors destaged, %lld errors, "
          "%lld unloads, %lld standbys, %lld stalls, %lld scanned\n",
          (long long) (s->now_ns / HOUR_NS), (long long) s->commands,
          (long long) s->destaged, (long long) stats->errors,
          (long long) stats->unloads, (long long) stats->standbys,
          (long long) stats->stalls, (long long) stats->scanned_sectors);
  disk_free (s->disk);
}

/* What an old drive does by itself. */
static void
get_old (struct profile *p)
{
  p->media = (struct profile_media) {
    .retries = 10, .timeout_ns = MS (2000), .worn_head = 2,
    .worn_permille = 50, .stall_every_ns = MS (60000), .stall_for_ns = MS (80),
  };
  p->power = (struct profile_power) {
    .spin_up_ns = MS (7000), .unload = { MS (8000), MS (500) },
    .slow = { MS (60000), MS (2000) }, .standby_after_ns = MS (120000),
  };
}

static void
one_at_a_time (void **state)
{
  struct soak s = { .depth = 1 };

  (void) state;
  drive_wd (&s.profile);
  get_old (&s.profile);
  soak (&s);
}

static void
with_a_queue (void **state)
{
  struct soak s = { .depth = 32 };

  (void) state;
  drive_wd (&s.profile);
  get_old (&s.profile);
  s.profile.queue = (struct profile_queue) {
    .depth = 32, .order = ORDER_SPTF, .age_limit_ns = MS (600),
    .awareness_permille = 500,
  };
  s.profile.write_cache.order = DESTAGE_SPTF;
  s.profile.buffer.keep_written = true;
  s.profile.power.scan_after_ns = MS (20000);
  soak (&s);
}

static void
without_a_write_cache (void **state)
{
  struct soak s = { .depth = 4 };

  (void) state;
  drive_wd (&s.profile);
  get_old (&s.profile);
  s.profile.write_cache.enabled = false;
  soak (&s);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_at_a_time),
    cmocka_unit_test (with_a_queue),
    cmocka_unit_test (without_a_write_cache),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
