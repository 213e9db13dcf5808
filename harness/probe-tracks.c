/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where tracks begin, how they are skewed, and how many make a cylinder.
 *
 * Sectors of a track follow each other in angle.  From one track to the next
 * there is a gap, the skew; from cylinder to cylinder often a larger one.
 * Where the two are the same the heads still show in how long it takes to
 * go so and so many tracks on.
 */
#include <math.h>
#include <stdlib.h>

#include "fixed.h"
#include "probe-impl.h"

#define PIECES 8                /* of a track */
#define MAX_TRACKS 72           /* looked at for a pattern */
#define MAX_HEADS 32
#define SOON_NS 1e6

/* Sectors by which the angle from lba to lba + step is more than that. */
static int
excess (struct probe *p, int64_t lba, int64_t step, double *sectors)
{
  const double spt = (double) p->track;
  double high_ns, low_ns;
  int r = probe_read (p, lba + step, &high_ns);

  if (r == 0)
    r = probe_read (p, lba, &low_ns);
  if (r != 0)
    return r;
  *sectors = probe_mod (probe_mod (high_ns - low_ns, p->r->turn_ns) /
                        p->r->turn_ns * spt - (double) step, spt);
  if (*sectors > spt - fmax (0.4, spt / 200))
    *sectors -= spt;
  return 0;
}

static double
jump (const struct probe *p)
{
  return fmax (0.4, 6 * p->r->noise_ns / p->r->turn_ns * (double) p->track);
}

/* Is there a track's end between lba and lba + step, perhaps some tracks
 * before?  *tries counts them.  1, 0, -1.
 */
static int
has_end (struct probe *p, int64_t lba, int64_t step, int *tries)
{
  for (int i = 0; i < 8; i++) {
    double sectors;
    int r = excess (p, lba - (int64_t) ++*tries * p->track, step, &sectors);

    if (r == -1)
      return -1;
    if (r == 0)
      return sectors > jump (p);
  }
  return 0;
}

/* Find the first sector of some track; 0: there is no telling. */
static int
find_anchor (struct probe *p, int64_t *anchor)
{
  const struct probe_zone *z = &p->r->zones[p->home];
  const int64_t step = max_i64 (p->track / PIECES / p->unit, 1) * p->unit;
  int64_t low = z->first + z->sectors / 2, high;
  int tries = 0, r = 0;

  low -= low % p->unit;
  *anchor = 0;
  for (int i = 0; i < 2 * PIECES && r == 0; i++, low += step) {
    r = has_end (p, low, step, &tries);
    if (r == 1)
      break;
  }
  if (r != 1)
    return r;
  high = low + step;
  while (high - low > p->unit) {
    int64_t middle = low + (high - low) / 2 / p->unit * p->unit;

    r = has_end (p, middle, high - middle, &tries);
    if (r == -1)
      return -1;
    if (r)
      low = middle;
    else
      high = middle;
  }
  *anchor = high;
  return 0;
}

/* ---- skews ---- */

/* The gaps before track -i of those around lba, for i from 0 to n - 1;
 * -1 where it could not be seen.
 */
static int
read_gaps (struct probe *p, int64_t lba, double spt, int n, double *gap)
{
  double done_ns = 0, before_ns = 0;
  bool known = false;

  for (int i = 0; i <= n; i++) {
    int64_t at = lba - (int64_t) (i * spt);
    int r = probe_read (p, at - at % p->unit, &done_ns);

    if (r == -1)
      return -1;
    if (i > 0)
      gap[i - 1] = r == 0 && known
        ? probe_mod (before_ns - done_ns, p->r->turn_ns) / p->r->turn_ns * spt
        : -1;
    known = r == 0;
    before_ns = done_ns;
  }
  return 0;
}

/* The value that most of them have, and the one that most of the others
 * have (-1: there are none), with how often.
 */
struct pattern {
  double common, other;
  int n_common, n_other;
};

static int
count (const double *gap, int n, double value, double tolerance)
{
  int k = 0;

  for (int i = 0; i < n; i++)
    k += gap[i] >= 0 && fabs (gap[i] - value) < tolerance;
  return k;
}

static struct pattern
find_pattern (const double *gap, int n, double tolerance)
{
  struct pattern f = { .common = -1, .other = -1 };

  for (int i = 0; i < n; i++) {
    int k = count (gap, n, gap[i], tolerance);

    if (gap[i] >= 0 && k > f.n_common) {
      f.common = gap[i];
      f.n_common = k;
    }
  }
  for (int i = 0; i < n; i++) {
    int k = count (gap, n, gap[i], tolerance);

    if (gap[i] >= 0 && fabs (gap[i] - f.common) >= tolerance &&
        k > f.n_other) {
      f.other = gap[i];
      f.n_other = k;
    }
  }
  return f;
}

