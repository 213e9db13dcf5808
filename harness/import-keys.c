/* SPDX-License-Identifier: BSD-3-Clause
 *
 * DiskSim's parameters: names, units, ranges.  The ranges are what the
 * profile can take, where it takes them.
 */
#include <stdlib.h>
#include <string.h>

#include "import-impl.h"
#include "spindle.h"

#define MS(n) ((int64_t) (n) * 1000000)
#define CYLINDERS 100000000
#define SECTORS (INT64_C (1) << 48)

/* The slowest bus of a profile moves 1 MB/s. */
#define BLOCK_NS 512000

static const char *const access_types[] =
  { "trackSwitchPlusRotation", "averageRotation", "constant", NULL };
static const char *const seek_types[] =
  { "linear", "curve", "constant", "hpl", "hplplus10", "extracted", NULL };

#define COUNT(name, min, max, required) \
  { name, NULL, 0, min, max, required, NULL }
#define FLAG(name) COUNT (name, -1000000, 1000000, false)
#define TIME(name, max_ms, required) \
  { name, NULL, 6, 0, MS (max_ms), required, NULL }
#define SHARE(name) { name, NULL, 3, 0, 1000, false, NULL }

const struct import_key_def import_keys[IMPORT_N_KEYS] = {
  [IMPORT_HEADS] = { "Number of data surfaces", "heads", 0, 1, 255, true,
                     NULL },
  [IMPORT_CYLINDERS] = { "Number of cylinders", "cylinders", 0, 1, CYLINDERS,
                         false, NULL },
  [IMPORT_BLOCKS] = { "Block count", "blocks", 0, 1, SECTORS, true, NULL },
  [IMPORT_MAPPING] = { "LBN-to-PBN mapping scheme", "mapping_scheme", 0, 0,
                       1000, false, NULL },
  [IMPORT_SPARING] = { "Sparing scheme used", "sparing_scheme", 0, 0, 1000,
                       true, NULL },
  [IMPORT_RANGE] = { "Rangesize for sparing", "range_size", 0, 1, CYLINDERS,
                     false, NULL },
  [IMPORT_ACCESS] = { "Access time type", "access_time_type", 0, 0, 0, false,
                      access_types },
  [IMPORT_SEEK_TYPE] = { "Seek type", "seek_type", 0, 0, 0, true,
                         seek_types },
  [IMPORT_TRACK] = { "Single cylinder seek time", "single_cylinder_seek_ms",
                     6, 0, MS (1000), false, NULL },
  [IMPORT_AVERAGE] = { "Average seek time", "average_seek_ms", 6, 0,
                       MS (1000), false, NULL },
  [IMPORT_FULL] = { "Full strobe seek time", "full_stroke_seek_ms", 6, 0,
                    MS (1000), false, NULL },
  [IMPORT_CONSTANT] = { "Constant seek time", "constant_seek_ms", 6, 0,
                        MS (1000), false, NULL },
  [IMPORT_SETTLE] = { "Add. write settling delay", "write_settle_extra_ms",
                      6, -MS (100), MS (100), false, NULL },
  [IMPORT_SWITCH] = { "Head switch time", "head_switch_ms", 6, 0, MS (100),
                      true, NULL },
  [IMPORT_RPM] = { "Rotation speed (in rpms)", "rpm", 2, 6000, 10000000,
                   true, NULL },
  [IMPORT_RPM_ERROR] = { "Percent error in rpms", "rpm_error_percent", 6, 0,
                         100000000, false, NULL },

  [IMPORT_OVERHEAD] = TIME ("Per-request overhead time", 1000, false),
  [IMPORT_SCALE] = { "Time scale for overheads", NULL, 6, 0, MS (1000000),
                     false, NULL },
  [IMPORT_BULK] = { "Bulk sector transfer time", NULL, 6, 0, BLOCK_NS, true,
                    NULL },
  [IMPORT_HOLD_READ] = FLAG ("Hold bus entire read xfer"),
  [IMPORT_HOLD_WRITE] = FLAG ("Hold bus entire write xfer"),
  [IMPORT_ALMOST] = FLAG ("Allow almost read hits"),
  [IMPORT_SNEAKY_FULL] = FLAG ("Allow sneaky full read hits"),
  [IMPORT_SNEAKY_PARTIAL] = FLAG ("Allow sneaky partial read hits"),
  [IMPORT_SNEAKY_MIDDLE] = FLAG ("Allow sneaky intermediate read hits"),
  [IMPORT_HITS_ON_WRITES] = FLAG ("Allow read hits on write data"),
  [IMPORT_PREBUFFER] = FLAG ("Allow write prebuffering"),
  [IMPORT_PRESEEK] = FLAG ("Preseeking level"),
  [IMPORT_NEVER] = FLAG ("Never disconnect"),
  [IMPORT_QUEUE] = FLAG ("Max queue length"),
  [IMPORT_SEGMENTS] = COUNT ("Number of buffer segments", 1,
                             PROFILE_MAX_SEGMENTS, true),
  [IMPORT_WRITE_SEGMENTS] = FLAG ("Maximum number of write segments"),
  [IMPORT_SEGMENT] = COUNT ("Segment size (in blks)", 1, 8388608, true),
  [IMPORT_SEPARATE] = FLAG ("Use separate write segment"),
  [IMPORT_LOW_MARK] = SHARE ("Low (write) water mark"),
  [IMPORT_HIGH_MARK] = SHARE ("High (read) water mark"),
  [IMPORT_MARK_OF_REQUEST] = FLAG ("Set watermark by reqsize"),
  [IMPORT_CACHING] = COUNT ("Enable caching in buffer", 0, 2, false),
  [IMPORT_CONTINUOUS] = COUNT ("Buffer continuous read", 0, 4, true),
  [IMPORT_MIN_AHEAD] = COUNT ("Minimum read-ahead (blks)", 0, SECTORS, false),
  [IMPORT_MAX_AHEAD] = COUNT ("Maximum read-ahead (blks)", 0, SECTORS, true),
  [IMPORT_OVER] = FLAG ("Read-ahead over requested"),
  [IMPORT_IDLE_HIT] = FLAG ("Read-ahead on idle hit"),
  [IMPORT_FREE_BLOCKS] = FLAG ("Read any free blocks"),
  [IMPORT_FAST_WRITE] = COUNT ("Fast write level", 0, 2, true),
  [IMPORT_IMMEDIATE_READ] = FLAG ("Immediate buffer read"),
  [IMPORT_IMMEDIATE_WRITE] = FLAG ("Immediate buffer write"),
  [IMPORT_COMBINE] = FLAG ("Combine seq writes"),
  [IMPORT_STOP_IN_SECTOR] = FLAG ("Stop prefetch in sector"),
  [IMPORT_DISCONNECT_SEEK] = FLAG ("Disconnect write if seek"),
  [IMPORT_HIT_STOPS] = FLAG ("Write hit stop prefetch"),
  [IMPORT_DIRECTLY] = FLAG ("Read directly to buffer"),
  [IMPORT_PARTIAL_HIT] = FLAG ("Immed transfer partial hit"),
  [IMPORT_READ_HIT] = TIME ("Read hit over. after read", 1000, true),
  [IMPORT_READ_HIT_W] = TIME ("Read hit over. after write", 1000, true),
  [IMPORT_READ_MISS] = TIME ("Read miss over. after read", 1000, true),
  [IMPORT_READ_MISS_W] = TIME ("Read miss over. after write", 1000, true),
  [IMPORT_WRITE_HIT] = TIME ("Write hit over. after read", 1000, true),
  [IMPORT_WRITE_HIT_W] = TIME ("Write hit over. after write", 1000, true),
  [IMPORT_WRITE_MISS] = TIME ("Write miss over. after read", 1000, true),
  [IMPORT_WRITE_MISS_W] = TIME ("Write miss over. after write", 1000, true),
  [IMPORT_READ_DONE] = TIME ("Read completion overhead", 1000, false),
  [IMPORT_WRITE_DONE] = TIME ("Write completion overhead", 1000, false),
  [IMPORT_PREPARE] = TIME ("Data preparation overhead", 100, false),
  [IMPORT_RESELECT] = TIME ("First reselect overhead", 100, false),
  [IMPORT_OTHER_RESELECT] = TIME ("Other reselect overhead", 1000, false),
  [IMPORT_READ_DISC] = TIME ("Read disconnect afterread", 1000, false),
  [IMPORT_READ_DISC_W] = TIME ("Read disconnect afterwrite", 1000, false),
  [IMPORT_WRITE_DISC] = TIME ("Write disconnect overhead", 1000, false),
  [IMPORT_EXTRA_DISC] = FLAG ("Extra write disconnect"),
  [IMPORT_EXTRA_COMMAND] = TIME ("Extradisc command overhead", 1000, false),
  [IMPORT_EXTRA_DISC1] = TIME ("Extradisc disconnect overhead", 1000, false),
  [IMPORT_EXTRA_DELAY] = TIME ("Extradisc inter-disconnect delay", 1000,
                               false),
  [IMPORT_EXTRA_DISC2] = TIME ("Extradisc 2nd disconnect overhead", 1000,
                               false),
  [IMPORT_EXTRA_DELTA] = TIME ("Extradisc seek delta", 1000, false),
  [IMPORT_MINIMUM] = TIME ("Minimum seek delay", 100, false),
};

