/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A drive that is left alone, one that stops now and then, and one that
 * wears out.  Two drives that differ in one thing are compared: what takes
 * whole revolutions does not change the angle.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "drives.h"

/* Of 7200 rpm. */
#define REVOLUTIONS(n) (MS (25) * (n) / 3)

static struct profile plain;

static int
setup (void **state)
{
  (void) state;
  drive_wd (&plain);
  return 0;
}

/* How long a read takes that comes idle_ns after another, and what it was.
 * The drive is left in *d unless that is NULL.
 */
static struct disk_completion
read_after (const struct profile *p, int64_t idle_ns, struct disk **d)
{
  struct disk *disk = disk_new (p, 1);
  struct disk_completion c;
  int64_t now = 0;

  assert_non_null (disk);
  host_do (disk, &now, DISK_READ, 0, 1000000, 8);
  /* What look-ahead there is comes to its end. */
  now += MS (500);
  host_do (disk, &now, DISK_WRITE, DISK_FUA, 20000000, 8);
  now += idle_ns;
  c = host_do (disk, &now, DISK_READ, 0, 3000000, 8);
  if (d)
    *d = disk;
  else
    disk_free (disk);
  return c;
}

static int64_t
taken_ns (const struct disk_completion *c)
{
  return c->complete_ns - c->arrival_ns;
}

/* Two reads after the same time: what the second drive takes longer. */
static int64_t
longer_ns (const struct profile *p, int64_t idle_ns, struct disk **d)
{
  struct disk_completion with = read_after (p, idle_ns, d);
  struct disk_completion without = read_after (&plain, idle_ns, NULL);

  assert_int_equal (!!(with.background & DISK_MET_REST),
                    taken_ns (&with) > taken_ns (&without));
  return taken_ns (&with) - taken_ns (&without);
}

static void
heads_unload (void **state)
{
  struct profile p = plain;
  struct disk *d;

  (void) state;
  p.power.unload = (struct profile_rest) { MS (8000), REVOLUTIONS (3) };
  assert_int_equal (longer_ns (&p, MS (7999), &d), 0);
  assert_int_equal (disk_get_stats (d)->unloads, 0);
  disk_free (d);
  assert_int_equal (longer_ns (&p, MS (8000), &d), REVOLUTIONS (3));
  assert_int_equal (disk_get_stats (d)->unloads, 1);
  assert_int_equal (disk_get_stats (d)->standbys, 0);
  disk_free (d);
}

static void
rest_becomes_deeper (void **state)
{
  struct profile p = plain;
  struct disk *d;

  (void) state;
  p.power.unload = (struct profile_rest) { MS (8000), REVOLUTIONS (3) };
  p.power.slow = (struct profile_rest) { MS (60000), REVOLUTIONS (60) };
  p.power.standby_after_ns = MS (600000);
  p.power.spin_up_ns = REVOLUTIONS (900);
  assert_int_equal (longer_ns (&p, MS (9000), NULL), REVOLUTIONS (3));
  assert_int_equal (longer_ns (&p, MS (61000), NULL), REVOLUTIONS (60));
  assert_int_equal (longer_ns (&p, MS (601000), &d), REVOLUTIONS (900));
  assert_int_equal (disk_get_stats (d)->unloads, 1);
  assert_int_equal (disk_get_stats (d)->slowdowns, 1);
  assert_int_equal (disk_get_stats (d)->standbys, 1);
  disk_free (d);
}

/* The buffer works while the platters stand still. */
static void
standby_keeps_the_buffer (void **state)
{
  struct profile p = plain;
  struct disk *d;
  int64_t now;

  (void) state;
  p.power.standby_after_ns = MS (10000);
  p.power.spin_up_ns = MS (5000);
  now = read_after (&p, MS (500), &d).complete_ns + MS (60000);
  assert_int_equal (host_do (d, &now, DISK_READ, 0, 3000000, 8).hit,
                    DISK_HIT_FULL);
  assert_int_equal (disk_get_stats (d)->standbys, 1);
  /* A write is taken at once, and what reaches the media waits.  So does
   * the drive until then.
   */
  now += MS (60000);
  assert_true (host_do (d, &now, DISK_WRITE, 0, 8000, 8).times.actuator_ns
               == 0);
  assert_true (host_do (d, &now, DISK_FLUSH, 0, 0, 0).times.media_ns >
               MS (5000));
  assert_int_equal (disk_get_stats (d)->standbys, 1);
  disk_free (d);
}

