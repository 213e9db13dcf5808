/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is counted outside the model.
 */
#ifndef SPINDLE_STATS_H
#define SPINDLE_STATS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

struct drive;

/* A histogram of times with buckets 1/16 of a power of two wide. */
#define HISTOGRAM_SUB 16
#define HISTOGRAM_BUCKETS (60 * HISTOGRAM_SUB)

struct histogram {
  int64_t count, max;
  int64_t buckets[HISTOGRAM_BUCKETS];
};

struct stats {
  /* Requests from the wire, by enum disk_op. */
  _Atomic int64_t requests[4];
  _Atomic int64_t failed;
  _Atomic int64_t untimed;      /* served at once, without the model */
  struct histogram lateness;    /* ns; the drive's lock covers it */
};

extern void histogram_add (struct histogram *h, int64_t ns);

/* The value that the fraction `per_thousand` of them does not exceed, never
 * too low and at most 1/16 too high; 0 when there is none.
 */
extern int64_t histogram_quantile (const struct histogram *h,
                                   int per_thousand);

/* Print everything known about the drive as one line of JSON. */
extern void stats_print (FILE *fp, struct drive *d);

#endif /* SPINDLE_STATS_H */
