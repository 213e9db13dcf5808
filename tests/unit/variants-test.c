/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queues, orders of service and physical sectors.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "drives.h"
#include "fixed.h"

static uint64_t rng;

static int64_t
random_block (const struct profile *p)
{
  return (int64_t) (splitmix64 (&rng) %
                    (uint64_t) (p->geometry.sectors / 8 - 1)) * 8;
}

/* A 7200 rpm SATA drive of about 2006. */
static void
drive_sata (struct profile *p)
{
  drive_wd (p);
  p->geometry.sectors = 625142448;
  p->geometry.heads = 4;
  drive_zones (p, 16, 1300, 650);
  p->seek.read.track_ns = US (800);
  p->seek.read.average_ns = US (8500);
  p->seek.read.full_ns = MS (16);
  p->seek.write_settle_ns = US (500);
  p->interface.bus_ps_per_byte = 3333;
  p->overhead.read_miss_ns = US (150);
}

/* Random 4 KiB reads per second with `outstanding` of them under way. */
static int64_t
random_iops (const struct profile *p, int outstanding)
{
  struct disk *d = disk_new (p, 1);
  struct disk_request r = { .op = DISK_READ, .sectors = 8 };
  struct disk_completion c;
  int64_t now = 0;
  const int n = 5000;

  assert_non_null (d);
  rng = 3;
  for (int i = 0; i < outstanding; i++) {
    r.lba = random_block (p);
    assert_int_equal (disk_submit (d, 0, &r), 0);
  }
  for (int i = 0; i < n; i++) {
    now = disk_next_event (d);
    assert_true (disk_advance (d, now, &c));
    r.lba = random_block (p);
    assert_int_equal (disk_submit (d, now, &r), 0);
  }
  disk_free (d);
  return n * INT64_C (1000000000) / now;
}

/* The gain of depth 32 over depth 1 goes from nothing to more than +150 %,
 * with the order, the depth and what the firmware knows of the angle.
 */
static void
queue_gain_is_tunable (void **state)
{
  struct profile p;
  int64_t alone, gain[4];

  (void) state;
  drive_sata (&p);
  alone = random_iops (&p, 1);
  assert_in_range (random_iops (&p, 32), alone - 1, alone + 1);

  p.queue.depth = 4;
  p.queue.order = ORDER_SPTF;
  gain[0] = random_iops (&p, 32) * 100 / alone - 100;
  p.queue.depth = 32;
  gain[1] = random_iops (&p, 32) * 100 / alone - 100;
  p.queue.awareness_permille = 120;
  gain[2] = random_iops (&p, 32) * 100 / alone - 100;
  p.queue.awareness_permille = 1000;
  gain[3] = random_iops (&p, 32) * 100 / alone - 100;
  assert_in_range (gain[0], 25, 40);
  assert_true (gain[0] < gain[1] && gain[1] < gain[2] && gain[2] < gain[3]);
  assert_in_range (gain[3], 150, 220);
}

static void
old_commands_go_first (void **state)
{
  struct profile p;

  (void) state;
  drive_sata (&p);
  p.queue = (struct profile_queue) {
    .depth = 32, .order = ORDER_SPTF, .awareness_permille = 1000,
    .age_limit_ns = MS (300),
  };
  for (int pass = 0; pass < 2; pass++) {
    struct disk *d = disk_new (&p, 1);
    struct disk_request r = { .op = DISK_READ, .sectors = 8 };
    struct disk_completion c;
    int64_t worst = 0;

    rng = 5;
    for (int i = 0; i < 5032; i++) {
      if (i >= 32) {
        assert_true (disk_advance (d, disk_next_event (d), &c));
        worst = max_i64 (worst, c.complete_ns - c.arrival_ns);
      }
      r.lba = random_block (&p);
      assert_int_equal (disk_submit (d, i < 32 ? 0 : c.complete_ns, &r), 0);
    }
    if (pass == 0)
      assert_true (worst < MS (800));
    else
      assert_true (worst > MS (800));
    p.queue.age_limit_ns = 0;
    disk_free (d);
  }
}

static int64_t
next_tag (struct disk *d)
{
  struct disk_completion c;

  assert_true (disk_advance (d, disk_next_event (d), &c));
  return (int64_t) c.request.tag;
}

static void
put (struct disk *d, uint64_t tag, enum disk_op op, int64_t lba)
{
  struct disk_request r = { .tag = tag, .op = op, .lba = lba,
                            .sectors = op == DISK_FLUSH ? 0 : 8 };

  assert_int_equal (disk_submit (d, 0, &r), 0);
}

