/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sectors that do not read well, sorted by LBA, not overlapping.
 */
#ifndef SPINDLE_FAULTS_H
#define SPINDLE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "disk.h"

struct fault {
  int64_t lba, end;
  uint32_t retries;             /* DISK_FAULT_HARD: never reads */
  int64_t from_command;         /* it reads well until then */
  bool pending;                 /* the drive knows */
};

struct faults {
  struct fault v[DISK_MAX_FAULTS];
  int n;
};

/* The first fault that ends after lba, for the n-th command, or NULL. */
extern const struct fault *faults_next (const struct faults *f, int64_t lba,
                                        int64_t command);

/* The sector at lba, which is bad, is now known to be. */
extern void faults_pending (struct faults *f, int64_t lba);
extern int64_t faults_pending_sectors (const struct faults *f);

/* Returns -1 when there is no room. */
extern int faults_add (struct faults *f, const struct fault *fault);

/* [lba, end) has been written; returns how many bad sectors that heals. */
extern int64_t faults_heal (struct faults *f, int64_t lba, int64_t end);

/* The first hard sector in [lba, end), or -1. */
extern int64_t faults_first_hard (const struct faults *f, int64_t lba,
                                  int64_t end);

#endif /* SPINDLE_FAULTS_H */
