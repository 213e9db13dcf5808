/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the sectors with an LBA are: zones, slipped defects, spares.
 *
 * DiskSim's sparing schemes, as far as they are known here: 1 has spare
 * tracks at the end of each zone, and its slips are tracks; 9 has spare
 * sectors there; 8 has them at the end of every range of cylinders; 7 has
 * none but what the slips need.  A slip moves all that follow up to the
 * spares by one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import-impl.h"

enum { NO_SPARING = 0, TRACKS = 1, AS_NEEDED = 7, RANGES = 8, ZONE_END = 9 };

struct layout {
  struct import *in;
  struct profile_geometry *g;
  int64_t scheme, range;        /* range in cylinders */
  bool short_of_spares;
};

static int64_t
cylinder_sectors (const struct profile_geometry *g, uint32_t zone)
{
  return (int64_t) g->heads * g->zones[zone].sectors_per_track;
}

static int64_t
zone_total (const struct profile_geometry *g, uint32_t zone)
{
  return g->zones[zone].cylinders * cylinder_sectors (g, zone);
}

static int64_t
zone_usable (const struct profile_geometry *g, uint32_t zone)
{
  int64_t usable = zone_total (g, zone);

  for (uint32_t i = 0; i < g->n_holes; i++)
    if (g->holes[i].zone == zone)
      usable -= g->holes[i].sectors;
  return usable;
}

static int
zone_fail (struct layout *l, uint32_t zone, const char *what)
{
  char name[32];

  snprintf (name, sizeof name, "zone %" PRIu32, zone);
  return import_fail (l->in, name, NULL, "%s", what);
}

/* ---- zones ---- */

static int
compare_slips (const void *a, const void *b)
{
  const int64_t *p = a, *q = b;

  return (*p > *q) - (*p < *q);
}

static int
sort_slips (struct layout *l, uint32_t i, int64_t unit)
{
  struct import_zone *z = &l->in->drive.zone[i];

  if (z->n_slips == 0)
    return 0;
  qsort (z->slips, z->n_slips, sizeof z->slips[0], compare_slips);
  for (size_t j = 1; j < z->n_slips; j++)
    if (z->slips[j] == z->slips[j - 1])
      return zone_fail (l, i, "a slip is there twice");
  if (z->slips[z->n_slips - 1] >= zone_total (l->g, i) / unit)
    return zone_fail (l, i, unit > 1 ? "a slip is a track beyond its end"
                                     : "a slip is a sector beyond its end");
  return 0;
}

/* Whole turns of a skew or an offset make no difference to the angle. */
static uint32_t
less_than_a_turn (int64_t x1000, int64_t sectors)
{
  return (uint32_t) (x1000 % (sectors * 1000));
}

static int
make_zones (struct layout *l)
{
  const struct import_drive *d = &l->in->drive;
  int64_t next = 0;

  if (d->n_zones == 0)
    return import_fail (l->in, "zones", NULL, "are missing");
  l->g->n_zones = (uint32_t) d->n_zones;
  for (uint32_t i = 0; i < l->g->n_zones; i++) {
    const struct import_zone *z = &d->zone[i];
    int64_t n = z->sectors_per_track;

    if (z->first_cylinder < next)
      return zone_fail (l, i, "its first cylinder does not come after the "
                        "zone before");
    if (z->last_cylinder < z->first_cylinder)
      return zone_fail (l, i, "its last cylinder comes before its first");
    l->g->zones[i] = (struct profile_zone) {
      .cylinders = (uint32_t) (z->last_cylinder - z->first_cylinder + 1),
      .sectors_per_track = (uint32_t) n,
      .track_skew_x1000 = less_than_a_turn (z->track_skew_x1000, n),
      .cylinder_skew_x1000 = less_than_a_turn (z->cylinder_skew_x1000, n),
      .offset_x1000 = less_than_a_turn (z->offset_x1000, n),
      .skip_cylinders = (uint32_t) (z->first_cylinder - next),
    };
    next = z->last_cylinder + 1;
    if (sort_slips (l, i, l->scheme == TRACKS ? n : 1) == -1)
      return -1;
  }
  return 0;
}

/* ---- the range of scheme 8 ---- */

static int64_t
capacity (const struct layout *l, int64_t range)
{
  const struct import_drive *d = &l->in->drive;
  int64_t n = 0;

  for (uint32_t i = 0; i < l->g->n_zones; i++)
    n += zone_total (l->g, i) - d->zone[i].front -
      d->zone[i].spares * (l->g->zones[i].cylinders / range);
  return n;
}