/* The rarer gap comes once a cylinder; of two that are as frequent, the
 * larger one.  0: no pattern.
 */
static int
heads_of_pattern (const double *gap, int n, double tolerance, int *at)
{
  struct pattern f = find_pattern (gap, n, tolerance);
  double rare = f.other;
  int last = -1;
  uint64_t period = 0;

  if (f.n_other < 2)
    return 0;
  if (f.n_other > f.n_common - 2 && f.common > f.other)
    rare = f.common;
  for (int i = 0; i < n; i++) {
    if (gap[i] < 0 || fabs (gap[i] - rare) >= tolerance)
      continue;
    if (last == -1)
      *at = i;
    else
      period = gcd64 (period, (uint64_t) (i - last));
    last = i;
  }
  /* One that is not there for certain is none. */
  return period <= MAX_HEADS && f.n_other + f.n_common > n * 3 / 4
    ? (int) period : 0;
}

static double
gap_tolerance (const struct probe *p, double spt)
{
  return fmax (0.45, 5 * p->r->noise_ns / p->r->turn_ns * spt);
}

/* From the skews of the home zone.  anchor moves to a cylinder's start. */
static int
heads_by_skew (struct probe *p)
{
  double gap[MAX_TRACKS];
  /* Above what find_anchor has read. */
  int64_t first = p->anchor + p->track * (MAX_TRACKS + 8) +
    (p->r->ahead_sectors / p->track + 1) * p->track;
  int at = 0;

  if (read_gaps (p, first + p->track / 2, (double) p->track, MAX_TRACKS, gap)
      == -1)
    return -1;
  p->r->heads = heads_of_pattern (gap, MAX_TRACKS,
                                  gap_tolerance (p, (double) p->track), &at);
  if (p->r->heads > 0)
    p->anchor = first - at * p->track;
  return 0;
}

static int
zone_skews (struct probe *p, struct probe_zone *z)
{
  const int n = 2 * p->r->heads + 2;
  const double tolerance = gap_tolerance (p, z->sectors_per_track);
  double gap[2 * MAX_HEADS + 2];
  struct pattern f;

  if (z->sectors < (int64_t) (2 * n * z->sectors_per_track))
    return 0;
  if (read_gaps (p, z->first + z->sectors / 2 + (int64_t)
                 (n / 2 * z->sectors_per_track), z->sectors_per_track, n,
                 gap) == -1)
    return -1;
  f = find_pattern (gap, n, tolerance);
  if (f.n_common == 0)
    return 0;
  if (f.other < 0)
    f.other = f.common;
  /* Two heads: as many of one as of the other. */
  if (p->r->heads == 2 && f.common > f.other) {
    z->head_skew = f.other;
    z->cylinder_skew = f.common;
  }
  else {
    z->head_skew = f.common;
    z->cylinder_skew = p->r->heads == 1 ? f.common : f.other;
  }
  return 0;
}

/* ---- distances in the home zone ---- */

struct home {
  int64_t tracks;
  int64_t ahead;                /* sectors that the head goes on by itself */
  bool fixed;                   /* always from the anchor's track */
};

bool
probe_is_home (const struct probe *p, int64_t tracks)
{
  return p->anchor > 0 &&
    tracks < p->r->zones[p->home].sectors / p->track / 4;
}

/* Make the buffer forget what was read near the anchor. */
static int
forget (struct probe *p)
{
  double done_ns;

  for (int i = 0; i <= p->r->segments; i++)
    if (probe_read (p, probe_anywhere (p, 0, p->r->sectors, p->unit),
                    &done_ns) == -1)
      return -1;
  return 0;
}

/* The first of a cylinder's tracks, somewhere in the zone.  If the head
 * stays at a, a is near the end of its track, so that not much of look-ahead
 * is there to let go; if not, the place where it ends is near the beginning.
 */
static int
home_place (struct probe *p, void *opaque, int64_t *a, int64_t *b)
{
  const struct home *h = opaque;
  const struct probe_zone *z = &p->r->zones[p->home];
  const int64_t group = p->track * max_i64 (p->r->heads, 1);
  const int64_t margin = h->ahead + 4 * group;
  const int64_t before = (p->anchor - z->first - margin) / group;
  const int64_t after = (z->first + z->sectors - p->anchor - margin -
                         h->tracks * p->track) / group;
  const int64_t start = h->fixed ? p->anchor : p->anchor + group *
    (probe_below (p, before + after) - before);

  *b = start + (h->tracks + 1) * p->track - p->unit;
  if (h->ahead > 0)
    *a = start + 2 * p->unit - h->ahead;
  else {
    /* Not always the same, or some sector of b's track might never do. */
    *a = start + p->track - (8 + probe_below (p, 8)) * p->unit;
    if (h->tracks == 0)
      *b = *a - 2 * p->unit;
  }
  *a -= *a % p->unit;
  *b -= *b % p->unit;
  return h->fixed ? forget (p) : 0;
}

