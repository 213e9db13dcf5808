/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What came out of running a scenario in one guest, and how that compares
 * with what was reported.
 */
#ifndef SPINDLE_RESULTS_H
#define SPINDLE_RESULTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lateness.h"
#include "profile.h"
#include "scenario.h"

/* What the guest said about one step. */
struct measurement {
  bool measured;
  int64_t bytes, requests, ns;
};

struct run_results {
  const struct scenario *scenario;
  char *name;                   /* of the run: its drives' */
  /* The first of its drives; the others follow. */
  const struct scenario_drive *drive;
  const struct profile *profile;
  unsigned n_drives;
  char *kernel;                 /* as the guest says, or NULL */
  char *identify;               /* the guest's event about IDENTIFY, or NULL */
  struct measurement *steps;    /* of scenario->steps */
  bool ended;                   /* the guest did its whole job */
  bool power_off;               /* or its power was cut before, */
  int64_t power_off_ns;         /* then */

  /* From the bridge.  With the real clock nothing is exact. */
  bool have_clock, exact, patched;
  int64_t requests, late, max_late_ns, forced, max_early_ns;

  /* From the plugin, with the real clock only. */
  struct lateness lateness;

  double virtual_s, real_s;
  char *traces[MACHINE_MAX_DRIVES], *plot; /* paths, or NULL when not kept */
};

enum verdict {
  VERDICT_NONE,                 /* nothing was reported */
  VERDICT_COMPARISON,           /* reported on another kernel */
  VERDICT_REPRODUCED,
  VERDICT_NOT_REPRODUCED,
  VERDICT_NOT_MEASURED,
};
extern const char *const verdict_words[];

void run_results_free (struct run_results *r);

/* One line: "exact", or how many requests were late or forced, and by how
 * much.  Free it.
 */
char *results_exactness (const struct run_results *r);

/* A step's figure in its unit.  Returns -1 if it was not measured. */
int results_figure (const struct run_results *r, unsigned step,
                    double *value);

/* Compare one reported figure.  *VALUE and *RATIO (measured to reported)
 * are set unless the verdict is VERDICT_NOT_MEASURED.
 */
enum verdict results_compare (const struct run_results *r,
                              const struct scenario_reported *reported,
                              double *value, double *ratio);

/* Does REPORTED speak of this run's drive? */
bool results_applies (const struct run_results *r,
                      const struct scenario_reported *reported);

/* Did every figure that counts come out as reported? */
bool results_reproduced (const struct run_results *r);

/* The runs of one or more scenarios as one JSON object. */
void results_write_json (FILE *fp, const struct run_results *runs,
                         unsigned n);

/* The same for people: a table a run. */
void results_print (FILE *fp, const struct run_results *r);

/* Draw what was swept as FOLDER/KEY.svg with gnuplot; r->plot is the last
 * one drawn.  Without gnuplot nothing is drawn.
 */
void results_plot (struct run_results *r, const char *folder);

#endif /* SPINDLE_RESULTS_H */
