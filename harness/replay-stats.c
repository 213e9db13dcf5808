/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "replay-stats.h"
#include "spindle.h"

#define CLOSE_NS 500000

const char *const replay_part_names[REPLAY_PARTS] = {
  "queue", "overhead", "actuator", "seek", "settle", "rotation", "media",
  "bus"
};

/* In the order of the names. */
static void
get_parts (const struct disk_times *t, int64_t *part)
{
  part[0] = t->queue_ns;
  part[1] = t->overhead_ns;
  part[2] = t->actuator_ns;
  part[3] = t->seek_ns;
  part[4] = t->settle_ns;
  part[5] = t->rotation_ns;
  part[6] = t->media_ns;
  part[7] = t->bus_ns;
}

static int64_t
response_ns (const struct replay_done *d)
{
  return d->complete_ns - d->arrival_ns;
}

static int
compare (const void *a, const void *b)
{
  int64_t p = *(const int64_t *) a, q = *(const int64_t *) b;

  return (p > q) - (p < q);
}

/* PERCENT of the N sorted values are not above the result. */
static double
percentile_ms (const int64_t *sorted, size_t n, unsigned percent)
{
  return (double) sorted[(n * percent + 99) / 100 - 1] / 1e6;
}

/* Fill *s from N response times, which are sorted on the way. */
static void
summarise (struct replay_summary *s, int64_t *value, size_t n, int64_t bytes,
           double elapsed_s)
{
  double sum = 0;

  *s = (struct replay_summary) { .n = n, .bytes = bytes };
  if (n == 0)
    return;
  qsort (value, n, sizeof *value, compare);
  for (size_t i = 0; i < n; ++i)
    sum += (double) value[i];
  s->mean_ms = sum / (double) n / 1e6;
  s->p50_ms = percentile_ms (value, n, 50);
  s->p90_ms = percentile_ms (value, n, 90);
  s->p99_ms = percentile_ms (value, n, 99);
  s->max_ms = (double) value[n-1] / 1e6;
  s->mb_per_s = elapsed_s > 0 ? (double) bytes / 1e6 / elapsed_s : NAN;
}

/* Which requests are counted together. */
struct group {
  int op, hit;                  /* or -1: any */
};

static void
summarise_group (struct replay_stats *s, struct replay_summary *summary,
                 const struct trace_file *trace, const struct replay *r,
                 struct group group, int64_t *value)
{
  int64_t bytes = 0;
  size_t n = 0;

  for (size_t i = 0; i < r->n; ++i) {
    const struct replay_done *d = &r->done[i];
    const struct trace_request *q = &trace->request[d->index];

    if (d->index < s->skipped || (group.op != -1 && q->op != group.op) ||
        (group.hit != -1 && d->hit != group.hit))
      continue;
    value[n++] = response_ns (d);
    if (q->op == DISK_READ || q->op == DISK_WRITE)
      bytes += q->sectors * DISK_SECTOR_SIZE;
  }
  summarise (summary, value, n, bytes, s->elapsed_s);
}

static double
find_elapsed_s (const struct replay *r, size_t skip)
{
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

  for (size_t i = 0; i < r->n; ++i)
    if (r->done[i].index >= skip) {
      if (r->done[i].arrival_ns < first_ns)
        first_ns = r->done[i].arrival_ns;
      if (r->done[i].complete_ns > last_ns)
        last_ns = r->done[i].complete_ns;
    }
  return first_ns < last_ns ? (double) (last_ns - first_ns) / 1e9 : 0;
}

static void
add_parts (struct replay_stats *s, const struct replay *r)
{
  int64_t part[REPLAY_PARTS];

  for (size_t i = 0; i < r->n; ++i) {
    if (r->done[i].index < s->skipped)
      continue;
    get_parts (&r->done[i].times, part);
    for (unsigned k = 0; k < REPLAY_PARTS; ++k)
      s->part_ms[k] += (double) part[k] / 1e6;
  }
  for (unsigned k = 0; k < REPLAY_PARTS && s->all.n > 0; ++k)
    s->part_ms[k] /= (double) s->all.n;
}

