/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a drive does, measured on the model.
 */
#ifndef SPINDLE_PROFILE_FIGURES_H
#define SPINDLE_PROFILE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

enum profile_figure {
  FIGURE_CAPACITY, FIGURE_RPM,
  FIGURE_OUTER, FIGURE_MIDDLE, FIGURE_INNER, FIGURE_MEAN_RATE,
  FIGURE_TRACK_SEEK, FIGURE_AVERAGE_SEEK, FIGURE_FULL_STROKE,
  FIGURE_WRITE_TRACK_SEEK, FIGURE_WRITE_AVERAGE_SEEK,
  FIGURE_WRITE_FULL_STROKE,
  FIGURE_RANDOM_READ, FIGURE_FULL_ACCESS, FIGURE_HALF_ACCESS,
  FIGURE_QUARTER_ACCESS, FIGURE_CACHED_READ,
  FIGURE_IOPS, FIGURE_IOPS_32, FIGURE_WRITE_IOPS, FIGURE_SYNC_IOPS,
  FIGURE_OUTER_16MIB, FIGURE_INNER_16MIB, FIGURE_RANDOM_4096,
  FIGURE_SEGMENTS, FIGURE_LOOKAHEAD,
  N_FIGURES
};

struct profile_figure_def {
  const char *name;             /* for people */
  const char *id;               /* for programs, with the unit */
  const char *unit;
  int decimals;
  const char *key;              /* of the figure to compare with, or NULL */
  size_t offset;                /* of its field in struct profile */
  double scale;                 /* the field times this is in the unit */
  double tolerance_percent;     /* < 0: nothing is asserted */
};
extern const struct profile_figure_def profile_figures[N_FIGURES];

/* Measure all of it; figures that make no sense for this drive are NAN.
 * Returns -1 after a message.
 */
int profile_measure (const struct profile *profile,
                     double figures[N_FIGURES]);

/* What the profile says it should be; NAN if it says nothing.  IBM's margin
 * is taken off.
 */
double profile_said (const struct profile *profile, enum profile_figure f);

/* Single measurements, for pictures: `readers' sequential streams that take
 * turns with commands of 64 KiB, in MB/s; times of n random reads of 4 KiB
 * in ms.
 */
int profile_streams (const struct profile *profile, int readers,
                     double *mb_s);
int profile_random (const struct profile *profile, int n, double *ms);

#endif /* SPINDLE_PROFILE_FIGURES_H */
