/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The seek curve, compiled to a table of nanoseconds.
 */
#ifndef SPINDLE_SEEK_H
#define SPINDLE_SEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

#define SEEK_EXACT 512          /* distances with an entry each */
#define SEEK_SPACED 1024        /* entries for the longer ones */

struct seek_table {
  int64_t step;                 /* cylinders between spaced entries */
  int64_t exact_ns[SEEK_EXACT];
  int64_t spaced_ns[SEEK_SPACED + 2];
};

struct seek {
  int64_t head_switch_ns;
  int64_t write_settle_ns, write_switch_ns, write_minimum_ns;
  struct seek_table table[2];   /* reading, writing */
};

extern void seek_init (struct seek *s, const struct profile_seek *profile,
                       int64_t cylinders);

/* Time of an arm movement over `distance` >= 0 cylinders, settled for
 * reading; 0 for distance 0.
 */
extern int64_t seek_arm_ns (const struct seek *s, int64_t distance,
                            bool write);

/* The same when the head may change too: the two overlap. */
extern int64_t seek_ns (const struct seek *s, int64_t distance,
                        bool head_changes, bool write);

/* From the start of a movement that takes move_ns until the head is settled
 * for its work.
 */
extern int64_t seek_settled_ns (const struct seek *s, int64_t move_ns,
                                bool write);

#endif /* SPINDLE_SEEK_H */
