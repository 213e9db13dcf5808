/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Showing a replay: tables, JSON, a file of requests, a plot.
 */
#ifndef SPINDLE_REPLAY_REPORT_H
#define SPINDLE_REPLAY_REPORT_H

#include <stdio.h>

#include "replay-stats.h"

struct replay_report {
  const char *drive;            /* its name, or the URI */
  uint64_t seed;
  const struct trace_file *trace;
  const struct replay_options *options;
  const struct replay *replay;
  const struct replay_stats *stats;
};

void replay_print (const struct replay_report *p, FILE *fp);
void replay_print_json (const struct replay_report *p, FILE *fp);

/* These return -1 after a message. */
int replay_write_csv (const struct replay_report *p, const char *path);
int replay_plot (const struct replay_report *p, const char *svg);

#endif /* SPINDLE_REPLAY_REPORT_H */
