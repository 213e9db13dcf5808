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

#include "drive-trace.h"
#include "lateness.h"
#include "profile.h"
#include "scenario.h"
#include "spindle.h"
#include "words.h"

/* What the guest said about one step. */
struct measurement {
  bool measured;
  int64_t bytes, requests, ns;  /* of all repeats */
  int64_t first_ns;             /* when the first job was done, or 0 */
  int64_t slow, slow_ns;        /* transfers that got to the drive */
  char *finished;               /* when each job was done, or NULL */
};

struct run_results {
  const struct scenario *scenario;
  char *name;                   /* of the run: its drives' */
  char *folder;                 /* its files', beside results.json */
  int64_t part;                 /* its number among all runs, from 1 */
  const char *failure;          /* why there is nothing, or NULL */
  bool varied;                  /* not on the drive that was reported on */
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
  char *skipped;                /* why nothing can be said, or NULL */
  int64_t memory_mib;           /* the guest's; may be more than asked for */
  struct words warnings;        /* what the guest could do without */

  /* From the bridge.  With the real clock nothing is exact. */
  bool have_clock, exact, patched;
  int64_t requests, late, max_late_ns, forced, max_early_ns;

  /* From the plugin, with the real clock only. */
  struct lateness lateness;

  double virtual_s, real_s;
  char *traces[MACHINE_MAX_DRIVES]; /* paths, or NULL when not kept */
  struct words plots;           /* names of files in the folder */

  /* From the traces: how many commands, and what they took in all. */
  struct spent {
    int64_t commands, part_ns[N_PARTS];
  } spent[MACHINE_MAX_DRIVES];
};

enum verdict {
  VERDICT_NONE,                 /* nothing was reported */
  VERDICT_COMPARISON,           /* reported on another kernel */
  VERDICT_SKIPPED,              /* nothing ran; the run says why */
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

/* What was done to its memory, or NULL: it has what was asked for.  Free it. */
char *results_memory (const struct run_results *r);

/* A step's figure in its unit.  Returns -1 if it was not measured. */
int results_figure (const struct run_results *r, unsigned step,
                    double *value);

/* Compare one reported figure.  *VALUE and *RATIO (measured to reported)
 * are set unless the verdict is VERDICT_NOT_MEASURED.
 */
enum verdict results_compare (const struct run_results *r,
                              const struct scenario_reported *reported,
                              double *value, double *ratio);

/* Does REPORTED speak of this run's drive, and, where the kernel is not
 * there, of that kernel?
 */
bool results_applies (const struct run_results *r,
                      const struct scenario_reported *reported);

/* Did every figure that counts come out as reported? */
bool results_reproduced (const struct run_results *r);

/* How a run went, the worst last. */
enum outcome {
  OUTCOME_SKIPPED,              /* not run, for a reason */
  OUTCOME_MEASURED,             /* nothing that was reported counts */
  OUTCOME_REPRODUCED, OUTCOME_NOT_REPRODUCED, OUTCOME_TOO_LATE,
  OUTCOME_NOT_EXACT, OUTCOME_FAILED
};
extern const char *const outcome_words[];
enum outcome results_outcome (const struct run_results *r);
/* Of all there was: if that is skipped, nothing ran. */
enum spindle_exit outcome_exit (enum outcome outcome);

/* One run as a JSON object; docs/results.md describes it. */
struct json;
void results_write_json (struct json *j, const struct run_results *r);

/* Read the traces: r->spent. */
void results_read_traces (struct run_results *r);

/* The same for people: a table.  ROOT is where files are kept, or NULL. */
void results_print (FILE *fp, const struct run_results *r, const char *root);

/* Draw what was swept and what the traces say into the run's folder in ROOT
 * with gnuplot; r->plots names the files.  Without gnuplot nothing is drawn.
 */
void results_plot (struct run_results *r, const char *root);

#endif /* SPINDLE_RESULTS_H */
