/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The drive as a whole, in virtual time: what the host sees must be what
 * the profile's numbers say.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "drives.h"
#include "fixed.h"

#define REVOLUTION_NS 8333333   /* and a third */

static uint64_t rng;

static int64_t
random_below (int64_t n)
{
  return (int64_t) (splitmix64 (&rng) % (uint64_t) n);
}

static struct disk *
start (const struct profile *p)
{
  struct disk *d = disk_new (p, 1);

  assert_non_null (d);
  rng = 42;
  return d;
}

static void
assert_within (int64_t value, int64_t expected, int64_t permille)
{
  assert_in_range (value, expected - expected * permille / 1000,
                   expected + expected * permille / 1000);
}

static void
sequential_rates (void **state)
{
  struct profile p;
  struct disk *d;
  int64_t now = 0;

  (void) state;
  drive_wd (&p);
  d = start (&p);
  /* 31.9 MiB/s, from R01's plateau. */
  assert_within (host_sequential (d, &now, DISK_READ, 0, 128, 131072, 0),
                 31900, 10);
  assert_within (host_sequential (d, &now, DISK_READ, 0, 256, 131072, 0),
                 31900, 10);
  /* The last zone: 20.4 MB/s = 19.45 MiB/s. */
  assert_within (host_sequential (d, &now, DISK_READ, 38900000, 128, 131072,
                                  0), 19450, 50);
  disk_free (d);
}

/* sectors per cylinder / (revolutions + switches), with the skews in whole
 * sectors: the closed form of behaviour that IBM's manuals print.
 */
static void
sustained_rate_is_closed_form (void **state)
{
  struct profile p;
  struct disk *d;
  int64_t now = 0, first, end;
  const int64_t spt = 650, sectors = 200 * 2 * spt;

  (void) state;
  drive_wd (&p);
  d = start (&p);
  first = host_do (d, &now, DISK_READ, 0, 0, 1).complete_ns;
  end = host_do (d, &now, DISK_READ, 0, 1, sectors).complete_ns;
  /* 94 and 156 sectors of skew hide 1.2 and 2.0 ms. */
  assert_in_range (end - first,
                   (200 * 2 * spt + 200 * 94 + 200 * 156) * 25000000 /
                   (3 * spt) - 50,
                   (200 * 2 * spt + 200 * 94 + 200 * 156) * 25000000 /
                   (3 * spt) + 50);
  disk_free (d);
}

static void
tail_rule_loses_revolutions (void **state)
{
  struct profile p;
  struct disk *d;
  int64_t now = 0;

  (void) state;
  drive_wd (&p);
  p.lookahead.tail.enabled = true;
  p.lookahead.tail.min_command_sectors = 256;
  p.lookahead.tail.tail_sectors = 64;
  p.lookahead.tail.period_sectors = 576;
  d = start (&p);
  assert_within (host_sequential (d, &now, DISK_READ, 0, 256, 262144, 0),
                 25700, 30);
  assert_within (host_sequential (d, &now, DISK_READ, 0, 128, 262144, 0),
                 31900, 10);
  disk_free (d);
}

static void
cached_reads_cost_overhead_and_bus (void **state)
{
  struct profile p;
  struct disk *d;
  int64_t now = 0;

  (void) state;
  drive_wd (&p);
  d = start (&p);
  host_do (d, &now, DISK_READ, 0, 0, 8);
  now += MS (10);
  /* 4 KiB at 15 ns a byte; no revolution is ever lost. */
  for (int i = 1; i < 5000; i++) {
    struct disk_completion c = host_do (d, &now, DISK_READ, 0, i * 8, 8);

    assert_int_equal (c.complete_ns - c.arrival_ns, US (215) + 61440);
    assert_int_equal (c.hit, DISK_HIT_FULL);
  }
  disk_free (d);
}

