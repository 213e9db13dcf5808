/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What must hold for every drive there is, whoever wrote its profile.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "drives.h"
#include "fixed.h"
#include "internal.h"
#include "loader.h"

static struct profile p;        /* too large for a stack */

typedef void per_drive (const struct profile *profile);

static void
run_one (void *opaque, const char *name, const char *path)
{
  per_drive *const *fn = opaque;
  char *error;

  if (profile_load (path, NULL, 0, &p, &error) == -1)
    fail_msg ("%s: %s", name, error);
  print_message ("# %s\n", name);
  if (!p.instant)
    (*fn) (&p);
}

static void
for_each (per_drive *fn)
{
  assert_true (profile_list (run_one, &fn) >= 3);
}

static void
check_place (const struct geometry *g, int64_t lba)
{
  struct place place;

  geometry_locate (g, lba, &place);
  assert_in_range (place.phase, 0, g->revolution - 1);
  assert_in_range (place.head, 0, g->heads - 1);
  assert_in_range (place.cylinder, 0, g->cylinders - 1);
  assert_int_equal (geometry_lba (g, &place), lba);
}

/* Every LBA has one place, and that place this LBA: at both ends of every
 * zone, around its holes, on both sides of track and cylinder boundaries,
 * and anywhere.
 */
static void
places_are_unique (const struct profile *profile)
{
  struct disk *d = disk_new (profile, 1);
  const struct geometry *g = &d->geometry;
  uint64_t rng = 3;

  for (int i = 0; i < g->n_zones; i++) {
    const struct zone *z = &g->zones[i];

    check_place (g, z->first_lba);
    check_place (g, z->first_lba + z->sectors - 1);
    for (int k = 0; k < z->n_holes; k++)
      for (int64_t n = z->holes[k].number - 2; n <= z->holes[k].number + 2;
           n++)
        if (n >= 0 && n < z->sectors)
          check_place (g, z->first_lba + n);
  }
  for (int i = 0; i < 20000; i++) {
    int64_t lba = (int64_t) (splitmix64 (&rng) % (uint64_t) g->sectors);
    int64_t end = geometry_track_end (g, lba);

    check_place (g, lba);
    check_place (g, end - 1);
    if (end < g->sectors)
      check_place (g, end);
    assert_true (geometry_track_start (g, lba) <= lba && lba < end);
    assert_true (end <= geometry_cylinder_end (g, lba));
  }
  disk_free (d);
}

static void
test_places (void **state)
{
  (void) state;
  for_each (places_are_unique);
}

/* Small drives, one for each way in which a layout leaves sectors out:
 * every LBA there is.
 */
static void
test_places_with_holes (void **state)
{
  static struct profile small;

  (void) state;
  for (int scheme = 0; scheme < 6; scheme++) {
    struct profile_geometry *g = &small.geometry;
    const int64_t track = 50, cylinder = 150, zone = 40 * 150;
    int64_t lost = 0;

    drive_wd (&small);
    g->heads = 3;
    g->serpentine = scheme == 5;
    g->n_zones = 2;
    for (int i = 0; i < 2; i++) {
      g->zones[i] = (struct profile_zone) {
        40, 50, 7000, 11500, i ? 3250 : 0, i ? 2 : 0
      };
      for (int64_t first = 0; first < zone; first++) {
        int64_t n = 0;

        switch (scheme) {
        case 1: n = first % 97 == 13; break;            /* slipped sectors */
        case 2: n = first % (7 * track) == 0 ? track : 0; break; /* tracks */
        case 3: n = first % cylinder == cylinder - 4 ? 4 : 0; break;
        case 4: n = first == 0 ? 333 : first == zone - 200 ? 200 : 0; break;
        }
        if (n > 0)
          g->holes[g->n_holes++] = (struct profile_hole) {
            (uint32_t) i, (uint32_t) n, first
          };
        lost += n;
      }
    }
    g->sectors = 2 * zone - lost;
    {
      struct disk *d = disk_new (&small, 1);

      for (int64_t lba = 0; lba < g->sectors; lba++)
        check_place (&d->geometry, lba);
      disk_free (d);
    }
  }
}

