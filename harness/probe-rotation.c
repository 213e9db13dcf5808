/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How fast the platters turn, if there are any.
 *
 * Some places are read over and over in turn.  A place is at the same angle
 * every time, so the time from one visit to the next is a whole number of
 * turns, whatever happened between.  The time of a turn is the longest that
 * makes it so for all of them.
 */
#include <math.h>
#include <stdlib.h>

#include "fixed.h"
#include "probe-impl.h"
#include "spindle.h"

#define SHORTEST_NS 2e6         /* 30 000 turns a minute */
#define LONGEST_NS 30e6
#define MIN_TURNS 8             /* in a pass, at least */
#define LEAST_SPREAD 0.15       /* of a turn; waiting for a sector alone has
                                   0.29 */
#define PASSES 4
#define ENOUGH 128              /* visits, to find it with */
#define CLEAR 0.4               /* coherence of a platter, noise and all */
#define CHANCE 0.4              /* what any other time may have */

struct visits {
  int places;
  int64_t *lba;
  int *order;                   /* of this pass */
  double *done_ns;              /* pass by pass; -1: from the buffer */
  double longest_ns;            /* of two passes */
  double mean_ns, spread_ns;    /* of a read, and its standard deviation */
  int hits;
};

static void
shuffle (struct probe *p, int *order, int n)
{
  for (int i = 0; i < n; i++) {
    int j = (int) probe_below (p, i + 1);

    order[i] = order[j];
    order[j] = i;
  }
}

static int
visit (struct probe *p, struct visits *v)
{
  double before_ns = 0, sum_ns = 0, squares = 0;
  const int n = PASSES * v->places;

  v->hits = 0;
  v->longest_ns = 0;
  for (int i = 0; i < v->places; i++)
    v->lba[i] = probe_anywhere (p, 0, p->r->sectors, p->unit);
  for (int pass = 0; pass < PASSES; pass++) {
    /* In another order each time, or a pass might always take as long. */
    double start_ns = (double) target_now_ns (p->t);

    shuffle (p, v->order, v->places);
    for (int i = 0; i < v->places; i++) {
      const int place = v->order[i];
      double *done_ns = &v->done_ns[pass * v->places + place];
      int64_t sent_ns = target_now_ns (p->t);

      if (probe_read (p, v->lba[place], done_ns) == -1)
        return -1;
      sum_ns += *done_ns - (double) sent_ns;
      squares += pow (*done_ns - (double) sent_ns, 2);
      if (*done_ns - (double) sent_ns < 2 * p->hit_ns) {
        *done_ns = -1;          /* perhaps it never got to the media */
        v->hits++;
      }
    }
    if (pass == 1)
      v->longest_ns = (double) target_now_ns (p->t) - before_ns;
    before_ns = start_ns;
  }
  v->mean_ns = sum_ns / n;
  v->spread_ns = sqrt (fmax (squares / n - v->mean_ns * v->mean_ns, 0));
  return 0;
}

/* From one visit of a place to one some passes later.  false: no telling. */
static bool
between (const struct visits *v, int i, int over, double *ns)
{
  const double from = v->done_ns[i], to = v->done_ns[i + over * v->places];

  *ns = to - from;
  return from >= 0 && to >= 0;
}

/* How well whole turns of turn_ns fit, 0 to 1; `over' passes apart; looking
 * at so many visits.
 */
static double
coherence (const struct visits *v, int over, int most, double turn_ns)
{
  double x = 0, y = 0, d;
  int n = 0;

  for (int i = 0; i < (PASSES - over) * v->places && n < most; i++)
    if (between (v, i, over, &d)) {
      double angle = 2 * M_PI * d / turn_ns;

      x += cos (angle);
      y += sin (angle);
      n++;
    }
  return n > 0 ? sqrt (x * x + y * y) / n : 0;
}

/* Time of a turn from the whole numbers of turns that it implies. */
static double
refine (const struct visits *v, int over, double turn_ns, double *noise_ns)
{
  const int n = (PASSES - over) * v->places;
  double sum_ns = 0, turns = 0, squares = 0, d;
  int counted = 0;

  for (int i = 0; i < n; i++)
    if (between (v, i, over, &d)) {
      sum_ns += d;
      turns += round (d / turn_ns);
      counted++;
    }
  turn_ns = sum_ns / turns;
  for (int i = 0; i < n; i++)
    if (between (v, i, over, &d)) {
      double off = d - round (d / turn_ns) * turn_ns;

      squares += off * off;
    }
  *noise_ns = sqrt (squares / counted / 2);
  return turn_ns;
}

