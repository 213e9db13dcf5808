/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "drives.h"

void
drive_zones (struct profile *p, uint32_t n, uint32_t outer, uint32_t inner)
{
  struct profile_geometry *g = &p->geometry;
  int64_t mean = (outer + inner) / 2;
  int64_t cylinders = g->sectors / (mean * g->heads) / n;
  int64_t left = g->sectors;

  g->n_zones = n;
  for (uint32_t i = 0; i < n; i++) {
    struct profile_zone *z = &g->zones[i];
    int64_t per_cylinder;

    z->sectors_per_track = n == 1 ? outer
      : outer - (outer - inner) * i / (n - 1);
    z->track_skew_x1000 = z->cylinder_skew_x1000 = PROFILE_SKEW_AUTO;
    z->offset_x1000 = PROFILE_SKEW_AUTO;
    per_cylinder = (int64_t) z->sectors_per_track * g->heads;
    z->cylinders = (uint32_t)
      (i + 1 < n ? cylinders : (left + per_cylinder - 1) / per_cylinder);
    left -= z->cylinders * per_cylinder;
  }
  assert_true (left <= 0);
}

void
drive_wd (struct profile *p)
{
  *p = (struct profile) {
    .name = "wd",
    .geometry = { .sectors = 39102336, .heads = 2, .rpm_x100 = 720000 },
    .seek = {
      .read = { .kind = SEEK_CURVE_THREE_POINT, .track_ns = MS (2),
                .average_ns = US (8900), .full_ns = MS (17) },
      .head_switch_ns = US (1200), .write_settle_ns = MS (2),
    },
    .interface = { .bus_ps_per_byte = 15000, .overlap = true, .flush = true,
                   .fua = true },
    .overhead = { .read_hit_ns = US (215), .read_miss_ns = US (300),
                  .write_ns = US (300), .flush_ns = US (300),
                  .trim_ns = US (300) },
    .buffer = { .size_bytes = KIB (2048), .segments = 8 },
    .lookahead = { .enabled = true, .limit_bytes = KIB (192),
                   .on_command = INTERRUPT_ABORT, .restart_rotates = true },
    .write_cache = { .enabled = true, .max_extents = 32,
                     .order = DESTAGE_ELEVATOR, .unit_sectors = 128 },
  };
  drive_zones (p, 14, 650, 396);
}

struct disk_completion
host_do (struct disk *d, int64_t *now, enum disk_op op, unsigned flags,
         int64_t lba, int64_t sectors)
{
  struct disk_request r = { .op = op, .flags = flags, .lba = lba,
                            .sectors = sectors };
  struct disk_completion c;
  const struct disk_times *t = &c.times;

  while (disk_advance (d, *now, &c))
    fail_msg ("a completion nobody waited for");
  assert_int_equal (disk_submit (d, *now, &r), 0);
  assert_true (disk_advance (d, disk_next_event (d), &c));
  assert_int_equal (c.arrival_ns, *now);
  assert_true (c.complete_ns >= *now);
  assert_int_equal (c.complete_ns - c.arrival_ns,
                    t->queue_ns + t->overhead_ns + t->actuator_ns +
                    t->seek_ns + t->settle_ns + t->rotation_ns +
                    t->media_ns + t->bus_ns);
  *now = c.complete_ns;
  return c;
}

int64_t
host_sequential (struct disk *d, int64_t *now, enum disk_op op, int64_t lba,
                 int64_t each, int64_t total, int64_t think_ns)
{
  int64_t start = *now, n = total / each;

  for (int64_t i = 0; i < n; i++) {
    host_do (d, now, op, 0, lba + i * each, each);
    *now += think_ns;
  }
  return n * each * 512 * 1000 / 1048576 * 1000000000 / (*now - start);
}
