/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The keys that are lists: zones, holes, points of a seek curve.
 */
#include <string.h>

#include "loader-impl.h"

int
list_bad (struct load *load, const struct key *key,
          const config_setting_t *setting)
{
  struct value value;
  char allowed[256];

  value_from_setting (&value, setting);
  load->origin[key - keys].line = config_setting_source_line (setting);
  return fail_key (load, key, value.shown, "%s",
                   key_allowed (key, allowed, sizeof allowed));
}

static bool
is_list (const config_setting_t *setting, int min, int max)
{
  const int n = config_setting_length (setting);

  return config_setting_type (setting) == CONFIG_TYPE_LIST &&
    n >= min && n <= max;
}

/* Item i of a list as a whole number from min to max. */
static int
list_number (struct load *load, const struct key *key,
             const config_setting_t *list, int i, const char *what,
             int64_t min, int64_t max, int64_t *n)
{
  struct value value;

  value_from_setting (&value, config_setting_get_elem (list, i));
  if (value_number (&value, 0, n) != NUMBER_OK || *n < min || *n > max)
    return fail_key (load, key, value.shown, "%s is a whole number from "
                     "%lld to %lld", what, (long long) min, (long long) max);
  return 0;
}

/* What a zone is made of; the fields are in the unit of the file times
 * 10^decimals.
 */
static const struct zone_member {
  const char *name;
  size_t offset;
  int decimals;
  uint32_t max;
  bool automatic;
} zone_members[] = {
#define MEMBER(name, field, ...) \
  { name, offsetof (struct profile_zone, field), __VA_ARGS__ }
  MEMBER ("cylinders", cylinders, 0, 100000000, false),
  MEMBER ("sectors-per-track", sectors_per_track, 0, 1000000, false),
  MEMBER ("track-skew-sectors", track_skew_x1000, 3, 1000000000, true),
  MEMBER ("cylinder-skew-sectors", cylinder_skew_x1000, 3, 1000000000, true),
  MEMBER ("offset-sectors", offset_x1000, 3, 1000000000, true),
  MEMBER ("skip-cylinders", skip_cylinders, 0, 100000000, false),
};
#define N_ZONE_MEMBERS (sizeof zone_members / sizeof zone_members[0])

static uint32_t *
zone_field (struct profile_zone *zone, const struct zone_member *member)
{
  return (uint32_t *) ((char *) zone + member->offset);
}

static int
read_zone_member (struct load *load, const struct key *key,
                  const config_setting_t *setting, struct profile_zone *zone)
{
  const char *name = config_setting_name (setting);
  struct nearest nearest;
  struct value value;
  int64_t n;

  value_from_setting (&value, setting);
  load->origin[key - keys].line = config_setting_source_line (setting);
  nearest_start (&nearest, name);
  for (size_t i = 0; i < N_ZONE_MEMBERS; i++) {
    const struct zone_member *member = &zone_members[i];

    nearest_offer (&nearest, member->name);
    if (strcmp (member->name, name) != 0)
      continue;
    if (value_number (&value, member->decimals, &n) != NUMBER_OK || n < 0 ||
        n > member->max)
      return fail_key (load, key, value.shown, "%s is a number from 0 to %u, "
                       "with at most %d decimals", name,
                       member->decimals ? member->max / 1000 : member->max,
                       member->decimals);
    *zone_field (zone, member) = (uint32_t) n;
    return 0;
  }
  return fail_key (load, key, name, "unknown in a zone%s",
                   nearest_hint (&nearest));
}

static int
read_zone (struct load *load, const struct key *key,
           const config_setting_t *group, struct profile_zone *zone)
{
  const int n = config_setting_length (group);

  if (config_setting_type (group) != CONFIG_TYPE_GROUP)
    return list_bad (load, key, group);
  for (size_t i = 0; i < N_ZONE_MEMBERS; i++)
    if (zone_members[i].automatic)
      *zone_field (zone, &zone_members[i]) = PROFILE_SKEW_AUTO;
  for (int i = 0; i < n; i++)
    if (read_zone_member (load, key, config_setting_get_elem (group, i), zone)
        == -1)
      return -1;
  if (zone->cylinders == 0 || zone->sectors_per_track == 0)
    return list_bad (load, key, group);
  return 0;
}

int
list_zones (struct load *load, const struct key *key,
            const config_setting_t *list)
{
  struct profile_geometry *geometry = &load->profile.geometry;

  if (! is_list (list, 1, PROFILE_MAX_ZONES))
    return list_bad (load, key, list);
  geometry->n_zones = config_setting_length (list);
  for (uint32_t i = 0; i < geometry->n_zones; i++)
    if (read_zone (load, key, config_setting_get_elem (list, i),
                   &geometry->zones[i]) == -1)
      return -1;
  return 0;
}

