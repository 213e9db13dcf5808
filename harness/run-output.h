/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is left of runs: tables, results.json, JUnit XML, the page.
 */
#ifndef SPINDLE_RUN_OUTPUT_H
#define SPINDLE_RUN_OUTPUT_H

#include "results.h"
#include "runs.h"

struct run_output {
  const struct run_options *options;
  const char *root;             /* results.json and the runs' folders */
  char *matrix;                 /* which matrix of runs this is part of */
  int64_t parts;                /* how many runs it has */
  struct run_results **runs;
  unsigned n;
};

/* Before anything runs: nothing of an earlier run may pass for results. */
int run_output_start (const char *root);

/* Everything that was asked for; how it went. */
enum spindle_exit run_output (const struct run_output *o);

/* Write FILE with WRITE, all of it or nothing: it appears when it is
 * complete.  Returns -1 after a message.
 */
int file_write (const char *file, void (*write) (FILE *fp, const void *opaque),
                const void *opaque);

/* Could FILE, or NULL, be written so?  Returns -1 after a message. */
int file_check (const char *file);

/* JUNIT and REPORT (files, or NULL) from results that are kept. */
int records_publish (const char *folder, const char *junit,
                     const char *report);

#endif /* SPINDLE_RUN_OUTPUT_H */
