/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The buffer: what a read from it costs, how far the drive reads on, how
 * much it keeps, and of how many streams.
 *
 * A read from the buffer is told by its time, which knows no rotation.
 */
#include <math.h>

#include "fixed.h"
#include "probe-impl.h"

#define MAX_STREAMS 320
#define MAX_AHEAD (128 * 2048)  /* sectors: 128 MiB */
#define START 8                 /* sectors of the command it begins with */

/* Read `sectors' sectors and say how long it took. */
static int
timed (struct probe *p, int64_t lba, int64_t sectors, double *ns)
{
  int64_t t = target_read (p->t, lba, sectors);

  p->r->commands++;
  *ns = (double) t;
  return t == -1 ? -1 : 0;
}

/* ---- time of a hit ---- */

/* The least of some, of a hit of `sectors' sectors. */
static int
hit_time (struct probe *p, int64_t sectors, double *ns)
{
  const int n = p->r->noise_ns > 500 ? 9 : 3;
  double values[9], first;

  for (int i = 0; i < n; i++) {
    int64_t lba = probe_anywhere (p, 0, p->r->sectors, sectors);

    if (timed (p, lba, sectors, &first) == -1 ||
        timed (p, lba, sectors, &values[i]) == -1)
      return -1;
  }
  *ns = probe_median (values, n);
  return 0;
}

/* Small reads and larger ones, as long as the buffer holds them: the slope
 * is the bus, the rest is overhead.
 */
static int
measure_hits (struct probe *p)
{
  struct probe_result *r = p->r;
  double small, large = 0, ns;
  int64_t sectors = p->unit;

  if (hit_time (p, sectors, &small) == -1)
    return -1;
  for (int64_t n = p->unit * 8; n <= 256; n *= 2) {
    if (hit_time (p, n, &ns) == -1)
      return -1;
    /* What the buffer cannot hold waits for the platter again. */
    if (ns > small + r->turn_ns / 2)
      break;
    sectors = n;
    large = ns;
  }
  if (sectors > p->unit)
    r->bus_ps_per_byte = fmax (0, large - small) * 1000 /
      (double) ((sectors - p->unit) * DISK_SECTOR_SIZE);
  r->read_hit_ns = small - (double) (p->unit * DISK_SECTOR_SIZE) *
    r->bus_ps_per_byte / 1000;
  p->hit_ns = small;
  p->hit_most_ns = fmax (p->hit_most_ns, small + 6 * r->noise_ns);
  probe_progress (p, "  hits: %.0f us, %.1f MB/s", r->read_hit_ns * 1e-3,
                  r->bus_ps_per_byte > 0 ? 1e6 / r->bus_ps_per_byte : 0);
  return 0;
}

/* ---- look-ahead ---- */

/* Is sector `ahead' after a command, or two that follow each other, in the
 * buffer some time later?  1, 0, -1.
 */
static int
is_ahead (struct probe *p, int64_t lba, bool pair, int64_t ahead)
{
  double ns;

  if (pair && timed (p, lba - p->unit, p->unit, &ns) == -1)
    return -1;
  if (timed (p, lba, START, &ns) == -1)
    return -1;
  target_wait (p->t, p->settle_ns);
  return probe_read (p, lba + START + ahead, &ns);
}

static int64_t
ahead_place (struct probe *p, int64_t room)
{
  const int64_t first = p->unit;

  return probe_anywhere (p, first, max_i64 (p->r->sectors - room - START,
                                            first + 2), p->unit);
}

/* How far the drive reads on, from a place of its own each time; or from
 * `lba' and places `stride' before it, if stride is not 0.
 */
int64_t
probe_ahead (struct probe *p, int64_t lba, int64_t stride, bool pair)
{
  const int64_t most = min_i64 (MAX_AHEAD, p->r->sectors / 8);
  int64_t low = 0, high = p->unit;
  bool found = false;

  for (int i = 0; !found || high - low > p->unit; i++) {
    int64_t test = found ? low + (high - low) / 2 / p->unit * p->unit : high;
    int r = is_ahead (p, stride ? lba - i * stride : ahead_place (p, test),
                      pair, test - p->unit);

    if (r == -1)
      return -1;
    if (r == 0)
      high = test;
    else
      low = test;
    if (found)
      continue;
    found = r == 0;
    if (!found && high >= most)
      return low;
    if (!found)
      high *= 2;
  }
  return low;
}

