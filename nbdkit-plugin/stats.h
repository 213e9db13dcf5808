/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is counted outside the model.
 */
#ifndef SPINDLE_STATS_H
#define SPINDLE_STATS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "histogram.h"

struct drive;

struct stats {
  /* Requests from the wire, by enum disk_op. */
  _Atomic int64_t requests[4];
  _Atomic int64_t failed;
  _Atomic int64_t untimed;      /* served at once, without the model */
  struct histogram lateness;    /* ns; the drive's lock covers it */
};

/* Print everything known about the drive as one line of JSON. */
extern void stats_print (FILE *fp, struct drive *d);

#endif /* SPINDLE_STATS_H */