static void
flush_is_a_barrier_and_overlaps_keep_order (void **state)
{
  struct profile p;
  struct disk *d;

  (void) state;
  drive_sata (&p);
  p.queue.depth = 32;
  p.queue.order = ORDER_SSTF;
  p.write_cache.enabled = false;
  d = disk_new (&p, 1);
  put (d, 1, DISK_READ, 0);             /* taken up at once */
  put (d, 2, DISK_READ, 600000000);
  put (d, 3, DISK_WRITE, 5000);
  put (d, 4, DISK_READ, 5004);          /* must see 3 */
  put (d, 5, DISK_FLUSH, 0);
  put (d, 6, DISK_READ, 200000);        /* nearer than 2, but behind 5 */
  assert_int_equal (next_tag (d), 1);
  assert_int_equal (next_tag (d), 3);
  assert_int_equal (next_tag (d), 4);
  assert_int_equal (next_tag (d), 2);
  assert_int_equal (next_tag (d), 5);
  assert_int_equal (next_tag (d), 6);
  disk_free (d);
}

/* A 5400 rpm drive with 4 KiB sectors behind 512-byte ones. */
static void
drive_green (struct profile *p)
{
  drive_wd (p);
  p->geometry.sectors = 1953525168;
  p->geometry.heads = 4;
  p->geometry.rpm_x100 = 540000;
  p->geometry.physical_sectors = 8;
  drive_zones (p, 20, 2400, 1100);
  p->seek.read.track_ns = MS (1);
  p->seek.read.average_ns = MS (12);
  p->seek.read.full_ns = MS (22);
  p->seek.write_settle_ns = US (500);
  p->interface.bus_ps_per_byte = 3333;
  p->overhead.write_ns = US (60);
  p->buffer.size_bytes = KIB (65536);
  p->write_cache.order = DESTAGE_SPTF;
  p->write_cache.destage_ns = US (600);
}

static int64_t
random_ns (const struct profile *p, enum disk_op op, int64_t offset)
{
  struct disk *d = disk_new (p, 1);
  int64_t now = 0;
  const int n = 5000;

  rng = 1;
  for (int i = 0; i < n; i++)
    host_do (d, &now, op, 0, random_block (p) + offset, 8);
  disk_free (d);
  return now / n;
}

static void
unaligned_write_costs_a_revolution (void **state)
{
  struct profile p;
  int64_t aligned, unaligned;

  (void) state;
  drive_green (&p);
  p.write_cache.enabled = false;
  aligned = random_ns (&p, DISK_WRITE, 0);
  unaligned = random_ns (&p, DISK_WRITE, 1);
  assert_in_range (unaligned - aligned, US (11100), US (11120));
  assert_in_range (unaligned * 100 / aligned, 150, 180);
  aligned = random_ns (&p, DISK_READ, 0);
  unaligned = random_ns (&p, DISK_READ, 1);
  assert_in_range (unaligned * 1000 / aligned, 980, 1020);
}

/* R85: 32768 writes of 4 KiB, 16 KiB apart, with the write cache. */
static int64_t
spaced_writes_ns (const struct profile *p, int64_t offset)
{
  struct disk *d = disk_new (p, 1);
  int64_t now = 0;

  for (int64_t i = 0; i < 32768; i++)
    host_do (d, &now, DISK_WRITE, 0, i * 32 + offset, 8);
  disk_free (d);
  return now;
}

static void
spaced_unaligned_writes (void **state)
{
  struct profile p;
  int64_t aligned;

  (void) state;
  drive_green (&p);
  aligned = spaced_writes_ns (&p, 0);
  /* Reported: 28.1 s aligned, 73.2 to 79.9 s unaligned. */
  assert_in_range (aligned / 1000000, 22000, 36000);
  for (int64_t offset = 1; offset < 8; offset++)
    assert_in_range (spaced_writes_ns (&p, offset) * 100 / aligned, 230, 300);
}

/* A whole track, taken from whatever sector comes first, is there one
 * revolution after the head is: no rotational latency.
 */
static void
access_on_arrival (void **state)
{
  struct profile p;
  struct disk *d;
  struct disk_completion c;
  int64_t now = 0, waited = 0;
  const int64_t revolution_ns = 8333333, sector_ns = revolution_ns / 650;

  (void) state;
  drive_wd (&p);
  p.buffer.read_on_arrival = p.buffer.write_on_arrival = true;
  p.write_cache.enabled = false;
  for (int write = 0; write < 2; write++) {
    d = disk_new (&p, 1);
    rng = 11;
    for (int i = 0; i < 300; i++) {
      int64_t media_ns;

      now += (int64_t) (splitmix64 (&rng) % MS (50));
      c = host_do (d, &now, write ? DISK_WRITE : DISK_READ, 0,
                   (int64_t) (splitmix64 (&rng) % 2000) * 650, 650);
      /* Waiting for data to write counts as rotation. */
      media_ns = c.times.rotation_ns + c.times.media_ns;
      assert_true (media_ns <= revolution_ns + sector_ns + MS (1));
      waited += c.times.rotation_ns;
    }
    disk_free (d);
  }
  assert_true (waited / 600 < US (800));
}

