/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "spindle.h"
#include "table.h"

void
table_cell (struct table *t, const char *fmt, ...)
{
  va_list args;
  char *text;

  va_start (args, fmt);
  text = format_args (fmt, args);
  va_end (args);
  words_add (&t->cells, text);
  free (text);
}

static int
width_of (const struct table *t, unsigned column)
{
  size_t i, width = 0;

  for (i = column; i < t->cells.n; i += t->columns)
    if (strlen (t->cells.word[i]) > width)
      width = strlen (t->cells.word[i]);
  return width;
}

static void
print_row (const struct table *t, size_t row, const int *width,
           unsigned long left, FILE *fp)
{
  char *const *cell = &t->cells.word[row * t->columns];
  unsigned c, n = t->columns;

  while (n > 0 && cell[n-1][0] == '\0')
    --n;                        /* no blanks at the end of a line */
  for (c = 0; c < n; ++c)
    if (left & 1ul << c)
      fprintf (fp, "%s%-*s", c ? "  " : "", c == n - 1 ? 0 : width[c],
               cell[c]);
    else
      fprintf (fp, "%s%*s", c ? "  " : "", width[c], cell[c]);
  fputc ('\n', fp);
}

void
table_print (struct table *t, unsigned long left, FILE *fp)
{
  int *width = allocate (t->columns, sizeof *width);
  unsigned c;
  size_t row;

  for (c = 0; c < t->columns; ++c)
    width[c] = width_of (t, c);
  for (row = 0; row < t->cells.n / t->columns; ++row)
    print_row (t, row, width, left | 1, fp);
  free (width);
  words_free (&t->cells);
}