static void
stops_come_at_fixed_times (void **state)
{
  struct profile p = plain;
  struct disk *d;
  struct disk_completion c;
  int64_t now = MS (600);

  (void) state;
  p.media.stall_every_ns = MS (1000);
  p.media.stall_for_ns = MS (25);
  d = disk_new (&p, 1);
  c = host_do (d, &now, DISK_READ, 0, 1000000, 8);
  assert_int_equal (c.background & DISK_MET_STALL, 0);
  now = MS (1010);
  c = host_do (d, &now, DISK_READ, 0, 3000000, 8);
  assert_int_equal (c.background & DISK_MET_STALL, DISK_MET_STALL);
  /* From the end of its overhead until 1025 ms. */
  assert_int_equal (c.times.actuator_ns, MS (15) - US (300));
  assert_int_equal (disk_get_stats (d)->stalls, 1);
  /* Those that nobody noticed are over. */
  now = MS (9500);
  c = host_do (d, &now, DISK_READ, 0, 1000000 + 4096, 8);
  assert_int_equal (c.times.actuator_ns, 0);
  assert_int_equal (disk_get_stats (d)->stalls, 9);
  disk_free (d);
}

/* Reads of 300 places, each on its own; which needed retries. */
static int64_t
worn_reads (uint64_t seed, uint32_t permille, char *retried)
{
  struct profile p = plain;
  int64_t now = 0, n = 0;
  struct disk *d;

  p.media = (struct profile_media) {
    .retries = 3, .worn_head = 1, .worn_permille = permille,
  };
  d = disk_new (&p, seed);
  for (int i = 0; i < 300; i++) {
    struct disk_completion c = host_do (d, &now, DISK_READ, 0,
                                        (int64_t) i * 100000, 8);

    assert_int_equal (c.retries > 0, !!(c.background & DISK_MET_RETRY));
    assert_true (c.retries <= 3);
    retried[i] = (char) c.retries;
    n += c.retries;
  }
  assert_int_equal (disk_get_stats (d)->retries, n);
  disk_free (d);
  return n;
}

static void
a_head_wears_out (void **state)
{
  char all[300], some[300], again[300], other[300];
  int heads = 0;

  (void) state;
  assert_int_equal (worn_reads (1, 0, all), 0);
  worn_reads (1, 1000, all);
  for (int i = 0; i < 300; i++) {
    assert_true (all[i] == 0 || all[i] == 3);
    heads += all[i] == 3;
  }
  /* One of two heads. */
  assert_in_range (heads, 100, 200);
  worn_reads (1, 300, some);
  worn_reads (1, 300, again);
  worn_reads (2, 300, other);
  assert_memory_equal (some, again, sizeof some);
  assert_memory_not_equal (some, other, sizeof some);
}

static void
the_media_are_scanned (void **state)
{
  struct profile p = plain;
  struct disk_completion c;
  struct disk *d;
  int64_t now, first;

  (void) state;
  p.power.scan_after_ns = MS (1000);
  c = read_after (&p, MS (11000), &d);
  assert_int_equal (c.background, DISK_MET_SCAN);
  first = disk_get_stats (d)->scanned_sectors;
  /* Ten seconds at 600 sectors a revolution or so, switches included. */
  assert_in_range (first, 500 * 1200, 650 * 1200);
  /* It goes on where it was, and does not keep data from the media. */
  now = c.complete_ns + MS (6000);
  c = host_do (d, &now, DISK_WRITE, 0, 30000000, 8);
  assert_int_equal (c.background, DISK_MET_SCAN);
  assert_in_range (disk_get_stats (d)->scanned_sectors - first, 500 * 600,
                   650 * 600);
  now += MS (100);
  assert_false (disk_advance (d, now, &c));
  assert_int_equal (disk_get_stats (d)->dirty_sectors, 0);
  /* The whole drive takes a quarter of an hour, and it begins again. */
  now += MS (10) * 100 * 3600;
  assert_false (disk_advance (d, now, &c));
  host_do (d, &now, DISK_READ, 0, 5000, 8);
  assert_in_range (disk_get_stats (d)->scanned_sectors,
                   3 * p.geometry.sectors, 6 * p.geometry.sectors);
  disk_free (d);
}

