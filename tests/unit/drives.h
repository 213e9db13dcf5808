/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drives for the model's tests, written in C so that they need no loader,
 * and a host that sends one command after another.
 */
#ifndef SPINDLE_TEST_DRIVES_H
#define SPINDLE_TEST_DRIVES_H

#include "disk.h"

#define MS(x) ((int64_t) (x) * 1000000)
#define US(x) ((int64_t) (x) * 1000)
#define KIB(x) ((int64_t) (x) * 1024)

/* A drive much like the WD200BB. */
extern void drive_wd (struct profile *p);

/* zones: n zones from `outer` to `inner` sectors per track that hold
 * p->geometry.sectors.
 */
extern void drive_zones (struct profile *p, uint32_t n, uint32_t outer,
                         uint32_t inner);

/* Send one command at *now and wait for it: *now becomes its completion. */
extern struct disk_completion host_do (struct disk *d, int64_t *now,
                                       enum disk_op op, unsigned flags,
                                       int64_t lba, int64_t sectors);

/* Sequential commands of `each` sectors from lba on, `total` in all, with
 * think_ns between them: MiB per second times 1000.
 */
extern int64_t host_sequential (struct disk *d, int64_t *now,
                                enum disk_op op, int64_t lba, int64_t each,
                                int64_t total, int64_t think_ns);

#endif /* SPINDLE_TEST_DRIVES_H */
