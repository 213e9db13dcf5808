/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sweeps as pictures, through gnuplot.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "child.h"
#include "results.h"
#include "spindle.h"
#include "sweep.h"

#define GNUPLOT_MS 20000

static void
print_quoted (FILE *fp, const char *s)
{
  fputc ('"', fp);
  for (; *s; ++s) {
    if (*s == '"' || *s == '\\')
      fputc ('\\', fp);
    fputc (*s == '\n' ? ' ' : *s, fp);
  }
  fputc ('"', fp);
}

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
    print_quoted (fp, title);
    fprintf (fp, ", ");
    free (title);
  }
  for (f = 0; f < s->n_families; ++f) {
    char *family = sweep_title (&r->scenario->steps[s->first[f]]);

    title = format ("measured, %s", family);
    free (family);
    fprintf (fp, "%s$m%u with linespoints pointtype 7 title ",
             f ? ", " : "", f);
    print_quoted (fp, title);
    free (title);
  }
  fputc ('\n', fp);
}

static void
print_script (FILE *fp, const struct sweep *s, const struct run_results *r,
              const char *svg)
{
  char *title = format ("%s, Linux %s", r->profile->title[0]
                        ? r->profile->title : r->drive->name,
                        r->kernel ? r->kernel : "(unknown)");

  fprintf (fp, "set terminal svg size 900,540 noenhanced\nset output ");
  print_quoted (fp, svg);
  fprintf (fp, "\nset title ");
  print_quoted (fp, title);
  fprintf (fp, "\nset xlabel ");
  print_quoted (fp, s->key);
  fprintf (fp, "\nset ylabel ");
  print_quoted (fp, step_units[s->unit]);
  fprintf (fp, "\nset yrange [0:*]\nset autoscale xfix\nset grid\n"
           "set key outside bottom horizontal\n");
  print_data (fp, s, r);
  print_curves (fp, s, r);
  free (title);
}

static int
run_gnuplot (const char *script, const char *log)
{
  struct words argv = { 0 };
  struct child c;
  int ms, r;

  words_add (&argv, "gnuplot");
  words_add (&argv, script);
  r = child_start (&c, "gnuplot", &argv, NULL, log);
  words_free (&argv);
  if (r == -1)
    return -1;
  for (ms = 0; ms < GNUPLOT_MS && !child_ended (&c); ms += 10)
    if (signals_wait (10))
      break;
  child_stop (&c, 0);
  return c.status == 0 ? 0 : -1;
}

static void
plot_sweep (struct run_results *r, const struct sweep *s,
            const char *folder)
{
  char *script = format ("%s/%s.gnuplot", folder, s->key);
  char *svg = format ("%s/%s.svg", folder, s->key);
  char *log = format ("%s/%s.gnuplot.log", folder, s->key);
  FILE *fp = fopen (script, "w");

  if (fp) {
    print_script (fp, s, r, svg);
    if (fclose (fp) == 0 && run_gnuplot (script, log) == 0) {
      remove (log);
      free (r->plot);
      r->plot = svg;
      svg = NULL;
    }
  }
  free (script);
  free (svg);
  free (log);
}

void
results_plot (struct run_results *r, const char *folder)
{
  const struct scenario *sc = r->scenario;
  bool *shown = allocate (sc->n_steps, sizeof *shown);
  unsigned i, j;

  for (i = 0; i < sc->n_steps; ++i) {
    struct sweep s;

    if (shown[i])
      continue;
    s = sweep_at (sc, r->drive->name, i);
    if (s.n_families == 0 || s.n_values < 2)
      continue;
    plot_sweep (r, &s, folder);
    for (j = 0; j < sc->n_steps; ++j)
      shown[j] = shown[j] || sweep_has (&s, j);
  }
  free (shown);
}