/* Rotational wait of random reads: uniform over the revolution. */
static void
random_reads (void **state)
{
  struct profile p;
  struct disk *d;
  int64_t now = 0, start_ns, bins[10] = { 0 };
  const int n = 20000;

  (void) state;
  drive_wd (&p);
  d = start (&p);
  start_ns = now;
  for (int i = 0; i < n; i++) {
    int64_t lba = random_below (39102336 / 8) * 8;
    struct disk_completion c = host_do (d, &now, DISK_READ, 0, lba, 8);

    assert_in_range (c.times.rotation_ns, 0, REVOLUTION_NS + 1);
    bins[c.times.rotation_ns * 10 / (REVOLUTION_NS + 2)]++;
  }
  assert_within ((now - start_ns) / n, US (13500), 40);
  for (int i = 0; i < 10; i++)
    assert_within (bins[i], n / 10, 80);
  disk_free (d);
}

static void
rewrite_without_cache_costs_a_revolution (void **state)
{
  struct profile p;
  struct disk *d;
  int64_t now = 0, start_ns;

  (void) state;
  drive_wd (&p);
  p.write_cache.enabled = false;
  d = start (&p);
  host_do (d, &now, DISK_WRITE, 0, 0, 1);
  start_ns = now;
  for (int i = 1; i <= 100; i++)
    host_do (d, &now, DISK_WRITE, 0, i, 1);
  /* A revolution and the next sector each. */
  assert_in_range (now - start_ns, 100 * (REVOLUTION_NS + 12820),
                   100 * (REVOLUTION_NS + 12822));
  disk_free (d);
}

static void
cached_write_then_media_rate (void **state)
{
  struct profile p;
  struct disk *d;
  int64_t now = 0, full_ns = 0;
  struct disk_completion c;

  (void) state;
  drive_wd (&p);
  d = start (&p);
  c = host_do (d, &now, DISK_WRITE, 0, 1000000, 1);
  assert_int_equal (c.complete_ns - c.arrival_ns, US (300) + 7680);
  disk_free (d);

  /* No overhead, so the bus fills the buffer at its rate and the media
   * empty it at theirs: 2 MiB / (66.7 - 33.4 MB/s) = 63 ms.
   */
  p.overhead.write_ns = 0;
  d = start (&p);
  now = 0;
  for (int i = 0; i < 200; i++) {
    int64_t before = now;

    host_do (d, &now, DISK_WRITE, 0, i * 128, 128);
    if (full_ns == 0 && now - before > 65536 * 15)
      full_ns = now;
  }
  assert_in_range (full_ns, MS (54), MS (66));
  assert_within (host_sequential (d, &now, DISK_WRITE, 200 * 128, 128,
                                  65536, 0), 31900, 20);
  disk_free (d);
}

struct destaged {
  int64_t sectors, last_ns;
};

static void
note_destaged (void *opaque, int64_t lba, int64_t sectors, int64_t when_ns)
{
  struct destaged *s = opaque;

  (void) lba;
  assert_true (when_ns >= s->last_ns);
  s->sectors += sectors;
  s->last_ns = when_ns;
}

static void
flush_waits_for_the_media (void **state)
{
  struct profile p;
  struct disk *d;
  struct destaged seen = { 0, 0 };
  struct disk_completion c;
  int64_t now = 0;

  (void) state;
  drive_wd (&p);
  d = start (&p);
  disk_on_destaged (d, note_destaged, &seen);
  for (int i = 0; i < 20; i++)
    host_do (d, &now, DISK_WRITE, 0, random_below (39000000), 8);
  assert_true (seen.sectors < 160);
  c = host_do (d, &now, DISK_FLUSH, 0, 0, 0);
  assert_int_equal (seen.sectors, 160);
  assert_int_equal (seen.last_ns, c.complete_ns);
  assert_true (c.complete_ns - c.arrival_ns > MS (50));
  c = host_do (d, &now, DISK_FLUSH, 0, 0, 0);
  assert_int_equal (c.complete_ns - c.arrival_ns, US (300));
  disk_free (d);

  /* A drive without the command. */
  p.interface.flush = false;
  d = start (&p);
  now = 0;
  host_do (d, &now, DISK_WRITE, 0, 30000000, 8);
  c = host_do (d, &now, DISK_FLUSH, 0, 0, 0);
  assert_int_equal (c.complete_ns - c.arrival_ns, US (300));
  assert_int_equal (disk_get_stats (d)->dirty_sectors, 8);
  disk_free (d);
}

