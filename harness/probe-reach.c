/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The least time from the end of one read to the end of another, over all
 * angles: what Worthington and the others call the minimum time between
 * request completions.
 *
 * A read of b takes T.  The head got there in time, so the least time is T
 * at most; but it would have been in time a turn earlier too, if it could,
 * so the least time is more than T less a turn.  Each observation halves
 * what is left.  For that the angle at which b will be must be known: a
 * sector beside it is read first.
 */
#include <math.h>

#include "fixed.h"
#include "probe-impl.h"

#define MAX_OBSERVATIONS 30

struct bounds {
  double most[MAX_OBSERVATIONS]; /* times that reads took */
  int n;
  double low, high;
};

/* The times that agree with most observations: all of them if nothing is
 * ever random.
 */
static void
intersect (struct bounds *b, double turn_ns)
{
  int best = -1;

  for (int i = 0; i < b->n; i++) {
    /* Just above the lower end of an observation. */
    double low = b->most[i] - turn_ns, high = INFINITY;
    int agree = 0;

    for (int j = 0; j < b->n; j++)
      if (b->most[j] > low && b->most[j] - turn_ns <= low) {
        agree++;
        high = fmin (high, b->most[j]);
      }
    if (agree > best) {
      best = agree;
      b->low = fmax (low, 0);
      b->high = high;
    }
  }
}

static int
do_read (struct probe *p, int64_t lba)
{
  double done_ns;

  return probe_read (p, lba, &done_ns);
}

/* Read a, and wait if need be.  1: it was in the buffer. */
static int
go_to (struct probe *p, const struct reach *w, int64_t a)
{
  int r;

  if (w->pair && a >= p->unit && do_read (p, a - p->unit) == -1)
    return -1;
  r = do_read (p, a);
  if (r == 0 && w->wait_ns > 0)
    target_wait (p->t, w->wait_ns);
  return w->pair && r == 1 ? 0 : r;
}

/* How far before `last' the sector is that takes want_ns from now. */
static int64_t
sectors_back (const struct probe *p, const struct reach *w, double last_ns,
              double want_ns)
{
  double back = probe_mod (last_ns - want_ns, p->r->turn_ns) / w->sector_ns;
  int64_t n = (int64_t) (back / (double) p->unit) * p->unit;

  return min_i64 (max_i64 (n, p->unit), max_i64 (w->room - p->unit,
                                                 p->unit));
}

/* A write of less may have to read first. */
static int64_t
write_sectors (const struct probe *p)
{
  return max_i64 (8, p->unit);
}

/* Read b, or write it, want_ns from now.  *ns: how long it took; 0: it did
 * not work out.
 */
static int
arrive (struct probe *p, const struct reach *w, int64_t last,
        double last_done_ns, double want_ns, double *ns)
{
  const double turn_ns = p->r->turn_ns;
  double left_ns = probe_mod (last_done_ns - (double) target_now_ns (p->t),
                              turn_ns);
  int64_t back = w->write ? 0
    : w->room > 1 ? sectors_back (p, w, left_ns, want_ns) : p->unit;
  double delay_ns = probe_mod (left_ns - (double) back * w->sector_ns -
                               want_ns, turn_ns);
  int64_t t;

  /* The sector was chosen: no more than the rest of one. */
  if (w->room > 1 && delay_ns > 1.01 * w->sector_ns * (double) p->unit)
    delay_ns = 0;
  target_wait (p->t, (int64_t) delay_ns);
  t = w->write
    ? target_do (p->t, 1, DISK_WRITE, DISK_FUA, last, write_sectors (p))
    : target_read (p->t, last - back, p->unit);
  p->r->commands++;
  *ns = (double) t <= p->hit_most_ns ? 0 : (double) t;
  return t == -1 ? -1 : 0;
}

static int
read_last (struct probe *p, const struct reach *w, int64_t last,
           double *done_ns)
{
  int64_t t;

  if (!w->write)
    return probe_read (p, last, done_ns);
  /* What is written is what was read. */
  t = target_do (p->t, 1, DISK_READ, 0, last, write_sectors (p));
  *done_ns = (double) target_now_ns (p->t);
  p->r->commands++;
  return t == -1 ? -1 : (double) t <= p->hit_most_ns;
}

/* One observation: 0 in *ns if it did not work out. */
static int
observe (struct probe *p, const struct reach *w, double want_ns, double *ns)
{
  int64_t a, last;
  double done_ns;
  int r;

  *ns = 0;
  if (w->place (p, w->opaque, &a, &last) == -1)
    return -1;
  r = read_last (p, w, last, &done_ns);
  if (r == 0)
    r = go_to (p, w, a);
  if (r != 0)
    return r == -1 ? -1 : 0;
  return arrive (p, w, last, done_ns, want_ns, ns);
}

int
probe_reach (struct probe *p, const struct reach *w, double *ns)
{
  const double turn_ns = p->r->turn_ns;
  const double resolution_ns = fmax (w->resolution_ns, p->r->noise_ns / 2);
  struct bounds b = { .n = 0 };
  double want_ns = 0.6 * turn_ns;

  for (int tries = 0; tries < 2 * MAX_OBSERVATIONS; tries++) {
    if (observe (p, w, want_ns, &b.most[b.n]) == -1)
      return -1;
    if (b.most[b.n] == 0)
      continue;
    b.n++;
    intersect (&b, turn_ns);
    if (b.n == MAX_OBSERVATIONS || b.high - b.low < resolution_ns)
      break;
    want_ns = probe_mod ((b.low + b.high) / 2, turn_ns);
  }
  *ns = b.n > 0 ? (b.low + b.high) / 2 : 0;
  return 0;
}
