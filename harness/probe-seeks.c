/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The seek curve, and the rates.
 */
#include <math.h>

#include "fixed.h"
#include "probe-impl.h"

struct far {
  double cylinders;
};

/* Somewhere, towards the one side or the other. */
static int
far_place (struct probe *p, void *opaque, int64_t *a, int64_t *b)
{
  const struct far *f = opaque;
  const double room = (double) p->r->cylinders - f->cylinders;
  double from = (double) probe_below (p, 1000000) * 1e-6 * room;
  int64_t x = probe_lba (p, from), y = probe_lba (p, from + f->cylinders);
  bool back = probe_below (p, 2);

  *a = back ? y : x;
  *b = max_i64 (back ? x : y, p->unit);
  return 0;
}

int
probe_far_reach (struct probe *p, double cylinders, double *ns)
{
  struct far f = { .cylinders = cylinders };
  const struct reach w = {
    .place = far_place, .opaque = &f, .room = 1,
    .sector_ns = probe_sector_ns (p, &p->r->zones[p->home]),
    .wait_ns = p->wait_for_ahead ? p->settle_ns : 0,
    .resolution_ns = 4000,
  };

  return probe_reach (p, &w, ns);
}

static int
add_point (struct probe *p, int64_t cylinders)
{
  struct probe_result *r = p->r;
  int64_t tracks = cylinders * r->heads;
  double ns;
  int error = cylinders <= 16 && probe_is_home (p, tracks)
    ? probe_home_reach (p, tracks, &ns)
    : probe_far_reach (p, (double) cylinders, &ns);

  if (error == -1)
    return -1;
  if (ns > 0 && r->n_points < PROBE_MAX_POINTS)
    r->points[r->n_points++] = (struct probe_point) {
      .cylinders = cylinders, .ns = fmax (ns - p->base_ns, 0),
    };
  return 0;
}

static double
time_over (const struct probe_result *r, double cylinders)
{
  const struct probe_point *q = r->points;
  int i = 1;

  if (cylinders <= (double) q[0].cylinders)
    return q[0].ns;
  while (i + 1 < r->n_points && cylinders > (double) q[i].cylinders)
    i++;
  return q[i - 1].ns + (q[i].ns - q[i - 1].ns) *
    (cylinders - (double) q[i - 1].cylinders) /
    (double) (q[i].cylinders - q[i - 1].cylinders);
}

/* Over random pairs of tracks a distance x of the stroke has the weight
 * 2 (1 - x).
 */
static double
average (const struct probe_result *r)
{
  const int n = 2000;
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += time_over (r, (1 - sqrt (1 - (i + 0.5) / n)) *
                      (double) (r->cylinders - 1));
  return sum / n;
}

int
probe_seeks (struct probe *p)
{
  struct probe_result *r = p->r;
  /* A little short of it: there must be some room to read in. */
  const int64_t full = r->cylinders - 1 - min_i64 (20, r->cylinders / 1000);
  double ns;

  for (int64_t d = 1; d < full; d += max_i64 (1, d / 4))
    if (add_point (p, d) == -1)
      return -1;
  if (add_point (p, full) == -1)
    return -1;
  if (r->n_points < 2) {
    probe_stop (p, PROBE_UNCLEAR, "it turns %.0f times a minute, but its "
                "seeks cannot be measured", 60e9 / r->turn_ns);
    return 0;
  }
  r->track_ns = r->points[0].ns;
  r->full_ns = r->points[r->n_points - 1].ns;
  r->average_ns = average (r);
  r->head_switch_ns = r->track_ns;
  if (r->heads > 1) {
    if (probe_home_reach (p, 1, &ns) == -1)
      return -1;
    r->head_switch_ns = fmax (ns - p->base_ns, 0);
  }
  probe_progress (p, "  track %.2f, average %.2f, full %.2f ms; head switch "
                  "%.2f ms", r->track_ns * 1e-6, r->average_ns * 1e-6,
                  r->full_ns * 1e-6, r->head_switch_ns * 1e-6);
  return 0;
}

/* A stretch of the middle of each zone, at the size of command that is best
 * there.
 */
static int
rate_of (struct probe *p, struct probe_zone *z)
{
  static const int64_t sizes[] = { 128, 256 };
  const int64_t track = llround (z->sectors_per_track);
  int64_t total = 8 * track * max_i64 (p->r->heads, 4);

  total = min_i64 (min_i64 (total, 32768), z->sectors / 4);
  for (int i = 0; i < 2; i++) {
    const int64_t each = max_i64 (sizes[i], p->unit);
    int64_t lba = z->first + z->sectors / 4 * (i + 1), start_ns = 0;
    double mb_s;

    lba -= lba % p->unit;
    for (int64_t n = -4; n < total / each; n++) {
      if (n == 0)
        start_ns = target_now_ns (p->t);
      if (target_read (p->t, lba + (n + 4) * each, each) == -1)
        return -1;
      p->r->commands++;
    }
    mb_s = (double) (total / each * each * DISK_SECTOR_SIZE) * 1e3 /
      (double) max_i64 (target_now_ns (p->t) - start_ns, 1);
    z->mb_s = fmax (z->mb_s, mb_s);
  }
  return 0;
}

int
probe_rates (struct probe *p)
{
  for (int i = 0; i < p->r->n_zones; i++)
    if (p->r->zones[i].sectors > 16384 && rate_of (p, &p->r->zones[i]) == -1)
      return -1;
  probe_progress (p, "  %.1f to %.1f MB/s", p->r->zones[0].mb_s,
                  p->r->zones[p->r->n_zones - 1].mb_s);
  return 0;
}
