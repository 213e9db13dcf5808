/* SPDX-License-Identifier: BSD-3-Clause */
#include "histogram.h"

/* Values below 2 * HISTOGRAM_SUB have a bucket each; above, a power of two
 * is divided into HISTOGRAM_SUB buckets.
 */
static int
bucket_of (int64_t ns)
{
  int shift = 0;

  while ((ns >> shift) >= 2 * HISTOGRAM_SUB)
    shift++;
  return shift * HISTOGRAM_SUB + (int) (ns >> shift);
}

/* The largest value in the bucket. */
static int64_t
bucket_end (int bucket)
{
  int shift = bucket < 2 * HISTOGRAM_SUB ? 0 : bucket / HISTOGRAM_SUB - 1;
  int64_t first = bucket - shift * HISTOGRAM_SUB;

  return (first << shift) + ((INT64_C (1) << shift) - 1);
}

void
histogram_add (struct histogram *h, int64_t ns)
{
  if (ns < 0)
    ns = 0;
  h->buckets[bucket_of (ns)]++;
  h->count++;
  if (ns > h->max)
    h->max = ns;
}

int64_t
histogram_quantile (const struct histogram *h, int per_thousand)
{
  int64_t rank = (h->count * per_thousand + 999) / 1000, seen = 0;

  if (h->count == 0)
    return 0;
  for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
    seen += h->buckets[i];
    if (seen >= rank)
      return bucket_end (i) < h->max ? bucket_end (i) : h->max;
  }
  return h->max;
}
