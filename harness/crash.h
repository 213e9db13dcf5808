/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cutting the power under a file system: one cut a seed, and what was
 * missing afterwards.
 */
#ifndef SPINDLE_CRASH_H
#define SPINDLE_CRASH_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"
#include "spindle.h"
#include "words.h"

struct crash_options {
  const char *profile;          /* name or path */
  struct words set;             /* KEY=VALUE */
  const char *fs;               /* "ext2", "ext3" or "ext4" */
  const char *mount;            /* options, or NULL */
  int64_t size_mib;             /* of the drive */
  int64_t files;
  int64_t writes;               /* the cut comes after one of so many */
  int64_t first_seed, n_seeds;
  int64_t jobs;                 /* guests at a time; 0: one a host CPU */
  int machine;                  /* enum machine_kind */
  const char *kernel;           /* or NULL */
  const char *keep;             /* folder, or NULL */
  bool boot;                    /* let the guest's kernel recover */
  bool again;                   /* what was found, once more */
};

/* The command line that does the same for one seed, with END behind it. */
void crash_print_command (const struct crash_options *o, int64_t seed,
                          const char *end);

/* Cut, look and tell.  EXIT_REPRODUCED: nothing was lost. */
enum spindle_exit crash_run (const struct crash_options *o);

#endif /* SPINDLE_CRASH_H */