enum import_key
import_find (const char *name, bool condensed)
{
  for (int i = 0; i < IMPORT_N_KEYS; i++) {
    const struct import_key_def *k = &import_keys[i];

    if (strcmp (name, condensed && k->short_name ? k->short_name
                                                 : k->name) == 0)
      return i;
  }
  return IMPORT_NO_KEY;
}

bool
import_beside_the_point (const char *name)
{
  static const char *const names[] = {
    "Print stats", "Scheduler", "Scheduling policy",
    "Cylinder mapping strategy", "Avg sectors per cylinder",
    "Calc sector by sector", "Constant access time", NULL
  };

  for (int i = 0; names[i]; i++)
    if (strcmp (name, names[i]) == 0)
      return true;
  return false;
}

static int
put_choice (struct import *in, const struct import_key_def *def,
            const char *name, const char *text, int64_t *r)
{
  char allowed[128] = "";

  for (*r = 0; def->choices[*r]; ++*r) {
    if (strcmp (text, def->choices[*r]) == 0)
      return 0;
    snprintf (allowed + strlen (allowed), sizeof allowed - strlen (allowed),
              "%s%s", *r == 0 ? "" : def->choices[*r + 1] ? ", " : " or ",
              def->choices[*r]);
  }
  return import_fail (in, name, text, "%s", allowed);
}

