/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one key alone cannot show: zones against the capacity, segments
 * against the buffer, the shape of the seek curve.
 */
#include <stdio.h>

#include "loader-impl.h"

/* Blame the key that was overridden, else the first that was given. */
static const struct key *
blame (const struct load *load, const char *const *paths)
{
  const struct key *given = NULL;

  for (; *paths; paths++) {
    const struct key *key = key_find (*paths);
    const struct origin *origin = &load->origin[key - keys];

    if (origin->override)
      return key;
    if (given == NULL && (origin->line || paths[1] == NULL))
      given = key;
  }
  return given;
}

#define FAIL(load, paths, ...) \
  fail_key (load, blame (load, paths), NULL, __VA_ARGS__)
#define KEYS(...) (const char *const[]) { __VA_ARGS__, NULL }

/* ---- zones ---- */

/* Sectors per track in zone i of a table: a straight line, rounded. */
static uint32_t
table_spt (const struct zone_table *table, uint32_t i)
{
  const uint64_t span = table->outer - table->inner;
  const uint64_t steps = table->count - 1;

  if (steps == 0)
    return table->outer;
  return table->outer - (uint32_t) ((2 * span * i + steps) / (2 * steps));
}

/* All zones get the same number of cylinders; what is then left goes, one
 * cylinder each, to the outermost ones, and the last takes the rest, rounded
 * up.  So less than one cylinder of the last zone is to spare.  A drive
 * too small for that has fewer zones.
 */
static void
lay_out_table (struct load *load)
{
  const struct zone_table *table = &load->zone_table;
  struct profile_geometry *geometry = &load->profile.geometry;
  int64_t per_cylinder = 0, width, left;

  for (uint32_t i = 0; i < table->count; i++)
    per_cylinder += (int64_t) geometry->heads * table_spt (table, i);
  width = geometry->sectors / per_cylinder;
  left = geometry->sectors % per_cylinder;

  geometry->n_zones = 0;
  for (uint32_t i = 0; i < table->count; i++) {
    const uint32_t spt = table_spt (table, i);
    const int64_t cylinder = (int64_t) geometry->heads * spt;
    int64_t extra = left >= cylinder;

    if (i == table->count - 1 || (width == 0 && ! extra))
      extra = (left + cylinder - 1) / cylinder;
    left -= extra * cylinder;
    if (left < 0)
      left = 0;
    if (width + extra == 0)
      break;
    geometry->zones[geometry->n_zones++] = (struct profile_zone) {
      .cylinders = (uint32_t) (width + extra),
      .sectors_per_track = spt,
      .track_skew_x1000 = table->track_skew,
      .cylinder_skew_x1000 = table->cylinder_skew,
      .offset_x1000 = PROFILE_SKEW_AUTO,
    };
  }
}

static int
make_zones (struct load *load)
{
  static const char *const table_keys[] = {
    "geometry.zone-table.count", "geometry.zone-table.outer",
    "geometry.zone-table.inner", NULL
  };
  const bool explicit = key_given (load, "geometry.zones");
  int given = 0;

  for (size_t i = 0; table_keys[i]; i++)
    given += key_given (load, table_keys[i]);
  if (explicit && given)
    return FAIL (load, table_keys, "geometry.zones is there as well: only "
                 "one of the two is allowed");
  if (explicit)
    return 0;
  if (given == 0)
    return fail (load, "%s: geometry.zones: is missing, and so is "
                 "geometry.zone-table", load->file);
  for (size_t i = 0; table_keys[i]; i++)
    if (! key_given (load, table_keys[i]))
      return FAIL (load, KEYS (table_keys[i]), "is missing: a zone-table "
                   "has count, outer and inner");
  if (load->zone_table.inner > load->zone_table.outer)
    return FAIL (load, KEYS (table_keys[2], table_keys[1]), "%u sectors per "
                 "track inside, %u outside: inner may not be larger",
                 load->zone_table.inner, load->zone_table.outer);
  if (load->profile.geometry.sectors / load->profile.geometry.heads /
      load->zone_table.inner > 100000000)
    return FAIL (load, KEYS ("geometry.sectors"),
                 "more than 100000000 cylinders");
  lay_out_table (load);
  return 0;
}