static int
measure_ahead (struct probe *p)
{
  struct probe_result *r = p->r;
  double far[5];
  const int n = 5;
  int agree = 0;
  int64_t ahead = probe_ahead (p, 0, 0, false);

  if (ahead == 0) {
    ahead = probe_ahead (p, 0, 0, true);
    r->sequential_only = ahead > 0;
  }
  for (int i = 0; i < n && ahead > 0; i++)
    far[i] = (double) (ahead = probe_ahead (p, 0, 0, r->sequential_only));
  if (ahead <= 0)
    return (int) ahead;
  r->ahead_sectors = (int64_t) probe_median (far, n);
  /* Not always as far: what ends it, probe_policy will tell. */
  for (int i = 0; i < n; i++)
    agree += fabs (far[i] - far[n / 2]) <=
      fmax (2 * (double) p->unit, far[n / 2] / 50);
  if (agree < 3)
    r->ahead_limit = AHEAD_TRACK;
  probe_progress (p, "  look-ahead: %.1f KiB%s%s",
                  (double) r->ahead_sectors / 2,
                  r->sequential_only ? ", of streams only" : "",
                  r->ahead_limit == AHEAD_TRACK ? ", not always as far" : "");
  return 0;
}

/* ---- what is kept ---- */

/* After a stream of `length' sectors and its look-ahead, is sector `at' of
 * the stream still there?  1, 0, -1.
 */
static int
is_kept (struct probe *p, int64_t length, int64_t at)
{
  int64_t lba = probe_anywhere (p, 0, p->r->sectors, length + MAX_AHEAD / 8);
  double ns;

  for (int64_t i = 0; i < length; i += 128)
    if (timed (p, lba + i, min_i64 (128, length - i), &ns) == -1)
      return -1;
  target_wait (p->t, p->settle_ns);
  return probe_read (p, lba + at, &ns);
}

static int
measure_segment (struct probe *p)
{
  struct probe_result *r = p->r;
  const int64_t most = min_i64 (MAX_AHEAD, r->sectors / 16);
  int64_t length = max_i64 (2 * r->ahead_sectors, 128), low = 0, high;
  int kept;

  /* So long that its beginning is lost. */
  while ((kept = is_kept (p, length, 0)) == 1 && length < most)
    length *= 2;
  if (kept != 0)
    return kept == -1 ? -1 : 0; /* it keeps more than we can read */
  high = length - p->unit;
  while (high - low > max_i64 (p->unit, length / 512)) {
    int64_t middle = low + (high - low) / 2 / p->unit * p->unit;

    kept = is_kept (p, length, middle);
    if (kept == -1)
      return -1;
    if (kept)
      high = middle;
    else
      low = middle;
  }
  r->segment_sectors = length - high;
  if (r->ahead_limit == AHEAD_BYTES)
    r->segment_sectors += r->ahead_sectors;
  probe_progress (p, "  a stream keeps %.1f KiB",
                  (double) r->segment_sectors / 2);
  return 0;
}

/* Are n streams all remembered?  The first would be forgotten first.  What
 * is asked for is a sector of its look-ahead, which gets some time for that:
 * the sectors of the command may have made room for it.
 */
static int
remembers (struct probe *p, int n)
{
  const bool ahead = p->r->ahead_sectors > 16 * p->unit &&
    !p->r->sequential_only;
  const int64_t apart = p->r->sectors / (n + 1);
  const int64_t at = probe_anywhere (p, 0, apart / 2, p->unit);
  double ns;

  for (int i = 0; i < n; i++) {
    if (timed (p, (at + i * apart) / p->unit * p->unit, p->unit, &ns) == -1)
      return -1;
    if (ahead)
      target_wait (p->t, (int64_t) (2 * p->r->turn_ns));
  }
  return probe_read (p, ahead ? at + 4 * p->unit : at, &ns);
}

static int
measure_segments (struct probe *p)
{
  int low = 1, high = 2, r;

  while ((r = remembers (p, high)) == 1 && high < MAX_STREAMS) {
    low = high;
    high *= 2;
  }
  if (r != 0)
    return r == -1 ? -1 : 0;
  while (high - low > 1) {
    int middle = (low + high) / 2;

    r = remembers (p, middle);
    if (r == -1)
      return -1;
    if (r)
      low = middle;
    else
      high = middle;
  }
  p->r->segments = low;
  probe_progress (p, "  %d stream%s", low, low == 1 ? "" : "s");
  return 0;
}

int
probe_buffer (struct probe *p)
{
  p->settle_ns = p->info->virtual_time ? INT64_C (3000000000) : 300000000;
  if (!p->r->has_buffer)
    return 0;
  if (measure_hits (p) == -1 || measure_ahead (p) == -1 ||
      measure_segment (p) == -1)
    return -1;
  /* From here on just as long as it takes. */
  p->settle_ns = (int64_t) (p->r->turn_ns *
    (3 + 2 * (double) p->r->ahead_sectors /
     p->r->zones[p->r->n_zones - 1].sectors_per_track));
  return measure_segments (p);
}
