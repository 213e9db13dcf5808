/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A run's results for programs.  Nothing here may depend on the host or on
 * where the results are kept: runs of the same are compared byte by byte.
 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "results.h"
#include "spindle.h"
#include "sweep.h"

static void
write_words (struct json *j, const char *key, const struct words *w)
{
  size_t i;

  json_open (j, key, '[');
  for (i = 0; i < w->n; ++i)
    json_string (j, NULL, w->word[i]);
  json_close (j, ']');
}

/* FILE, a path or a name, in the run's folder. */
static void
write_file (struct json *j, const char *key, const struct run_results *r,
            const char *file)
{
  const char *slash = file ? strrchr (file, '/') : NULL;
  char *path = NULL;

  if (file)
    path = format ("%s/%s", r->folder, slash ? slash + 1 : file);
  json_string (j, key, path);
  free (path);
}

static void
write_sweep (struct json *j, const struct scenario_step *s)
{
  char *title;

  if (s->sweep == NULL)
    return;
  title = sweep_title (s);
  json_string (j, "sweep", s->sweep);
  json_int (j, "at", scenario_step_value (s));
  json_string (j, "family", title);
  free (title);
}

static void
write_figure (struct json *j, const struct run_results *r, unsigned step)
{
  const struct scenario_step *s = &r->scenario->steps[step];
  const struct measurement *m = &r->steps[step];
  double value;

  json_open (j, NULL, '{');
  json_string (j, "name", s->name);
  if (results_figure (r, step, &value) == 0)
    json_double (j, "value", value);
  else
    json_null (j, "value");
  json_string (j, "unit", step_units[s->unit]);
  json_int (j, "bytes", m->bytes);
  json_int (j, "requests", m->requests);
  json_int (j, "ns", m->ns);
  if (m->finished)
    json_string (j, "finished_ns", m->finished);
  write_sweep (j, s);
  json_close (j, '}');
}

/* Was there a figure to compare? */
static bool
has_value (enum verdict v)
{
  return v != VERDICT_NOT_MEASURED && v != VERDICT_SKIPPED;
}

static void
write_comparison (struct json *j, const struct run_results *r,
                  const struct scenario_reported *reported)
{
  double value, ratio;
  enum verdict v = results_compare (r, reported, &value, &ratio);

  json_open (j, NULL, '{');
  json_string (j, "name", reported->figure);
  if (reported->over)
    json_string (j, "over", reported->over);
  if (has_value (v))
    json_double (j, "value", value);
  else
    json_null (j, "value");
  json_string (j, "unit", step_units[reported->unit]);
  json_double (j, "reported", reported->value);
  if (reported->above > 0) {
    json_double (j, "reported_low", reported->value - reported->below);
    json_double (j, "reported_high", reported->value + reported->above);
  }
  json_string (j, "kernel", reported->kernel);
  json_string (j, "source", reported->source);
  json_double (j, "tolerance", reported->tolerance);
  if (has_value (v))
    json_double (j, "ratio", ratio);
  else
    json_null (j, "ratio");
  json_string (j, "verdict", v == VERDICT_NOT_REPRODUCED
               ? "not reproduced" : v == VERDICT_NOT_MEASURED
               ? "not measured" : verdict_words[v]);
  json_close (j, '}');
}

static void
write_clock (struct json *j, const struct run_results *r)
{
  const struct machine *m = &r->scenario->machine;
  char *exactness = r->failure || r->skipped ? NULL : results_exactness (r);

  json_string (j, "clock", m->virtual_clock ? "virtual" : "real");
  json_bool (j, "exact", r->exact);
  json_string (j, "exactness", exactness);
  if (r->have_clock) {
    json_int (j, "requests", r->requests);
    json_int (j, "late", r->late);
    json_int (j, "max_late_ns", r->max_late_ns);
    json_int (j, "forced", r->forced);
    json_int (j, "max_early_ns", r->max_early_ns);
    json_double (j, "virtual_s", r->virtual_s);
  }
  if (r->lateness.known) {
    json_bool (j, "valid", r->lateness.valid);
    json_int (j, "answers", r->lateness.answers);
    json_int (j, "late_p99_ns", r->lateness.p99_ns);
    json_int (j, "late_max_ns", r->lateness.max_ns);
    json_int (j, "late_limit_ns", r->lateness.limit_ns);
  }
  free (exactness);
}

