/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which figures of a drive's profile give what somebody has reported?
 *
 * A guest runs the scenario and its requests are recorded.  The search then
 * sends them to the model again and again, each as long after the one that
 * it waited for as the guest took.  What that finds is tried in guests, and
 * what they do is recorded in turn, until the two agree.
 */
#ifndef SPINDLE_FIT_H
#define SPINDLE_FIT_H

#include <stdio.h>

#include "results.h"
#include "trace-file.h"
#include "words.h"

#define FIT_MAX_PARAMETERS 8

/* One that is to be found: KEY=LOW..HIGH or KEY=WORD|WORD... */
struct fit_parameter {
  char *key;
  double low, high;
  int decimals;                 /* 0: a whole number */
  struct words words;           /* instead of numbers */
};

/* A guest's requests, and what it measured. */
struct fit_run {
  struct run_results results;   /* with a scenario of its own */
  struct trace_file trace;
  int *step;                    /* of each request; -1: none */
  size_t *after;                /* it waited for this one; SIZE_MAX: none, */
  int64_t *think_ns;            /* and came so long after that was done */
  double *step_ns;              /* of each step in the model, as recorded */
};

/* A point of the search: each value as a number from 0 to 1. */
struct fit_point {
  double x[FIT_MAX_PARAMETERS];
  double off;                   /* rms of the figures' errors, in tolerances */
  double cost;                  /* what the search makes least */
};

struct fit {
  struct words files;           /* of the scenarios */
  const char *kernel;           /* or NULL: theirs */
  bool any_kernel;              /* figures count whatever kernel ran */
  bool quiet;
  int64_t rounds;
  struct fit_parameter parameters[FIT_MAX_PARAMETERS];
  unsigned n_parameters;

  struct fit_run *runs;         /* as recorded last */
  unsigned n_runs;
  struct fit_point *points;     /* all that the search has tried since */
  size_t n_points;
  int64_t guests, replays;

  struct fit_point recorded;    /* the runs are of these values */
  struct fit_point best;        /* as a guest does it */
  bool has_best;
  struct fit_point other;       /* as good, but far away */
  bool has_other, other_in_guest;
  double low[FIT_MAX_PARAMETERS], high[FIT_MAX_PARAMETERS]; /* as good, of x */
  struct fit_sensitivity {
    double percent;             /* a figure changes by, most of them all */
    const char *figure;
  } sensitivity[FIT_MAX_PARAMETERS];
};

/* As good as the best: so many tolerances more (rms), where that is not far
 * off; figures that are do not matter.
 */
#define FIT_EQUAL 0.1

/* "KEY=LOW..HIGH".  -1 after a message. */
int fit_add_parameter (struct fit *f, const char *text);

/* All of it.  -1 after a message. */
int fit_do (struct fit *f);
void fit_free (struct fit *f);

/* The value at x; free it. */
char *fit_value (const struct fit_parameter *p, double x);

/* Is it told to a tenth, or exactly if it is a word? */
bool fit_is_determined (const struct fit *f, unsigned parameter);

/* ---- fit-record.c ---- */

/* Are scenarios and parameters such that guests may run?  -1 after a
 * message.
 */
int fit_check (const struct fit *f);

/* Run guests with these figures of the profiles.  -1 after a message. */
int fit_record (struct fit *f, const struct words *set,
                struct fit_run **runs, unsigned *n);

/* ---- fit-replay.c ---- */

/* Requests and results are there, of a drive with these figures: the rest of
 * a run.  -1 after a message.
 */
int fit_prepare (struct fit_run *r, const struct words *set);
void fit_runs_free (struct fit_run *runs, unsigned n);

/* The profile with what the scenario and MORE set; as profile_load. */
int fit_load_profile (const struct scenario_drive *d,
                      const struct words *more, struct profile *profile,
                      char **error);

/* What the steps take in the model with these figures: r->step_ns of each,
 * in ns.  -1: there is no such drive.
 */
int fit_replay (const struct fit_run *r, const struct words *set, double *ns);

/* Does a figure that was reported count? */
bool fit_counts (const struct fit *f, const struct run_results *r,
                 const struct scenario_reported *reported);

/* ---- fit-report.c ---- */

/* Does a guest give what was reported? */
bool fit_reproduced (const struct fit *f);
void fit_print (const struct fit *f, FILE *fp);
void fit_print_json (const struct fit *f, FILE *fp);

/* ---- fit-profile.c ---- */

/* The drive's profile with the values, marked as fitted.  -1 after a
 * message.
 */
int fit_write_profile (const struct fit *f, const char *path);

#endif /* SPINDLE_FIT_H */
