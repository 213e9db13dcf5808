/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "drives.h"
#include "fixed.h"
#include "geometry.h"
#include "seek.h"

static void
start_geometry (struct geometry *g, const struct profile *p, uint64_t angle)
{
  struct seek seek;

  seek_init (&seek, &p->seek, geometry_cylinders (&p->geometry));
  assert_int_equal (geometry_init (g, &p->geometry, &seek, angle), 0);
}

static void
small_drive (struct profile *p, uint32_t rpm_x100)
{
  drive_wd (p);
  p->geometry.sectors = 300000;
  p->geometry.heads = 3;
  p->geometry.rpm_x100 = rpm_x100;
  drive_zones (p, 5, 200, 97);
}

/* Every LBA has a place of its own, in order. */
static void
every_sector_has_its_place (void **state)
{
  struct profile p;
  struct geometry g;
  struct place here, before = { 0, 0, 0 };
  int64_t in_track = 0;

  (void) state;
  small_drive (&p, 720000);
  start_geometry (&g, &p, 12345);
  for (int64_t lba = 0; lba < g.sectors; lba++) {
    geometry_locate (&g, lba, &here);
    assert_in_range (here.phase, 0, g.revolution - 1);
    assert_in_range (here.head, 0, 2);
    assert_in_range (here.cylinder, 0, g.cylinders - 1);
    if (lba > 0 && here.cylinder == before.cylinder &&
        here.head == before.head) {
      assert_true (here.phase != before.phase);
      in_track++;
    }
    else if (lba > 0) {
      assert_true (in_track + 1 >= 97 && in_track + 1 <= 200);
      assert_true (here.cylinder == before.cylinder
                   ? here.head == before.head + 1
                   : here.cylinder == before.cylinder + 1 && here.head == 0);
      in_track = 0;
    }
    assert_int_equal (geometry_track_end (&g, lba) > lba, 1);
    before = here;
  }
  assert_int_equal (before.cylinder, g.cylinders - 1);
  geometry_free (&g);
}

static void
transfer_and_its_inverse (void **state)
{
  static const uint32_t rpms[] = { 540000, 720000, 1004500, 720072, 1500000 };
  uint64_t rng = 7;

  (void) state;
  for (size_t k = 0; k < sizeof rpms / sizeof rpms[0]; k++) {
    struct profile p;
    struct geometry g;

    small_drive (&p, rpms[k]);
    start_geometry (&g, &p, splitmix64 (&rng));
    for (int i = 0; i < 20000; i++) {
      int64_t lba = (int64_t) (splitmix64 (&rng) % 300000);
      int64_t n = (int64_t) (splitmix64 (&rng) % (uint64_t) (300001 - lba));
      int64_t ns = geometry_transfer_ns (&g, lba, n, false);
      int64_t passed = geometry_sectors_passed (&g, lba, ns, n, false);

      /* Zones add a nanosecond of rounding each. */
      assert_in_range (passed, max_i64 (n - 1, 0), n);
      if (n > 0) {
        assert_true (ns > geometry_transfer_ns (&g, lba, n - 1, false));
        assert_true (geometry_sectors_passed (&g, lba, ns - 1000, n, false) <= n);
        assert_true (geometry_sectors_passed
                     (&g, lba, geometry_transfer_ns (&g, lba, n - 1, false) - 10,
                      n, false) <= n - 1);
      }
    }
    geometry_free (&g);
  }
}

/* A transfer that runs on its own clock must meet the platter: the wait
 * for the sector after it is nothing, wherever it ends.
 */
static void
transfer_keeps_the_angle (void **state)
{
  struct profile p;
  struct geometry g;
  struct place from, to;
  uint64_t rng = 9;

  (void) state;
  small_drive (&p, 720000);
  start_geometry (&g, &p, 99);
  for (int i = 0; i < 20000; i++) {
    int64_t lba = (int64_t) (splitmix64 (&rng) % 299000);
    int64_t n = 1 + (int64_t) (splitmix64 (&rng) % 1000);
    int64_t t = (int64_t) (splitmix64 (&rng) >> 8), wait;

    geometry_locate (&g, lba, &from);
    geometry_locate (&g, lba + n - 1, &to);
    t += geometry_wait_ns (&g, t, from.phase);
    t += geometry_transfer_ns (&g, lba, n, false) -
      geometry_transfer_ns (&g, lba + n - 1, 1, false);
    wait = geometry_wait_ns (&g, t, to.phase);
    assert_true (wait <= 4 || wait >= geometry_revolution_ns (&g) - 8);
  }
  geometry_free (&g);
}

/* The period of 7200 rpm is 8333333 1/3 ns: no drift in a month. */
static void
rotation_keeps_its_fraction (void **state)
{
  struct profile p;
  struct geometry g;
  const int64_t month_ns = INT64_C (30) * 86400 * 1000000000;

  (void) state;
  small_drive (&p, 720000);
  start_geometry (&g, &p, 5);
  assert_int_equal (geometry_phase_at (&g, 0),
                    geometry_phase_at (&g, month_ns));
  assert_int_equal (geometry_phase_at (&g, 1),
                    geometry_phase_at (&g, 25000001));
  assert_int_equal (geometry_revolution_ns (&g), 8333333);
  geometry_free (&g);
}

