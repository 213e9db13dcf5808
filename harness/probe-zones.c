/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sectors per track, from the angles between sectors that are near each
 * other; and where that changes.
 *
 * Sectors are read from high to low, so that look-ahead does not get in the
 * way.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixed.h"
#include "probe-impl.h"

#define SAMPLES 200
#define MAX_CHANGES 512

/* The angles from lba to lba + step, and on to lba + 2 step, in turns.
 * Returns 1 if one of them was in the buffer.
 */
static int
two_angles (struct probe *p, int64_t lba, int64_t step, double *angle)
{
  double done_ns[3];

  for (int i = 2; i >= 0; i--) {
    int r = probe_read (p, lba + i * step, &done_ns[i]);

    if (r != 0)
      return r;
  }
  for (int i = 0; i < 2; i++)
    angle[i] = probe_mod (done_ns[i + 1] - done_ns[i], p->r->turn_ns) /
      p->r->turn_ns;
  return 0;
}

/* One estimate; 0 if there was a track's end between, as the angles then
 * differ, or an accident.
 */
static int
try_spt (struct probe *p, int64_t lba, int64_t step, double *spt)
{
  const double noise = 4 * p->r->noise_ns / p->r->turn_ns + 4 / p->r->turn_ns;
  double angle[2];
  int r = two_angles (p, lba, step, angle);

  *spt = 0;
  if (r == 0 && angle[0] > 0 &&
      fabs (angle[0] - angle[1]) <= noise + angle[0] * 1e-3)
    *spt = 2 * (double) step / (angle[0] + angle[1]);
  return r;
}

double
probe_spt (struct probe *p, int64_t lba, double guess)
{
  const int repeats = p->r->noise_ns > 500 ? 5 : 1;
  double found[5], spt;
  int n = 0;

  for (int attempt = 0; attempt < 12 * repeats; attempt++) {
    int64_t step = guess > 0 ? (int64_t) (guess / 5) : 16;
    int64_t at;

    /* Downwards, out of the way of look-ahead; or far up. */
    step = max_i64 (step / p->unit, 1) * p->unit;
    at = lba - attempt * (step * 3 + 7 * p->unit);
    if (at < 0)
      at = lba + attempt * (64 * step + 7 * p->unit);
    at = min_i64 (at, p->r->sectors - (attempt + 1) * 3 * step);
    at -= at % p->unit;
    if (try_spt (p, at, step, &spt) == -1)
      return -1;
    if (spt == 0)
      continue;
    if (guess == 0 || spt < 0.5 * guess || spt > 2 * guess) {
      guess = spt;              /* now with a better step */
      continue;
    }
    found[n++] = spt;
    if (n == repeats) {
      spt = probe_median (found, n);
      return repeats == 1 && fabs (spt - round (spt)) < 0.2 ? round (spt)
                                                              : spt;
    }
  }
  return 0;
}

static bool
same (const struct probe *p, double a, double b)
{
  double noise = 10 * p->r->noise_ns / p->r->turn_ns * a;

  return fabs (a - b) < (p->r->noise_ns > 500 ? fmax (noise, a * 0.004)
                                               : 0.5);
}

/* ---- boundaries ---- */

struct change {
  int64_t lba;                  /* from here on */
  double spt;
};

struct changes {
  struct change v[MAX_CHANGES];
  int n;
};

/* Find the changes in (low, high], whose ends are known. */
static int
divide (struct probe *p, int64_t low, double low_spt, int64_t high,
        double high_spt, struct changes *c)
{
  int64_t middle = low + (high - low) / 2;
  double spt;

  if (same (p, low_spt, high_spt))
    return 0;
  if (high - low < 2 * (int64_t) low_spt || c->n == MAX_CHANGES) {
    if (c->n < MAX_CHANGES)
      c->v[c->n++] = (struct change) { high, high_spt };
    return 0;
  }
  spt = probe_spt (p, middle - middle % p->unit, (low_spt + high_spt) / 2);
  if (spt < 0)
    return -1;
  if (spt == 0)
    spt = low_spt;
  if (divide (p, low, low_spt, middle, spt, c) == -1)
    return -1;
  return divide (p, middle, spt, high, high_spt, c);
}

static int
sample (struct probe *p, struct changes *c)
{
  int64_t before = 0;
  double spt = 0, before_spt = 0;
  int lost = 0;

  for (int i = 0; i <= SAMPLES; i++) {
    int64_t lba = (p->r->sectors - 4096) / SAMPLES * i;

    lba -= lba % p->unit;
    spt = probe_spt (p, lba, before_spt);
    if (spt < 0)
      return -1;
    if (spt == 0) {
      lost++;
      continue;
    }
    if (c->n == 0)
      c->v[c->n++] = (struct change) { 0, spt };
    else if (divide (p, before, before_spt, lba, spt, c) == -1)
      return -1;
    before = lba;
    before_spt = spt;
  }
  if (c->n == 0 || lost > SAMPLES / 4)
    probe_stop (p, PROBE_NOT_ROTATING, "not a rotating disk: a turn of %.2f "
                "ms would fit, but sectors beside each other are not under "
                "the head one after the other", p->r->turn_ns * 1e-6);
  return 0;
}

/* Stretches with the same sectors per track are one zone; one that is no
 * longer than what it took to find it is a mistake.
 */
static void
make_zones (struct probe *p, const struct changes *c)
{
  struct probe_result *r = p->r;

  for (int i = 0; i < c->n; i++) {
    int64_t end = i + 1 < c->n ? c->v[i + 1].lba : r->sectors;
    struct probe_zone *last = r->n_zones ? &r->zones[r->n_zones - 1] : NULL;

    if (last && (same (p, last->sectors_per_track, c->v[i].spt) ||
                 end - c->v[i].lba < 8 * (int64_t) c->v[i].spt ||
                 r->n_zones == PROFILE_MAX_ZONES))
      last->sectors = end - last->first;
    else
      r->zones[r->n_zones++] = (struct probe_zone) {
        .first = c->v[i].lba, .sectors = end - c->v[i].lba,
        .sectors_per_track = c->v[i].spt,
      };
  }
}

int
probe_zones (struct probe *p)
{
  struct changes c = { .n = 0 };

  if (sample (p, &c) == -1)
    return -1;
  if (p->r->status != PROBE_DONE)
    return 0;
  make_zones (p, &c);
  probe_progress (p, "  %d zone%s, %.0f to %.0f sectors per track",
                  p->r->n_zones, p->r->n_zones == 1 ? "" : "s",
                  p->r->zones[0].sectors_per_track,
                  p->r->zones[p->r->n_zones - 1].sectors_per_track);
  return 0;
}
