/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Power cuts and bad sectors.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "drives.h"
#include "fixed.h"

#define AREA 4096               /* sectors that are followed */

/* Which of the drive's first sectors are on the media. */
static bool on_media[AREA];

static void
note (void *opaque, int64_t lba, int64_t sectors, int64_t when_ns)
{
  int64_t *last_ns = opaque;

  assert_true (when_ns >= *last_ns);
  *last_ns = when_ns;
  assert_true (lba >= 0 && lba + sectors <= AREA);
  for (int64_t i = 0; i < sectors; i++)
    on_media[lba + i] = true;
}

static void
submit (struct disk *d, int64_t now, enum disk_op op, unsigned flags,
        int64_t lba, int64_t sectors)
{
  struct disk_request r = { .op = op, .flags = flags, .lba = lba,
                            .sectors = sectors };

  assert_int_equal (disk_submit (d, now, &r), 0);
}

static int64_t
count (int64_t from, int64_t to)
{
  int64_t n = 0;

  for (int64_t i = from; i < to; i++)
    n += on_media[i];
  return n;
}

/* Cut at any moment of a destage: what had passed is there, the rest is
 * not, and one sector at most is torn.
 */
static void
cut_while_destaging (void **state)
{
  struct profile p;
  int64_t before = 0, torn = 0;

  (void) state;
  drive_wd (&p);
  for (int64_t t = MS (5); t < MS (30); t += US (97)) {
    struct disk *d = disk_new (&p, 1);
    struct disk_cut cut;
    int64_t now = 0, last_ns = 0, n;

    memset (on_media, 0, sizeof on_media);
    disk_on_destaged (d, note, &last_ns);
    host_do (d, &now, DISK_WRITE, 0, 0, 600);
    disk_power_cut (d, t, &cut);
    n = count (0, 600);
    assert_true (n >= before);  /* later cuts save more */
    for (int64_t i = 0; i < n; i++)
      assert_true (on_media[i]);
    if (cut.torn_lba >= 0)
      assert_int_equal (cut.torn_lba, n);
    torn += cut.torn_lba >= 0;
    before = n;
    assert_int_equal (disk_next_event (d), DISK_NEVER);
    disk_free (d);
  }
  assert_int_equal (before, 600);
  assert_true (torn > 20);
}

/* The same in the middle of a flush, whose destages the model has worked
 * out ahead, and of a write that goes through.
 */
static void
cut_while_flushing (void **state)
{
  struct profile p;
  struct disk *d;
  struct disk_cut cut;
  int64_t now = 0, last_ns = 0, half;

  (void) state;
  drive_wd (&p);
  for (int pass = 0; pass < 2; pass++) {
    d = disk_new (&p, 1);
    disk_on_destaged (d, note, &last_ns);
    memset (on_media, 0, sizeof on_media);
    now = last_ns = 0;
    for (int i = 0; i < 20; i++)
      host_do (d, &now, DISK_WRITE, 0, i * 200, 8);
    submit (d, now, DISK_FLUSH, 0, 0, 0);
    half = now + (disk_next_event (d) - now) / 2;
    if (pass == 1)
      half = disk_next_event (d) - 1;
    disk_power_cut (d, half, &cut);
    if (pass == 0)
      assert_in_range (count (0, AREA), 16, 144);
    else
      assert_in_range (count (0, AREA), 152, 159);
    disk_free (d);
  }

  d = disk_new (&p, 1);
  disk_on_destaged (d, note, &last_ns);
  memset (on_media, 0, sizeof on_media);
  last_ns = 0;
  submit (d, 0, DISK_WRITE, DISK_FUA, 100, 500);
  disk_power_cut (d, disk_next_event (d) - US (500), &cut);
  assert_in_range (count (0, AREA), 455, 465);
  assert_int_equal (cut.torn_lba, 100 + count (0, AREA));
  disk_free (d);
}

