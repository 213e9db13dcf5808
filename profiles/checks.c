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
      .track_skew_sectors = table->track_skew,
      .cylinder_skew_sectors = table->cylinder_skew,
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
check_skew (struct load *load, const struct profile_zone *zone)
{
  if (zone->track_skew_sectors != PROFILE_SKEW_AUTO &&
      zone->track_skew_sectors >= zone->sectors_per_track)
    return FAIL (load, KEYS ("geometry.zone-table.track-skew-sectors",
                             "geometry.zones"),
                 "a skew of %u sectors on a track of %u: less than the "
                 "track is allowed", zone->track_skew_sectors,
                 zone->sectors_per_track);
  if (zone->cylinder_skew_sectors != PROFILE_SKEW_AUTO &&
      zone->cylinder_skew_sectors >= zone->sectors_per_track)
    return FAIL (load, KEYS ("geometry.zone-table.cylinder-skew-sectors",
                             "geometry.zones"),
                 "a skew of %u sectors on a track of %u: less than the "
                 "track is allowed", zone->cylinder_skew_sectors,
                 zone->sectors_per_track);
  return 0;
}

static int
check_zones (struct load *load)
{
  const struct profile_geometry *geometry = &load->profile.geometry;
  const char *const *paths = KEYS ("geometry.zones", "geometry.sectors",
                                   "geometry.heads");
  int64_t sum = 0, cylinder = 1, spare;

  for (uint32_t i = 0; i < geometry->n_zones; i++) {
    const struct profile_zone *zone = &geometry->zones[i];

    if (check_skew (load, zone) == -1)
      return -1;
    cylinder = (int64_t) geometry->heads * zone->sectors_per_track;
    /* No overflow: 64 zones, 10^8 cylinders, 255 heads, 10^6 sectors. */
    sum += zone->cylinders * cylinder;
  }
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

/* a + b sqrt x + c x through the three times does not bend upwards if the
 * average lies above the straight line: at least a third of the way up from
 * track to full.
 */
static int
check_three_points (struct load *load)
{
  const struct profile_seek *seek = &load->profile.seek;
  const char *const paths[] = {
    "seek.average-ms", "seek.full-ms", "seek.track-ms", NULL
  };
  const int64_t rise = seek->average_ns - seek->track_ns;
  const int64_t span = seek->full_ns - seek->track_ns;
  const int64_t least = seek->track_ns + (span + 2) / 3;

  for (size_t i = 0; paths[i]; i++)
    if (! key_given (load, paths[i]))
      return FAIL (load, KEYS (paths[i]), "is missing: the three-point "
                   "curve needs track-ms, average-ms and full-ms");
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
                 (long long) (seek->full_ns / 1000000),
                 (long long) (seek->full_ns % 1000000));
  return 0;
}

static int
check_seek (struct load *load)
{
  switch (load->profile.seek.curve) {
  case SEEK_CURVE_THREE_POINT:
    return check_three_points (load);
  case SEEK_CURVE_TABLE:
    if (load->profile.seek.n_points == 0)
      return FAIL (load, KEYS ("seek.curve"), "seek.table is missing");
    return 0;
  default:
    return 0;
  }
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

int
check_profile (struct load *load)
{
  if (check_identify (load) == -1)
    return -1;
  if (load->profile.instant)
    return 0;
  if (make_zones (load) == -1 || check_zones (load) == -1 ||
      check_seek (load) == -1 || check_buffer (load) == -1 ||
      check_lookahead (load) == -1 || check_write_cache (load) == -1)
    return -1;
  return 0;
}