/* The smallest with which the drive has as many blocks as it should. */
static void
guess_range (struct layout *l)
{
  const struct import_drive *d = &l->in->drive;
  int64_t blocks = d->value[IMPORT_BLOCKS], low = 1, high = 1;

  for (uint32_t i = 0; i < l->g->n_zones; i++) {
    int64_t least = d->zone[i].spares / cylinder_sectors (l->g, i) + 1;

    if (low < least)
      low = least;
    if (high <= l->g->zones[i].cylinders)
      high = l->g->zones[i].cylinders + 1;
  }
  while (low < high) {
    int64_t middle = low + (high - low) / 2;

    if (capacity (l, middle) >= blocks)
      high = middle;
    else
      low = middle + 1;
  }
  l->range = low;
  import_note (l->in, "Rangesize for sparing: not given; %" PRIi64
               " cylinders is the smallest with which the zones hold the "
               "Block count", low);
}

/* ---- holes ---- */

static int
too_many_holes (struct layout *l)
{
  return import_fail (l->in, "zones", NULL, "more than %d slips and groups of "
                      "spares", PROFILE_MAX_HOLES);
}

/* After those there are. */
static int
add_hole (struct layout *l, uint32_t zone, int64_t first, int64_t sectors)
{
  struct profile_geometry *g = l->g;
  struct profile_hole *last = g->n_holes ? &g->holes[g->n_holes - 1] : NULL;

  if (last && last->zone == zone && last->first + last->sectors == first) {
    first = last->first;
    sectors += last->sectors;
    g->n_holes--;
  }
  if (g->n_holes == PROFILE_MAX_HOLES)
    return too_many_holes (l);
  if (sectors > UINT32_MAX)
    return zone_fail (l, zone, "too many sectors without data in one place");
  g->holes[g->n_holes++] = (struct profile_hole) {
    .zone = zone, .sectors = (uint32_t) sectors, .first = first
  };
  return 0;
}

/* Slips between BASE and BASE + LENGTH, and what they leave of the spares at
 * its end.  *SLIP is the first of them, and moved on.
 */
static int
stretch (struct layout *l, uint32_t zone, size_t *slip, int64_t unit,
         int64_t base, int64_t length, int64_t spares)
{
  const struct import_zone *z = &l->in->drive.zone[zone];
  int64_t end = base + length, used = end - spares;

  if (spares >= length)
    return zone_fail (l, zone, "not more sectors than spares");
  for (; *slip < z->n_slips && z->slips[*slip] * unit < end; ++*slip) {
    int64_t first = z->slips[*slip] * unit;

    if (first > used)
      continue;                 /* a defect among the spares */
    if (add_hole (l, zone, first, unit) == -1)
      return -1;
    used += unit;
  }
  if (used < end)
    return add_hole (l, zone, used, end - used);
  l->short_of_spares |= used > end;
  return 0;
}

static int
ranges (struct layout *l, uint32_t zone)
{
  int64_t spares = l->in->drive.zone[zone].spares;
  int64_t length = l->range * cylinder_sectors (l->g, zone);
  int64_t total = zone_total (l->g, zone), base = 0;
  size_t slip = 0;

  for (; spares > 0 && total - base >= length; base += length)
    if (stretch (l, zone, &slip, 1, base, length, spares) == -1)
      return -1;
  return base < total ? stretch (l, zone, &slip, 1, base, total - base, 0)
                      : 0;
}

/* The zone's first sectors, slips and spares not counted. */
static int
front (struct layout *l, uint32_t zone, uint32_t first_hole)
{
  struct profile_geometry *g = l->g;
  int64_t end = l->in->drive.zone[zone].front;
  uint32_t n = first_hole;

  if (end == 0)
    return 0;
  for (; n < g->n_holes && g->holes[n].first <= end; n++)
    end += g->holes[n].sectors;
  if (end >= zone_total (g, zone))
    return zone_fail (l, zone, "not more sectors than empty space");
  if (end > UINT32_MAX)
    return zone_fail (l, zone, "too much empty space");
  if (n == first_hole && g->n_holes == PROFILE_MAX_HOLES)
    return too_many_holes (l);
  /* One hole instead of n - first_hole. */
  memmove (&g->holes[first_hole + 1], &g->holes[n],
           (g->n_holes - n) * sizeof g->holes[0]);
  g->n_holes -= n - first_hole;
  g->n_holes++;
  g->holes[first_hole] = (struct profile_hole) {
    .zone = zone, .sectors = (uint32_t) end
  };
  return 0;
}

static int
zone_holes (struct layout *l, uint32_t i)
{
  const struct import_zone *z = &l->in->drive.zone[i];
  int64_t total = zone_total (l->g, i);
  uint32_t first_hole = l->g->n_holes;
  size_t slip = 0;
  int r = 0;

  switch (l->scheme) {
  case TRACKS:
    r = stretch (l, i, &slip, z->sectors_per_track, 0, total,
                 z->spares * z->sectors_per_track);
    break;
  case AS_NEEDED:
    r = stretch (l, i, &slip, 1, 0, total, 0);
    break;
  case RANGES:
    r = ranges (l, i);
    break;
  case ZONE_END:
    r = stretch (l, i, &slip, 1, 0, total, z->spares);
    break;
  }
  if (r == -1 || front (l, i, first_hole) == -1)
    return -1;
  if (zone_usable (l->g, i) <= 0)
    return zone_fail (l, i, "no sector is left for data");
  return 0;
}

