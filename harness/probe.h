/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measuring a disk from outside, by the times that reads take (and writes,
 * if they are allowed).
 *
 * The ideas are those of Worthington, Ganger, Patt and Wilkes ("On-line
 * extraction of SCSI disk drive parameters", 1995), of DIXtrac (Schindler
 * and Ganger, 1999) and of Skippy (Talagala, Arpaci-Dusseau and Patterson,
 * 1999), over plain reads.  What ties them together: a read that needs the
 * media ends when the platter has turned to its sector.  So its end, taken
 * modulo one turn, is the sector's angle, whatever seek came before.
 */
#ifndef SPINDLE_PROBE_H
#define SPINDLE_PROBE_H

#include <stdio.h>

#include "target.h"

#define PROBE_MAX_POINTS 80

struct probe_zone {
  int64_t first, sectors;       /* LBAs */
  double sectors_per_track;
  int64_t cylinders;
  double head_skew, cylinder_skew; /* sectors; cylinder_skew 0: not seen */
  double mb_s;                  /* sustained */
};

struct probe_point {
  int64_t cylinders;
  double ns;
};

enum probe_status {
  PROBE_DONE,
  PROBE_TOO_SMALL,
  PROBE_NOT_ROTATING,
  PROBE_UNCLEAR,                /* it turns, but then nothing fits */
};

struct probe_result {
  enum probe_status status;
  char reason[160];             /* one line, unless PROBE_DONE */
  int64_t sectors;
  double coherence;             /* how well the reads fit a turn, 0 to 1 */
  double turn_ns, noise_ns;

  int n_zones;
  struct probe_zone zones[PROFILE_MAX_ZONES];
  int heads;
  bool heads_guessed;
  int64_t cylinders;

  int n_points;
  struct probe_point points[PROBE_MAX_POINTS];
  double track_ns, average_ns, full_ns, head_switch_ns;

  bool has_buffer;
  double read_hit_ns, read_miss_ns;
  double bus_ps_per_byte;
  int segments;                 /* 0: more than can be told */
  int64_t segment_sectors;      /* 0: not found */
  int64_t ahead_sectors;
  bool sequential_only;
  enum profile_ahead_limit ahead_limit;
  enum profile_interrupt on_command;
  bool restart_rotates;

  double iops, queued_iops;     /* random reads of 4 KiB */
  int queue_depth;              /* where it stops rising; 1: no gain */

  bool wrote;
  bool write_cache;
  double write_ns;              /* overhead of a cached write */
  int write_extents;            /* that a burst found room for */
  double flush_ns;              /* after that burst */
  double write_settle_ns;
  double sync_iops;

  int64_t commands;
  double elapsed_s;             /* on the disk's clock */
};

/* Measure.  With `write' writes too, which put back what was there; the
 * target must be writable.  A line about each step goes to `progress' if
 * that is not NULL.  Returns -1 after a message: the target failed.
 */
int probe_run (struct target *t, uint64_t seed, bool write, FILE *progress,
               struct probe_result *r);

/* As a profile file. */
void probe_write_profile (const struct probe_result *r, const char *target,
                          FILE *fp);

/* For people, and for programs. */
void probe_print (const struct probe_result *r, const char *target, FILE *fp);
void probe_print_json (const struct probe_result *r, const char *target,
                       FILE *fp);

#endif /* SPINDLE_PROBE_H */