static int64_t
error_ns (const struct trace_file *trace, const struct replay_done *d)
{
  return llabs (response_ns (d) - trace->request[d->index].response_ns);
}

/* Keep the worst, of equals the first. */
static void
note_worst (struct replay_comparison *c, const struct trace_file *trace,
            const struct replay *r, size_t i)
{
  size_t k = c->n_worst;

  if (k < REPLAY_WORST)
    c->n_worst++;
  for (; k > 0 && error_ns (trace, &r->done[c->worst[k-1]]) <
                  error_ns (trace, &r->done[i]); --k)
    if (k < REPLAY_WORST)
      c->worst[k] = c->worst[k-1];
  if (k < REPLAY_WORST)
    c->worst[k] = i;
}

/* Ruemmler and Wilkes, "An introduction to disk drive modeling" (1994):
 * the root mean square of the horizontal distance of the two distribution
 * curves.
 */
static double
demerit_ms (const int64_t *a, const int64_t *b, size_t n)
{
  double sum = 0;

  for (size_t i = 0; i < n; ++i) {
    double distance = (double) (a[i] - b[i]) / 1e6;

    sum += distance * distance;
  }
  return sqrt (sum / (double) n);
}

static void
compare_times (struct replay_stats *s, const struct trace_file *trace,
               const struct replay *r, int64_t *value)
{
  struct replay_comparison *c = &s->comparison;
  struct replay_summary measured, here;
  size_t close = 0;

  for (size_t i = 0; i < r->n; ++i) {
    const struct replay_done *d = &r->done[i];

    if (d->index < s->skipped ||
        trace->request[d->index].response_ns == TRACE_UNKNOWN)
      continue;
    value[c->n] = response_ns (d);
    s->sorted_measured[c->n++] = trace->request[d->index].response_ns;
    close += error_ns (trace, d) <= CLOSE_NS;
    note_worst (c, trace, r, i);
  }
  if (c->n == 0)
    return;
  summarise (&measured, s->sorted_measured, c->n, 0, 0);
  summarise (&here, value, c->n, 0, 0);
  c->measured_mean_ms = measured.mean_ms;
  c->mean_ms = here.mean_ms;
  c->mean_error_percent = measured.mean_ms > 0
    ? (here.mean_ms / measured.mean_ms - 1) * 100 : NAN;
  c->demerit_ms = demerit_ms (s->sorted_measured, value, c->n);
  c->within_500us = (double) close / (double) c->n;
}

void
replay_stats_make (struct replay_stats *s, const struct trace_file *trace,
                   const struct replay *r, size_t skip)
{
  int64_t *value = allocate (r->n, sizeof *value);

  *s = (struct replay_stats) {
    .skipped = skip < r->n ? skip : r->n,
    .elapsed_s = find_elapsed_s (r, skip),
    .sorted = allocate (r->n, sizeof *s->sorted),
    .sorted_measured = allocate (r->n, sizeof *s->sorted_measured),
  };
  summarise_group (s, &s->all, trace, r, (struct group) { -1, -1 },
                   s->sorted);
  for (int i = 0; i < REPLAY_OPS; ++i)
    summarise_group (s, &s->op[i], trace, r, (struct group) { i, -1 },
                     value);
  for (int i = 0; i < REPLAY_HITS && r->modelled; ++i)
    summarise_group (s, &s->hit[i], trace, r, (struct group) { -1, i },
                     value);
  if (r->modelled)
    add_parts (s, r);
  compare_times (s, trace, r, value);
  free (value);
}

void
replay_stats_free (struct replay_stats *s)
{
  free (s->sorted);
  free (s->sorted_measured);
  *s = (struct replay_stats) { 0 };
}