static int
check_skew (struct load *load, const struct profile_zone *zone,
            uint32_t skew_x1000, const char *path)
{
  if (skew_x1000 != PROFILE_SKEW_AUTO &&
      skew_x1000 >= (int64_t) zone->sectors_per_track * 1000)
    return FAIL (load, KEYS (path, "geometry.zones"),
                 "a skew or offset of %u.%03u sectors on a track of %u: less "
                 "than the track is allowed", skew_x1000 / 1000,
                 skew_x1000 % 1000, zone->sectors_per_track);
  return 0;
}

static int64_t
zone_sectors (const struct profile_geometry *geometry, uint32_t i)
{
  return (int64_t) geometry->zones[i].cylinders * geometry->heads *
    geometry->zones[i].sectors_per_track;
}

/* Returns how many sectors they take away, or -1. */
static int64_t
check_holes (struct load *load)
{
  const struct profile_geometry *geometry = &load->profile.geometry;
  const struct profile_hole *before = NULL;
  int64_t sum = 0;

  for (uint32_t i = 0; i < geometry->n_holes; i++) {
    const struct profile_hole *hole = &geometry->holes[i];

    if (hole->zone >= geometry->n_zones ||
        hole->first + hole->sectors > zone_sectors (geometry, hole->zone))
      return FAIL (load, KEYS ("geometry.holes"), "hole %u, ( %u, %lld, %u ): "
                   "does not lie in its zone", i, hole->zone,
                   (long long) hole->first, hole->sectors);
    if (before && (before->zone > hole->zone ||
                   (before->zone == hole->zone &&
                    before->first + before->sectors > hole->first)))
      return FAIL (load, KEYS ("geometry.holes"), "hole %u, ( %u, %lld, %u ): "
                   "must come after the one before", i, hole->zone,
                   (long long) hole->first, hole->sectors);
    before = hole;
    sum += hole->sectors;
  }
  return sum;
}

/* The model counts angles in a unit of which an odd speed needs very many,
 * 6e12 a revolution at the worst, and a zone's length in it fits 63 bits.
 */
static int
check_speed (struct load *load)
{
  const struct profile_geometry *geometry = &load->profile.geometry;
  int64_t units = INT64_C (6000000000000), rest = geometry->rpm_x100, tracks;

  while (rest != 0) {           /* units becomes the common divisor */
    const int64_t next = units % rest;

    units = rest;
    rest = next;
  }
  units = INT64_C (6000000000000) / units;
  for (uint32_t i = 0; i < geometry->n_zones; i++) {
    tracks = (int64_t) geometry->zones[i].cylinders * geometry->heads;
    /* A switch may take several revolutions. */
    if (tracks > INT64_MAX / 64 / units)
      return FAIL (load, KEYS ("geometry.rpm"), "too odd a speed for zones "
                   "of %lld tracks: rounded to a whole number of turns it "
                   "will do, or with more zones", (long long) tracks);
  }
  return 0;
}

static bool
is_hole (const struct profile_geometry *geometry, uint32_t zone,
         int64_t sector)
{
  for (uint32_t i = 0; i < geometry->n_holes; i++) {
    const struct profile_hole *hole = &geometry->holes[i];

    if (hole->zone == zone && sector >= hole->first &&
        sector < hole->first + hole->sectors)
      return true;
  }
  return false;
}