/* No longer than this: the visits of a place are far apart, in turns, or any
 * time would fit.
 */
static double
longest_turn (const struct visits *v)
{
  return fmin (LONGEST_NS, v->longest_ns / MIN_TURNS);
}

/* The longest time that fits nearly as well as any. */
static double
search (const struct visits *v, double *best, double *typical)
{
  const double step = 1 + 0.1 * SHORTEST_NS /
    (v->longest_ns + SHORTEST_NS);
  const double longest_ns = longest_turn (v);
  int n = (int) (log (longest_ns / SHORTEST_NS) / log (step)) + 1;
  double *fits = allocate ((size_t) n, sizeof *fits), turn_ns = 0;

  *best = 0;
  for (int i = 0; i < n; i++) {
    fits[i] = coherence (v, 1, ENOUGH, longest_ns / pow (step, i));
    if (fits[i] > *best)
      *best = fits[i];
  }
  for (int i = 0; i < n && turn_ns == 0; i++)
    if (fits[i] > 0.9 * *best) {
      while (i + 1 < n && fits[i + 1] > fits[i])
        i++;
      turn_ns = longest_ns / pow (step, i);
    }
  *typical = probe_median (fits, n);
  free (fits);
  return turn_ns;
}

static int
analyse (struct probe *p, const struct visits *v)
{
  struct probe_result *r = p->r;
  double typical, turn_ns;

  if (longest_turn (v) < SHORTEST_NS) {
    probe_stop (p, PROBE_NOT_ROTATING, "not a rotating disk: reads at random "
                "places take %.3f ms", v->mean_ns * 1e-6);
    return 0;
  }
  turn_ns = search (v, &r->coherence, &typical);
  if (r->coherence < CLEAR || typical > CHANCE) {
    probe_stop (p, PROBE_NOT_ROTATING, "not a rotating disk: no time of a "
                "turn explains when reads end (best fit %.2f, any other "
                "%.2f)", r->coherence, typical);
    return 0;
  }
  if (v->spread_ns < LEAST_SPREAD * turn_ns) {
    probe_stop (p, PROBE_NOT_ROTATING, "not a rotating disk: every read "
                "takes about %.3f ms, wherever it is", v->mean_ns * 1e-6);
    return 0;
  }
  for (int over = 1; over < PASSES; over++)
    turn_ns = refine (v, over, turn_ns, &r->noise_ns);
  r->turn_ns = turn_ns;
  probe_progress (p, "  %.3f ms a turn, %.2f rpm, to %.1f us",
                  turn_ns * 1e-6, 60e9 / turn_ns, r->noise_ns * 1e-3);
  return 0;
}

/* What a read from the buffer takes: the second of the same sector. */
static int
measure_hit (struct probe *p)
{
  double second[32];
  const int n = 32;

  p->hit_most_ns = -1;
  for (int i = 0; i < n; i++) {
    int64_t lba = probe_anywhere (p, 0, p->r->sectors, p->unit), start_ns;
    double done_ns;

    if (probe_read (p, lba, &done_ns) == -1)
      return -1;
    start_ns = target_now_ns (p->t);
    if (probe_read (p, lba, &done_ns) == -1)
      return -1;
    second[i] = done_ns - (double) start_ns;
  }
  p->hit_ns = probe_median (second, n);
  p->hit_most_ns = second[n * 9 / 10] + (second[n * 9 / 10] - p->hit_ns) +
    1000;
  return 0;
}

int
probe_rotation (struct probe *p)
{
  static const int places[] = { 64, 320, 1300 };
  int r = 0;

  if (measure_hit (p) == -1)
    return -1;
  for (int i = 0; i < 3; i++) {
    struct visits v = { .places = places[i] };

    v.lba = allocate ((size_t) v.places, sizeof *v.lba);
    v.order = allocate ((size_t) v.places, sizeof *v.order);
    v.done_ns = allocate ((size_t) v.places * PASSES, sizeof *v.done_ns);
    r = visit (p, &v);
    /* A buffer that remembers them all needs more of them. */
    if (r == 0 && (v.hits < v.places / 8 || i == 2)) {
      r = analyse (p, &v);
      i = 2;
    }
    free (v.lba);
    free (v.order);
    free (v.done_ns);
    if (r == -1)
      return -1;
  }
  /* No buffer: the second read waited for the platter. */
  p->r->has_buffer = p->r->status == PROBE_DONE &&
    p->hit_ns < 0.5 * p->r->turn_ns;
  if (!p->r->has_buffer)
    p->hit_most_ns = -1;
  return 0;
}
