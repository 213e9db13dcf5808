/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A run's results, for people.
 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "results.h"
#include "spindle.h"
#include "sweep.h"
#include "table.h"

static void
cell_ratio (struct table *t, const struct run_results *r,
            const struct scenario_reported *reported, unsigned step)
{
  double value;

  if (reported && results_figure (r, step, &value) == 0)
    table_cell (t, "%.2f", value / reported->value);
  else
    table_cell (t, "%s", "");
}

/* The verdict on everything reported for one value: the worst. */
static enum verdict
verdict_on (const struct sweep *s, const struct run_results *r, unsigned v)
{
  const struct scenario *sc = r->scenario;
  enum verdict worst = VERDICT_NONE;
  double value, ratio;
  unsigned f, i;

  for (i = 0; i < sc->n_reported; ++i)
    for (f = 0; f < s->n_families; ++f)
      if (results_applies (r, &sc->reported[i]) && !sc->reported[i].over &&
          strcmp (sc->reported[i].figure,
                  sc->steps[s->first[f] + v].name) == 0) {
        enum verdict one = results_compare (r, &sc->reported[i], &value,
                                            &ratio);
        if (one > worst)
          worst = one;
      }
  return worst;
}

static void
sweep_heading (struct table *t, const struct sweep *s,
               const struct run_results *r)
{
  unsigned k, f;

  table_cell (t, "%s", s->key);
  for (k = 0; k < s->n_kernels; ++k)
    table_cell (t, "%s%s", *s->kernels[k] ? "on " : "reported",
                s->kernels[k]);
  for (f = 0; f < s->n_families; ++f) {
    char *title = sweep_title (&r->scenario->steps[s->first[f]]);

    table_cell (t, "%s", title);
    if (s->n_kernels)
      table_cell (t, "to %s", s->kernels[sweep_kernel (s, r->scenario,
                                                       r->drive->name, f)]);
    else
      table_cell (t, "%s", "");
    free (title);
  }
  table_cell (t, "%s", s->n_kernels ? "verdict" : "");
}

static void
sweep_row (struct table *t, const struct sweep *s,
           const struct run_results *r, unsigned v)
{
  const struct scenario *sc = r->scenario;
  const struct scenario_reported *reported;
  double value;
  unsigned k, f;

  table_cell (t, "%lld",
              (long long) scenario_step_value (&sc->steps[s->first[0] + v]));
  for (k = 0; k < s->n_kernels; ++k) {
    reported = sweep_reported (s, sc, r->drive->name, v, k);
    if (reported)
      table_cell (t, "%.2f", reported->value);
    else
      table_cell (t, "%s", "");
  }
  for (f = 0; f < s->n_families; ++f) {
    if (results_figure (r, s->first[f] + v, &value) == 0)
      table_cell (t, "%.2f", value);
    else
      table_cell (t, "failed");
    k = sweep_kernel (s, sc, r->drive->name, f);
    reported = sweep_reported (s, sc, r->drive->name, v, k);
    cell_ratio (t, r, reported, s->first[f] + v);
  }
  table_cell (t, "%s", verdict_words[verdict_on (s, r, v)]);
}

static void
print_sweep (FILE *fp, const struct sweep *s, const struct run_results *r)
{
  struct table t = {
    .columns = 1 + s->n_kernels + 2 * s->n_families + 1
  };
  unsigned v;

  fprintf (fp, "\n%s%s\n\n", step_units[s->unit], s->n_kernels
           ? "; on ...: as reported, with the kernel it was reported on" : "");
  sweep_heading (&t, s, r);
  for (v = 0; v < s->n_values; ++v)
    sweep_row (&t, s, r, v);
  table_print (&t, 1ul << (t.columns - 1), fp);
}

/* One line for a reported figure, or for a step that has none.  Without
 * COMPARE nothing was reported at all.
 */
