/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was found, for people and for programs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "json.h"
#include "table.h"

/* Call fn for each figure that counts, as the last guest did it. */
static void
each_figure (const struct fit *f,
             void (*fn) (void *opaque, const struct scenario_reported *r,
                         bool measured, double value, double ratio),
             void *opaque)
{
  for (unsigned i = 0; i < f->n_runs; i++) {
    const struct run_results *r = &f->runs[i].results;

    for (unsigned j = 0; j < r->scenario->n_reported; j++) {
      const struct scenario_reported *reported = &r->scenario->reported[j];
      double value = 0, ratio = 0;
      bool measured = results_compare (r, reported, &value, &ratio) !=
        VERDICT_NOT_MEASURED;

      if (fit_counts (f, r, reported))
        fn (opaque, reported, measured, value, ratio);
    }
  }
}

static bool
is_within (const struct scenario_reported *r, bool measured, double ratio)
{
  return measured && fabs (ratio - 1) * 100 <= r->tolerance;
}

static void
note_miss (void *opaque, const struct scenario_reported *r, bool measured,
           double value, double ratio)
{
  (void) value;
  if (!is_within (r, measured, ratio))
    *(bool *) opaque = false;
}

bool
fit_reproduced (const struct fit *f)
{
  bool all = true;

  each_figure (f, note_miss, &all);
  return all;
}

/* Those that were reported on another kernel than ran. */
struct foreign {
  unsigned n;
  struct words kernels;
};

static void
add_once (struct words *w, const char *word)
{
  for (size_t i = 0; i < w->n; i++)
    if (strcmp (w->word[i], word) == 0)
      return;
  words_add (w, word);
}

static struct foreign
find_foreign (const struct fit *f)
{
  struct foreign o = { 0 };
  double value, ratio;

  for (unsigned i = 0; i < f->n_runs; i++) {
    const struct run_results *r = &f->runs[i].results;

    for (unsigned j = 0; j < r->scenario->n_reported; j++) {
      const struct scenario_reported *reported = &r->scenario->reported[j];

      if (!results_applies (r, reported) ||
          results_compare (r, reported, &value, &ratio) !=
          VERDICT_COMPARISON)
        continue;
      o.n++;
      add_once (&o.kernels, reported->kernel);
    }
  }
  return o;
}

static const char *
kernel_of (const struct fit *f)
{
  const char *kernel = f->runs[0].results.kernel;

  return kernel ? kernel : "Another kernel";
}

/* ---- text ---- */

static void
print_parameters (const struct fit *f, FILE *fp)
{
  static const char *const heads[] = {
    "parameter", "value", "from", "to", "", "a tenth more, or the next"
  };
  struct table t = { .columns = 6 };

  for (int i = 0; i < 6; i++)
    table_cell (&t, "%s", heads[i]);
  for (unsigned i = 0; i < f->n_parameters; i++) {
    const struct fit_parameter *p = &f->parameters[i];
    char *value = fit_value (p, f->best.x[i]);
    char *low = fit_value (p, f->low[i]), *high = fit_value (p, f->high[i]);

    table_cell (&t, "%s", p->key);
    table_cell (&t, "%s", value);
    table_cell (&t, "%s", low);
    table_cell (&t, "%s", high);
    table_cell (&t, "%s", fit_is_determined (f, i) ? "" : "NOT determined");
    table_cell (&t, "%s %+.1f %%", f->sensitivity[i].figure
                ? f->sensitivity[i].figure : "no figure",
                f->sensitivity[i].percent);
    free (value);
    free (low);
    free (high);
  }
  table_print (&t, 1 << 4 | 1 << 5, fp);
}

static void
figure_row (void *opaque, const struct scenario_reported *r, bool measured,
            double value, double ratio)
{
  struct table *t = opaque;

  if (r->over)
    table_cell (t, "%s / %s", r->figure, r->over);
  else
    table_cell (t, "%s", r->figure);
  table_cell (t, "%.2f", r->value);
  table_cell (t, "%.2f", value);
  table_cell (t, "%.2f", ratio);
  table_cell (t, "%s", is_within (r, measured, ratio) ? "" : "NOT reproduced");
}

static void
print_figures (const struct fit *f, FILE *fp)
{
  struct table t = { .columns = 5 };

  table_cell (&t, "figure");
  table_cell (&t, "reported");
  table_cell (&t, "fitted");
  table_cell (&t, "ratio");
  table_cell (&t, "%s", "");
  each_figure (f, figure_row, &t);
  table_print (&t, 1 << 4, fp);
}

