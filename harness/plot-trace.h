/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a trace says, in pictures.
 */
#ifndef SPINDLE_PLOT_TRACE_H
#define SPINDLE_PLOT_TRACE_H

#include <stdio.h>

#include "drive-trace.h"

/* Each adds to a script of gnuplot's: where on the drive commands went, how
 * long they took, and what the time was spent on.  The trace has commands.
 */
void plot_places (FILE *fp, const struct drive_trace *t, const char *svg,
                  const char *title);
void plot_latency (FILE *fp, const struct drive_trace *t, const char *svg,
                   const char *title);
void plot_time (FILE *fp, const struct drive_trace *t, const char *svg,
                const char *title);

#endif /* SPINDLE_PLOT_TRACE_H */