static void
figure_row (struct table *t, const struct run_results *r, unsigned step,
            const struct scenario_reported *reported, bool compare)
{
  const struct scenario_step *s = &r->scenario->steps[step];
  enum verdict v = VERDICT_NONE;
  double value, ratio = 0;

  if (reported)
    v = results_compare (r, reported, &value, &ratio);
  else if (results_figure (r, step, &value) == -1)
    v = VERDICT_NOT_MEASURED;
  table_cell (t, "%s%s%s", s->name, reported && reported->over ? " / " : "",
              reported && reported->over ? reported->over : "");
  if (v == VERDICT_NOT_MEASURED || v == VERDICT_SKIPPED)
    table_cell (t, "%s", v == VERDICT_SKIPPED ? "" : "failed");
  else
    table_cell (t, "%.2f", value);
  table_cell (t, "%s", step_units[reported ? reported->unit : s->unit]);
  if (!compare)
    return;
  if (reported == NULL) {
    table_cell (t, "%s", "");
    table_cell (t, "%s", "");
    table_cell (t, "%s", "");
  }
  else {
    if (reported->above > 0)
      table_cell (t, "%.2f-%.2f", reported->value - reported->below,
                  reported->value + reported->above);
    else
      table_cell (t, "%.2f", reported->value);
    table_cell (t, "%s%s", reported->kernel ? "on " : "",
                reported->kernel ? reported->kernel : "");
    if (v == VERDICT_NOT_MEASURED || v == VERDICT_SKIPPED)
      table_cell (t, "%s", "");
    else
      table_cell (t, "%.2f", ratio);
  }
  table_cell (t, "%s", verdict_words[v]);
}

/* What was reported about STEP and no sweep shows; returns how much. */
static unsigned
figure_rows (struct table *t, const struct run_results *r, unsigned step,
             bool shown, bool compare)
{
  const struct scenario *sc = r->scenario;
  unsigned i, n = 0;

  for (i = 0; i < sc->n_reported; ++i) {
    const struct scenario_reported *reported = &sc->reported[i];

    if (results_applies (r, reported) && (reported->over || !shown) &&
        strcmp (reported->figure, sc->steps[step].name) == 0) {
      n++;
      if (t)
        figure_row (t, r, step, reported, compare);
    }
  }
  return n;
}

/* Everything that is in no sweep's table: single steps and ratios. */
static void
print_figures (FILE *fp, const struct run_results *r, const bool *shown)
{
  static const char *const heading[] = {
    "figure", "measured", "", "reported", "", "ratio", "verdict"
  };
  struct table t = { 0 };
  unsigned i, reported = 0;

  for (i = 0; i < r->scenario->n_steps; ++i)
    reported += figure_rows (NULL, r, i, shown[i], true);
  t.columns = reported ? 7 : 3;
  for (i = 0; i < t.columns; ++i)
    table_cell (&t, "%s", heading[i]);
  for (i = 0; i < r->scenario->n_steps; ++i)
    if (figure_rows (&t, r, i, shown[i], reported) == 0 && !shown[i])
      figure_row (&t, r, i, NULL, reported);
  if (t.cells.n > t.columns) {
    fputc ('\n', fp);
    table_print (&t, 1ul << 2 | 1ul << 4 | 1ul << 6, fp);
  }
  words_free (&t.cells);
}