int
import_put (struct import *in, enum import_key key, const char *name,
            const char *text)
{
  const struct import_key_def *def = &import_keys[key];
  int64_t *value = &in->drive.value[key];

  if (in->drive.given[key])
    return import_fail (in, name, text, "is there twice");
  in->drive.given[key] = true;
  if (def->choices)
    return put_choice (in, def, name, text, value);
  return import_number (in, name, text, def->decimals, def->min, def->max,
                        value);
}

int
import_put_point (struct import *in, const char *cylinders, const char *ms)
{
  struct import_drive *d = &in->drive;
  int64_t n, ns;

  if (import_number (in, "seek curve", cylinders, 0, 0, CYLINDERS, &n) == -1
      || import_number (in, "seek curve", ms, 6, 0, MS (1000), &ns) == -1)
    return -1;
  if (n == 0)
    return 0;                   /* no seek takes no time */
  if (d->n_points == PROFILE_MAX_SEEK_POINTS)
    return import_fail (in, "seek curve", cylinders,
                        "at most %d points are allowed",
                        PROFILE_MAX_SEEK_POINTS);
  if (d->n_points > 0 && n <= d->point[d->n_points - 1].cylinders)
    return import_fail (in, "seek curve", cylinders,
                        "a distance above the one before, %u",
                        d->point[d->n_points - 1].cylinders);
  d->point[d->n_points++] = (struct profile_seek_point) {
    .cylinders = (uint32_t) n, .time_ns = ns
  };
  return 0;
}

