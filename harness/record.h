/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Results that were kept: results.json, read back.  docs/results.md
 * describes it.
 */
#ifndef SPINDLE_RECORD_H
#define SPINDLE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "results.h"
#include "words.h"

struct record_figure {
  char *name, *unit;
  bool measured;
  double value;
  int64_t ns;                   /* it took the guest */
  char *sweep, *family;         /* NULL: not of a sweep */
  int64_t at;                   /* the swept value */
};

struct record_reported {
  char *name, *unit;            /* name: "a / b" for a ratio */
  char *figure;                 /* the figure it is about; NULL for a ratio */
  char *kernel, *source, *verdict;
  bool measured;
  double value, reported, ratio, tolerance;
};

/* One run.  Strings may be NULL where results.json has null. */
struct record {
  char *text;                   /* its JSON object */
  int64_t part;
  char *folder, *scenario, *title, *source, *note, *drive, *machine, *cpu,
    *memory, *kernel, *verdict, *error, *clock, *exactness;
  bool exact;
  double virtual_s;
  int64_t requests;
  struct words drives;          /* their titles */
  struct spent *spent;          /* of the drives */
  struct words set;             /* what was changed of them */
  struct words traces, plots;   /* paths, from where results.json is */
  struct record_figure *figures;
  unsigned n_figures;
  struct record_reported *reported;
  unsigned n_reported;
};

struct records {
  char *where;                  /* the folder that results.json is in */
  char *version, *matrix;       /* which matrix of runs this is part of */
  int64_t parts;                /* how many runs it has */
  struct record *run;
  unsigned n;
};

/* Read FOLDER/results.json.  Returns -1 after a message. */
int records_load (const char *folder, struct records *r);
void records_free (struct records *r);

/* Write one, of runs that are JSON objects already. */
void records_write (FILE *fp, const char *matrix, int64_t parts,
                    const struct words *runs);

/* A run's figure of this name, or NULL. */
const struct record_figure *record_figure (const struct record *r,
                                           const char *name);

/* How it went, and the worst of them all. */
enum outcome record_outcome (const struct record *r);
enum outcome records_outcome (const struct records *r);

#endif /* SPINDLE_RECORD_H */
