/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

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

/* A skew in thousandths of a sector, or the smallest number of sectors that
 * hides the switch.
 */
static int64_t
skew_phase (const struct geometry *g, const struct zone *z, uint32_t x1000,
            int64_t switch_ns)
{
  if (x1000 == PROFILE_SKEW_AUTO)
    return sector_phase (g, z, div_up (switch_ns * g->rate *
                                       z->sectors_per_track, g->revolution));
  return sector_phase (g, z, x1000 / 1000) +
    x1000 % 1000 * g->revolution / (z->sectors_per_track * 1000);
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

/* Where the zone's n-th sector with an LBA is, holes included. */
static int64_t
to_place (const struct zone *z, int64_t n)
{
  int low = 0, high = z->n_holes;

  while (low < high) {
    int middle = (low + high) / 2;

    if (z->holes[middle].number <= n)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? n + z->holes[low - 1].shift : n;
}

/* The inverse: how many sectors with an LBA lie before `place`. */
static int64_t
to_number (const struct zone *z, int64_t place)
{
  int low = 0, high = z->n_holes;

  while (low < high) {
    int middle = (low + high) / 2;

    if (z->holes[middle].place < place)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return place;
  return max_i64 (z->holes[low - 1].number, place - z->holes[low - 1].shift);
}

/* What the remapped sectors before `place` cost. */
static int64_t
remap_cost (const struct zone *z, int64_t place)
{
  int n = 0;

  while (n < z->n_remaps && z->remaps[n].place < place)
    n++;
  return n > 0 ? z->remaps[n - 1].cost : 0;
}

/* Distance along the zone's line from its first place to the start of the
 * sector at `place`.
 */
static int64_t
line_phase (const struct geometry *g, const struct zone *z, int64_t place,
            bool write)
{
  int64_t track = place / z->sectors_per_track;
  int64_t sector = place - track * z->sectors_per_track;
  int64_t cylinder = track / g->heads;
  int64_t head = track - cylinder * g->heads;

  return remap_cost (z, place) + cylinder * z->cylinder_length[write] +
    head * (g->revolution + z->head_gap[write]) + sector_phase (g, z, sector);
}

/* The same to its end: no gap after a track's last sector. */
static int64_t
line_phase_end (const struct geometry *g, const struct zone *z, int64_t place,
                bool write)
{
  int64_t sector = place % z->sectors_per_track;

  return line_phase (g, z, place - sector, write) +
    sector_phase (g, z, sector + 1) +
    remap_cost (z, place + 1) - remap_cost (z, place - sector);
}

/* The head of a track of the zone, or the place of a head in the order in
 * which a cylinder's tracks follow each other.
 */
static int64_t
head_order (const struct geometry *g, int64_t cylinder, int64_t head)
{
  return g->serpentine && cylinder % 2 != 0 ? g->heads - 1 - head : head;
}

static void
locate (const struct geometry *g, const struct zone *z, int64_t place,
        struct place *p)
{
  int64_t track = place / z->sectors_per_track;

  p->cylinder = z->first_cylinder + track / g->heads;
  p->head = head_order (g, track / g->heads, track % g->heads);
  p->phase = (z->start_phase + line_phase (g, z, place, false)) %
    g->revolution;
}

/* From the end of zone i to the start of the next: the angle between the
 * two, and as many revolutions as the seek takes beyond it.
 */
static void
zone_next_gap (struct geometry *g, int i, const struct seek *seek)
{
  struct zone *z = &g->zones[i];
  const struct zone *next = &g->zones[i + 1];
  int64_t last = to_place (z, z->sectors - 1);
  struct place from, to;
  int64_t between, switch_ns;

  locate (g, z, last, &from);
  locate (g, next, to_place (next, 0), &to);
  between = to.phase - (z->start_phase + line_phase_end (g, z, last, false)) %
    g->revolution;
  if (between < 0)
    between += g->revolution;
  switch_ns = seek_ns (seek, to.cylinder - from.cylinder,
                       to.head != from.head, false);
  for (int write = 0; write < 2; write++)
    z->next_gap[write] =
      gap_phase (g, between, switch_ns + (write ? seek->write_switch_ns : 0));
}

/* The zone's holes, from *next on, as they are looked up. */
static void
zone_holes (struct geometry *g, struct zone *z, uint32_t zone,
            const struct profile_geometry *profile, uint32_t *next)
{
  int64_t shift = 0;

  if (profile->n_holes == 0)
    return;
  z->holes = &g->holes[*next];
  for (; *next < profile->n_holes && profile->holes[*next].zone == zone;
       ++*next) {
    const struct profile_hole *h = &profile->holes[*next];

    g->holes[*next] = (struct hole) {
      .number = h->first - shift, .place = h->first,
      .shift = shift + h->sectors,
    };
    shift += h->sectors;
    z->n_holes++;
  }
  z->sectors -= shift;
}

static void
zone_gaps (struct geometry *g, struct zone *z,
           const struct profile_zone *profile, const struct seek *seek)
{
  int64_t head_ns = seek->head_switch_ns;
  int64_t cylinder_ns = seek_ns (seek, 1, g->heads > 1 && !g->serpentine,
                                 false);
  int64_t head_skew = skew_phase (g, z, profile->track_skew_x1000, head_ns);
  int64_t cylinder_skew = skew_phase (g, z, profile->cylinder_skew_x1000,
                                      cylinder_ns);

  for (int write = 0; write < 2; write++) {
    int64_t extra_ns = write ? seek->write_switch_ns : 0;

    z->head_gap[write] = gap_phase (g, head_skew, head_ns + extra_ns);
    z->cylinder_gap[write] = gap_phase (g, cylinder_skew,
                                        cylinder_ns + extra_ns);
    z->cylinder_length[write] = g->heads * g->revolution +
      (g->heads - 1) * z->head_gap[write] + z->cylinder_gap[write];
  }
}

/* Out to the spare, its sector, and back to where the next one begins: a
 * whole number of revolutions.
 */
static int64_t
excursion_phase (const struct geometry *g, const struct place *from,
                 const struct place *to, const struct seek *seek)
{
  int64_t distance = to->cylinder - from->cylinder, move, wait;

  if (distance < 0)
    distance = -distance;
  move = seek_ns (seek, distance, to->head != from->head, false) * g->rate;
  wait = (to->phase - from->phase - move % g->revolution) % g->revolution;
  if (wait < 0)
    wait += g->revolution;
  return div_up (move + wait + move, g->revolution) * g->revolution;
}

static void
make_remaps (struct geometry *g, const struct profile_geometry *profile,
             const struct seek *seek)
{
  g->n_remaps = (int) profile->n_remaps;
  for (uint32_t i = 0; i < profile->n_remaps; i++) {
    const struct profile_remap *p = &profile->remaps[i];
    struct zone *z = &g->zones[find_zone (g, p->lba) - g->zones];
    struct remap *r = &g->remaps[i];
    struct place from, to;

    r->place = to_place (z, p->lba - z->first_lba);
    locate (g, z, r->place, &from);
    locate (g, &g->zones[p->zone], p->sector, &to);
    r->cost = excursion_phase (g, &from, &to, seek);
    if (z->n_remaps++ == 0)
      z->remaps = r;
    else
      r->cost += r[-1].cost;
  }
}

/* The n-th spare from the end of the data on; the last cylinder has room. */
static void
locate_spare (const struct geometry *g, int n, struct place *p)
{
  const struct zone *z = &g->zones[g->n_zones - 1];
  int64_t last = to_place (z, z->sectors - 1);
  int64_t end = (g->cylinders - z->first_cylinder) * g->heads *
    z->sectors_per_track;

  locate (g, z, min_i64 (last + 1 + n, end - 1), p);
}

/* Where the remap of `place` is in its zone's list, or belongs. */
static int
find_remap (const struct zone *z, int64_t place)
{
  int i = 0;

  while (i < z->n_remaps && z->remaps[i].place < place)
    i++;
  return i;
}

/* Make room for one more in zone z at r. */
static void
insert_remap (struct geometry *g, struct zone *z, struct remap *r)
{
  const struct remap *end = g->remaps + g->n_remaps++;

  memmove (r + 1, r, (size_t) (end - r) * sizeof *r);
  z->n_remaps++;
  for (struct zone *next = z + 1; next < g->zones + g->n_zones; next++)
    if (next->n_remaps > 0)
      next->remaps++;
}

int
geometry_reallocate (struct geometry *g, int64_t lba, const struct seek *seek)
{
  struct zone *z = &g->zones[find_zone (g, lba) - g->zones];
  int64_t place = to_place (z, lba - z->first_lba), cost;
  int i = find_remap (z, place), at = 0;
  struct place from, to;

  if ((i < z->n_remaps && z->remaps[i].place == place) ||
      g->n_remaps == g->max_remaps)
    return 0;
  locate (g, z, place, &from);
  locate_spare (g, g->n_remaps, &to);
  cost = excursion_phase (g, &from, &to, seek);
  for (const struct zone *before = g->zones; before < z; before++)
    at += before->n_remaps;
  z->remaps = g->remaps + at;
  insert_remap (g, z, &z->remaps[i]);
  z->remaps[i] = (struct remap) {
    place, i > 0 ? z->remaps[i - 1].cost : 0
  };
  for (; i < z->n_remaps; i++)
    z->remaps[i].cost += cost;
  return 1;
}

int64_t
geometry_cylinders (const struct profile_geometry *profile)
{
  int64_t n = 0;

  for (uint32_t i = 0; i < profile->n_zones; i++)
    n += (int64_t) profile->zones[i].skip_cylinders +
      profile->zones[i].cylinders;
  return n;
}

static void
make_zones (struct geometry *g, const struct profile_geometry *profile,
            const struct seek *seek)
{
  int64_t lba = 0, phase = 0, cylinder = 0;
  uint32_t next_hole = 0;

  for (int i = 0; i < g->n_zones; i++) {
    const struct profile_zone *p = &profile->zones[i];
    struct zone *z = &g->zones[i];

    z->sectors_per_track = p->sectors_per_track;
    z->sectors = (int64_t) p->cylinders * g->heads * z->sectors_per_track;
    z->first_lba = lba;
    z->first_cylinder = cylinder + p->skip_cylinders;
    z->start_phase = p->offset_x1000 == PROFILE_SKEW_AUTO
      ? phase : skew_phase (g, z, p->offset_x1000, 0) % g->revolution;
    zone_gaps (g, z, p, seek);
    zone_holes (g, z, (uint32_t) i, profile, &next_hole);
    /* The angle goes on from zone to zone; reduced as it goes, since the
     * whole drive's line need not fit in 64 bits.
     */
    phase = (z->start_phase + (z->cylinder_length[0] % g->revolution) *
             (p->cylinders % g->revolution)) % g->revolution;
    lba += z->sectors;
    cylinder = z->first_cylinder + p->cylinders;
  }
  /* What is left of the last cylinder is spare. */
  if (g->n_zones > 0)
    g->zones[g->n_zones - 1].sectors += g->sectors - lba;
}

int
geometry_init (struct geometry *g, const struct profile_geometry *profile,
               const struct seek *seek, uint64_t angle)
{
  int64_t common = (int64_t) gcd64 (profile->rpm_x100, NS_PER_100_MINUTES);

  *g = (struct geometry) {
    .sectors = profile->sectors,
    .cylinders = geometry_cylinders (profile),
    .heads = profile->heads,
    .serpentine = profile->serpentine,
    .revolution = NS_PER_100_MINUTES / common,
    .rate = profile->rpm_x100 / common,
    .n_zones = (int) profile->n_zones,
  };
  g->phase_at_zero = (int64_t) (angle % (uint64_t) g->revolution);
  if (profile->n_holes > 0) {
    g->holes = calloc (profile->n_holes, sizeof g->holes[0]);
    if (g->holes == NULL)
      return -1;
  }
  g->max_remaps = (int) profile->n_remaps + GEOMETRY_SPARES;
  g->remaps = calloc ((size_t) g->max_remaps, sizeof g->remaps[0]);
  if (g->remaps == NULL)
    return -1;
  make_zones (g, profile, seek);
  make_remaps (g, profile, seek);
  for (int i = 0; i + 1 < g->n_zones; i++)
    zone_next_gap (g, i, seek);
  return 0;
}

void
geometry_free (struct geometry *g)
{
  free (g->holes);
  free (g->remaps);
}

void
geometry_locate (const struct geometry *g, int64_t lba, struct place *place)
{
  const struct zone *z = find_zone (g, lba);

  locate (g, z, to_place (z, lba - z->first_lba), place);
}

static const struct zone *
zone_of_cylinder (const struct geometry *g, int64_t cylinder)
{
  int i = g->n_zones - 1;

  while (i > 0 && g->zones[i].first_cylinder > cylinder)
    i--;
  return &g->zones[i];
}

int64_t
geometry_lba (const struct geometry *g, const struct place *place)
{
  const struct zone *z = zone_of_cylinder (g, place->cylinder);
  int64_t cylinder = place->cylinder - z->first_cylinder;
  int64_t track = cylinder * g->heads +
    head_order (g, cylinder, place->head);
  int64_t sector, n;
  struct place track_start;

  if (track < 0)
    return -1;
  locate (g, z, track * z->sectors_per_track, &track_start);
  sector = place->phase - track_start.phase;
  if (sector < 0)
    sector += g->revolution;
  sector = sector * z->sectors_per_track / g->revolution;
  n = to_number (z, track * z->sectors_per_track + sector);
  if (n >= z->sectors || to_place (z, n) != track * z->sectors_per_track +
      sector)
    return -1;
  return z->first_lba + n;
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
geometry_transfer_ns (const struct geometry *g, int64_t lba, int64_t sectors,
                      bool write)
{
  int64_t ns = 0;

  while (sectors > 0) {
    const struct zone *z = find_zone (g, lba);
    int64_t n = lba - z->first_lba;
    int64_t here = min_i64 (sectors, z->sectors - n);
    int64_t phase =
      line_phase_end (g, z, to_place (z, n + here - 1), write) -
      line_phase (g, z, to_place (z, n), write);

    sectors -= here;
    lba += here;
    if (sectors > 0)
      phase += z->next_gap[write];
    ns += phase_to_ns (g, phase);
  }
  return ns;
}

/* Whole sectors of zone z, holes included, before the point `phase` on its
 * line.
 */
static int64_t
line_places (const struct geometry *g, const struct zone *z, int64_t phase,
             bool write)
{
  int64_t cylinder = phase / z->cylinder_length[write];
  int64_t rest = phase - cylinder * z->cylinder_length[write];
  int64_t track_length = g->revolution + z->head_gap[write];
  int64_t head = min_i64 (rest / track_length, g->heads - 1);

  rest = min_i64 (rest - head * track_length, g->revolution);
  return (cylinder * g->heads + head) * z->sectors_per_track +
    rest * z->sectors_per_track / g->revolution;
}

/* The largest number of sectors of zone z, from n on and at most max, that
 * have passed at the point `phase` of its line.
 */
static int64_t
line_passed (const struct geometry *g, const struct zone *z, int64_t n,
             int64_t max, int64_t phase, bool write)
{
  int64_t low = 0, high = max;

  if (z->n_remaps == 0)
    return max_i64 (to_number (z, line_places (g, z, phase, write)) - n, 0);
  while (low < high) {
    int64_t middle = (low + high + 1) / 2;

    if (line_phase_end (g, z, to_place (z, n + middle - 1), write) <= phase)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

int64_t
geometry_sectors_passed (const struct geometry *g, int64_t lba,
                         int64_t elapsed_ns, int64_t max, bool write)
{
  int64_t passed = 0;

  while (passed < max) {
    const struct zone *z = find_zone (g, lba + passed);
    int64_t n = lba + passed - z->first_lba;
    int64_t here = min_i64 (max - passed, z->sectors - n);
    int64_t whole_ns = geometry_transfer_ns (g, lba + passed, here, write);

    if (elapsed_ns < whole_ns) {
      int64_t phase = line_phase (g, z, to_place (z, n), write) +
        elapsed_ns * g->rate;

      return passed + line_passed (g, z, n, here, phase, write);
    }
    passed += here;
    elapsed_ns -= whole_ns;
    if (passed < max) {
      elapsed_ns -= phase_to_ns (g, z->next_gap[write]);
      if (elapsed_ns < 0)
        return passed;
    }
  }
  return max;
}

/* The first LBA of the n-th track (of `heads` tracks) from lba's on. */
static int64_t
boundary (const struct geometry *g, int64_t lba, int64_t heads, int64_t n)
{
  const struct zone *z = find_zone (g, lba);
  int64_t unit = z->sectors_per_track * heads;
  int64_t place = to_place (z, lba - z->first_lba);

  return z->first_lba + min_i64 (to_number (z, (place / unit + n) * unit),
                                 z->sectors);
}

int64_t
geometry_track_start (const struct geometry *g, int64_t lba)
{
  return boundary (g, lba, 1, 0);
}

int64_t
geometry_track_end (const struct geometry *g, int64_t lba)
{
  return boundary (g, lba, 1, 1);
}

int64_t
geometry_cylinder_end (const struct geometry *g, int64_t lba)
{
  return boundary (g, lba, g->heads, 1);
}

int64_t
geometry_revolution_ns (const struct geometry *g)
{
  return (g->revolution + g->rate / 2) / g->rate;
}
