/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sweeps as pictures, through gnuplot.
 */
#include <stdlib.h>
#include <string.h>

#include "drive-trace.h"
#include "gnuplot.h"
#include "plot-trace.h"
#include "results.h"
#include "spindle.h"
#include "sweep.h"

/* Data blocks, one a curve: reported first, then measured. */
static void
print_data (FILE *fp, const struct sweep *s, const struct run_results *r)
{
  const struct scenario *sc = r->scenario;
  unsigned v, k, f;
  double value;

  for (k = 0; k < s->n_kernels; ++k) {
    fprintf (fp, "$r%u << E\n", k);
    for (v = 0; v < s->n_values; ++v) {
      const struct scenario_reported *reported =
        sweep_reported (s, sc, r->drive->name, v, k);

      if (reported)
        fprintf (fp, "%lld %g\n", (long long)
                 scenario_step_value (&sc->steps[s->first[0] + v]),
                 reported->value);
    }
    fprintf (fp, "E\n");
  }
  for (f = 0; f < s->n_families; ++f) {
    fprintf (fp, "$m%u << E\n", f);
    for (v = 0; v < s->n_values; ++v)
      if (results_figure (r, s->first[f] + v, &value) == 0)
        fprintf (fp, "%lld %g\n", (long long)
                 scenario_step_value (&sc->steps[s->first[f] + v]), value);
    fprintf (fp, "E\n");
  }
}

static void
print_curves (FILE *fp, const struct sweep *s, const struct run_results *r)
{
  unsigned k, f;
  char *title;

  fprintf (fp, "plot ");
  for (k = 0; k < s->n_kernels; ++k) {
    title = format ("reported%s%s", *s->kernels[k] ? " on " : "",
                    s->kernels[k]);
    fprintf (fp, "$r%u with linespoints dashtype 2 pointtype 6 title ", k);
    gnuplot_quoted (fp, title);
    fprintf (fp, ", ");
    free (title);
  }
  for (f = 0; f < s->n_families; ++f) {
    char *family = sweep_title (&r->scenario->steps[s->first[f]]);

    title = format ("measured, %s", family);
    free (family);
    fprintf (fp, "%s$m%u with linespoints pointtype 7 title ",
             f ? ", " : "", f);
    gnuplot_quoted (fp, title);
    free (title);
  }
  fputc ('\n', fp);
}

static void
plot_sweep (FILE *fp, const struct sweep *s, const struct run_results *r,
            const char *svg)
{
  char *title = format ("%s, Linux %s", r->profile->title[0]
                        ? r->profile->title : r->drive->name,
                        r->kernel ? r->kernel : "(unknown)");

  gnuplot_svg (fp, svg, title);
  fprintf (fp, "set xlabel ");
  gnuplot_quoted (fp, s->key);
  fprintf (fp, "\nset ylabel ");
  gnuplot_quoted (fp, step_units[s->unit]);
  fprintf (fp, "\nset yrange [0:*]\nset autoscale xfix\n");
  print_data (fp, s, r);
  print_curves (fp, s, r);
  free (title);
}

/* FOLDER/NAME.svg, noted in PLOTS.  Free it. */
static char *
add_plot (struct words *plots, const char *folder, const char *name)
{
  words_addf (plots, "%s.svg", name);
  return format ("%s/%s", folder, plots->word[plots->n - 1]);
}

/* A second sweep of one key needs another name. */
static char *
sweep_name (const struct words *plots, const char *key)
{
  char *name = format ("%s.svg", key);
  unsigned n = 1;
  size_t i;

  for (i = 0; i < plots->n; ++i)
    if (strcmp (plots->word[i], name) == 0) {
      free (name);
      name = format ("%s-%u.svg", key, ++n);
      i = -1;
    }
  name[strlen (name) - strlen (".svg")] = '\0';
  return name;
}

static void
plot_sweeps (FILE *fp, const struct run_results *r, const char *folder,
             struct words *plots)
{
  const struct scenario *sc = r->scenario;
  bool *shown = allocate (sc->n_steps, sizeof *shown);
  unsigned i, j;

  for (i = 0; i < sc->n_steps; ++i) {
    struct sweep s;
    char *name, *svg;

    if (shown[i])
      continue;
    s = sweep_at (sc, r->drive->name, i);
    if (s.n_families == 0 || s.n_values < 2)
      continue;
    name = sweep_name (plots, s.key);
    svg = add_plot (plots, folder, name);
    plot_sweep (fp, &s, r, svg);
    for (j = 0; j < sc->n_steps; ++j)
      shown[j] = shown[j] || sweep_has (&s, j);
    free (name);
    free (svg);
  }
  free (shown);
}

static void
plot_trace (FILE *fp, const struct run_results *r, unsigned drive,
            const char *folder, struct words *plots)
{
  static const struct {
    const char *name, *title;
    void (*plot) (FILE *, const struct drive_trace *, const char *,
                  const char *);
  } kinds[] = {
    { "places", "Where on the drive", plot_places },
    { "latency", "How long commands take", plot_latency },
    { "time", "Where each millisecond goes", plot_time },
  };
  struct drive_trace t;
  size_t i;

  if (r->traces[drive] == NULL ||
      drive_trace_load (r->traces[drive], &t) == -1)
    return;
  for (i = 0; t.n > 0 && i < sizeof kinds / sizeof kinds[0]; ++i) {
    char *name = r->n_drives == 1 ? format ("%s", kinds[i].name)
      : format ("%s-%s", kinds[i].name, r->drive[drive].name);
    char *title = format ("%s: %s", kinds[i].title, r->drive[drive].name);
    char *svg = add_plot (plots, folder, name);

    kinds[i].plot (fp, &t, svg, title);
    free (name);
    free (title);
    free (svg);
  }
  drive_trace_free (&t);
}

/* Of these pictures in FOLDER, those that are whole; no others stay. */
static void
keep_whole (struct words *kept, const struct words *plots,
            const char *folder)
{
  size_t i;

  for (i = 0; i < plots->n; ++i) {
    char *svg = format ("%s/%s", folder, plots->word[i]);

    if (gnuplot_whole (svg))
      words_add (kept, plots->word[i]);
    else
      remove (svg);
    free (svg);
  }
}

void
results_plot (struct run_results *r, const char *root)
{
  char *folder = format ("%s/%s", root, r->folder);
  char *script = format ("%s/plots.gnuplot", folder);
  char *log = format ("%s/gnuplot.log", folder);
  struct words plots = { 0 };
  FILE *fp = fopen (script, "we");
  unsigned i;

  if (fp) {
    plot_sweeps (fp, r, folder, &plots);
    for (i = 0; i < r->n_drives; ++i)
      plot_trace (fp, r, i, folder, &plots);
    if (fclose (fp) == 0 && plots.n > 0 && gnuplot_run (script, log) == 0)
      keep_whole (&r->plots, &plots, folder);
    /* It has names of folders in it, and can be long. */
    remove (script);
  }
  words_free (&plots);
  free (folder);
  free (script);
  free (log);
}