/* A switch that the skew does not hide costs a revolution. */
static void
short_skew_loses_a_revolution (void **state)
{
  struct profile p;
  struct geometry good, bad;
  int64_t extra;

  (void) state;
  small_drive (&p, 720000);
  start_geometry (&good, &p, 0);
  p.geometry.zones[0].track_skew_x1000 = 10000;
  start_geometry (&bad, &p, 0);
  extra = geometry_transfer_ns (&bad, 0, 400, false) -
    geometry_transfer_ns (&good, 0, 400, false);
  /* 29 sectors of skew hide 1.2 ms; 10 do not. */
  assert_in_range (extra, 8333333 - 19 * 41667 - 9, 8333333 - 19 * 41667 + 9);
  geometry_free (&good);
  geometry_free (&bad);
}

/* The head stays when the cylinder changes, and then comes back. */
static void
serpentine_order (void **state)
{
  struct profile p;
  struct geometry g;
  struct place here, before = { 0, 0, 0 };

  (void) state;
  small_drive (&p, 720000);
  p.geometry.serpentine = true;
  start_geometry (&g, &p, 1);
  for (int64_t lba = 0; lba < g.sectors; lba = geometry_track_end (&g, lba)) {
    geometry_locate (&g, lba, &here);
    assert_int_equal (geometry_lba (&g, &here), lba);
    if (lba > 0 && lba < g.zones[0].sectors)
      assert_true (here.cylinder == before.cylinder
                   ? here.head == before.head + 1 ||
                     here.head == before.head - 1
                   : here.head == before.head);
    before = here;
    if (geometry_track_end (&g, lba) == g.sectors)
      break;
  }
  geometry_free (&g);
}

/* Slips, spares and reserved space: sectors pass, but have no LBA. */
static void
holes_are_passed_over (void **state)
{
  static const struct profile_hole holes[] = {
    { 0, 50, 0 }, { 0, 1, 200 }, { 0, 1, 201 }, { 0, 3, 5000 },
    { 2, 200, 777 }, { 4, 1, 96 },
  };
  struct profile p;
  struct geometry g, plain;
  struct place here, before = { 0, 0, 0 };

  (void) state;
  small_drive (&p, 720000);
  start_geometry (&plain, &p, 12345);
  p.geometry.n_holes = sizeof holes / sizeof holes[0];
  for (size_t i = 0; i < p.geometry.n_holes; i++) {
    p.geometry.holes[i] = holes[i];
    p.geometry.sectors -= holes[i].sectors;
  }
  start_geometry (&g, &p, 12345);
  for (int64_t lba = 0; lba < g.sectors; lba++) {
    geometry_locate (&g, lba, &here);
    assert_true (lba == 0 || here.cylinder > before.cylinder ||
                 (here.cylinder == before.cylinder &&
                  (here.head > before.head || here.phase != before.phase)));
    before = here;
    assert_true (geometry_track_start (&g, lba) <= lba);
    assert_true (geometry_track_end (&g, lba) > lba);
  }
  /* Sector 100 is the 150th of the plain drive; 148 and 149 are slipped
   * between it and sector 150.
   */
  geometry_locate (&g, 100, &here);
  geometry_locate (&plain, 150, &before);
  assert_int_equal (here.phase, before.phase);
  geometry_locate (&g, 150, &here);
  geometry_locate (&plain, 202, &before);
  assert_int_equal (here.phase, before.phase);
  assert_int_equal (geometry_transfer_ns (&g, 100, 51, false),
                    geometry_transfer_ns (&plain, 150, 53, false));
  geometry_free (&g);
  geometry_free (&plain);
}

/* A remapped sector costs whole revolutions, and only those who use it. */
static void
remapped_sectors_cost_revolutions (void **state)
{
  struct profile p;
  struct geometry g, plain;
  int64_t extra;

  (void) state;
  small_drive (&p, 720000);
  p.geometry.n_holes = 1;
  p.geometry.holes[0] = (struct profile_hole) { 4, 90, 1000 };
  p.geometry.sectors -= 90;
  start_geometry (&plain, &p, 0);
  p.geometry.n_remaps = 2;
  p.geometry.remaps[0] = (struct profile_remap) { 1000, 4, 1000 };
  p.geometry.remaps[1] = (struct profile_remap) { 1010, 4, 1001 };
  start_geometry (&g, &p, 0);
  assert_int_equal (geometry_transfer_ns (&g, 500, 500, false),
                    geometry_transfer_ns (&plain, 500, 500, false));
  extra = geometry_transfer_ns (&g, 500, 501, false) -
    geometry_transfer_ns (&plain, 500, 501, false);
  assert_true (extra >= 2 * 8333333);
  assert_true (extra % 25000000 % 8333333 <= 2);
  extra = geometry_transfer_ns (&g, 500, 511, false) -
    geometry_transfer_ns (&plain, 500, 511, false);
  assert_true (extra >= 4 * 8333333);
  for (int64_t n = 1; n < 2000; n++) {
    int64_t ns = geometry_transfer_ns (&g, 500, n, false);

    assert_int_equal (geometry_sectors_passed (&g, 500, ns, 2000, false), n);
    assert_int_equal (geometry_sectors_passed (&g, 500, ns - 1, 2000, false),
                      n - 1);
  }
  geometry_free (&plain);
  geometry_free (&g);
}

