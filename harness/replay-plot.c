/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The distribution of response times as a picture, through gnuplot.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gnuplot.h"
#include "replay-report.h"
#include "spindle.h"

#define MAX_POINTS 2000

/* Per cent of the N sorted values that are not above each of them. */
static void
print_curve (FILE *fp, const char *name, const int64_t *sorted, size_t n)
{
  size_t step = n / MAX_POINTS + 1;

  fprintf (fp, "$%s << E\n", name);
  for (size_t i = 0; i < n; i += step)
    fprintf (fp, "%.6f %.6f\n", (double) sorted[i] / 1e6,
             100 * (double) (i + 1) / (double) n);
  if (n > 0)
    fprintf (fp, "%.6f 100\n", (double) sorted[n-1] / 1e6);
  fprintf (fp, "E\n");
}

static void
print_script (FILE *fp, const struct replay_report *p, const char *svg)
{
  const struct replay_stats *s = p->stats;
  char *title = format ("%s on %s", p->trace->path, p->drive);

  fprintf (fp, "set terminal svg size 900,540 noenhanced\nset output ");
  gnuplot_quoted (fp, svg);
  fprintf (fp, "\nset title ");
  gnuplot_quoted (fp, title);
  fprintf (fp, "\nset xlabel \"response time, ms\"\n"
           "set ylabel \"%% of requests\"\n"
           "set xrange [0:*]\nset yrange [0:100]\nset grid\n"
           "set key bottom right\n");
  print_curve (fp, "here", s->sorted, s->all.n);
  print_curve (fp, "measured", s->sorted_measured, s->comparison.n);
  fprintf (fp, "plot ");
  if (s->comparison.n > 0)
    fprintf (fp, "$measured with lines dashtype 2 title \"measured\", ");
  fprintf (fp, "$here with lines title \"%s\"\n",
           p->replay->modelled ? "model" : "live");
  free (title);
}

int
replay_plot (const struct replay_report *p, const char *svg)
{
  FILE *fp;

  if (p->stats->all.n == 0) {
    complain ("%s: nothing to plot: no request is left", svg);
    return -1;
  }
  fp = gnuplot_begin (svg);
  if (fp == NULL)
    return -1;
  print_script (fp, p, svg);
  return gnuplot_end (fp, svg, 0);
}