static int
check_remaps (struct load *load)
{
  const struct profile_geometry *geometry = &load->profile.geometry;

  for (uint32_t i = 0; i < geometry->n_remaps; i++) {
    const struct profile_remap *remap = &geometry->remaps[i];

    if (remap->lba >= geometry->sectors ||
        (i > 0 && remap->lba <= remap[-1].lba))
      return FAIL (load, KEYS ("geometry.remaps"), "sector %lld: defects "
                   "are sectors of the drive, each once, in order",
                   (long long) remap->lba);
    if (! is_hole (geometry, remap->zone, remap->sector))
      return FAIL (load, KEYS ("geometry.remaps"), "zone %u, sector %lld: a "
                   "spare is a sector without an LBA (geometry.holes)",
                   remap->zone, (long long) remap->sector);
  }
  return 0;
}

static int
check_zones (struct load *load)
{
  const struct profile_geometry *geometry = &load->profile.geometry;
  const char *const *paths = KEYS ("geometry.zones", "geometry.sectors",
                                   "geometry.heads");
  int64_t sum = 0, cylinder = 1, holes, spare;

  for (uint32_t i = 0; i < geometry->n_zones; i++) {
    const struct profile_zone *zone = &geometry->zones[i];

    if (check_skew (load, zone, zone->track_skew_x1000,
                    "geometry.zone-table.track-skew-sectors") == -1 ||
        check_skew (load, zone, zone->cylinder_skew_x1000,
                    "geometry.zone-table.cylinder-skew-sectors") == -1 ||
        check_skew (load, zone, zone->offset_x1000, "geometry.zones") == -1)
      return -1;
    cylinder = (int64_t) geometry->heads * zone->sectors_per_track;
    /* No overflow: 64 zones, 10^8 cylinders, 255 heads, 10^6 sectors. */
    sum += zone_sectors (geometry, i);
  }
  holes = check_holes (load);
  if (holes == -1)
    return -1;
  sum -= holes;
  spare = sum - geometry->sectors;
  if (spare < 0)
    return FAIL (load, paths, "the zones hold %lld sectors, "
                 "geometry.sectors is %lld: %lld too few; the last zone "
                 "needs %lld more cylinders", (long long) sum,
                 (long long) geometry->sectors, (long long) -spare,
                 (long long) ((cylinder - 1 - spare) / cylinder));
  if (spare >= cylinder)
    return FAIL (load, paths, "the zones hold %lld sectors, "
                 "geometry.sectors is %lld: %lld too many, less than one "
                 "cylinder of the last zone (%lld) is allowed; take %lld "
                 "cylinders off it", (long long) sum,
                 (long long) geometry->sectors, (long long) spare,
                 (long long) cylinder, (long long) (spare / cylinder));
  return 0;
}

/* ---- seek ---- */

/* The keys of a curve begin with one of these. */
static const char *const curve_groups[] = {
  "seek.", "seek.write.", "seek.quiet.", NULL
};

static const char *
curve_key (const char *group, const char *name)
{
  char path[80];

  snprintf (path, sizeof path, "%s%s", group, name);
  return key_find (path)->path;
}

static int
curve_needs (struct load *load, const char *group, const char *const *names)
{
  for (; *names; names++) {
    const char *path = curve_key (group, *names);

    if (! key_given (load, path))
      return FAIL (load, KEYS (path), "is missing: the curve needs it");
  }
  return 0;
}

/* a + b sqrt x + c x through the three times does not bend upwards if the
 * average lies above the straight line: at least a third of the way up from
 * track to full.
 */
static int
check_three_points (struct load *load, const char *group,
                    const struct profile_curve *curve)
{
  const char *const *paths = KEYS (curve_key (group, "average-ms"),
                                   curve_key (group, "full-ms"),
                                   curve_key (group, "track-ms"));
  const int64_t rise = curve->average_ns - curve->track_ns;
  const int64_t span = curve->full_ns - curve->track_ns;
  const int64_t least = curve->track_ns + (span + 2) / 3;

  if (span == 0 && rise == 0)
    return 0;                   /* the same time everywhere */
  if (span <= 0)
    return FAIL (load, paths, "the full stroke must take longer than the "
                 "seek to the next track");
  if (3 * rise < span || rise >= span)
    return FAIL (load, paths, "the average must lie a third or more of the "
                 "way from track-ms to full-ms and below full-ms: from "
                 "%lld.%06lld to less than %lld.%06lld",
                 (long long) (least / 1000000), (long long) (least % 1000000),
                 (long long) (curve->full_ns / 1000000),
                 (long long) (curve->full_ns % 1000000));
  return 0;
}