static void
print_foreign (const struct fit *f, FILE *fp)
{
  struct foreign o = find_foreign (f);

  if (o.n == 0)
    return;
  fprintf (fp, f->any_kernel
           ? "CAUTION: %u of these figures are of another kernel: "
           : "Left out: %u figures of another kernel: ", o.n);
  words_print (&o.kernels, fp, ".\n");
  fprintf (fp, f->any_kernel
           ? "%s ran.  What it does in another way is taken for the drive's "
           "doing.\n\n"
           : "%s ran.  --kernel FILE boots another, --any-kernel counts "
           "them all the same.\n\n", kernel_of (f));
  words_free (&o.kernels);
}

static void
print_ambiguity (const struct fit *f, FILE *fp)
{
  unsigned open = 0;

  for (unsigned i = 0; i < f->n_parameters; i++)
    open += !fit_is_determined (f, i);
  if (open == 0) {
    fprintf (fp, "Nothing else fits as well.\n");
    return;
  }
  fprintf (fp, "AMBIGUOUS: what is between \"from\" and \"to\" fits as well "
           "in the model.\n");
  if (!f->has_other)
    return;
  fprintf (fp, "Another explanation, %s:", f->other_in_guest
           ? "as good in a guest" : "which in a guest is not as good");
  for (unsigned i = 0; i < f->n_parameters; i++) {
    char *value = fit_value (&f->parameters[i], f->other.x[i]);

    fprintf (fp, " %s=%s", f->parameters[i].key, value);
    free (value);
  }
  fprintf (fp, "\n");
}

void
fit_print (const struct fit *f, FILE *fp)
{
  print_parameters (f, fp);
  fputc ('\n', fp);
  print_figures (f, fp);
  fputc ('\n', fp);
  print_foreign (f, fp);
  print_ambiguity (f, fp);
  fprintf (fp, "off by %.2f tolerances; %lld guests, %lld replays\n",
           f->best.off, (long long) f->guests, (long long) f->replays);
}

/* ---- JSON ---- */

static void
put_value (struct json *j, const char *key, const struct fit_parameter *p,
           double x)
{
  char *value = fit_value (p, x);

  if (p->words.n)
    json_string (j, key, value);
  else
    json_raw (j, key, value);
  free (value);
}

static void
put_figure (void *opaque, const struct scenario_reported *r, bool measured,
            double value, double ratio)
{
  struct json *j = opaque;

  json_open (j, NULL, '{');
  json_string (j, "name", r->figure);
  if (r->over)
    json_string (j, "over", r->over);
  json_string (j, "source", r->source);
  json_double (j, "reported", r->value);
  json_double (j, "value", value);
  json_double (j, "ratio", ratio);
  json_bool (j, "reproduced", is_within (r, measured, ratio));
  json_close (j, '}');
}

static void
put_kernels (struct json *j, const struct fit *f)
{
  struct foreign o = find_foreign (f);

  json_string (j, "kernel", f->runs[0].results.kernel);
  json_int (j, "of_other_kernels", o.n);
  json_bool (j, "other_kernels_count", f->any_kernel);
  words_free (&o.kernels);
}

static void
put_parameter (struct json *j, const struct fit *f, unsigned i)
{
  const struct fit_parameter *p = &f->parameters[i];

  json_open (j, NULL, '{');
  json_string (j, "key", p->key);
  put_value (j, "value", p, f->best.x[i]);
  put_value (j, "from", p, f->low[i]);
  put_value (j, "to", p, f->high[i]);
  json_bool (j, "determined", fit_is_determined (f, i));
  json_string (j, "sensitive_figure", f->sensitivity[i].figure);
  json_double (j, "sensitivity_percent", f->sensitivity[i].percent);
  if (f->has_other)
    put_value (j, "other", p, f->other.x[i]);
  json_close (j, '}');
}

void
fit_print_json (const struct fit *f, FILE *fp)
{
  struct json j = { .fp = fp };
  bool ambiguous = false;

  json_open (&j, NULL, '{');
  json_open (&j, "parameters", '[');
  for (unsigned i = 0; i < f->n_parameters; i++) {
    put_parameter (&j, f, i);
    ambiguous = ambiguous || !fit_is_determined (f, i);
  }
  json_close (&j, ']');
  json_open (&j, "figures", '[');
  each_figure (f, put_figure, &j);
  json_close (&j, ']');
  put_kernels (&j, f);
  json_bool (&j, "reproduced", fit_reproduced (f));
  json_bool (&j, "ambiguous", ambiguous);
  json_bool (&j, "other_in_guest", f->has_other && f->other_in_guest);
  json_double (&j, "off_tolerances", f->best.off);
  json_int (&j, "guests", f->guests);
  json_int (&j, "replays", f->replays);
  json_close (&j, '}');
}