/* A transfer takes longer the longer it is, by at least its sectors. */
static void
transfers_grow (const struct profile *profile)
{
  struct disk *d = disk_new (profile, 1);
  const struct geometry *g = &d->geometry;
  uint64_t rng = 4;

  for (int i = 0; i < 3000; i++) {
    int64_t lba = (int64_t) (splitmix64 (&rng) %
                             (uint64_t) (g->sectors - 5000));
    int64_t n = 1 + (int64_t) (splitmix64 (&rng) % 4000);

    for (int write = 0; write < 2; write++) {
      int64_t ns = geometry_transfer_ns (g, lba, n, write);

      assert_true (geometry_transfer_ns (g, lba, n + 1, write) > ns);
      assert_in_range (geometry_sectors_passed (g, lba, ns, n + 9, write),
                       n - 1, n);
    }
  }
  disk_free (d);
}

static void
test_transfers (void **state)
{
  (void) state;
  for_each (transfers_grow);
}

/* Mixed commands at the drive's own depth: they all complete, in order of
 * time, with the parts adding up.
 */
static void
drive_works (const struct profile *profile)
{
  struct disk *d = disk_new (profile, 1);
  struct disk_completion c;
  uint64_t rng = 5;
  int64_t now = 0, done = 0, sent = 0;

  for (int i = 0; i < 3000; i++) {
    struct disk_request r = {
      .op = (enum disk_op) (splitmix64 (&rng) % 4),
      .flags = splitmix64 (&rng) % 8 == 0 ? DISK_FUA : 0,
      .sectors = 1 + (int64_t) (splitmix64 (&rng) % 256),
    };

    r.lba = (int64_t) (splitmix64 (&rng) %
                       (uint64_t) (profile->geometry.sectors - 256));
    if (i % 3 != 0)
      r.lba %= 20000;
    assert_int_equal (disk_submit (d, now, &r), 0);
    sent++;
    while (sent - done > (int64_t) (splitmix64 (&rng) % 32)) {
      const struct disk_times *t = &c.times;

      now = disk_next_event (d);
      assert_true (disk_advance (d, now, &c));
      assert_true (c.complete_ns <= now);
      assert_int_equal (c.complete_ns - c.arrival_ns,
                        t->queue_ns + t->overhead_ns + t->actuator_ns +
                        t->seek_ns + t->settle_ns + t->rotation_ns +
                        t->media_ns + t->bus_ns);
      done++;
    }
  }
  disk_free (d);
}

static void
test_drives_work (void **state)
{
  (void) state;
  for_each (drive_works);
}

/* One rotation a commit: 90, 120, 166 and 250 a second for 5400, 7200,
 * 10 000 and 15 000 rpm, whatever the drive.
 */
static void
test_commit_ceilings (void **state)
{
  static const struct { uint32_t rpm; int64_t per_s; } ceilings[] = {
    { 5400, 90 }, { 7200, 120 }, { 10000, 166 }, { 15000, 250 },
  };

  (void) state;
  for (size_t i = 0; i < sizeof ceilings / sizeof ceilings[0]; i++) {
    struct disk *d;
    int64_t now = 0, start;

    drive_wd (&p);
    p.geometry.rpm_x100 = ceilings[i].rpm * 100;
    d = disk_new (&p, 1);
    host_do (d, &now, DISK_WRITE, DISK_FUA, 5000, 8);
    start = now;
    for (int k = 0; k < 100; k++)
      host_do (d, &now, DISK_WRITE, DISK_FUA, 5000, 8);
    assert_int_equal (INT64_C (100) * 1000000000 / (now - start),
                      ceilings[i].per_s);
    disk_free (d);
  }
}

static void
memory_is_bounded (const struct profile *profile)
{
  struct disk *d = disk_new (profile, 1);

  assert_true (sizeof *d +
               (size_t) (profile->smr.enabled ? profile->smr.map_entries : 0) *
               sizeof d->smr.map[0] +
               (size_t) d->dirty.max * sizeof d->dirty.extents[0] <= 4 << 20);
  disk_free (d);
}

static void
test_memory (void **state)
{
  (void) state;
  for_each (memory_is_bounded);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_places),
    cmocka_unit_test (test_places_with_holes),
    cmocka_unit_test (test_transfers),
    cmocka_unit_test (test_drives_work),
    cmocka_unit_test (test_commit_ceilings),
    cmocka_unit_test (test_memory),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
