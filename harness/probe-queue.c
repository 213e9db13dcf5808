/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Look-ahead when another command comes, and several commands at once.
 */
#include <math.h>
#include <stdlib.h>

#include "fixed.h"
#include "probe-impl.h"

/* ---- what look-ahead does ---- */

/* Between two places whose distance is always about the same; `a' at a
 * certain sector of its track, if that can be.
 */
struct fixed_pair {
  bool late;                    /* a is near its track's end */
};

static int64_t
far_end (const struct probe *p)
{
  const int64_t tenth = p->r->sectors / 10;

  return p->r->zones[p->home].first > p->r->sectors / 2
    ? tenth : p->r->sectors - tenth;
}

static int
fixed_place (struct probe *p, void *opaque, int64_t *a, int64_t *b)
{
  const struct fixed_pair *f = opaque;
  const struct probe_zone *z = &p->r->zones[p->home];
  const int64_t tracks = z->sectors / p->track / 3;
  int64_t start = p->anchor + p->track *
    (probe_below (p, tracks) - tracks / 2);
  const int64_t far = far_end (p), room = p->r->sectors / 1000;

  *a = start + (f->late ? p->track - 5 * p->unit : p->track / 8);
  *a -= *a % p->unit;
  *b = probe_anywhere (p, far, far + room, p->unit) + p->unit;
  return 0;
}

static int
pair_reach (struct probe *p, bool late, bool settled, double *ns)
{
  struct fixed_pair f = { .late = late };
  /* The sector is chosen, not the time: it must be at once. */
  const struct probe_zone *z = probe_zone_of (p, far_end (p));
  const struct reach w = {
    .place = fixed_place, .opaque = &f, .resolution_ns = 20000,
    .room = (int64_t) z->sectors_per_track - 2 * p->unit,
    .sector_ns = probe_sector_ns (p, z),
    .wait_ns = settled ? p->settle_ns : 0,
    .pair = p->r->sequential_only,
  };

  return probe_reach (p, &w, ns);
}

/* From the middle of a track and from near its end, at once and later. */
static int
find_policy (struct probe *p)
{
  const double much = fmax (p->r->turn_ns / 10, 4 * p->r->noise_ns);
  double early, late, settled;

  if (pair_reach (p, false, false, &early) == -1 ||
      pair_reach (p, true, false, &late) == -1 ||
      pair_reach (p, true, true, &settled) == -1)
    return -1;
  if (early > settled + much)
    p->r->on_command = late > settled + much ? INTERRUPT_FINISH
                                             : INTERRUPT_TRACK;
  else if (!p->r->sequential_only) {
    /* Perhaps a command for the same track leaves it alone. */
    if (probe_home_reach (p, 0, &early) == -1)
      return -1;
    if (early > p->base_ns + much)
      p->r->on_command = INTERRUPT_ELSEWHERE;
  }
  return 0;
}

/* Track or cylinder, where look-ahead is not always as far. */
static int
find_limit (struct probe *p)
{
  const struct probe_zone *z = &p->r->zones[p->home];
  const int64_t group = p->track * p->r->heads;
  const int64_t cylinders = min_i64 ((p->anchor - z->first) / group / 2, 500);
  int64_t ahead;

  if (p->r->ahead_limit == AHEAD_BYTES || cylinders < 60)
    return 0;
  ahead = probe_ahead (p, p->anchor, cylinders / 30 * group,
                       p->r->sequential_only);
  if (ahead == -1)
    return -1;
  if (ahead > p->track + p->track / 2)
    p->r->ahead_limit = AHEAD_CYLINDER;
  return 0;
}

/* The next sector after look-ahead has ended: at once, or after a wait for
 * the platter?
 */
static int
find_restart (struct probe *p)
{
  double longest = 0, done_ns;

  p->r->restart_rotates = true;
  if (p->r->ahead_limit != AHEAD_BYTES)
    return 0;
  for (int i = 0; i < 8; i++) {
    int64_t lba = probe_anywhere (p, p->unit, p->r->sectors - 8 -
                                  p->r->ahead_sectors - p->unit, p->unit);
    int64_t ns;

    if (p->r->sequential_only &&
        probe_read (p, lba - p->unit, &done_ns) == -1)
      return -1;
    if (target_read (p->t, lba, p->unit) == -1)
      return -1;
    target_wait (p->t, p->settle_ns + probe_below (p, 10000000));
    ns = target_read (p->t, lba + p->unit + p->r->ahead_sectors, p->unit);
    if (ns == -1)
      return -1;
    p->r->commands += 2;
    longest = fmax (longest, (double) ns);
  }
  p->r->restart_rotates = longest > p->hit_most_ns + p->r->turn_ns / 5;
  return 0;
}

int
probe_policy (struct probe *p)
{
  static const char *const names[] = {
    [INTERRUPT_ABORT] = "stops", [INTERRUPT_FINISH] = "goes on",
    [INTERRUPT_TRACK] = "goes on to the end of the track",
    [INTERRUPT_ELSEWHERE] = "stops, unless the command is for its track"
  };

  if (!p->r->has_buffer || p->r->ahead_sectors == 0)
    return 0;
  if (find_policy (p) == -1 || find_limit (p) == -1 || find_restart (p) == -1)
    return -1;
  probe_progress (p, "  it %s", names[p->r->on_command]);
  return 0;
}

/* ---- several at once ---- */

static int
random_rate (struct probe *p, int depth, int n, double *iops)
{
  const int64_t sectors = max_i64 (8, p->unit);
  int64_t start_ns = target_now_ns (p->t), done_ns = start_ns;
  int slot = 0;

  for (int i = 0; i < n + depth; i++) {
    slot = i < depth ? i : target_take (p->t, &done_ns);
    if (slot == -1)
      return -1;
    if (i < n &&
        target_submit (p->t, slot, DISK_READ, 0,
                       probe_anywhere (p, 0, p->r->sectors, sectors) /
                       8 * 8, sectors) == -1)
      return -1;
  }
  p->r->commands += n;
  *iops = n * 1e9 / (double) (done_ns - start_ns);
  return 0;
}

int
probe_queue (struct probe *p)
{
  const int n = p->info->virtual_time ? 800 : 200;
  struct probe_result *r = p->r;
  double iops, last;

  r->queue_depth = 1;
  if (random_rate (p, 1, n, &r->iops) == -1)
    return -1;
  last = r->queued_iops = r->iops;
  for (int depth = 2; depth <= min_i64 (p->info->depth, 32); depth *= 2) {
    if (random_rate (p, depth, n, &iops) == -1)
      return -1;
    if (iops > 1.06 * last)
      r->queue_depth = depth;
    r->queued_iops = fmax (r->queued_iops, iops);
    last = iops;
  }
  if (r->queued_iops < 1.15 * r->iops)
    r->queue_depth = 1;
  probe_progress (p, "  random reads: %.0f a second, %.0f with up to %lld at "
                  "once", r->iops, r->queued_iops,
                  (long long) min_i64 (p->info->depth, 32));
  return 0;
}
