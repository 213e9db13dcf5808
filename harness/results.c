/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "results.h"
#include "spindle.h"

const char *const verdict_words[] = {
  [VERDICT_NONE] = "",
  [VERDICT_COMPARISON] = "for comparison",
  [VERDICT_SKIPPED] = "skipped",
  [VERDICT_REPRODUCED] = "reproduced",
  [VERDICT_NOT_REPRODUCED] = "NOT reproduced",
  [VERDICT_NOT_MEASURED] = "NOT measured",
};

void
run_results_free (struct run_results *r)
{
  unsigned i;

  for (i = 0; r->steps && i < r->scenario->n_steps; ++i)
    free (r->steps[i].finished);
  free (r->name);
  free (r->skipped);
  words_free (&r->warnings);
  free (r->kernel);
  free (r->identify);
  free (r->steps);
  for (i = 0; i < MACHINE_MAX_DRIVES; ++i)
    free (r->traces[i]);
  words_free (&r->plots);
  free (r->folder);
}

const char *const outcome_words[] = {
  [OUTCOME_SKIPPED] = "skipped",
  [OUTCOME_MEASURED] = "measured",
  [OUTCOME_REPRODUCED] = "reproduced",
  [OUTCOME_NOT_REPRODUCED] = "not reproduced",
  [OUTCOME_TOO_LATE] = "too late",
  [OUTCOME_NOT_EXACT] = "not exact",
  [OUTCOME_FAILED] = "could not run",
};

char *
results_memory (const struct run_results *r)
{
  const int64_t asked = r->scenario->machine.memory_mib;

  if (r->memory_mib <= asked)
    return NULL;
  return format ("%lld MiB instead of %lld: less is not enough for this kernel "
                 "to boot", (long long) r->memory_mib, (long long) asked);
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

/* What else a step has told.  As with seconds, what a part of the reported
 * work gives is taken for all of it.
 */
static int
also_figure (const struct scenario_step *s, const struct measurement *m,
             double *value)
{
  switch (s->also) {
  case ALSO_FIRST:
    *value = m->first_ns / 1e9 / s->repeats * s->scale;
    return m->first_ns > 0 ? 0 : -1;
  case ALSO_DISK:
    *value = (double) m->slow / s->repeats * s->scale;
    return 0;
  default:
    *value = m->slow > 0 ? m->slow_ns / 1e6 / m->slow : 0;
    return m->slow > 0 ? 0 : -1;
  }
}

int
results_figure (const struct run_results *r, unsigned step, double *value)
{
  const struct scenario_step *s = &r->scenario->steps[step];
  const struct measurement *m = &r->steps[step];

  if (!m->measured || m->ns <= 0 || m->requests <= 0)
    return -1;
  if (s->verb == STEP_ALSO)
    return also_figure (s, m, value);
  switch (s->unit) {
  case UNIT_MIB_PER_S:
    *value = (double) m->bytes / (1024 * 1024) / (m->ns / 1e9);
    return 0;
  case UNIT_MS:
    *value = (double) m->ns / m->requests / 1e6;
    return 0;
  case UNIT_IO_PER_S:
    *value = m->requests / (m->ns / 1e9);
    return 0;
  case UNIT_S:
    *value = m->ns / 1e9 / s->repeats * s->scale;
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

/* A kernel that the scenario names is that one, whatever it calls itself. */
static bool
is_kernel_of (const struct run_results *r, const char *reported)
{
  const struct scenario *sc = r->scenario;

  if (reported && sc->kernel_name &&
      strcmp (sc->kernel_name, "debian") != 0)
    return strcmp (reported, sc->kernel_name) == 0;
  return same_kernel (reported, r->kernel);
}

bool
results_applies (const struct run_results *r,
                 const struct scenario_reported *reported)
{
  if (r->skipped && r->kernel == NULL &&
      (reported->kernel == NULL || !is_kernel_of (r, reported->kernel)))
    return false;
  return reported->drive == NULL ||
    strcmp (reported->drive, r->drive->name) == 0;
}

enum verdict
results_compare (const struct run_results *r,
                 const struct scenario_reported *reported,
                 double *value, double *ratio)
{
  const double slack = reported->tolerance / 100;
  double over = 1;

  if (r->skipped)
    return VERDICT_SKIPPED;
  if (figure_called (r, reported->figure, value) == -1 ||
      (reported->over && figure_called (r, reported->over, &over) == -1))
    return VERDICT_NOT_MEASURED;
  *value /= over;
  *ratio = *value / reported->value;
  if (r->varied ||
      (!reported->assert && !is_kernel_of (r, reported->kernel)))
    return VERDICT_COMPARISON;
  return *value >= (reported->value - reported->below) * (1 - slack) &&
    *value <= (reported->value + reported->above) * (1 + slack)
    ? VERDICT_REPRODUCED : VERDICT_NOT_REPRODUCED;
}

/* Of a run that was not skipped. */
static enum outcome
judge (const struct run_results *r)
{
  const struct scenario *sc = r->scenario;
  enum outcome outcome = OUTCOME_MEASURED;
  double value, ratio;
  unsigned i;

  for (i = 0; i < sc->n_reported; ++i) {
    if (!results_applies (r, &sc->reported[i]))
      continue;
    switch (results_compare (r, &sc->reported[i], &value, &ratio)) {
    case VERDICT_REPRODUCED:
      outcome = OUTCOME_REPRODUCED;
      break;
    case VERDICT_NOT_REPRODUCED:
    case VERDICT_NOT_MEASURED:
      return OUTCOME_NOT_REPRODUCED;
    case VERDICT_NONE:
    case VERDICT_COMPARISON:
    case VERDICT_SKIPPED:
      break;
    }
  }
  for (i = 0; i < sc->n_steps; ++i)
    if (!r->steps[i].measured)
      return OUTCOME_NOT_REPRODUCED;
  return outcome;
}

bool
results_reproduced (const struct run_results *r)
{
  return r->skipped || judge (r) != OUTCOME_NOT_REPRODUCED;
}

enum outcome
results_outcome (const struct run_results *r)
{
  if (r->failure)
    return OUTCOME_FAILED;
  if (r->skipped)
    return OUTCOME_SKIPPED;
  if (r->scenario->machine.virtual_clock && !r->exact)
    return OUTCOME_NOT_EXACT;
  if (r->lateness.known && !r->lateness.valid)
    return OUTCOME_TOO_LATE;
  return judge (r);
}

enum spindle_exit
outcome_exit (enum outcome outcome)
{
  static const enum spindle_exit exits[] = {
    [OUTCOME_SKIPPED] = EXIT_COULD_NOT_RUN,
    [OUTCOME_MEASURED] = EXIT_REPRODUCED,
    [OUTCOME_REPRODUCED] = EXIT_REPRODUCED,
    [OUTCOME_NOT_REPRODUCED] = EXIT_NOT_REPRODUCED,
    [OUTCOME_TOO_LATE] = EXIT_INVALID,
    [OUTCOME_NOT_EXACT] = EXIT_COULD_NOT_RUN,
    [OUTCOME_FAILED] = EXIT_COULD_NOT_RUN,
  };

  return exits[outcome];
}

void
results_read_traces (struct run_results *r)
{
  struct drive_trace t;
  unsigned i;

  for (i = 0; i < r->n_drives; ++i)
    if (r->traces[i] && drive_trace_load (r->traces[i], &t) == 0) {
      r->spent[i].commands = t.n;
      drive_trace_sum (&t, r->spent[i].part_ns);
      drive_trace_free (&t);
    }
}