/* ---- the capacity ---- */

/* Take N cylinders off the last zone; returns how many sectors with an LBA
 * that costs.
 */
static int64_t
shorten (struct profile_geometry *g, int64_t n)
{
  uint32_t last = g->n_zones - 1;
  int64_t before = zone_usable (g, last), end;

  g->zones[last].cylinders -= (uint32_t) n;
  end = zone_total (g, last);
  while (g->n_holes > 0) {
    struct profile_hole *h = &g->holes[g->n_holes - 1];

    if (h->zone != last || h->first + h->sectors <= end)
      break;
    if (h->first < end) {
      h->sectors = (uint32_t) (end - h->first);
      break;
    }
    g->n_holes--;
  }
  return before - zone_usable (g, last);
}

/* The profile may have less than one cylinder to spare. */
static void
fit (struct layout *l)
{
  struct profile_geometry *g = l->g;
  int64_t blocks = l->in->drive.value[IMPORT_BLOCKS], spare = -blocks;
  int64_t cut = 0, more;

  for (uint32_t i = 0; i < g->n_zones; i++)
    spare += zone_usable (g, i);
  more = spare;
  if (spare < 0) {
    import_note (l->in, "Block count = %" PRIi64 ": the zones hold %" PRIi64
                 " fewer, and so does the profile", blocks, -spare);
    blocks += spare;
    spare = 0;
  }
  g->sectors = blocks;
  for (;;) {
    uint32_t last = g->n_zones - 1;
    int64_t n = spare / cylinder_sectors (g, last);

    if (n > g->zones[last].cylinders || zone_usable (g, last) == 0)
      n = g->zones[last].cylinders;
    if (n == 0)
      break;
    spare -= shorten (g, n);
    cut += n;
    if (g->zones[last].cylinders == 0)
      g->n_zones--;
  }
  if (cut > 0)
    import_note (l->in, "Block count = %" PRIi64 ": the zones hold %" PRIi64
                 " more; %" PRIi64 " cylinders at the end are left out",
                 blocks, more, cut);
}

/* What of the defects cannot be said. */
static void
note_defects (const struct layout *l)
{
  const struct import_drive *d = &l->in->drive;
  size_t slips = 0, defects = 0, expected = 0;

  for (size_t i = 0; i < d->n_zones; i++) {
    slips += d->zone[i].n_slips;
    defects += d->zone[i].n_defects;
    expected += d->zone[i].n_expected;
  }
  if (expected > slips)
    import_note (l->in, "slips: %zu slipped sectors or tracks are not in "
                 "this file; --slips gives them", expected);
  if (defects > 0)
    import_note (l->in, "defects: %zu have their data elsewhere; here they "
                 "have them in place", defects);
  if (l->short_of_spares && l->scheme != AS_NEEDED)
    import_note (l->in, "Number of spares: fewer than slips in a zone");
}

/* 1 and 2 are serpentine: 2 begins anew in each zone, as the model does. */
static void
import_mapping (struct import *in, struct profile_geometry *g)
{
  int64_t scheme = in->drive.value[IMPORT_MAPPING];

  g->serpentine = scheme == 1 || scheme == 2;
  if (scheme == 1)
    import_note (in, "LBN-to-PBN mapping scheme = 1: the order of heads "
                 "begins anew in each zone, as with 2");
  else if (scheme != 0 && scheme != 2)
    import_note (in, "LBN-to-PBN mapping scheme = %" PRIi64 ": not known; "
                 "LBAs go from head to head, then to the next cylinder",
                 scheme);
}

int
import_layout (struct import *in, struct profile_geometry *g)
{
  struct layout l = { .in = in, .g = g };
  int64_t scheme = in->drive.value[IMPORT_SPARING];

  g->heads = (uint32_t) in->drive.value[IMPORT_HEADS];
  import_mapping (in, g);
  if (scheme == TRACKS || scheme == AS_NEEDED || scheme == RANGES ||
      scheme == ZONE_END)
    l.scheme = scheme;
  else if (scheme != NO_SPARING)
    import_note (in, "Sparing scheme used = %" PRIi64 ": not known, treated "
                 "as none (0); slips and spares are ignored", scheme);
  if (make_zones (&l) == -1)
    return -1;
  l.range = in->drive.value[IMPORT_RANGE];
  if (l.scheme == RANGES && !in->drive.given[IMPORT_RANGE])
    guess_range (&l);
  for (uint32_t i = 0; i < g->n_zones; i++)
    if (zone_holes (&l, i) == -1)
      return -1;
  fit (&l);
  memset (&g->holes[g->n_holes], 0,
          (PROFILE_MAX_HOLES - g->n_holes) * sizeof g->holes[0]);
  memset (&g->zones[g->n_zones], 0,
          (PROFILE_MAX_ZONES - g->n_zones) * sizeof g->zones[0]);
  note_defects (&l);
  return 0;
}