static int
home_reach (struct probe *p, int64_t tracks, int64_t ahead, bool fixed,
            double *ns)
{
  struct home h = { .tracks = tracks, .ahead = ahead, .fixed = fixed };
  const struct reach w = {
    .place = home_place, .opaque = &h,
    .room = ahead > 0 ? 1 : p->track - (tracks == 0 ? 20 : 2) * p->unit,
    .sector_ns = p->r->turn_ns / (double) p->track,
    .wait_ns = ahead > 0 ? p->settle_ns : 0,
    .resolution_ns = 400,
  };

  return probe_reach (p, &w, ns);
}

/* Sectors that the head goes on to read by itself after a single read. */
static int64_t
goes_on (const struct probe *p)
{
  return p->r->sequential_only ? 0 : p->r->ahead_sectors;
}

int
probe_home_reach (struct probe *p, int64_t tracks, double *ns)
{
  return home_reach (p, tracks, p->wait_for_ahead ? goes_on (p) : 0, false,
                     ns);
}

/* ---- heads by distance ---- */

#define SMALL_NS 1500

/* To another cylinder with the same head may be quicker than a head switch.
 * Or every track is another cylinder, and the time grows with each.
 * Otherwise 0.
 */
static int
heads_by_switch (struct probe *p)
{
  const double small = fmax (SMALL_NS, 2 * p->r->noise_ns);
  double first = 0, before = 0, ns;

  for (int n = 1; n <= MAX_HEADS && probe_is_home (p, n); n++) {
    if (probe_home_reach (p, n, &ns) == -1)
      return -1;
    if (n == 1)
      first = ns;
    else if (ns < first - small) {
      if (probe_home_reach (p, n, &ns) == -1) /* to be sure */
        return -1;
      if (ns < first - small)
        return n;
    }
    else if (n == 3 && ns > before + small / 2 && before > first + small)
      return 1;
    before = ns;
  }
  return 0;
}

/* From one and the same track on the time grows where a cylinder begins. */
static int
heads_by_growth (struct probe *p, int *heads)
{
  const double small = fmax (SMALL_NS, 2 * p->r->noise_ns);
  const int64_t ahead = p->wait_for_ahead ? goes_on (p) : 0;
  double before = 0, ns;
  int begins = 0;

  *heads = 0;
  if (p->r->has_buffer && p->r->segments == 0)
    return 0;                   /* it forgets nothing */
  for (int n = 1; n <= 3 * MAX_HEADS && probe_is_home (p, n); n++) {
    if (home_reach (p, n, ahead, true, &ns) == -1)
      return -1;
    if (n > 1 && ns > before + small &&
        home_reach (p, n, ahead, true, &ns) == -1) /* to be sure */
      return -1;
    if (n > 1 && ns > before + small) {
      if (begins > 0) {
        *heads = n - begins;
        p->anchor += begins * p->track;
        return 0;
      }
      begins = n;
    }
    before = fmax (before, ns);
  }
  return 0;
}

static int
heads_by_distance (struct probe *p)
{
  int heads = heads_by_switch (p);

  if (heads == 0 && heads_by_growth (p, &heads) == -1)
    heads = -1;
  p->r->heads = max_i64 (heads, 0);
  return heads == -1 ? -1 : 0;
}

/* ---- how the arm is to be measured ---- */

static int
coarse_place (struct probe *p, void *opaque, int64_t *a, int64_t *b)
{
  const int64_t room = p->r->sectors / 1000;

  (void) opaque;
  *a = probe_anywhere (p, p->r->sectors / 10, p->r->sectors / 10 + room,
                       p->unit);
  *b = probe_anywhere (p, p->r->sectors / 2, p->r->sectors / 2 + room,
                       p->unit);
  return 0;
}

