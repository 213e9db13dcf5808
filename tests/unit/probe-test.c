/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probe drives of the model and get their profiles back: six of the library
 * and two made at random.  With PROBE_TEST_COUNT, all of the library and so
 * many that nobody has seen before.
 */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixed.h"
#include "geometry.h"
#include "loader.h"
#include "harness/probe.h"
#include "random-drive.h"

/* What the probe should find. */
struct truth {
  const struct profile *profile;
  struct geometry geometry;
  struct seek seek;
  int64_t cylinders;
  double average_ns;
};

static void
truth_init (struct truth *t, const struct profile *p)
{
  int64_t longest;
  double sum = 0, weights = 0;

  t->profile = p;
  t->cylinders = geometry_cylinders (&p->geometry);
  seek_init (&t->seek, &p->seek, t->cylinders);
  assert_int_equal (geometry_init (&t->geometry, &p->geometry, &t->seek, 0),
                    0);
  longest = t->cylinders - 1;
  for (int64_t d = 1; d <= longest; d += 1 + d / 200) {
    double weight = (double) (longest + 1 - d) * (double) (1 + d / 200);

    sum += weight * (double) seek_arm_ns (&t->seek, d, false);
    weights += weight;
  }
  t->average_ns = sum / weights;
}

static int failures;

/* Note a figure that is off by more than `percent' of what it should be. */
static void
within (const char *what, double is, double should, double percent)
{
  double off = should == 0 ? fabs (is) * 100 : fabs (is / should - 1) * 100;

  if (off <= percent)
    return;
  print_error ("%s: %g instead of %g\n", what, is, should);
  failures++;
}

static void
check_zones (const struct truth *t, const struct probe_result *r)
{
  const struct geometry *g = &t->geometry;
  const double turn_ns = (double) g->revolution / (double) g->rate;

  within ("zones", r->n_zones, g->n_zones, 0);
  if (r->n_zones != g->n_zones)
    return;
  for (int i = 0; i < g->n_zones; i++) {
    const struct zone *z = &g->zones[i];
    double cylinder_ns = (double) z->cylinder_length[0] / (double) g->rate;
    double mb_s = 512e3 * (double) (z->sectors_per_track * g->heads) /
      cylinder_ns;
    const double raw_mb_s = 512e3 * (double) z->sectors_per_track / turn_ns;
    /* What 64 KiB take from the buffer, and pass under the head. */
    double hit_ns = (double) t->profile->overhead.read_hit_ns +
      65.536 * (double) t->profile->interface.bus_ps_per_byte;
    double media_ns = 65536e3 / raw_mb_s;

    /* In per cent of the capacity. */
    if (fabs ((double) (r->zones[i].first - z->first_lba)) >
        0.01 * (double) g->sectors)
      within ("zone boundary", (double) r->zones[i].first,
              (double) z->first_lba, 0);
    within ("rate under the head", 512e3 * r->zones[i].sectors_per_track /
            r->turn_ns, raw_mb_s, 2);
    /* Or the overheads and the bus decide: look-ahead fills its segment, and
     * a turn is lost until there is room again.
     */
    if (hit_ns < 0.8 * media_ns && t->profile->lookahead.enabled)
      within ("sustained rate", r->zones[i].mb_s, mb_s, 2);
  }
}

static void
check_seeks (const struct truth *t, const struct probe_result *r)
{
  int64_t track = seek_arm_ns (&t->seek, 1, false);

  within ("heads", r->heads, (double) t->geometry.heads, 0);
  within ("track to track", r->track_ns, (double) track, 5);
  within ("average seek", r->average_ns, t->average_ns, 5);
  within ("full stroke", r->full_ns,
          (double) seek_arm_ns (&t->seek, t->cylinders - 1, false), 5);
  if (t->geometry.heads > 1)
    within ("head switch", r->head_switch_ns,
            (double) t->seek.head_switch_ns, 5);
}

static void
check_buffer (const struct truth *t, const struct probe_result *r)
{
  const struct profile *p = t->profile;
  int64_t segment = p->buffer.segment_bytes
    ? p->buffer.segment_bytes : p->buffer.size_bytes / p->buffer.segments;
  int64_t ahead = segment - p->lookahead.keep_behind_bytes;

  if (p->lookahead.limit_bytes > 0 && p->lookahead.limit_bytes < ahead)
    ahead = p->lookahead.limit_bytes;
  within ("overhead of hits", r->read_hit_ns, (double) p->overhead.read_hit_ns,
          10);
  within ("overhead of misses", r->read_miss_ns,
          (double) p->overhead.read_miss_ns, 10);
  within ("bus", r->bus_ps_per_byte,
          (double) p->interface.bus_ps_per_byte, 10);
  within ("segments", r->segments, p->buffer.segments, 0);
  if (!p->buffer.adaptive)
    within ("segment", (double) r->segment_sectors * 512, (double) segment,
            15);
  if (p->lookahead.enabled && p->lookahead.limit == AHEAD_BYTES &&
      !p->buffer.adaptive)
    within ("look-ahead", (double) r->ahead_sectors * 512, (double) ahead,
            15);
  if (p->lookahead.enabled)
    within ("look-ahead of streams only", r->sequential_only,
            p->lookahead.sequential_only, 0);
}