static void
a_rewrite_reallocates (void **state)
{
  struct disk *good = disk_new (&plain, 1), *bad = disk_new (&plain, 1);
  struct disk_completion c;
  int64_t now = 0, good_ns, more_ns;

  (void) state;
  assert_int_equal (disk_add_fault (bad, 3000002, 4, DISK_FAULT_HARD, 0), 0);
  c = host_do (bad, &now, DISK_READ, 0, 3000000, 8);
  assert_int_equal (c.error, EIO);
  assert_int_equal (disk_get_stats (bad)->pending_sectors, 1);
  host_do (bad, &now, DISK_WRITE, DISK_FUA, 3000000, 8);
  assert_int_equal (disk_get_stats (bad)->pending_sectors, 0);
  assert_int_equal (disk_get_stats (bad)->reallocated_sectors, 4);
  assert_int_equal (disk_get_stats (bad)->healed_sectors, 4);
  /* Once only. */
  host_do (bad, &now, DISK_WRITE, DISK_FUA, 3000000, 8);
  assert_int_equal (disk_get_stats (bad)->reallocated_sectors, 4);
  /* Reading them: four times there and back, whole revolutions each. */
  host_do (bad, &now, DISK_READ, 0, 1000000, 8);
  now = MS (10000);
  c = host_do (bad, &now, DISK_READ, 0, 3000000, 8);
  assert_int_equal (c.error, 0);
  more_ns = taken_ns (&c);
  now = MS (9000);
  host_do (good, &now, DISK_READ, 0, 1000000, 8);
  now = MS (10000);
  c = host_do (good, &now, DISK_READ, 0, 3000000, 8);
  good_ns = taken_ns (&c);
  more_ns -= good_ns;
  assert_in_range (more_ns, REVOLUTIONS (8), REVOLUTIONS (24));
  assert_in_range ((more_ns + 10) % REVOLUTIONS (1), 0, 20);
  /* Its neighbours on the track are not concerned. */
  now = MS (20000);
  c = host_do (bad, &now, DISK_READ, 0, 3000020, 8);
  assert_true (taken_ns (&c) < REVOLUTIONS (4));
  disk_free (good);
  disk_free (bad);
}

static void
a_sector_fails_later (void **state)
{
  struct disk *d = disk_new (&plain, 1);
  int64_t now = 0;

  (void) state;
  assert_int_equal (disk_add_fault (d, 2000000, 8, DISK_FAULT_HARD, 3), 0);
  assert_int_equal (host_do (d, &now, DISK_READ, 0, 2000000, 4).error, 0);
  assert_int_equal (host_do (d, &now, DISK_WRITE, DISK_FUA, 9, 1).error, 0);
  assert_int_equal (host_do (d, &now, DISK_READ, 0, 2000004, 4).error, EIO);
  disk_free (d);

  d = disk_new (&plain, 1);
  now = 0;
  assert_int_equal (disk_add_fault (d, 2000000, 8, DISK_FAULT_HARD, 5), 0);
  for (int i = 0; i < 3; i++)
    assert_int_equal (host_do (d, &now, DISK_READ, 0, 1000000 * (3 - i), 4)
                      .error, 0);
  assert_int_equal (host_do (d, &now, DISK_READ, 0, 2000004, 4).error, 0);
  disk_free (d);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (heads_unload),
    cmocka_unit_test (rest_becomes_deeper),
    cmocka_unit_test (standby_keeps_the_buffer),
    cmocka_unit_test (stops_come_at_fixed_times),
    cmocka_unit_test (a_head_wears_out),
    cmocka_unit_test (the_media_are_scanned),
    cmocka_unit_test (a_rewrite_reallocates),
    cmocka_unit_test (a_sector_fails_later),
  };

  return cmocka_run_group_tests (tests, setup, NULL);
}