static int
check_curve (struct load *load, const char *group,
             const struct profile_curve *curve)
{
  switch (curve->kind) {
  case SEEK_CURVE_THREE_POINT:
    if (curve_needs (load, group, KEYS ("track-ms", "average-ms", "full-ms"))
        == -1)
      return -1;
    return check_three_points (load, group, curve);
  case SEEK_CURVE_POWER:
    if (curve_needs (load, group, KEYS ("track-ms", "full-ms", "exponent"))
        == -1)
      return -1;
    if (curve->full_ns < curve->track_ns)
      return FAIL (load, KEYS (curve_key (group, "full-ms"),
                               curve_key (group, "track-ms")),
                   "the full stroke may not take less than the seek to the "
                   "next track");
    return 0;
  case SEEK_CURVE_TWO_PIECE:
    return curve_needs (load, group, KEYS ("knee-cylinders", "low-ms",
                                           "low-root-ms", "high-ms",
                                           "high-ns-per-cylinder"));
  case SEEK_CURVE_TABLE:
    return curve_needs (load, group, KEYS ("table"));
  default:
    return 0;
  }
}

static int
check_seek (struct load *load)
{
  const struct profile_seek *seek = &load->profile.seek;
  const struct profile_curve *const curves[] = {
    &seek->read, &seek->write, &seek->quiet_read
  };

  for (int i = 0; curve_groups[i]; i++)
    if (check_curve (load, curve_groups[i], curves[i]) == -1)
      return -1;
  if (seek->quiet && seek->quiet_read.kind == SEEK_CURVE_NONE)
    return FAIL (load, KEYS ("seek.quiet-mode"), "seek.quiet is missing: "
                 "this drive has no quiet mode");
  return 0;
}

/* ---- buffer ---- */

static int
check_buffer (struct load *load)
{
  const struct profile_buffer *buffer = &load->profile.buffer;
  const int64_t segment = buffer->segment_bytes;

  if (buffer->segments == 0)
    return 0;
  if (segment == 0 && buffer->size_bytes / buffer->segments < 512)
    return FAIL (load, KEYS ("buffer.segments", "buffer.size-kib"),
                 "%u segments in %lld KiB: each must hold a sector",
                 buffer->segments, (long long) buffer->size_bytes / 1024);
  if (segment * buffer->segments > buffer->size_bytes)
    return FAIL (load, KEYS ("buffer.segments", "buffer.segment-kib",
                             "buffer.size-kib"),
                 "%u segments of %lld KiB do not fit in %lld KiB",
                 buffer->segments, (long long) segment / 1024,
                 (long long) buffer->size_bytes / 1024);
  return 0;
}