/* An 8 TB shingled drive with a small persistent cache. */
static void
drive_smr (struct profile *p)
{
  drive_wd (p);
  p->geometry.sectors = 15628053168;
  p->geometry.heads = 12;
  p->geometry.rpm_x100 = 590000;
  drive_zones (p, 24, 3800, 1800);
  p->seek.read.track_ns = MS (1);
  p->seek.read.average_ns = MS (12);
  p->seek.read.full_ns = MS (22);
  p->seek.write_settle_ns = US (500);
  p->interface.bus_ps_per_byte = 1667;
  p->overhead.write_ns = US (60);
  p->buffer.size_bytes = KIB (131072);
  p->write_cache.order = DESTAGE_ARRIVAL;
  p->smr = (struct profile_smr) {
    .enabled = true, .cache_bytes = KIB (8 << 20), .band_bytes = KIB (30720),
    .map_entries = 2000, .map_ns = US (300), .idle_ns = MS (1000),
  };
}

static int64_t
random_writes_ns (struct disk *d, const struct profile *p, int64_t *now,
                  int n)
{
  int64_t start = *now;

  for (int i = 0; i < n; i++)
    host_do (d, now, DISK_WRITE, 0, random_block (p) + 1, 8);
  return (*now - start) / n;
}

static void
shingled_drive (void **state)
{
  struct profile p;
  struct disk *d;
  struct disk_completion c;
  int64_t now = 0;

  (void) state;
  drive_smr (&p);
  d = disk_new (&p, 1);
  rng = 1;
  /* Into the log, far faster than one place each. */
  assert_true (random_writes_ns (d, &p, &now, 1500) < MS (2));
  /* The map is full: every one waits for a band to be rewritten. */
  random_writes_ns (d, &p, &now, 600);
  assert_in_range (random_writes_ns (d, &p, &now, 50), MS (300), MS (1500));
  /* Idle for half an hour, the drive cleans up. */
  now += INT64_C (1800) * 1000000000;
  assert_true (random_writes_ns (d, &p, &now, 1500) < MS (2));
  /* What was written is read from where it is now. */
  c = host_do (d, &now, DISK_WRITE, 0, 12345, 8);
  c = host_do (d, &now, DISK_FLUSH, 0, 0, 0);
  c = host_do (d, &now, DISK_READ, 0, 12340, 16);
  assert_int_equal (c.hit, DISK_HIT_MISS);
  disk_free (d);

  /* In order from the start of a band: as fast as the media. */
  d = disk_new (&p, 1);
  now = 0;
  assert_true (host_sequential (d, &now, DISK_WRITE, 61440 * 100, 2048,
                                61440 * 40, 0) > 140000);
  disk_free (d);
}

/* Two streams in a buffer that one large segment each would fill: shared
 * as they come, or cut into eight from the start.
 */
static void
adaptive_segments (void **state)
{
  struct profile p;
  int64_t fixed = 0, adaptive = 0;

  (void) state;
  drive_wd (&p);
  p.lookahead.limit_bytes = 0;
  p.lookahead.on_command = INTERRUPT_FINISH;
  p.overhead.read_hit_ns = US (20);
  for (int pass = 0; pass < 2; pass++) {
    struct disk *d;
    int64_t now = 0;

    p.buffer.adaptive = pass == 1;
    d = disk_new (&p, 1);
    for (int64_t i = 0; i < 8192; i++)
      host_do (d, &now, DISK_READ, 0, i % 2 * 10000000 + i / 2 * 8, 8);
    *(pass == 0 ? &fixed : &adaptive) = now;
    disk_free (d);
  }
  assert_true (adaptive * 10 < fixed * 9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (queue_gain_is_tunable),
    cmocka_unit_test (old_commands_go_first),
    cmocka_unit_test (flush_is_a_barrier_and_overlaps_keep_order),
    cmocka_unit_test (unaligned_write_costs_a_revolution),
    cmocka_unit_test (spaced_unaligned_writes),
    cmocka_unit_test (access_on_arrival),
    cmocka_unit_test (shingled_drive),
    cmocka_unit_test (adaptive_segments),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
