/* SPDX-License-Identifier: BSD-3-Clause */
#include "fixed.h"
#include "geometry.h"

/* Nanoseconds in 100 minutes: rpm is given in hundredths. */
#define NS_PER_100_MINUTES INT64_C (6000000000000)

static int64_t
phase_to_ns (const struct geometry *g, int64_t phase)
{
  return div_up (phase, g->rate);
}

/* Phase at which sector `sector` of a track begins, from the track's
 * start.  Rounded up: geometry_sectors_passed depends on it.
 */
static int64_t
sector_phase (const struct geometry *g, const struct zone *z, int64_t sector)
{
  return div_up (sector * g->revolution, z->sectors_per_track);
}

/* A skew of `sectors`, or the smallest that hides the switch. */
static int64_t
skew_phase (const struct geometry *g, const struct zone *z, uint32_t sectors,
            int64_t switch_ns)
{
  int64_t n = sectors;

  if (sectors == PROFILE_SKEW_AUTO)
    n = div_up (switch_ns * g->rate * z->sectors_per_track, g->revolution);
  return sector_phase (g, z, n);
}

/* The gap a transfer sees: the skew, and a whole revolution more for each
 * one that the switch takes beyond it.
 */
static int64_t
gap_phase (const struct geometry *g, int64_t skew, int64_t switch_ns)
{
  int64_t missing = switch_ns * g->rate - skew;

  if (missing > 0)
    skew += div_up (missing, g->revolution) * g->revolution;
  return skew;
}

static void
zone_init (struct geometry *g, struct zone *z,
           const struct profile_zone *profile,
           const struct switch_times *times)
{
  z->sectors_per_track = profile->sectors_per_track;
  z->sectors = (int64_t) profile->cylinders * g->heads * z->sectors_per_track;
  z->head_gap = gap_phase (g, skew_phase (g, z, profile->track_skew_sectors,
                                          times->head_ns), times->head_ns);
  z->cylinder_gap =
    gap_phase (g, skew_phase (g, z, profile->cylinder_skew_sectors,
                              times->cylinder_ns), times->cylinder_ns);
  z->cylinder_length = g->heads * g->revolution +
    (g->heads - 1) * z->head_gap + z->cylinder_gap;
}

void
geometry_init (struct geometry *g, const struct profile_geometry *profile,
               const struct switch_times *times, uint64_t angle)
{
  int64_t common = (int64_t) gcd64 (profile->rpm_x100, NS_PER_100_MINUTES);
  int64_t lba = 0, phase = 0;

  *g = (struct geometry) {
    .sectors = profile->sectors,
    .heads = profile->heads,
    .revolution = NS_PER_100_MINUTES / common,
    .rate = profile->rpm_x100 / common,
    .n_zones = (int) profile->n_zones,
  };
  g->phase_at_zero = (int64_t) (angle % (uint64_t) g->revolution);
  for (int i = 0; i < g->n_zones; i++) {
    struct zone *z = &g->zones[i];

    zone_init (g, z, &profile->zones[i], times);
    z->first_lba = lba;
    z->first_cylinder = g->cylinders;
    z->start_phase = phase;
    /* The angle goes on from zone to zone; reduced as it goes, since the
     * whole drive's line need not fit in 64 bits.
     */
    phase = (phase + (z->cylinder_length % g->revolution) *
             (profile->zones[i].cylinders % g->revolution)) % g->revolution;
    lba += z->sectors;
    g->cylinders += profile->zones[i].cylinders;
  }
  /* What is left of the last cylinder is spare. */
  if (g->n_zones > 0)
    g->zones[g->n_zones - 1].sectors += g->sectors - lba;
}

static const struct zone *
find_zone (const struct geometry *g, int64_t lba)
{
  int low = 0, high = g->n_zones - 1;

  while (low < high) {
    int middle = (low + high + 1) / 2;

    if (lba >= g->zones[middle].first_lba)
      low = middle;
    else
      high = middle - 1;
  }
  return &g->zones[low];
}

/* Distance along the zone's line from its first sector to sector n. */
static int64_t
line_phase (const struct geometry *g, const struct zone *z, int64_t n)
{
  int64_t track = n / z->sectors_per_track;
  int64_t sector = n - track * z->sectors_per_track;
  int64_t cylinder = track / g->heads;
  int64_t head = track - cylinder * g->heads;

  return cylinder * z->cylinder_length +
    head * (g->revolution + z->head_gap) + sector_phase (g, z, sector);
}

