/* SPDX-License-Identifier: BSD-3-Clause
 *
 * DiskSim 4 drive parameters become a profile.  The readers fill a struct
 * import_drive; import_map makes a struct profile from that, and
 * import_write the profile's file.
 *
 * Every number is kept as an integer: times in nanoseconds, sectors of
 * skews and offsets in thousandths.
 */
#ifndef SPINDLE_IMPORT_H
#define SPINDLE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile.h"
#include "words.h"

/* The largest file that is read. */
#define IMPORT_MAX_BYTES (4 << 20)

/* The parameters that have a name and one value: import-keys.c. */
enum import_key {
  IMPORT_HEADS, IMPORT_CYLINDERS, IMPORT_BLOCKS, IMPORT_MAPPING,
  IMPORT_SPARING, IMPORT_RANGE,
  IMPORT_ACCESS, IMPORT_SEEK_TYPE, IMPORT_TRACK, IMPORT_AVERAGE, IMPORT_FULL,
  IMPORT_CONSTANT, IMPORT_SETTLE, IMPORT_SWITCH, IMPORT_RPM,
  IMPORT_RPM_ERROR,
  IMPORT_OVERHEAD, IMPORT_SCALE, IMPORT_BULK, IMPORT_HOLD_READ,
  IMPORT_HOLD_WRITE, IMPORT_ALMOST, IMPORT_SNEAKY_FULL,
  IMPORT_SNEAKY_PARTIAL, IMPORT_SNEAKY_MIDDLE, IMPORT_HITS_ON_WRITES,
  IMPORT_PREBUFFER, IMPORT_PRESEEK, IMPORT_NEVER, IMPORT_QUEUE,
  IMPORT_SEGMENTS, IMPORT_WRITE_SEGMENTS, IMPORT_SEGMENT, IMPORT_SEPARATE,
  IMPORT_LOW_MARK, IMPORT_HIGH_MARK, IMPORT_MARK_OF_REQUEST, IMPORT_CACHING,
  IMPORT_CONTINUOUS, IMPORT_MIN_AHEAD, IMPORT_MAX_AHEAD, IMPORT_OVER,
  IMPORT_IDLE_HIT, IMPORT_FREE_BLOCKS, IMPORT_FAST_WRITE,
  IMPORT_IMMEDIATE_READ, IMPORT_IMMEDIATE_WRITE, IMPORT_COMBINE,
  IMPORT_STOP_IN_SECTOR, IMPORT_DISCONNECT_SEEK, IMPORT_HIT_STOPS,
  IMPORT_DIRECTLY, IMPORT_PARTIAL_HIT,
  IMPORT_READ_HIT, IMPORT_READ_HIT_W, IMPORT_READ_MISS, IMPORT_READ_MISS_W,
  IMPORT_WRITE_HIT, IMPORT_WRITE_HIT_W, IMPORT_WRITE_MISS,
  IMPORT_WRITE_MISS_W, IMPORT_READ_DONE, IMPORT_WRITE_DONE, IMPORT_PREPARE,
  IMPORT_RESELECT, IMPORT_OTHER_RESELECT, IMPORT_READ_DISC,
  IMPORT_READ_DISC_W, IMPORT_WRITE_DISC, IMPORT_EXTRA_DISC,
  IMPORT_EXTRA_COMMAND, IMPORT_EXTRA_DISC1, IMPORT_EXTRA_DELAY,
  IMPORT_EXTRA_DISC2, IMPORT_EXTRA_DELTA, IMPORT_MINIMUM,
  IMPORT_N_KEYS,
  IMPORT_NO_KEY = IMPORT_N_KEYS,
};

struct import_key_def {
  const char *name;             /* DiskSim's */
  const char *short_name;       /* in a condensed file, or NULL: the same */
  int decimals;                 /* that are kept */
  int64_t min, max;             /* times 10^decimals */
  bool required;
  const char *const *choices;   /* words instead of numbers; or NULL */
};
extern const struct import_key_def import_keys[IMPORT_N_KEYS];

enum import_seek_type {
  IMPORT_SEEK_LINEAR, IMPORT_SEEK_CURVE, IMPORT_SEEK_CONSTANT,
  IMPORT_SEEK_HPL, IMPORT_SEEK_HPL10, IMPORT_SEEK_EXTRACTED,
};

/* The choices of IMPORT_ACCESS begin with what the model does. */
#define IMPORT_ACCESS_ROTATES 0

struct import_zone {
  int64_t first_cylinder, last_cylinder, sectors_per_track;
  int64_t offset_x1000, track_skew_x1000, cylinder_skew_x1000;
  int64_t front;                /* sectors left free at its start */
  int64_t spares;
  int64_t *slips;               /* sectors from its start; or tracks */
  size_t n_slips, n_defects;    /* a defect has its data elsewhere */
  size_t n_expected;            /* slips that should come from --slips */
};

enum { HPL_KNEE, HPL_LOW, HPL_ROOT, HPL_HIGH, HPL_SLOPE, HPL_SINGLE, N_HPL };

struct import_drive {
  char *name;                   /* or NULL */
  int64_t value[IMPORT_N_KEYS];
  bool given[IMPORT_N_KEYS];
  struct import_zone zone[PROFILE_MAX_ZONES];
  size_t n_zones;
  struct profile_seek_point point[PROFILE_MAX_SEEK_POINTS];
  uint32_t n_points;
  int64_t hpl[N_HPL];           /* knee in cylinders, slope in ps */
  size_t n_hpl;
  int64_t first_ten_ns[10];
  size_t n_first_ten;
  int64_t bus_read_ns, bus_write_ns; /* a block, over the slowest bus */
};

struct import {
  struct import_drive drive;
  const char *path;             /* the file given, for messages */
  const char *file;             /* where the reader is */
  unsigned line;                /* 0 = nowhere in particular */
  struct words files;           /* read, besides */
  struct words notes;           /* what a profile cannot say */
  char *error;                  /* one line; NULL = none so far */
};

void import_init (struct import *in, const char *path);
void import_free (struct import *in);

/* All that follow return -1 with an error kept in *in.  They do not close
 * the file.
 */

/* Read a file of parameters, DiskSim's own or a condensed one.  Files that
 * DiskSim's own name are looked for in the directory DIR, by the last
 * component of their name.
 */
int import_read (struct import *in, int fd, int dir);

/* Read slipped defects from CSV, after import_read. */
int import_read_slips (struct import *in, int fd, const char *path);

/* Make a profile of what was read; notes say what was lost. */
int import_map (struct import *in, struct profile *profile);

/* Write the profile file. */
void import_write (const struct import *in, const struct profile *profile,
                   FILE *fp);

/* Import a parameter file into OUT.cfg: the whole of spindle profile
 * import.  Returns -1 after a message.
 */
int import_file (const char *path, const char *slips, const char *out,
                 bool force);
int command_profile_import (int argc, char **argv);

#endif /* SPINDLE_IMPORT_H */