static void
write_cpu (struct json *j, const struct cpu *cpu)
{
  char *text = cpu_text (cpu);

  json_int (j, "shift", cpu->shift);
  json_open (j, "cpu", '{');
  json_string (j, "name", cpu->name[0] ? cpu->name : NULL);
  json_string (j, "text", text);
  json_double (j, "mips", cpu_shift_mips (cpu->shift));
  if (cpu->name[0]) {
    json_double (j, "wanted_mips", cpu->mips);
    json_double (j, "ratio", cpu_shift_mips (cpu->shift) / cpu->mips);
  }
  json_close (j, '}');
  free (text);
}

static void
write_spent (struct json *j, const struct spent *s)
{
  int i;

  json_int (j, "commands", s->commands);
  json_open (j, "time_ns", '{');
  for (i = 0; i < N_PARTS; ++i)
    json_int (j, trace_part_names[i], s->part_ns[i]);
  json_close (j, '}');
}

static void
write_drives (struct json *j, const struct run_results *r)
{
  unsigned i;

  json_open (j, "drives", '[');
  for (i = 0; i < r->n_drives; ++i) {
    json_open (j, NULL, '{');
    json_string (j, "name", r->drive[i].name);
    json_string (j, "profile", r->drive[i].profile);
    json_string (j, "title", r->profile[i].title[0]
                 ? r->profile[i].title : NULL);
    write_words (j, "set", &r->drive[i].set);
    json_int (j, "seed", r->drive[i].seed);
    write_file (j, "trace", r, r->traces[i]);
    write_spent (j, &r->spent[i]);
    json_close (j, '}');
  }
  json_close (j, ']');
}

static void
write_identify (struct json *j, const struct run_results *r)
{
  json_open (j, "identify", '{');
  json_bool (j, "patched", r->patched);
  json_raw (j, "guest", r->identify);
  json_close (j, '}');
}

static void
write_plots (struct json *j, const struct run_results *r)
{
  size_t i;

  json_open (j, "plots", '[');
  for (i = 0; i < r->plots.n; ++i)
    write_file (j, NULL, r, r->plots.word[i]);
  json_close (j, ']');
}

static void
write_memory (struct json *j, const struct run_results *r)
{
  char *text = results_memory (r);

  if (text)
    json_string (j, "memory", text);
  free (text);
}

void
results_write_json (struct json *j, const struct run_results *r)
{
  const struct scenario *sc = r->scenario;
  unsigned i;

  json_open (j, NULL, '{');
  json_int (j, "part", r->part);
  json_string (j, "folder", r->folder);
  json_string (j, "scenario", sc->name);
  json_string (j, "title", sc->title);
  json_string (j, "source", sc->source);
  json_string (j, "note", sc->note);
  json_string (j, "drive", r->name);
  write_drives (j, r);
  json_string (j, "machine", machine_kinds[sc->machine.kind]);
  json_int (j, "memory_mib", r->memory_mib > 0 ? r->memory_mib
            : sc->machine.memory_mib);
  write_memory (j, r);
  write_cpu (j, &sc->machine.cpu);
  json_string (j, "kernel", r->kernel);
  if (sc->guest)
    json_string (j, "guest", sc->guest);
  if (sc->scale > 1)
    json_int (j, "scale", sc->scale);
  if (r->skipped)
    json_string (j, "skipped", r->skipped);
  if (r->warnings.n)
    write_words (j, "warnings", &r->warnings);
  json_string (j, "verdict", outcome_words[results_outcome (r)]);
  json_string (j, "error", r->failure);
  write_clock (j, r);
  write_identify (j, r);
  write_plots (j, r);
  json_open (j, "figures", '[');
  for (i = 0; i < sc->n_steps; ++i)
    write_figure (j, r, i);
  json_close (j, ']');
  json_open (j, "reported", '[');
  for (i = 0; i < sc->n_reported; ++i)
    if (results_applies (r, &sc->reported[i]))
      write_comparison (j, r, &sc->reported[i]);
  json_close (j, ']');
  json_close (j, '}');
}
