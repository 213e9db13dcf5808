/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What came out of a replay, in figures.
 */
#ifndef SPINDLE_REPLAY_STATS_H
#define SPINDLE_REPLAY_STATS_H

#include <stdbool.h>

#include "replay.h"

#define REPLAY_OPS 4            /* of enum disk_op */
#define REPLAY_HITS 8           /* of enum disk_hit */
#define REPLAY_PARTS 8          /* of struct disk_times */
#define REPLAY_WORST 5

extern const char *const replay_part_names[REPLAY_PARTS];

/* Response times of a group of requests.  Percentiles are by nearest rank:
 * the smallest that is not exceeded by so many.
 */
struct replay_summary {
  size_t n;
  int64_t bytes;
  double mean_ms, p50_ms, p90_ms, p99_ms, max_ms;
  double mb_per_s;              /* over the whole run; NAN if it took no time */
};

/* The model (or the live drive) against what the trace says. */
struct replay_comparison {
  size_t n;                     /* requests with a measured time */
  double measured_mean_ms, mean_ms; /* over these */
  double mean_error_percent;
  double demerit_ms;            /* rms distance of the two distributions */
  double within_500us;          /* of each request, 0 to 1 */
  size_t n_worst;
  size_t worst[REPLAY_WORST];   /* of replay.done, the worst first */
};

struct replay_stats {
  size_t skipped;
  double elapsed_s;             /* first arrival to last completion */
  struct replay_summary all, op[REPLAY_OPS];
  struct replay_summary hit[REPLAY_HITS];
  double part_ms[REPLAY_PARTS];
  struct replay_comparison comparison;
  /* Sorted response times for the plot, ns. */
  int64_t *sorted, *sorted_measured;
};

/* The first SKIP requests of the trace do not count. */
void replay_stats_make (struct replay_stats *s,
                        const struct trace_file *trace,
                        const struct replay *r, size_t skip);
void replay_stats_free (struct replay_stats *s);

#endif /* SPINDLE_REPLAY_STATS_H */
