/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints every completion of a long random run.  The same program built by
 * other compilers, at other optimisation levels and for other machines must
 * print the same: see determinism-test.sh.  No test library here, so that
 * it builds wherever a compiler does.
 */
#include <inttypes.h>
#include <stdio.h>

#include "disk.h"
#include "fixed.h"

static const struct profile drive = {
  .name = "any",
  .geometry = {
    .sectors = 3000000, .heads = 3, .rpm_x100 = 1004537, .n_zones = 2,
    .zones = {
      { 1000, 650, PROFILE_SKEW_AUTO, PROFILE_SKEW_AUTO,
        PROFILE_SKEW_AUTO, 0 },
      { 867, 404, 55500, 70000, 3000, 1 },
    },
  },
  .seek = {
    .read = { .kind = SEEK_CURVE_THREE_POINT, .track_ns = 1000000,
              .average_ns = 12000000, .full_ns = 20000000 },
    .head_switch_ns = 1300000,
    .write_settle_ns = 700000,
  },
  .interface = { .bus_ps_per_byte = 6667, .overlap = true, .flush = true },
  .overhead = {
    .read_hit_ns = 100001, .read_miss_ns = 200003, .write_ns = 150007,
    .flush_ns = 50021, .trim_ns = 30011,
  },
  .buffer = { .size_bytes = 2 << 20, .segments = 7 },
  .lookahead = { .enabled = true, .restart_rotates = true },
  .write_cache = { .enabled = true, .max_extents = 40,
                   .order = DESTAGE_ELEVATOR, .unit_sectors = 100 },
};

int
main (void)
{
  struct disk *d = disk_new (&drive, 77);
  uint64_t rng = 5;
  int64_t now = 0;
  struct disk_completion c;

  for (int i = 0; d != NULL && i < 30000; i++) {
    struct disk_request r = {
      .tag = (uint64_t) i,
      .op = (enum disk_op) (splitmix64 (&rng) % 4),
      .flags = splitmix64 (&rng) % 5 == 0 ? DISK_FUA : 0,
      .lba = (int64_t) (splitmix64 (&rng) % 2990000),
      .sectors = 1 + (int64_t) (splitmix64 (&rng) % 600),
    };

    now += (int64_t) (splitmix64 (&rng) % 20000000);
    while (disk_advance (d, now, &c))
      printf ("%" PRIu64 " %" PRId64 " %" PRId64 " %d %d\n", c.request.tag,
              c.complete_ns, c.times.rotation_ns, c.hit, c.segment);
    if (disk_submit (d, now, &r) == -1)
      printf ("%d refused\n", i);
  }
  disk_free (d);
  return 0;
}