static int
check_lookahead (struct load *load)
{
  const struct profile_lookahead *ahead = &load->profile.lookahead;
  const struct profile_buffer *buffer = &load->profile.buffer;
  int64_t segment = buffer->segment_bytes;

  if (! ahead->enabled)
    return 0;
  if (buffer->segments == 0)
    return FAIL (load, KEYS ("lookahead.enabled", "buffer.segments"),
                 "look-ahead needs at least one segment; or set "
                 "lookahead.enabled to false");
  if (segment == 0)
    segment = buffer->size_bytes / buffer->segments;
  if (ahead->limit_bytes > segment)
    return FAIL (load, KEYS ("lookahead.limit-kib", "buffer.segment-kib",
                             "buffer.segments", "buffer.size-kib"),
                 "a look-ahead of %lld KiB in a segment of %lld KiB: at most "
                 "the segment is allowed",
                 (long long) ahead->limit_bytes / 1024,
                 (long long) segment / 1024);
  if (ahead->keep_behind_bytes >= segment && ahead->keep_behind_bytes > 0)
    return FAIL (load, KEYS ("lookahead.keep-behind-kib",
                             "buffer.segment-kib", "buffer.segments",
                             "buffer.size-kib"),
                 "%lld KiB kept behind in a segment of %lld KiB: less than "
                 "the segment is allowed",
                 (long long) ahead->keep_behind_bytes / 1024,
                 (long long) segment / 1024);
  if (ahead->tail.enabled &&
      (ahead->tail.period_sectors == 0 ||
       ahead->tail.tail_sectors >= ahead->tail.period_sectors))
    return FAIL (load, KEYS ("lookahead.tail.tail-sectors",
                             "lookahead.tail.period-sectors",
                             "lookahead.tail.enabled"),
                 "a tail of %u in a period of %u sectors: less than the "
                 "period is allowed", ahead->tail.tail_sectors,
                 ahead->tail.period_sectors);
  return 0;
}

static int
check_write_cache (struct load *load)
{
  const struct profile_write_cache *cache = &load->profile.write_cache;
  const int64_t buffer_bytes = load->profile.buffer.size_bytes;

  if (! cache->enabled)
    return 0;
  if (buffer_bytes == 0)
    return FAIL (load, KEYS ("write-cache.enabled", "buffer.size-kib"),
                 "a write cache needs a buffer; or set write-cache.enabled "
                 "to false");
  if (cache->size_bytes > buffer_bytes)
    return FAIL (load, KEYS ("write-cache.size-kib", "buffer.size-kib"),
                 "a write cache of %lld KiB in a buffer of %lld KiB",
                 (long long) cache->size_bytes / 1024,
                 (long long) buffer_bytes / 1024);
  return 0;
}

static int
check_identify (struct load *load)
{
  const struct profile *profile = &load->profile;

  if (! profile->identify.lba48 && profile->geometry.sectors > 1 << 28)
    return FAIL (load, KEYS ("identify.lba48", "geometry.sectors"),
                 "a drive of more than 268435456 sectors needs lba48");
  return 0;
}

static int
check_smr (struct load *load)
{
  const struct profile_smr *smr = &load->profile.smr;

  if (! smr->enabled)
    return 0;
  if (smr->cache_bytes == 0 || smr->band_bytes == 0 || smr->map_entries == 0)
    return FAIL (load, KEYS ("smr.cache-kib", "smr.band-kib",
                             "smr.map-entries", "smr.enabled"),
                 "a shingled drive has cache-kib, band-kib and map-entries, "
                 "none of them 0");
  if (! load->profile.write_cache.enabled)
    return FAIL (load, KEYS ("smr.enabled", "write-cache.enabled"),
                 "a shingled drive needs its write cache");
  return 0;
}

static int
check_media (struct load *load)
{
  const struct profile_media *media = &load->profile.media;

  if (media->stall_every_ns > 0 &&
      media->stall_for_ns >= media->stall_every_ns)
    return FAIL (load, KEYS ("media.stall-ms", "media.stall-every-ms"),
                 "a stop must be shorter than stall-every-ms");
  if (media->worn_head > load->profile.geometry.heads)
    return FAIL (load, KEYS ("media.worn-head", "geometry.heads"),
                 "head %u of %u", media->worn_head,
                 load->profile.geometry.heads);
  return 0;
}

int
check_profile (struct load *load)
{
  if (check_identify (load) == -1)
    return -1;
  if (load->profile.instant)
    return 0;
  if (make_zones (load) == -1 || check_zones (load) == -1 ||
      check_speed (load) == -1 || check_remaps (load) == -1 ||
      check_seek (load) == -1 || check_buffer (load) == -1 ||
      check_lookahead (load) == -1 || check_write_cache (load) == -1 ||
      check_smr (load) == -1 || check_media (load) == -1)
    return -1;
  return 0;
}