/* Does look-ahead hold up a seek? */
static int
find_waiting (struct probe *p)
{
  const struct probe_zone *z = probe_zone_of (p, p->r->sectors / 2);
  struct reach w = {
    .place = coarse_place, .resolution_ns = 20000,
    .room = (int64_t) z->sectors_per_track - 2 * p->unit,
    .sector_ns = probe_sector_ns (p, z),
  };
  double at_once, later;

  if (goes_on (p) == 0)
    return 0;
  /* If it is over so soon, waiting for it is easier than telling. */
  if (p->r->ahead_limit == AHEAD_BYTES &&
      (double) goes_on (p) * w.sector_ns < SOON_NS) {
    p->wait_for_ahead = true;
    return 0;
  }
  if (probe_reach (p, &w, &at_once) == -1)
    return -1;
  w.wait_ns = p->settle_ns;
  if (probe_reach (p, &w, &later) == -1)
    return -1;
  p->wait_for_ahead = at_once > later + 250000;
  return 0;
}

/* The head is on b's track when b is asked for, and stays there: a read near
 * it, and what look-ahead there is has ended.
 */
static int
base_place (struct probe *p, void *opaque, int64_t *a, int64_t *b)
{
  const int64_t ahead = *(const int64_t *) opaque, group = p->track *
    p->r->heads;
  const struct probe_zone *z = &p->r->zones[p->home];
  const int64_t margin = ahead + 4 * group;
  const int64_t before = (p->anchor - z->first - margin) / group;
  const int64_t after = (z->first + z->sectors - p->anchor - margin) / group;
  int64_t start = p->anchor + group * (probe_below (p, before + after) -
                                       before);

  if (p->r->ahead_limit != AHEAD_BYTES) {
    /* To the end of the cylinder's last track. */
    start += (p->r->heads - 1) * p->track;
    *a = start + 2 * p->unit;
    *b = start + p->unit;
  }
  else if (ahead > 0) {
    *a = start + 2 * p->unit - ahead;
    *b = start + p->track - p->unit;
  }
  else {
    *a = start + p->track - 3 * p->unit;
    *b = *a - 2 * p->unit;
  }
  *a -= *a % p->unit;
  *b -= *b % p->unit;
  return 0;
}

static int
find_base (struct probe *p)
{
  struct probe_result *r = p->r;
  double sector_ns = r->turn_ns / (double) p->track;
  int64_t ahead = goes_on (p);
  const struct reach w = {
    .place = base_place, .opaque = &ahead, .room = 1, .resolution_ns = 400,
    .sector_ns = sector_ns, .wait_ns = ahead > 0 ? p->settle_ns : 0,
  };

  if (probe_reach (p, &w, &p->base_ns) == -1)
    return -1;
  r->read_miss_ns = fmax (p->base_ns - (double) p->unit * sector_ns -
                          (double) (p->unit * DISK_SECTOR_SIZE) *
                          r->bus_ps_per_byte / 1000, 0);
  probe_progress (p, "  misses: %.0f us", r->read_miss_ns * 1e-3);
  return 0;
}

static void
count_cylinders (struct probe *p)
{
  struct probe_result *r = p->r;

  r->cylinders = 0;
  for (int i = 0; i < r->n_zones; i++) {
    struct probe_zone *z = &r->zones[i];

    z->cylinders = max_i64 (1, llround ((double) z->sectors /
                                        (z->sectors_per_track * r->heads)));
    r->cylinders += z->cylinders;
  }
}

static void
choose_home (struct probe *p)
{
  double most = 0;

  for (int i = 0; i < p->r->n_zones; i++) {
    const struct probe_zone *z = &p->r->zones[i];
    double tracks = (double) z->sectors / z->sectors_per_track;

    if (tracks > most) {
      most = tracks;
      p->home = i;
    }
  }
  p->track = llround (p->r->zones[p->home].sectors_per_track);
}

int
probe_tracks (struct probe *p)
{
  struct probe_result *r = p->r;

  choose_home (p);
  if (find_waiting (p) == -1 || find_anchor (p, &p->anchor) == -1)
    return -1;
  if (p->anchor == 0) {
    probe_stop (p, PROBE_UNCLEAR, "it turns %.0f times a minute, but no "
                "track's end can be made out", 60e9 / r->turn_ns);
    return 0;
  }
  if (heads_by_skew (p) == -1 ||
      (r->heads == 0 && heads_by_distance (p) == -1))
    return -1;
  if (r->heads == 0) {
    r->heads = 1;
    r->heads_guessed = true;
  }
  for (int i = 0; i < r->n_zones; i++)
    if (zone_skews (p, &r->zones[i]) == -1)
      return -1;
  count_cylinders (p);
  probe_progress (p, "  %d head%s%s, %lld cylinders", r->heads,
                  r->heads == 1 ? "" : "s",
                  r->heads_guessed ? " (a guess)" : "",
                  (long long) r->cylinders);
  return find_base (p);
}
