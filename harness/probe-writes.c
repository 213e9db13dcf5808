/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes, of what has been read at the same place before.
 */
#include <math.h>

#include "fixed.h"
#include "probe-impl.h"

#define BURST (TARGET_SLOTS - 2)

/* Read so many places into the slots from 2 on. */
static int
read_burst (struct probe *p, int64_t *lba)
{
  const int64_t sectors = max_i64 (8, p->unit);

  for (int i = 0; i < BURST; i++) {
    lba[i] = probe_anywhere (p, 0, p->r->sectors, sectors) / 8 * 8;
    if (target_do (p->t, i + 2, DISK_READ, 0, lba[i], sectors) == -1)
      return -1;
  }
  return 0;
}

/* Write them one after the other; when that begins to take long, the cache
 * has no room any more.
 */
static int
measure_cache (struct probe *p)
{
  const int64_t sectors = max_i64 (8, p->unit);
  struct probe_result *r = p->r;
  int64_t lba[BURST];
  double ns[BURST], first[8];
  int n = 0;

  if (read_burst (p, lba) == -1)
    return -1;
  target_wait (p->t, 2000000000);
  for (int i = 0; i < BURST; i++) {
    int64_t t = target_do (p->t, i + 2, DISK_WRITE, 0, lba[i], sectors);

    if (t == -1)
      return -1;
    ns[i] = (double) t;
    if (i < 8)
      first[i] = ns[i];
  }
  r->commands += 2 * BURST;
  r->write_ns = probe_median (first, 8);
  r->write_cache = r->write_ns < r->turn_ns / 4;
  while (n < BURST && ns[n] < r->turn_ns / 4)
    n++;
  if (r->write_cache) {
    r->write_extents = n;
    r->write_ns -= (double) (sectors * DISK_SECTOR_SIZE) *
      r->bus_ps_per_byte / 1000;
  }
  if (p->info->can_flush) {
    int64_t t = target_do (p->t, 2, DISK_FLUSH, 0, 0, 0);

    if (t == -1)
      return -1;
    r->flush_ns = (double) t;
  }
  target_wait (p->t, 2000000000);
  return 0;
}

/* Sequential writes that wait for the media. */
static int
measure_sync (struct probe *p)
{
  const int64_t sectors = max_i64 (8, p->unit);
  const int64_t lba = p->r->sectors / 2 / 8 * 8;
  int64_t start_ns;

  for (int i = 0; i < BURST; i++)
    if (target_do (p->t, i + 2, DISK_READ, 0, lba + i * sectors, sectors)
        == -1)
      return -1;
  start_ns = target_now_ns (p->t);
  for (int i = 0; i < BURST; i++)
    if (target_do (p->t, i + 2, DISK_WRITE, DISK_FUA, lba + i * sectors,
                   sectors) == -1)
      return -1;
  p->r->sync_iops = BURST * 1e9 / (double) (target_now_ns (p->t) - start_ns);
  return 0;
}

struct distant {
  double cylinders;
};

static int
distant_place (struct probe *p, void *opaque, int64_t *a, int64_t *b)
{
  const struct distant *d = opaque;
  double from = (double) probe_below (p, 1000000) * 1e-6 *
    ((double) p->r->cylinders - d->cylinders);

  *a = probe_lba (p, from);
  *b = probe_lba (p, from + d->cylinders) / 8 * 8;
  return 0;
}

/* What writing takes longer to settle, over some distance. */
static int
measure_settle (struct probe *p)
{
  struct distant d = { .cylinders = (double) p->r->cylinders / 3 };
  struct reach w = {
    .place = distant_place, .opaque = &d, .room = 1, .resolution_ns = 4000,
    .sector_ns = probe_sector_ns (p, &p->r->zones[p->home]),
    .wait_ns = p->wait_for_ahead ? p->settle_ns : 0,
  };
  double read_ns, write_ns;

  if (probe_reach (p, &w, &read_ns) == -1)
    return -1;
  w.write = true;
  if (probe_reach (p, &w, &write_ns) == -1)
    return -1;
  /* It is longer by some sectors, whose data come before. */
  p->r->write_settle_ns = write_ns - read_ns -
    (double) (max_i64 (8, p->unit) - p->unit) * w.sector_ns -
    (p->r->write_cache ? p->r->write_ns - p->r->read_miss_ns : 0);
  return 0;
}

int
probe_writes (struct probe *p)
{
  if (measure_cache (p) == -1)
    return -1;
  if (p->info->can_fua &&
      (measure_sync (p) == -1 || measure_settle (p) == -1))
    return -1;
  p->r->wrote = true;
  probe_progress (p, "  write cache %s", p->r->write_cache ? "on" : "off");
  return 0;
}
