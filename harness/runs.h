/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running scenarios: every drive of every scenario is one guest.
 */
#ifndef SPINDLE_RUNS_H
#define SPINDLE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "matrix.h"
#include "spindle.h"

struct run_results;

struct run_options {
  const char *keep;             /* folder for everything, or NULL */
  const char *junit, *report;   /* files to write, or NULL */
  int64_t late_limit_us;        /* real clock; -1: the default */
  int64_t jobs;                 /* guests at a time; 0: one a host CPU */
  bool json;                    /* on standard output, instead of tables */
  bool quiet;                   /* nothing on standard output */
  int64_t part, parts;          /* only this of so many runs; 0: all */

  /* Called with each run while its files are there, or NULL. */
  void (*each) (void *opaque, const struct run_results *run);
  void *opaque;
};

/* Run each of the scenario FILES as each of the VARIANTS. */
enum spindle_exit run_scenarios (const struct words *files,
                                 const struct variants *variants,
                                 const struct run_options *options);

/* Only say what these runs are: their folders, in order.  Returns -1 after
 * a message.
 */
int runs_list (const struct words *files, const struct variants *variants,
               struct words *folders);

#endif /* SPINDLE_RUNS_H */
