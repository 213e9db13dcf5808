/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "results.h"
#include "spindle.h"

const char *const verdict_words[] = {
  [VERDICT_NONE] = "",
  [VERDICT_COMPARISON] = "for comparison",
  [VERDICT_REPRODUCED] = "reproduced",
  [VERDICT_NOT_REPRODUCED] = "NOT reproduced",
  [VERDICT_NOT_MEASURED] = "NOT measured",
};

void
run_results_free (struct run_results *r)
{
  unsigned i;

  free (r->name);
  free (r->kernel);
  free (r->identify);
  free (r->steps);
  for (i = 0; i < MACHINE_MAX_DRIVES; ++i)
    free (r->traces[i]);
  free (r->plot);
}

char *
results_exactness (const struct run_results *r)
{
  if (!r->scenario->machine.virtual_clock) {
    char *late = lateness_text (&r->lateness);
    char *text = format ("real clock, not exact: %s", late);

    free (late);
    return text;
  }
  if (!r->have_clock)
    return format ("not exact: QEMU's clock did not report");
  if (r->late == 0 && r->forced == 0)
    return format ("%s: %lld requests, 0 late, 0 forced",
                   r->exact ? "exact" : "NOT EXACT", (long long) r->requests);
  return format ("NOT EXACT: %lld requests, %lld late by up to %.3f ms, "
                 "%lld forced by up to %.3f ms", (long long) r->requests,
                 (long long) r->late, r->max_late_ns / 1e6,
                 (long long) r->forced, r->max_early_ns / 1e6);
}

int
results_figure (const struct run_results *r, unsigned step, double *value)
{
  const struct measurement *m = &r->steps[step];

  if (!m->measured || m->ns <= 0 || m->requests <= 0)
    return -1;
  switch (r->scenario->steps[step].unit) {
  case UNIT_MIB_PER_S:
    *value = (double) m->bytes / (1024 * 1024) / (m->ns / 1e9);
    return 0;
  case UNIT_MS:
    *value = (double) m->ns / m->requests / 1e6;
    return 0;
  case UNIT_IO_PER_S:
    *value = m->requests / (m->ns / 1e9);
    return 0;
  default:
    return -1;
  }
}

static int
figure_called (const struct run_results *r, const char *name, double *value)
{
  unsigned i;

  for (i = 0; i < r->scenario->n_steps; ++i)
    if (strcmp (r->scenario->steps[i].name, name) == 0)
      return results_figure (r, i, value);
  return -1;
}

/* Is RUNNING ("2.6.0-test") the kernel that REPORTED ("2.6.0") means? */
static bool
same_kernel (const char *reported, const char *running)
{
  size_t n;

  if (reported == NULL)
    return true;
  if (running == NULL)
    return false;
  n = strlen (reported);
  return strncmp (reported, running, n) == 0 &&
    !isdigit ((unsigned char) running[n]) &&
    strncmp (running + n, "-rc", 3) != 0;
}

bool
results_applies (const struct run_results *r,
                 const struct scenario_reported *reported)
{
  return reported->drive == NULL ||
    strcmp (reported->drive, r->drive->name) == 0;
}

enum verdict
results_compare (const struct run_results *r,
                 const struct scenario_reported *reported,
                 double *value, double *ratio)
{
  double over = 1;

  if (figure_called (r, reported->figure, value) == -1 ||
      (reported->over && figure_called (r, reported->over, &over) == -1))
    return VERDICT_NOT_MEASURED;
  *value /= over;
  *ratio = *value / reported->value;
  if (!reported->assert && !same_kernel (reported->kernel, r->kernel))
    return VERDICT_COMPARISON;
  return fabs (*ratio - 1) * 100 <= reported->tolerance
    ? VERDICT_REPRODUCED : VERDICT_NOT_REPRODUCED;
}

bool
results_reproduced (const struct run_results *r)
{
  const struct scenario *sc = r->scenario;
  double value, ratio;
  unsigned i;

  for (i = 0; i < sc->n_reported; ++i)
    if (results_applies (r, &sc->reported[i]) &&
        results_compare (r, &sc->reported[i], &value, &ratio)
          >= VERDICT_NOT_REPRODUCED)
      return false;
  for (i = 0; i < sc->n_steps; ++i)
    if (!r->steps[i].measured)
      return false;
  return true;
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
  json_close (j, '}');
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
  if (v != VERDICT_NOT_MEASURED)
    json_double (j, "value", value);
  else
    json_null (j, "value");
  json_string (j, "unit", step_units[reported->unit]);
  json_double (j, "reported", reported->value);
  json_string (j, "kernel", reported->kernel);
  json_string (j, "source", reported->source);
  json_double (j, "tolerance", reported->tolerance);
  if (v != VERDICT_NOT_MEASURED)
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

  json_string (j, "clock", m->virtual_clock ? "virtual" : "real");
  json_bool (j, "exact", r->exact);
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
  json_double (j, "real_s", r->real_s);
  json_string (j, "trace", r->traces[0]);
  json_open (j, "identify", '{');
  json_bool (j, "patched", r->patched);
  json_raw (j, "guest", r->identify);
  json_close (j, '}');
}

static void
write_cpu (struct json *j, const struct cpu *cpu)
{
  json_int (j, "shift", cpu->shift);
  json_open (j, "cpu", '{');
  json_string (j, "name", cpu->name[0] ? cpu->name : NULL);
  json_double (j, "mips", cpu_shift_mips (cpu->shift));
  if (cpu->name[0]) {
    json_double (j, "wanted_mips", cpu->mips);
    json_double (j, "ratio", cpu_shift_mips (cpu->shift) / cpu->mips);
  }
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
    json_string (j, "trace", r->traces[i]);
    json_close (j, '}');
  }
  json_close (j, ']');
}

static void
write_run (struct json *j, const struct run_results *r)
{
  const struct scenario *sc = r->scenario;
  unsigned i;

  json_open (j, NULL, '{');
  json_string (j, "scenario", sc->name);
  json_string (j, "title", sc->title);
  json_string (j, "source", sc->source);
  json_string (j, "drive", r->name);
  json_string (j, "profile", r->drive->profile);
  if (r->n_drives > 1)
    write_drives (j, r);
  json_string (j, "machine", machine_kinds[sc->machine.kind]);
  write_cpu (j, &sc->machine.cpu);
  json_string (j, "kernel", r->kernel);
  json_string (j, "verdict",
               results_reproduced (r) ? "reproduced" : "not reproduced");
  write_clock (j, r);
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

void
results_write_json (FILE *fp, const struct run_results *runs, unsigned n)
{
  struct json j = { .fp = fp };
  bool reproduced = true;
  unsigned i;

  for (i = 0; i < n; ++i)
    reproduced = reproduced && results_reproduced (&runs[i]);
  json_open (&j, NULL, '{');
  json_string (&j, "spindle", SPINDLE_VERSION);
  json_string (&j, "verdict", reproduced ? "reproduced" : "not reproduced");
  json_open (&j, "runs", '[');
  for (i = 0; i < n; ++i)
    write_run (&j, &runs[i]);
  json_close (&j, ']');
  json_close (&j, '}');
}