/* What the guest reads with IDENTIFY, in hdparm's words. */
static void
print_identify (FILE *fp, const struct run_results *r)
{
  static const struct { const char *key, *text; } numbers[] = {
    { "cylinders", ", CHS " }, { "heads", "/" }, { "sectors", "/" },
    { "track_size", "\n  TrkSize " }, { "sector_size", ", SectSize " },
    { "ecc_bytes", ", ECCbytes " }, { "buffer_sectors", ", BuffSize/512 " },
    { "udma_max", ", UDMA " },
  };
  char *model = NULL, *firmware = NULL;
  int64_t n;
  bool lba48;
  size_t i;

  if (r->identify == NULL ||
      json_get_string (r->identify, "model", &model) == -1)
    return;
  json_get_string (r->identify, "firmware", &firmware);
  fprintf (fp, "the guest sees: %s, FwRev %s", model,
           firmware ? firmware : "");
  for (i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
    if (json_get_int (r->identify, numbers[i].key, &n) == 0)
      fprintf (fp, "%s%lld", numbers[i].text, (long long) n);
  if (json_get_bool (r->identify, "lba48", &lba48) == 0)
    fputs (lba48 ? ", LBA48" : ", LBA28", fp);
  fputs (r->patched ? "; made so by the bridge\n"
         : "; as far as QEMU can say it\n", fp);
  free (model);
  free (firmware);
}

static void
print_clock (FILE *fp, const struct run_results *r, const char *root)
{
  char *exactness = results_exactness (r);
  unsigned i;
  size_t j;

  fprintf (fp, "\n%s; ", exactness);
  if (r->have_clock)
    fprintf (fp, "virtual %.1f s, real %.1f s\n", r->virtual_s, r->real_s);
  else
    fprintf (fp, "took %.1f s\n", r->real_s);
  print_identify (fp, r);
  for (i = 0; i < r->n_drives; ++i)
    if (r->traces[i])
      fprintf (fp, "trace %s\n", r->traces[i]);
  for (j = 0; root && j < r->plots.n; ++j)
    fprintf (fp, "plot  %s/%s/%s\n", root, r->folder, r->plots.word[j]);
  free (exactness);
}

/* Which figures a kernel that is not there would have had. */
static void
print_skipped (FILE *fp, const struct run_results *r)
{
  const struct scenario *sc = r->scenario;
  const char *separator = ": ";
  unsigned i;

  fprintf (fp, "skipped: %s", r->skipped);
  for (i = 0; i < sc->n_reported; ++i)
    if (results_applies (r, &sc->reported[i])) {
      fprintf (fp, "%s%s%s%s", separator, sc->reported[i].figure,
               sc->reported[i].over ? "/" : "",
               sc->reported[i].over ? sc->reported[i].over : "");
      separator = ", ";
    }
  fputc ('\n', fp);
}

static void
print_warnings (FILE *fp, const struct run_results *r)
{
  size_t i;

  for (i = 0; i < r->warnings.n; ++i)
    fprintf (fp, "the guest could not do %s\n", r->warnings.word[i]);
}

void
results_print (FILE *fp, const struct run_results *r, const char *root)
{
  const struct scenario *sc = r->scenario;
  bool *shown = allocate (sc->n_steps, sizeof *shown);
  char *cpu = cpu_text (&sc->machine.cpu), *memory = results_memory (r);
  unsigned i, j;
  size_t k;

  fprintf (fp, "%s\n", sc->title ? sc->title : sc->name);
  if (sc->source)
    fprintf (fp, "%s\n", sc->source);
  for (i = 0; i < r->n_drives; ++i) {
    fprintf (fp, "%s\n", r->profile[i].title[0] ? r->profile[i].title
             : r->drive[i].name);
    for (k = 0; k < r->drive[i].set.n; ++k)
      fprintf (fp, "changed: %s\n", r->drive[i].set.word[k]);
  }
  if (strchr (r->name, ','))    /* one of several, by what was changed */
    fprintf (fp, "run %s\n", r->name);
  if (sc->guest)
    fprintf (fp, "%s%s", sc->guest, r->skipped ? "\n" : ": ");
  if (r->skipped) {
    print_skipped (fp, r);
    free (cpu);
    free (memory);
    free (shown);
    return;
  }
  fprintf (fp, "Linux %s, %s, %s clock",
           r->kernel ? r->kernel : "(unknown)",
           machine_kinds[sc->machine.kind],
           sc->machine.virtual_clock ? "virtual" : "real");
  if (sc->machine.virtual_clock)
    fprintf (fp, "\nCPU: %s", cpu);
  fputc ('\n', fp);
  if (memory)
    fprintf (fp, "memory: %s\n", memory);
  free (cpu);
  free (memory);
  for (i = 0; i < sc->n_steps; ++i) {
    struct sweep s;

    if (shown[i])
      continue;
    s = sweep_at (sc, r->drive->name, i);
    if (s.n_families == 0)
      continue;
    print_sweep (fp, &s, r);
    for (j = 0; j < sc->n_steps; ++j)
      shown[j] = shown[j] || sweep_has (&s, j);
  }
  print_figures (fp, r, shown);
  if (sc->note)
    fprintf (fp, "\n%s\n", sc->note);
  if (sc->scale > 1)
    fprintf (fp, "\nonly 1/%lld of the work was done (--full: all of it); "
             "seconds and numbers of\nrequests are multiplied by %lld\n",
             (long long) sc->scale, (long long) sc->scale);
  print_warnings (fp, r);
  print_clock (fp, r, root);
  free (shown);
}
