/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is counted outside the model.
 */
#ifndef SPINDLE_STATS_H
#define SPINDLE_STATS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "disk.h"
#include "histogram.h"

struct drive;

struct stats {
  /* Requests from the wire, by enum disk_op. */
  _Atomic int64_t requests[4];
  _Atomic int64_t failed;
  _Atomic int64_t untimed;      /* served at once, without the model */

  /* The drive's lock covers the rest. */
  struct histogram lateness;    /* ns */
  int64_t late_limit_ns;        /* for 99 % of it; 0: none */
  int64_t since_ns;             /* model time of the last reset */
  struct disk_stats before;     /* what the model had counted by then */
};

/* Count from here. */
extern void stats_reset (struct drive *d);

/* Print everything known about the drive as one line of JSON. */
extern void stats_print (FILE *fp, struct drive *d);

#endif /* SPINDLE_STATS_H */
