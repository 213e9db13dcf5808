/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "gnuplot.h"
#include "json.h"
#include "markup.h"
#include "page.h"
#include "spindle.h"
#include "table.h"

/* Figures of the same name in another unit are others. */
static const struct record_figure *
figure_like (const struct record *r, const struct record_figure *f)
{
  const struct record_figure *g = record_figure (r, f->name);

  return g && g->measured && strcmp (g->unit, f->unit) == 0 ? g : NULL;
}

/* Does a column before this one have it? */
static bool
is_known (const struct compare *c, unsigned column,
          const struct record_figure *f)
{
  unsigned i;

  for (i = 0; i < column; ++i)
    if (figure_like (c->column[i].run, f))
      return true;
  return false;
}

/* Call DO_IT for every figure that some run has, once. */
static void
each_figure (const struct compare *c, void *opaque,
             void (*do_it) (const struct compare *c,
                            const struct record_figure *f, void *opaque))
{
  unsigned i, j;

  for (i = 0; i < c->n; ++i)
    for (j = 0; j < c->column[i].run->n_figures; ++j) {
      const struct record_figure *f = &c->column[i].run->figures[j];

      if (f->measured && !is_known (c, i, f))
        do_it (c, f, opaque);
    }
}

/* The figure of column I, and what it is of the first one's (0: unknown). */
static bool
value_of (const struct compare *c, unsigned i, const struct record_figure *f,
          double *value, double *ratio)
{
  const struct record_figure *g = figure_like (c->column[i].run, f);
  const struct record_figure *first = figure_like (c->column[0].run, f);

  if (g == NULL)
    return false;
  *value = g->value;
  *ratio = first && first->value > 0 ? g->value / first->value : 0;
  return true;
}

static void
add_row (const struct compare *c, const struct record_figure *f, void *opaque)
{
  struct table *t = opaque;
  double value, ratio;
  unsigned i;

  table_cell (t, "%s", f->name);
  table_cell (t, "%s", f->unit);
  for (i = 0; i < c->n; ++i) {
    const bool there = value_of (c, i, f, &value, &ratio);

    if (there)
      table_cell (t, "%.2f", value);
    else
      table_cell (t, "%s", "");
    if (i > 0 && there && ratio > 0)
      table_cell (t, "%.2f", ratio);
    else if (i > 0)
      table_cell (t, "%s", "");
  }
}

void
compare_print (FILE *fp, const struct compare *c)
{
  struct table t = { .columns = 2 * c->n + 1 };
  unsigned i;

  table_cell (&t, "figure");
  table_cell (&t, "%s", "");
  for (i = 0; i < c->n; ++i) {
    table_cell (&t, "%s", c->column[i].title);
    if (i > 0)
      table_cell (&t, "ratio");
  }
  each_figure (c, &t, add_row);
  table_print (&t, 1ul << 1, fp);
}

static void
write_json_row (const struct compare *c, const struct record_figure *f,
                void *opaque)
{
  struct json *j = opaque;
  double value, ratio;
  unsigned i;

  json_open (j, NULL, '{');
  json_string (j, "name", f->name);
  json_string (j, "unit", f->unit);
  json_open (j, "values", '[');
  for (i = 0; i < c->n; ++i)
    if (value_of (c, i, f, &value, &ratio))
      json_double (j, NULL, value);
    else
      json_null (j, NULL);
  json_close (j, ']');
  json_close (j, '}');
}

void
compare_write_json (FILE *fp, const struct compare *c)
{
  struct json j = { .fp = fp };
  unsigned i;

  json_open (&j, NULL, '{');
  json_open (&j, "columns", '[');
  for (i = 0; i < c->n; ++i)
    json_string (&j, NULL, c->column[i].title);
  json_close (&j, ']');
  json_open (&j, "figures", '[');
  each_figure (c, &j, write_json_row);
  json_close (&j, ']');
  json_close (&j, '}');
}

static void
write_page_row (const struct compare *c, const struct record_figure *f,
                void *opaque)
{
  FILE *fp = opaque;
  double value, ratio;
  unsigned i;

  fprintf (fp, "<tr><td class=\"l\">");
  markup_text (fp, f->name);
  fprintf (fp, "</td><td class=\"l\">");
  markup_text (fp, f->unit);
  fprintf (fp, "</td>");
  for (i = 0; i < c->n; ++i) {
    const bool there = value_of (c, i, f, &value, &ratio);

    fprintf (fp, there ? "<td>%.2f</td>" : "<td></td>", value);
    if (i > 0)
      fprintf (fp, there && ratio > 0 ? "<td class=\"other\">%.2f</td>"
               : "<td></td>", ratio);
  }
  fprintf (fp, "</tr>\n");
}