int
import_put_hpl (struct import *in, const char *text)
{
  static const struct { int decimals; int64_t min, max; } of[N_HPL] = {
    [HPL_KNEE] = { 0, 1, CYLINDERS },
    [HPL_LOW] = { 6, -MS (1000), MS (1000) },
    [HPL_ROOT] = { 6, 0, MS (1000) },
    [HPL_HIGH] = { 6, -MS (1000), MS (1000) },
    [HPL_SLOPE] = { 9, 0, 1000000000 },
    [HPL_SINGLE] = { 6, -MS (1), MS (1000) },
  };
  struct import_drive *d = &in->drive;
  size_t i = d->n_hpl;

  if (i == N_HPL)
    return import_fail (in, "HPL seek equation values", text,
                        "%d values are allowed", N_HPL);
  d->n_hpl++;
  return import_number (in, "HPL seek equation values", text, of[i].decimals,
                        of[i].min, of[i].max, &d->hpl[i]);
}

int
import_put_first_ten (struct import *in, const char *text)
{
  struct import_drive *d = &in->drive;

  if (d->n_first_ten == 10)
    return import_fail (in, "First ten seek times", text,
                        "ten values are allowed");
  return import_number (in, "First ten seek times", text, 6, 0, MS (1000),
                        &d->first_ten_ns[d->n_first_ten++]);
}

int
import_put_bus (struct import *in, const char *name, const char *text)
{
  int64_t *slowest, ns;

  if (strcmp (name, "Read block transfer time") == 0)
    slowest = &in->drive.bus_read_ns;
  else if (strcmp (name, "Write block transfer time") == 0)
    slowest = &in->drive.bus_write_ns;
  else
    return 0;
  if (import_number (in, name, text, 6, 0, BLOCK_NS, &ns) == -1)
    return -1;
  if (ns > *slowest)
    *slowest = ns;
  return 0;
}

struct import_zone *
import_add_zone (struct import *in)
{
  struct import_drive *d = &in->drive;

  if (d->n_zones == PROFILE_MAX_ZONES) {
    import_fail (in, "zones", NULL, "at most %d are allowed",
                 PROFILE_MAX_ZONES);
    return NULL;
  }
  return &d->zone[d->n_zones++];
}

const char *const import_zone_names[IMPORT_ZONE_COLUMNS + 1] = {
  "First cylinder number", "Last cylinder number", "Blocks per track",
  "Offset of first block", "Empty space at zone front",
  "Skew for track switch", "Skew for cylinder switch", "Number of spares",
  NULL
};

int
import_put_zone (struct import *in, struct import_zone *z, int column,
                 const char *text)
{
  const struct { int64_t *field; int decimals; int64_t min, max; } to[] = {
    { &z->first_cylinder, 0, 0, CYLINDERS },
    { &z->last_cylinder, 0, 0, CYLINDERS },
    { &z->sectors_per_track, 0, 1, 1000000 },
    { &z->offset_x1000, 3, 0, INT64_C (1000000000) },
    { &z->front, 0, 0, SECTORS },
    { &z->track_skew_x1000, 3, 0, INT64_C (1000000000) },
    { &z->cylinder_skew_x1000, 3, 0, INT64_C (1000000000) },
    { &z->spares, 0, 0, 1000000000 },
  };

  return import_number (in, import_zone_names[column], text,
                        to[column].decimals, to[column].min, to[column].max,
                        to[column].field);
}

int
import_put_slip (struct import *in, struct import_zone *zone,
                 const char *text)
{
  int64_t slip;

  if (import_number (in, "slips", text, 0, 0, SECTORS, &slip) == -1)
    return -1;
  /* A power of two is full. */
  if ((zone->n_slips & (zone->n_slips - 1)) == 0)
    zone->slips = reallocate (zone->slips,
                              zone->n_slips ? 2 * zone->n_slips : 1,
                              sizeof zone->slips[0]);
  zone->slips[zone->n_slips++] = slip;
  return 0;
}
