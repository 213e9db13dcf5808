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
  struct words bad;             /* bad=..., for the plugin */
  int64_t seed;
};

/* What is on a drive before the guest starts: one partition, one file
 * system, files.
 */
struct scenario_files {
  char *name;                   /* with {n} if there are several */
  int64_t count, bytes;         /* scaled; of a tree: on average */
  int64_t per_folder;           /* > 0: a tree called name */
  int layout;                   /* of files_layouts */
  int64_t chunk_bytes;          /* when interleaved or spread */
  int64_t scale;                /* the scenario's */
};
extern const char *const files_layouts[];
enum {
  LAYOUT_CONTIGUOUS, LAYOUT_INTERLEAVED, LAYOUT_SHUFFLED,
  LAYOUT_SPREAD                 /* chunks, as far apart as scale says */
};

struct scenario_disk {
  int64_t partition_lba;        /* 0: no partition table */
  int64_t partition_mib;        /* 0: to the end of the drive */
  char *file_system;            /* "ext2" or "ext3"; NULL: none */
  int64_t block_bytes, inode_bytes, revision, journal_mib;
  char *features, *mount;       /* words with commas, or NULL */
  struct scenario_files *files;
  unsigned n_files;
};

enum step_verb {
  STEP_READ, STEP_WRITE, STEP_MIX, STEP_TRIM, STEP_COPY, STEP_WALK,
  STEP_FRAMES,
  STEP_ALSO                     /* another figure of an earlier step */
};
extern const char *const step_verbs[]; /* "read", "write", ..., NULL */

enum step_unit {
  UNIT_MIB_PER_S, UNIT_MS, UNIT_IO_PER_S, UNIT_RATIO, UNIT_S, UNIT_IO
};
extern const char *const step_units[]; /* "MiB/s", "ms", "IO/s", ... */

/* What else a step can tell: when the first of its jobs was done (s), how
 * many transfers got to the drive (IO), and what each took there (ms).
 */
enum step_also { ALSO_FIRST, ALSO_DISK, ALSO_DISK_MS };
extern const char *const step_alsos[]; /* "first", ... */

/* What a step finds in the guest's memory. */
enum step_before { BEFORE_DROP, BEFORE_FORGET, BEFORE_SYNC, BEFORE_NOTHING };
extern const char *const step_befores[]; /* "drop", ... */

/* One measurement.  A sweep has been unrolled into one step per value. */
struct scenario_step {
  char *name;
  char *family;                 /* the name as written, "ra{readahead}" */
  const char *sweep;            /* the key that is swept, or NULL */
  enum step_verb verb;
  bool direct, random;
  bool create, close;           /* a file */
  bool reboot;                  /* restart the guest first */
  char *file;                   /* as the scenario names it, or NULL */
  char *sound, *output;         /* of frames */
  struct words sysctl, queue;   /* set before it */
  unsigned of;                  /* STEP_ALSO: the step that it is from */
  int also;                     /* likewise: enum step_also */
  unsigned alsos;               /* a bit for each that is wanted of it */
  int before;                   /* enum step_before */
  int64_t scale;                /* 1: as was reported; 8: an eighth of it */
  int64_t repeats, output_bytes;
  int drive, to;                /* of the scenario's; to: where copies go */
  int64_t readahead;            /* sectors; -1: leave the kernel's own */
  int64_t block_kib, block_bytes; /* one of them is 0 */
  int64_t mib, requests;        /* one is 0; both are for whole files */
  int64_t offset_mib, span_mib, seed, ms, streams, jobs;
  int64_t writes;               /* percent of a mix */
  int fsync;                    /* of step_fsyncs */
  int unit;                     /* enum step_unit */
};
extern const char *const step_fsyncs[]; /* "no", "end", "each" */

/* The value of the swept key. */
int64_t scenario_step_value (const struct scenario_step *step);

/* The size of each transfer, and the bytes a step moves; 0: all of a file. */
int64_t scenario_step_block (const struct scenario_step *step);
int64_t scenario_step_bytes (const struct scenario_step *step);

struct scenario_reported {
  char *figure;                 /* a step's name */
  char *over;                   /* divide by this step's figure, or NULL */
  char *drive;                  /* only on this drive, or NULL */
  double value;                 /* or the mean of several */
  double below, above;          /* how far from it they were, at most */
  int unit;                     /* enum step_unit */
  char *kernel, *source;        /* or NULL */
  double tolerance;             /* percent either way */
  bool assert;                  /* counts on whatever kernel */
};

struct scenario {
  char *name, *title, *source, *note; /* all but name may be NULL */
  struct machine machine;
  char *kernel;                 /* "debian", or path of a kernel image */
  char *kernel_name;            /* where there are several, or NULL */
  char *guest;                  /* likewise */
  char *elevator;               /* or NULL */
  struct words sysctl;          /* "vm.dirty_ratio=40" */
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
  struct scenario_disk disk;    /* of the first drive */
  int64_t scale;
  unsigned n_guests, n_kernels; /* that one can pick from */
  struct scenario_step *steps;
  unsigned n_steps;
  struct scenario_reported *reported;
  unsigned n_reported;
};

/* A scenario may be for several guests and kernels: which of them to read,
 * and whether all that was reported is done, or a part of it.
 */
struct scenario_pick {
  unsigned guest, kernel;       /* from 0 on */
  bool full;
};

/* Read and check PATH.  On failure returns NULL and one line in *ERROR,
 * which must be freed.
 */
struct scenario *scenario_load (const char *path,
                                const struct scenario_pick *pick,
                                char **error);
void scenario_free (struct scenario *sc);

/* Run it on this drive (the name of a profile, or a file) instead of its
 * own.
 */
void scenario_use_profile (struct scenario *sc, const char *profile);

/* "{n}" and the like in a name as the agent takes it: "%".  Free it. */
char *scenario_file_pattern (const char *name);

/* Does some step restart the guest? */
bool scenario_reboots (const struct scenario *sc);

#endif /* SPINDLE_SCENARIO_H */