/* Probe it, and note what is not as it should be. */
static void
probe_one (const struct profile *p, uint64_t seed)
{
  struct target *target = target_model (p, seed);
  struct probe_result *r = calloc (1, sizeof *r);
  struct truth *t = calloc (1, sizeof *t);
  clock_t start = clock ();

  assert_non_null (target);
  assert_non_null (r);
  assert_non_null (t);
  truth_init (t, p);
  assert_int_equal (probe_run (target, seed, false, NULL, r), 0);
  if (r->status != PROBE_DONE) {
    print_error ("%s\n", r->reason);
    failures++;
  }
  else {
    within ("rpm", 60e9 / r->turn_ns, p->geometry.rpm_x100 / 100.0, 0.1);
    check_zones (t, r);
    check_seeks (t, r);
    check_buffer (t, r);
    within ("seconds", fmax ((double) (clock () - start) / CLOCKS_PER_SEC, 60),
            60, 0);
  }
  geometry_free (&t->geometry);
  target_close (target);
  free (t);
  free (r);
}

static void
probe_file (const char *path)
{
  struct profile *p = calloc (1, sizeof *p);
  char *error;

  assert_non_null (p);
  assert_int_equal (profile_load (path, NULL, 0, p, &error), 0);
  if (!p->instant)
    probe_one (p, 1);
  free (p);
}

static void
test_library (void **state)
{
  char *path = NULL;

  failures = 0;
  assert_true (asprintf (&path, "profiles/%s.cfg", (char *) *state) > 0);
  probe_file (path);
  free (path);
  assert_int_equal (failures, 0);
}

/* Drives that nobody has seen before. */
static void
probe_random (uint64_t seed, int n)
{
  struct profile *p = calloc (1, sizeof *p);
  int wrong = 0;

  assert_non_null (p);
  for (int i = 0; i < n; i++, seed++) {
    random_drive (p, seed);
    print_message ("# seed %llu: %s\n", (unsigned long long) seed, p->title);
    failures = 0;
    probe_one (p, seed);
    wrong += failures > 0;
  }
  free (p);
  if (n > 2)
    print_message ("# %d of %d drives made out\n", n - wrong, n);
  assert_int_equal (wrong, 0);
}

static void
test_random (void **state)
{
  (void) state;
  probe_random (1, 2);
}

/* ---- make check-probe ---- */

static const char *count;       /* PROBE_TEST_COUNT */

/* PROBE_TEST_SEED, or others each time. */
static void
test_many (void **state)
{
  const char *given = getenv ("PROBE_TEST_SEED");

  (void) state;
  probe_random (given ? strtoull (given, NULL, 10)
                : (uint64_t) time (NULL) * 1000 + (uint64_t) getpid (),
                atoi (count));
}

static void
test_all (void **state)
{
  glob_t files;
  int wrong = 0;

  (void) state;
  assert_int_equal (glob ("profiles/*.cfg", 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    failures = 0;
    probe_file (files.gl_pathv[i]);
    if (failures > 0)
      print_error ("%s\n", files.gl_pathv[i]);
    wrong += failures > 0;
  }
  globfree (&files);
  assert_int_equal (wrong, 0);
}

/* ---- what is no disk ---- */

static void
test_no_time (void **state)
{
  struct profile p = { .name = "none", .instant = true,
                       .geometry.sectors = 10000000 };
  struct target *target = target_model (&p, 1);
  struct probe_result r;

  (void) state;
  assert_int_equal (probe_run (target, 1, false, NULL, &r), 0);
  assert_int_equal (r.status, PROBE_NOT_ROTATING);
  assert_non_null (strstr (r.reason, "not a rotating disk"));
  target_close (target);
}

/* Seeks, but nothing turns: what an SSD with a long queue might look like. */
static void
test_no_platter (void **state)
{
  struct profile *p = calloc (1, sizeof *p);
  struct target *target;
  struct probe_result r;

  (void) state;
  assert_non_null (p);
  random_drive (p, 1);
  /* So fast that a turn is nothing beside the noise of the seeks. */
  p->geometry.rpm_x100 = 10000000;
  p->seek.spread_ns = 2000000;
  target = target_model (p, 1);
  assert_int_equal (probe_run (target, 1, false, NULL, &r), 0);
  assert_int_not_equal (r.status, PROBE_DONE);
  target_close (target);
  free (p);
}

static void
test_tiny (void **state)
{
  struct profile p = { .name = "tiny", .instant = true,
                       .geometry.sectors = 2880 };
  struct target *target = target_model (&p, 1);
  struct probe_result r;

  (void) state;
  assert_int_equal (probe_run (target, 1, false, NULL, &r), 0);
  assert_int_equal (r.status, PROBE_TOO_SMALL);
  target_close (target);
}

int
main (void)
{
#define LIBRARY(name) \
  { "probe " name, test_library, NULL, NULL, (void *) (uintptr_t) name }
  const struct CMUnitTest tests[] = {
    LIBRARY ("wd200bb"), LIBRARY ("maxtor-6y120p0"),
    LIBRARY ("hitachi-7k80"), LIBRARY ("generic-1998-5400"),
    LIBRARY ("samsung-hd103uj"), LIBRARY ("wd-raptor-wd740gd"),
    cmocka_unit_test (test_random), cmocka_unit_test (test_no_time),
    cmocka_unit_test (test_no_platter), cmocka_unit_test (test_tiny),
  };
  const struct CMUnitTest more[] = {
    cmocka_unit_test (test_all), cmocka_unit_test (test_many),
  };

  count = getenv ("PROBE_TEST_COUNT");
  return count ? cmocka_run_group_tests (more, NULL, NULL)
               : cmocka_run_group_tests (tests, NULL, NULL);
}
