/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What scenarios are run with instead of what they say: profiles, kernels,
 * seeds, figures of the profile; and every combination of them.
 */
#ifndef SPINDLE_MATRIX_H
#define SPINDLE_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "words.h"

/* One combination. */
struct variant {
  char *label;                  /* added to the names of its runs: ",seed=3" */
  char *profile;                /* instead of the scenario's drives; NULL */
  char *kernel;                 /* instead of the scenario's, or NULL */
  int64_t seed;                 /* -1: the scenario's */
  struct words set;             /* KEY=VALUE, added to the drives' */
  bool full;                    /* all that was reported, not a part */
};

/* As given on the command line. */
struct matrix {
  struct words profiles, kernels, set;
  struct words vary;            /* KEY=VALUE,VALUE... */
  struct words seeds;           /* numbers; N..M has been spelt out */
  bool full;
};

#define MATRIX_HELP \
"  --full         do all that was reported, not the part that is enough\n" \
"  --profile P    run on this drive instead of the scenario's; repeat it for\n" \
"                 several\n" \
"  --kernel FILE  boot this kernel instead of the scenario's; likewise.  all:\n" \
"                 each of those in $SPINDLE_KERNELS\n" \
"  --seed N       seed of the drives; several as 1,2 or 1..8\n" \
"  --set KEY=VALUE  change a figure of the profiles; likewise\n" \
"  --vary KEY=VALUE,VALUE...  one run with each value; likewise\n"

#define MATRIX_OPTIONS \
  { "--full", NULL }, { "--profile", "P" }, { "--kernel", "FILE" }, { "--seed", "N" }, \
  { "--set", "KEY=VALUE" }, { "--vary", "KEY=VALUE,VALUE..." }

/* Take one of MATRIX_OPTIONS: 1, 0 if NAME is none of them, -1 after a
 * message.
 */
int matrix_option (struct matrix *m, const char *name, const char *value);
void matrix_free (struct matrix *m);

/* The options that would give this matrix. */
void matrix_words (const struct matrix *m, struct words *argv);

struct variants {
  struct variant *variant;
  unsigned n;
};

/* Every combination; one that changes nothing if nothing was given. */
struct variants matrix_expand (const struct matrix *m);

/* "PROFILE,KEY=VALUE,...": a profile (or nothing), then kernel=, seed= or
 * figures of the profile.  Returns -1 after a message.
 */
int variant_parse (const char *text, struct variant *v);

void variants_add (struct variants *v, struct variant variant);
void variants_free (struct variants *v);

#endif /* SPINDLE_MATRIX_H */