static void
fua_goes_through (void **state)
{
  struct profile p;
  struct disk *d;
  struct destaged seen = { 0, 0 };
  struct disk_completion c;
  int64_t now = 0;

  (void) state;
  drive_wd (&p);
  d = start (&p);
  disk_on_destaged (d, note_destaged, &seen);
  host_do (d, &now, DISK_WRITE, 0, 30000000, 8);
  c = host_do (d, &now, DISK_WRITE, DISK_FUA, 30000000, 8);
  assert_int_equal (c.hit, DISK_HIT_THROUGH);
  assert_true (c.complete_ns - c.arrival_ns > MS (2));
  /* The older cached copy is settled with it, and nothing is left. */
  assert_int_equal (seen.sectors, 8);
  assert_int_equal (disk_get_stats (d)->dirty_sectors, 0);
  disk_free (d);
}

static void
lookahead_off_costs_a_revolution (void **state)
{
  struct profile p;
  struct disk *d;
  int64_t now = 0, start_ns;

  (void) state;
  drive_wd (&p);
  p.lookahead.enabled = false;
  d = start (&p);
  host_do (d, &now, DISK_READ, 0, 0, 8);
  start_ns = now;
  for (int i = 1; i <= 60; i++)
    host_do (d, &now, DISK_READ, 0, i * 8, 8);
  /* One revolution plus 8 sectors each: (1 + 8 / 650) * 25 / 3 ms. */
  assert_in_range (now - start_ns, (60 * 658 * INT64_C (25000000)) /
                   (650 * 3) - 60, (60 * 658 * INT64_C (25000000)) /
                   (650 * 3) + 60);
  disk_free (d);
}

struct streams {
  int64_t rate_kb_s;            /* what the host got */
  int64_t expected_kb_s;        /* fill / (access + fill time) */
};

/* n readers, each with one command of 8 sectors in the queue. */
static struct streams
read_streams (const struct profile *p, int n, int64_t total)
{
  struct disk *d = start (p);
  int64_t now = 0, next[16], done = 0, access_ns = 0, visits = 0, fill;
  struct disk_completion c;
  struct disk_request r = { .op = DISK_READ, .sectors = 8 };
  struct streams result;

  for (int i = 0; i < n; i++) {
    r.tag = (uint64_t) i;
    r.lba = i * INT64_C (500000);
    next[i] = r.lba + 8;
    assert_int_equal (disk_submit (d, 0, &r), 0);
  }
  for (; done < total; done += 8) {
    now = disk_next_event (d);
    assert_true (disk_advance (d, now, &c));
    if (c.hit == DISK_HIT_MISS) {
      visits++;
      access_ns += c.times.overhead_ns + c.times.seek_ns +
        c.times.rotation_ns;
    }
    r.tag = c.request.tag;
    r.lba = next[r.tag];
    next[r.tag] += 8;
    assert_int_equal (disk_submit (d, now, &r), 0);
  }
  fill = disk_get_stats (d)->media_sectors_read * 512 / visits;
  result.rate_kb_s = done * 512 * 1000000 / now;
  result.expected_kb_s = fill * 1000000 /
    (access_ns / visits + fill * 1000 / 33); /* 33 MB/s or so */
  disk_free (d);
  return result;
}

static void
parallel_streams (void **state)
{
  struct profile p;
  struct streams two, beyond;

  (void) state;
  drive_wd (&p);
  p.lookahead.limit_bytes = 0;  /* fill the segment */
  p.lookahead.on_command = INTERRUPT_FINISH;
  p.overhead.read_hit_ns = US (20);
  two = read_streams (&p, 2, 262144);
  for (int n = 2; n <= 8; n++) {
    struct streams s = read_streams (&p, n, 262144);

    assert_within (s.rate_kb_s, s.expected_kb_s, 150);
  }
  beyond = read_streams (&p, 9, 32768);
  assert_true (beyond.rate_kb_s < two.rate_kb_s / 5);

  /* Any command aborts look-ahead: two streams are too many. */
  p.lookahead.on_command = INTERRUPT_ABORT;
  beyond = read_streams (&p, 2, 32768);
  assert_true (beyond.rate_kb_s < two.rate_kb_s / 5);
}