/* The same to the *end* of sector n - 1: no gap after a full track. */
static int64_t
line_phase_end (const struct geometry *g, const struct zone *z, int64_t n)
{
  int64_t last = n - 1;
  int64_t sector = last % z->sectors_per_track;

  return line_phase (g, z, last) - sector_phase (g, z, sector) +
    sector_phase (g, z, sector + 1);
}

void
geometry_locate (const struct geometry *g, int64_t lba, struct place *place)
{
  const struct zone *z = find_zone (g, lba);
  int64_t n = lba - z->first_lba;
  int64_t track = n / z->sectors_per_track;

  place->cylinder = z->first_cylinder + track / g->heads;
  place->head = track % g->heads;
  place->phase = (z->start_phase + line_phase (g, z, n)) % g->revolution;
}

int64_t
geometry_phase_at (const struct geometry *g, int64_t t_ns)
{
  uint64_t revolution = (uint64_t) g->revolution;
  uint64_t turned = (uint64_t) t_ns % revolution * (uint64_t) g->rate;

  return (int64_t) ((turned % revolution + (uint64_t) g->phase_at_zero) %
                    revolution);
}

int64_t
geometry_wait_ns (const struct geometry *g, int64_t t_ns, int64_t phase)
{
  int64_t ahead = phase - geometry_phase_at (g, t_ns);

  if (ahead < 0)
    ahead += g->revolution;
  /* Times are rounded up to whole nanoseconds, so an arm that is exactly
   * in time may look late by less than one.
   */
  if (ahead > g->revolution - g->rate)
    return 0;
  return phase_to_ns (g, ahead);
}

int64_t
geometry_transfer_ns (const struct geometry *g, int64_t lba, int64_t sectors)
{
  int64_t ns = 0;

  while (sectors > 0) {
    const struct zone *z = find_zone (g, lba);
    int64_t n = lba - z->first_lba;
    int64_t here = min_i64 (sectors, z->sectors - n);
    int64_t phase = line_phase_end (g, z, n + here) - line_phase (g, z, n);

    sectors -= here;
    lba += here;
    if (sectors > 0)            /* the next zone is a cylinder on */
      phase += z->cylinder_gap;
    ns += phase_to_ns (g, phase);
  }
  return ns;
}

/* Whole sectors of zone z before the point `phase` on its line. */
static int64_t
line_sectors (const struct geometry *g, const struct zone *z, int64_t phase)
{
  int64_t cylinder = phase / z->cylinder_length;
  int64_t rest = phase - cylinder * z->cylinder_length;
  int64_t head = min_i64 (rest / (g->revolution + z->head_gap), g->heads - 1);

  rest = min_i64 (rest - head * (g->revolution + z->head_gap), g->revolution);
  return (cylinder * g->heads + head) * z->sectors_per_track +
    rest * z->sectors_per_track / g->revolution;
}

int64_t
geometry_sectors_passed (const struct geometry *g, int64_t lba,
                         int64_t elapsed_ns, int64_t max)
{
  int64_t passed = 0;

  while (passed < max) {
    const struct zone *z = find_zone (g, lba + passed);
    int64_t n = lba + passed - z->first_lba;
    int64_t here = min_i64 (max - passed, z->sectors - n);
    int64_t whole_ns = geometry_transfer_ns (g, lba + passed, here);

    if (elapsed_ns < whole_ns) {
      int64_t phase = line_phase (g, z, n) + elapsed_ns * g->rate;

      return passed + max_i64 (line_sectors (g, z, phase) - n, 0);
    }
    passed += here;
    elapsed_ns -= whole_ns;
    if (passed < max) {
      elapsed_ns -= phase_to_ns (g, z->cylinder_gap);
      if (elapsed_ns < 0)
        return passed;
    }
  }
  return max;
}

int64_t
geometry_track_left (const struct geometry *g, int64_t lba)
{
  const struct zone *z = find_zone (g, lba);

  return z->sectors_per_track - (lba - z->first_lba) % z->sectors_per_track;
}

int64_t
geometry_revolution_ns (const struct geometry *g)
{
  return (g->revolution + g->rate / 2) / g->rate;
}
