/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps that sweep the same key over the same values in the same unit
 * belong in one table and one picture: a line a value, a column a family.
 */
#ifndef SPINDLE_SWEEP_H
#define SPINDLE_SWEEP_H

#include "scenario.h"

#define SWEEP_MAX_FAMILIES 6
#define SWEEP_MAX_KERNELS 4

struct sweep {
  const char *key;
  int unit;
  unsigned n_values;
  unsigned n_families;
  unsigned first[SWEEP_MAX_FAMILIES]; /* steps[first[f] + v] */
  unsigned n_kernels;
  const char *kernels[SWEEP_MAX_KERNELS]; /* that figures were reported on */
};

/* The sweep that begins with STEP, or one whose n_families is 0 if STEP is
 * not the first step of one.
 */
struct sweep sweep_at (const struct scenario *sc, const char *drive,
                       unsigned step);

/* Is STEP shown by the sweep that it belongs to? */
bool sweep_has (const struct sweep *s, unsigned step);

/* What was reported for value V of a sweep on KERNEL (an index), for the
 * first family that has it; NULL if nothing was.
 */
const struct scenario_reported *
sweep_reported (const struct sweep *s, const struct scenario *sc,
                const char *drive, unsigned v, unsigned kernel);

/* The kernel (an index) whose reported figures family F is compared with:
 * that of its own figures, else the first.  Only with n_kernels > 0.
 */
unsigned sweep_kernel (const struct sweep *s, const struct scenario *sc,
                       const char *drive, unsigned f);

/* A family's name without the hole and the dash at it: "64k" for
 * "ra{readahead}-64k".  The caller frees it.
 */
char *sweep_title (const struct scenario_step *step);

#endif /* SPINDLE_SWEEP_H */