static int64_t
average_over_pairs (const struct seek *s, int64_t cylinders)
{
  int64_t sum = 0;

  /* 2 (n - d) of n^2 ordered pairs are d apart. */
  for (int64_t d = 1; d < cylinders; d++)
    sum += seek_arm_ns (s, d, false) * 2 * (cylinders - d) / cylinders;
  return sum / cylinders;
}

static void
seek_curve_meets_its_numbers (void **state)
{
  /* track, average, full in us: sqrt and linear; convex; nearly all of it
   * early, which only a power law gives.
   */
  static const int64_t curves[][3] = {
    { 2000, 8900, 17000 }, { 2000, 8900, 21000 }, { 900, 9300, 17800 },
    { 1200, 8500, 14700 }, { 1000, 12000, 20000 }, { 2000, 6000, 17000 },
  };

  (void) state;
  for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
    struct profile_seek p = {
      .read = { .kind = SEEK_CURVE_THREE_POINT,
                .track_ns = US (curves[i][0]),
                .average_ns = US (curves[i][1]),
                .full_ns = US (curves[i][2]) },
    };
    struct seek s;
    const int64_t n = 37000;
    int64_t average;

    seek_init (&s, &p, n);
    assert_int_equal (seek_arm_ns (&s, 0, false), 0);
    assert_int_equal (seek_arm_ns (&s, 1, false), p.read.track_ns);
    assert_in_range (seek_arm_ns (&s, n - 1, false), p.read.full_ns - 5000, p.read.full_ns);
    for (int64_t d = 1; d < n - 1; d++)
      assert_true (seek_arm_ns (&s, d, false) <= seek_arm_ns (&s, d + 1, false));
    average = average_over_pairs (&s, n);
    assert_in_range (average, p.read.average_ns * 995 / 1000,
                     p.read.average_ns * 1005 / 1000);
  }
}

static void
seek_table (void **state)
{
  struct profile_seek p = {
    .read = { .kind = SEEK_CURVE_TABLE, .n_points = 3,
              .points = { { 1, 1000 }, { 101, 2000 }, { 1101, 4000 } } },
    .head_switch_ns = 1500,
  };
  struct seek s;

  (void) state;
  seek_init (&s, &p, 2000);
  assert_int_equal (seek_arm_ns (&s, 1, false), 1000);
  assert_int_equal (seek_arm_ns (&s, 51, false), 1500);
  assert_int_equal (seek_arm_ns (&s, 101, false), 2000);
  assert_in_range (seek_arm_ns (&s, 601, false), 2999, 3001);
  assert_in_range (seek_arm_ns (&s, 1601, false), 4999, 5001);
  assert_int_equal (seek_ns (&s, 1, 1, false), 1500);
  assert_int_equal (seek_ns (&s, 101, 1, false), 2000);
  assert_int_equal (seek_ns (&s, 0, 1, false), 1500);
  assert_int_equal (seek_ns (&s, 0, 0, false), 0);
}

static void
fixed_point (void **state)
{
  (void) state;
  assert_int_equal (isqrt64 (0), 0);
  assert_int_equal (isqrt64 (UINT64_MAX), UINT32_MAX);
  for (uint64_t i = 1; i < 70000; i++) {
    assert_int_equal (isqrt64 (i * i), i);
    assert_int_equal (isqrt64 (i * i - 1), i - 1);
  }
  assert_int_equal (q32_sqrt (Q32_ONE / 4), Q32_ONE / 2);
  assert_int_equal (q32_pow (Q32_ONE / 4, Q32_ONE / 2), Q32_ONE / 2);
  assert_int_equal (q32_pow (Q32_ONE / 2, 2 * Q32_ONE), Q32_ONE / 4);
  assert_int_equal (q32_pow (Q32_ONE, 123456), Q32_ONE);
  assert_int_equal (q32_scale (-3000000000, Q32_ONE / 2), -1500000000);
  assert_int_equal (gcd64 (720000, INT64_C (6000000000000)), 240000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_sector_has_its_place),
    cmocka_unit_test (transfer_and_its_inverse),
    cmocka_unit_test (transfer_keeps_the_angle),
    cmocka_unit_test (rotation_keeps_its_fraction),
    cmocka_unit_test (short_skew_loses_a_revolution),
    cmocka_unit_test (serpentine_order),
    cmocka_unit_test (holes_are_passed_over),
    cmocka_unit_test (remapped_sectors_cost_revolutions),
    cmocka_unit_test (seek_curve_meets_its_numbers),
    cmocka_unit_test (seek_table),
    cmocka_unit_test (fixed_point),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