static void
power_returns (void **state)
{
  struct profile p;
  struct disk *d;
  struct disk_cut cut;
  struct disk_completion c;
  struct disk_request r = { .op = DISK_READ, .lba = 8, .sectors = 8 };
  int64_t now = 0;

  (void) state;
  drive_wd (&p);
  p.power.spin_up_ns = MS (5500);
  d = disk_new (&p, 1);
  host_do (d, &now, DISK_READ, 0, 0, 8);
  submit (d, now, DISK_READ, 0, 30000000, 8);
  disk_power_cut (d, now + 5, &cut);
  assert_int_equal (cut.torn_lba, -1);
  assert_int_equal (disk_submit (d, now + 6, &r), -1);
  assert_int_equal (errno, ENODEV);
  now += MS (1000);
  assert_false (disk_advance (d, now, &c));
  disk_power_on (d, now);
  c = host_do (d, &now, DISK_READ, 0, 8, 8);
  /* The buffer is empty, and the platter has to come up to speed. */
  assert_int_equal (c.hit, DISK_HIT_MISS);
  assert_true (c.times.queue_ns == MS (5500));
  assert_int_equal (disk_get_stats (d)->power_cuts, 1);
  disk_free (d);
}

static int64_t
read_ns (struct disk *d, int64_t *now, int64_t lba, int64_t sectors,
         struct disk_completion *c)
{
  *c = host_do (d, now, DISK_READ, 0, lba, sectors);
  return c->complete_ns - c->arrival_ns;
}

static void
weak_sectors_cost_their_retries (void **state)
{
  struct profile p;
  struct disk *good, *bad;
  struct disk_completion c;
  int64_t now = 0, plain;

  (void) state;
  drive_wd (&p);
  p.media.retries = 20;
  good = disk_new (&p, 1);
  bad = disk_new (&p, 1);
  assert_int_equal (disk_add_fault (bad, 1003, 1, 7, 0), 0);
  plain = read_ns (good, &now, 1000, 8, &c);
  now = 0;
  /* 7 revolutions of 8 1/3 ms. */
  assert_int_equal (read_ns (bad, &now, 1000, 8, &c), plain + 58333333);
  assert_int_equal (c.retries, 7);
  assert_int_equal (c.error, 0);
  /* In the buffer it costs nothing; read again, as much as before. */
  assert_true (read_ns (bad, &now, 1000, 8, &c) < MS (1));
  /* Written, it is good. */
  host_do (bad, &now, DISK_WRITE, DISK_FUA, 1003, 1);
  assert_true (read_ns (bad, &now, 1000, 8, &c) < MS (20));
  assert_int_equal (disk_get_stats (bad)->healed_sectors, 1);
  disk_free (good);
  disk_free (bad);
}

static void
hard_sectors_are_errors (void **state)
{
  struct profile p;
  struct disk *d;
  struct disk_completion c;
  int64_t now = 0, ns;

  (void) state;
  drive_wd (&p);
  p.media.retries = 1000;
  p.media.timeout_ns = MS (2000);
  d = disk_new (&p, 1);
  assert_int_equal (disk_add_fault (d, 1003, 2, DISK_FAULT_HARD, 0), 0);
  ns = read_ns (d, &now, 1000, 8, &c);
  assert_int_equal (c.error, EIO);
  assert_int_equal (c.error_lba, 1003);
  /* The whole revolutions in 2 s, and finding it. */
  assert_in_range (ns, MS (1990), MS (2030));
  /* The sectors around it are fine, and look-ahead stops short of it. */
  read_ns (d, &now, 990, 8, &c);
  assert_int_equal (c.error, 0);
  now += MS (100);
  read_ns (d, &now, 1000, 3, &c);
  assert_int_equal (c.error, 0);
  read_ns (d, &now, 1005, 8, &c);
  assert_int_equal (c.error, 0);
  read_ns (d, &now, 1004, 1, &c);
  assert_int_equal (c.error, EIO);
  /* A cached write heals it when it is destaged. */
  host_do (d, &now, DISK_WRITE, 0, 1000, 8);
  host_do (d, &now, DISK_FLUSH, 0, 0, 0);
  read_ns (d, &now, 1000, 8, &c);
  assert_int_equal (c.error, 0);
  assert_int_equal (disk_add_fault (d, 39102336, 1, 1, 0), -1);
  disk_free (d);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (cut_while_destaging),
    cmocka_unit_test (cut_while_flushing),
    cmocka_unit_test (power_returns),
    cmocka_unit_test (weak_sectors_cost_their_retries),
    cmocka_unit_test (hard_sectors_are_errors),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