void
compare_write_page (FILE *fp, const struct compare *c, const char *svg)
{
  unsigned i;

  page_start (fp, c->column[0].run->scenario);
  if (svg)
    page_picture (fp, svg, "all of them in one picture");
  fprintf (fp, "<table>\n<tr><th class=\"l\">figure</th><th></th>");
  for (i = 0; i < c->n; ++i) {
    fprintf (fp, "<th>");
    markup_text (fp, c->column[i].title);
    fprintf (fp, i > 0 ? "</th><th>ratio</th>" : "</th>");
  }
  fprintf (fp, "</tr>\n");
  each_figure (c, fp, write_page_row);
  fprintf (fp, "</table>\n<p class=\"small\">");
  for (i = 0; i < c->n; ++i)
    markup_format (fp, "%s: Linux %s, %s. ", c->column[i].title,
                   c->column[i].run->kernel ? c->column[i].run->kernel : "?",
                   c->column[i].run->exactness
                   ? c->column[i].run->exactness : "?");
  fprintf (fp, "</p>\n");
  page_end (fp, SPINDLE_VERSION);
}

static const struct record_figure *
first_swept (const struct compare *c)
{
  unsigned i;

  for (i = 0; i < c->column[0].run->n_figures; ++i)
    if (c->column[0].run->figures[i].sweep)
      return &c->column[0].run->figures[i];
  return NULL;
}

static bool
same_sweep (const struct record_figure *a, const struct record_figure *b)
{
  return b->measured && b->sweep && strcmp (a->sweep, b->sweep) == 0 &&
    strcmp (a->unit, b->unit) == 0;
}

/* Has the run's figure J begun its family? */
static bool
begins_family (const struct record *r, unsigned j,
               const struct record_figure *sweep)
{
  unsigned i;

  if (!same_sweep (sweep, &r->figures[j]))
    return false;
  for (i = 0; i < j; ++i)
    if (same_sweep (sweep, &r->figures[i]) &&
        strcmp (r->figures[i].family, r->figures[j].family) == 0)
      return false;
  return true;
}

/* A curve for each family of each run. */
static void
plot_curves (FILE *fp, const struct compare *c,
             const struct record_figure *sweep)
{
  char *plot = format ("plot "), *longer;
  unsigned i, j, k, n = 0;

  fprintf (fp, "set xlabel ");
  gnuplot_quoted (fp, sweep->sweep);
  fprintf (fp, "\nset ylabel ");
  gnuplot_quoted (fp, sweep->unit);
  fprintf (fp, "\nset yrange [0:*]\nset autoscale xfix\n");
  for (i = 0; i < c->n; ++i) {
    const struct record *r = c->column[i].run;

    for (j = 0; j < r->n_figures; ++j) {
      if (!begins_family (r, j, sweep))
        continue;
      fprintf (fp, "title%u = ", n);
      longer = format ("%s, %s", c->column[i].title, r->figures[j].family);
      gnuplot_quoted (fp, longer);
      free (longer);
      fprintf (fp, "\n$c%u << E\n", n);
      for (k = j; k < r->n_figures; ++k)
        if (same_sweep (sweep, &r->figures[k]) &&
            strcmp (r->figures[j].family, r->figures[k].family) == 0)
          fprintf (fp, "%lld %g\n", (long long) r->figures[k].at,
                   r->figures[k].value);
      fprintf (fp, "E\n");
      longer = format ("%s%s$c%u with linespoints pointtype 7 dashtype %u "
                       "title title%u", plot, n ? ", " : "", n, i % 5 + 1, n);
      free (plot);
      plot = longer;
      n++;
    }
  }
  fprintf (fp, "%s\n", plot);
  free (plot);
}

static void
plot_row (const struct compare *c, const struct record_figure *f,
          void *opaque)
{
  FILE *fp = opaque;
  double value, ratio;
  unsigned i;

  gnuplot_quoted (fp, f->name);
  for (i = 0; i < c->n; ++i)
    if (value_of (c, i, f, &value, &ratio) && ratio > 0)
      fprintf (fp, " %g", ratio);
    else
      fprintf (fp, " 0");
  fputc ('\n', fp);
}

/* Bars: each figure as what it is of the first run's. */
static void
plot_bars (FILE *fp, const struct compare *c)
{
  unsigned i;

  fprintf (fp, "set style data histogram\nset style fill solid\n"
           "set yrange [0:*]\nset ylabel 'of the first'\n$bars << E\n");
  each_figure (c, fp, plot_row);
  fprintf (fp, "E\nplot ");
  for (i = 0; i < c->n; ++i) {
    fprintf (fp, "%s$bars using %u:xtic(1) title ", i ? ", " : "", i + 2);
    gnuplot_quoted (fp, c->column[i].title);
  }
  fputc ('\n', fp);
}

char *
compare_plot (const struct compare *c, const char *folder)
{
  const struct record_figure *sweep = first_swept (c);
  char *script = format ("%s/compare.gnuplot", folder);
  char *log = format ("%s/compare.log", folder);
  char *svg = format ("%s/compare.svg", folder);
  FILE *fp = fopen (script, "we");
  int r = -1;

  if (fp) {
    gnuplot_svg (fp, svg, c->column[0].run->title
                 ? c->column[0].run->title : c->column[0].run->scenario);
    if (sweep)
      plot_curves (fp, c, sweep);
    else
      plot_bars (fp, c);
    if (fclose (fp) == 0)
      r = gnuplot_run (script, log);
    remove (script);
  }
  free (script);
  free (log);
  if (r == 0)
    return svg;
  free (svg);
  return NULL;
}
