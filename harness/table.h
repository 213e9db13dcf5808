/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text in columns.
 */
#ifndef SPINDLE_TABLE_H
#define SPINDLE_TABLE_H

#include <stdio.h>

#include "words.h"

struct table {
  unsigned columns;
  struct words cells;           /* row by row */
};

/* The next cell; the last column's ends the row. */
void table_cell (struct table *t, const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));

/* Print and empty T.  The first column and those in LEFT (bit N is column
 * N) are set left, the others right.
 */
void table_print (struct table *t, unsigned long left, FILE *fp);

#endif /* SPINDLE_TABLE_H */
