/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs side by side.
 */
#ifndef SPINDLE_COMPARE_H
#define SPINDLE_COMPARE_H

#include <stdio.h>

#include "record.h"

/* A column: one run. */
struct compare_column {
  char *title;
  const struct record *run;
};

struct compare {
  struct compare_column *column;
  unsigned n;
};

/* A line for each figure, a column for each run, and what it is of the first
 * one's.
 */
void compare_print (FILE *fp, const struct compare *c);
void compare_write_json (FILE *fp, const struct compare *c);

/* The same as a page, with the picture SVG in it (or NULL). */
void compare_write_page (FILE *fp, const struct compare *c, const char *svg);

/* Draw it with gnuplot into FOLDER: the first sweep as curves, or else every
 * figure as what it is of the first run's.  Returns the file, or NULL if
 * there is no gnuplot or nothing to draw.  Free it.
 */
char *compare_plot (const struct compare *c, const char *folder);

#endif /* SPINDLE_COMPARE_H */