static void
bus_modes (void **state)
{
  struct profile p;
  struct disk *d;
  int64_t now = 0;

  (void) state;
  drive_wd (&p);
  p.interface.bus_ps_per_byte = 60000; /* PIO4: below the media rate */
  d = start (&p);
  assert_within (host_sequential (d, &now, DISK_READ, 0, 256, 65536, 0),
                 15470, 20);
  disk_free (d);
}

static void
bad_requests (void **state)
{
  struct profile p;
  struct disk *d;
  struct disk_request r = { .op = DISK_READ, .lba = 39102335, .sectors = 2 };

  (void) state;
  drive_wd (&p);
  d = start (&p);
  assert_int_equal (disk_submit (d, 0, &r), -1);
  assert_int_equal (errno, EINVAL);
  r.lba = -1;
  assert_int_equal (disk_submit (d, 0, &r), -1);
  r.lba = 0;
  r.sectors = 0;
  assert_int_equal (disk_submit (d, 0, &r), -1);
  r.sectors = INT64_MAX;
  assert_int_equal (disk_submit (d, 0, &r), -1);
  r.sectors = 1;
  for (int i = 0; i <= DISK_MAX_QUEUE; i++)
    assert_int_equal (disk_submit (d, 5, &r), 0);
  assert_int_equal (disk_submit (d, 5, &r), -1);
  assert_int_equal (errno, EAGAIN);
  assert_int_equal (disk_submit (d, 4, &r), -1);
  disk_free (d);
}

/* Everything at once, for the sanitizers, with the promises of disk.h. */
static void
random_mix (void **state)
{
  struct profile p;
  struct disk *d;
  struct disk_completion c;
  struct destaged seen = { 0, 0 };
  int64_t now = 0, last = 0;

  (void) state;
  drive_wd (&p);
  p.write_cache.max_extents = 5;
  p.buffer.size_bytes = KIB (256);
  d = start (&p);
  disk_on_destaged (d, note_destaged, &seen);
  for (int i = 0; i < 200000; i++) {
    struct disk_request r = {
      .op = (enum disk_op) random_below (4),
      .flags = random_below (8) == 0 ? DISK_FUA : 0,
      .lba = random_below (2) ? random_below (3000) : random_below (39000000),
      .sectors = 1 + random_below (random_below (20) == 0 ? 2048 : 64),
    };

    now += random_below (4) == 0 ? random_below (MS (30)) : 0;
    while (disk_advance (d, now, &c)) {
      assert_true (c.complete_ns >= last && c.complete_ns <= now);
      assert_true (c.start_ns >= c.arrival_ns);
      last = c.complete_ns;
    }
    if (disk_submit (d, now, &r) == -1) {
      assert_int_equal (errno, EAGAIN);
      now = disk_next_event (d);
    }
    assert_true (disk_next_event (d) >= now);
  }
  disk_free (d);
}

static void
instant_takes_no_time (void **state)
{
  struct profile p;
  struct disk *d;
  int64_t now = 7;

  (void) state;
  drive_wd (&p);
  p.instant = true;
  d = start (&p);
  for (int i = 0; i < 10; i++)
    assert_int_equal (host_do (d, &now, DISK_READ, 0, i * 4000000, 8)
                      .complete_ns, 7);
  disk_free (d);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sequential_rates),
    cmocka_unit_test (sustained_rate_is_closed_form),
    cmocka_unit_test (tail_rule_loses_revolutions),
    cmocka_unit_test (cached_reads_cost_overhead_and_bus),
    cmocka_unit_test (random_reads),
    cmocka_unit_test (rewrite_without_cache_costs_a_revolution),
    cmocka_unit_test (cached_write_then_media_rate),
    cmocka_unit_test (flush_waits_for_the_media),
    cmocka_unit_test (fua_goes_through),
    cmocka_unit_test (lookahead_off_costs_a_revolution),
    cmocka_unit_test (parallel_streams),
    cmocka_unit_test (bus_modes),
    cmocka_unit_test (bad_requests),
    cmocka_unit_test (random_mix),
    cmocka_unit_test (instant_takes_no_time),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
