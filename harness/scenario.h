/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A scenario: what to boot, which drives, what to read and write, and what
 * somebody once reported.  The format is described in scenario.pod.
 */
#ifndef SPINDLE_SCENARIO_H
#define SPINDLE_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"
#include "words.h"

struct scenario_drive {
  char *name;                   /* of the run; default: the profile's */
  char *profile;                /* name, or path of a file */
  struct words set;             /* KEY=VALUE */
  int64_t seed;
};

enum step_verb { STEP_READ, STEP_WRITE, STEP_MIX, STEP_TRIM, STEP_COPY };
extern const char *const step_verbs[]; /* "read", "write", ..., NULL */

enum step_unit { UNIT_MIB_PER_S, UNIT_MS, UNIT_IO_PER_S, UNIT_RATIO };
extern const char *const step_units[]; /* "MiB/s", "ms", "IO/s", "ratio" */

/* One measurement.  A sweep has been unrolled into one step per value. */
struct scenario_step {
  char *name;
  char *family;                 /* the name as written, "ra{readahead}" */
  const char *sweep;            /* the key that is swept, or NULL */
  enum step_verb verb;
  bool direct, random;
  bool reboot;                  /* restart the guest first */
  int drive, to;                /* of the scenario's; to: where copies go */
  int64_t readahead;            /* sectors; -1: leave the kernel's own */
  int64_t block_kib, mib, requests; /* mib or requests is 0 */
  int64_t offset_mib, span_mib, seed, ms, streams, jobs;
  int64_t writes;               /* percent of a mix */
  int fsync;                    /* of step_fsyncs */
  int unit;                     /* enum step_unit */
};
extern const char *const step_fsyncs[]; /* "no", "end", "each" */

/* The value of the swept key. */
int64_t scenario_step_value (const struct scenario_step *step);

/* The bytes a step moves. */
int64_t scenario_step_bytes (const struct scenario_step *step);

struct scenario_reported {
  char *figure;                 /* a step's name */
  char *over;                   /* divide by this step's figure, or NULL */
  char *drive;                  /* only on this drive, or NULL */
  double value;
  int unit;                     /* enum step_unit */
  char *kernel, *source;        /* or NULL */
  double tolerance;             /* percent either way */
  bool assert;                  /* counts on whatever kernel */
};

struct scenario {
  char *name, *title, *source, *note; /* all but name may be NULL */
  struct machine machine;
  char *kernel;                 /* "debian", or path of a kernel image */
  char *device;                 /* the disk in the guest */
  char *append;                 /* more kernel command line, or NULL */
  struct words queue;           /* "max_sectors_kb=128": /sys/block/X/queue */
  int64_t queue_depth;          /* of the guest's driver; 0: its own */
  const char *job;              /* the agent's, instead of steps, or NULL */
  const char *const *modules;   /* of the kernel, or NULL: for a disk */
  int64_t real_limit_s, silence_limit_s;
  struct scenario_drive *drives;
  unsigned n_drives;
  bool together;                /* all in one guest, else each has its own */
  struct scenario_step *steps;
  unsigned n_steps;
  struct scenario_reported *reported;
  unsigned n_reported;
};

/* Read and check PATH.  On failure returns NULL and one line in *ERROR,
 * which must be freed.
 */
struct scenario *scenario_load (const char *path, char **error);
void scenario_free (struct scenario *sc);

/* Run it on this drive (the name of a profile, or a file) instead of its
 * own.
 */
void scenario_use_profile (struct scenario *sc, const char *profile);

/* Does some step restart the guest? */
bool scenario_reboots (const struct scenario *sc);

#endif /* SPINDLE_SCENARIO_H */
