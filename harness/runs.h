/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running scenarios: every drive of every scenario is one guest.
 */
#ifndef SPINDLE_RUNS_H
#define SPINDLE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "spindle.h"

struct run_options {
  const char *keep;             /* folder for everything, or NULL */
  const char *kernel;           /* instead of the scenarios', or NULL */
  int64_t seed;                 /* of the drives; -1: the scenarios' */
  int64_t late_limit_us;        /* real clock; -1: the default */
  int64_t jobs;                 /* guests at a time; 0: one a host CPU */
  bool json;                    /* on standard output, instead of tables */
};

/* Run the scenario FILES, print the results. */
enum spindle_exit run_scenarios (const char *const *files, unsigned n_files,
                                 const struct run_options *options);

#endif /* SPINDLE_RUNS_H */