/* That they lie in their zones is checked when those are known. */
int
list_holes (struct load *load, const struct key *key,
            const config_setting_t *list)
{
  struct profile_geometry *geometry = &load->profile.geometry;

  if (! is_list (list, 0, PROFILE_MAX_HOLES))
    return list_bad (load, key, list);
  geometry->n_holes = config_setting_length (list);
  for (uint32_t i = 0; i < geometry->n_holes; i++) {
    const config_setting_t *hole = config_setting_get_elem (list, i);
    int64_t zone, first, sectors;

    if (! is_list (hole, 3, 3))
      return list_bad (load, key, hole);
    load->origin[key - keys].line = config_setting_source_line (hole);
    if (list_number (load, key, hole, 0, "the zone of a hole", 0,
                     PROFILE_MAX_ZONES - 1, &zone) == -1 ||
        list_number (load, key, hole, 1, "its first sector in the zone", 0,
                     INT64_C (1) << 48, &first) == -1 ||
        list_number (load, key, hole, 2, "its length in sectors", 1,
                     UINT32_MAX, &sectors) == -1)
      return -1;
    geometry->holes[i] = (struct profile_hole) {
      .zone = (uint32_t) zone, .first = first, .sectors = (uint32_t) sectors,
    };
  }
  return 0;
}

/* That the spares are holes, and the LBAs in order, is checked later. */
int
list_remaps (struct load *load, const struct key *key,
             const config_setting_t *list)
{
  struct profile_geometry *geometry = &load->profile.geometry;

  if (! is_list (list, 0, PROFILE_MAX_REMAPS))
    return list_bad (load, key, list);
  geometry->n_remaps = config_setting_length (list);
  for (uint32_t i = 0; i < geometry->n_remaps; i++) {
    const config_setting_t *item = config_setting_get_elem (list, i);
    int64_t lba, zone, sector;

    if (! is_list (item, 3, 3))
      return list_bad (load, key, item);
    load->origin[key - keys].line = config_setting_source_line (item);
    if (list_number (load, key, item, 0, "the LBA of a defect", 0,
                     INT64_C (1) << 48, &lba) == -1 ||
        list_number (load, key, item, 1, "the zone of its spare", 0,
                     PROFILE_MAX_ZONES - 1, &zone) == -1 ||
        list_number (load, key, item, 2, "its spare's sector in the zone", 0,
                     INT64_C (1) << 48, &sector) == -1)
      return -1;
    geometry->remaps[i] = (struct profile_remap) {
      .lba = lba, .zone = (uint32_t) zone, .sector = sector,
    };
  }
  return 0;
}

static int
read_seek_point (struct load *load, const struct key *key,
                 const config_setting_t *pair,
                 struct profile_seek_point *point)
{
  struct value value;
  int64_t cylinders;

  if (! is_list (pair, 2, 2))
    return list_bad (load, key, pair);
  load->origin[key - keys].line = config_setting_source_line (pair);
  if (list_number (load, key, pair, 0, "a distance in cylinders", 1,
                   100000000, &cylinders) == -1)
    return -1;
  point->cylinders = (uint32_t) cylinders;
  value_from_setting (&value, config_setting_get_elem (pair, 1));
  if (value_number (&value, 6, &point->time_ns) != NUMBER_OK ||
      point->time_ns < 0 || point->time_ns > 1000000000)
    return fail_key (load, key, value.shown, "a time is milliseconds from 0 "
                     "to 1000, with at most 6 decimals");
  return 0;
}

int
list_seek_points (struct load *load, const struct key *key,
                  const config_setting_t *list)
{
  struct profile_curve *curve =
    (struct profile_curve *) ((char *) load + key->offset);

  if (! is_list (list, 2, PROFILE_MAX_SEEK_POINTS))
    return list_bad (load, key, list);
  curve->n_points = config_setting_length (list);
  for (uint32_t i = 0; i < curve->n_points; i++) {
    struct profile_seek_point *point = &curve->points[i];

    if (read_seek_point (load, key, config_setting_get_elem (list, i), point)
        == -1)
      return -1;
    if (i > 0 && point->cylinders <= point[-1].cylinders)
      return fail_key (load, key, NULL, "%u cylinders after %u: every "
                       "distance must be larger than the one before",
                       point->cylinders, point[-1].cylinders);
  }
  return 0;
}
