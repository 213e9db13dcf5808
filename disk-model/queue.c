/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The order of service.  Commands are looked at in order of arrival, as
 * many as the drive's queue holds; the others wait in the host.
 */
#include <limits.h>
#include <stdlib.h>

#include "fixed.h"
#include "internal.h"

int64_t
queue_overhead_ns (const struct disk *d, int64_t arrival_ns,
                   int64_t start_ns, int64_t overhead_ns)
{
  if (d->profile.queue.depth > 1)
    overhead_ns = max_i64 (overhead_ns - (start_ns - arrival_ns), 0);
  return overhead_ns;
}

/* Must b, which came later, stay behind a? */
static bool
conflict (const struct disk_request *a, const struct disk_request *b)
{
  if (a->op == DISK_READ && b->op == DISK_READ)
    return false;
  return a->lba < b->lba + b->sectors && b->lba < a->lba + a->sectors;
}

static bool
eligible (const struct disk *d, int i)
{
  for (int j = 0; j < i; j++)
    if (conflict (&d->queue[j].request, &d->queue[i].request))
      return false;
  return true;
}

/* Commands that may be served now: a flush is not queued, so those before
 * it come first, and it comes before those after it.
 */
static int
window (const struct disk *d)
{
  int n = (int) min_i64 (d->queued, max_i64 (d->profile.queue.depth, 1));

  for (int i = 0; i < n; i++)
    if (d->queue[i].request.op == DISK_FLUSH)
      return (int) max_i64 (i, 1);
  return n;
}

/* Does it need the arm at all? */
static bool
is_in_buffer (const struct disk *d, const struct disk_request *r)
{
  int64_t end = r->lba + r->sectors;
  int segment;

  if (r->op != DISK_READ)
    return r->op == DISK_TRIM ||
      (d->profile.write_cache.enabled && !(r->flags & DISK_FUA));
  if (dirty_contains (&d->dirty, r->lba, end))
    return true;
  segment = segments_find (&d->segments, r->lba, end);
  return segment >= 0 && d->segments.v[segment].end >= end;
}

static int64_t
cost (const struct disk *d, int64_t t_ns, const struct place *from,
      const struct waiting *w)
{
  const struct disk_request *r = &w->request;
  const struct profile_overhead *overhead = &d->profile.overhead;
  int64_t ahead;

  if (is_in_buffer (d, r))
    return -1;
  ahead = w->place.cylinder - from->cylinder;
  switch (d->profile.queue.order) {
  case ORDER_SSTF:
    return llabs (ahead);
  case ORDER_C_LOOK:
    return ahead >= 0 ? ahead : ahead + d->geometry.cylinders;
  case ORDER_SPTF:
    t_ns += queue_overhead_ns (d, w->arrival_ns, t_ns,
                               r->op == DISK_READ ? overhead->read_miss_ns
                                                  : overhead->through_ns);
    return arm_reach_ns (d, t_ns, from, &w->place, r->op == DISK_WRITE,
                         d->profile.queue.awareness_permille);
  case ORDER_FCFS:
    break;
  }
  return 0;
}

int
queue_pick (const struct disk *d, int64_t t_ns)
{
  const struct profile_queue *p = &d->profile.queue;
  int n = window (d), best = 0;
  int64_t best_cost = INT64_MAX;
  struct place from;

  if (n == 1 || p->order == ORDER_FCFS ||
      (p->age_limit_ns > 0 && t_ns - d->queue[0].arrival_ns >= p->age_limit_ns))
    return 0;
  arm_place (d, t_ns, &from);
  for (int i = 0; i < n; i++) {
    int64_t c;

    if (!eligible (d, i))
      continue;
    c = cost (d, t_ns, &from, &d->queue[i]);
    if (c < best_cost) {
      best = i;
      best_cost = c;
    }
  }
  return best;
}
