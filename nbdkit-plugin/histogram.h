/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A histogram of times, in buckets 1/16 of a power of two wide.
 */
#ifndef SPINDLE_HISTOGRAM_H
#define SPINDLE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB 16
#define HISTOGRAM_BUCKETS (60 * HISTOGRAM_SUB) /* up to INT64_MAX */

struct histogram {
  int64_t count, max;
  int64_t buckets[HISTOGRAM_BUCKETS];
};

/* Less than 0 counts as 0. */
extern void histogram_add (struct histogram *h, int64_t ns);

/* What the fraction `per_thousand` (1 to 1000) of them does not exceed:
 * never too low, and at most 1/16 too high.  0 when there is none.
 */
extern int64_t histogram_quantile (const struct histogram *h,
                                   int per_thousand);

#endif /* SPINDLE_HISTOGRAM_H */
