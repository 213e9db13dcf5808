/* SPDX-License-Identifier: BSD-3-Clause */
#include "fixed.h"
#include "seek.h"

/* How the three published numbers (track-to-track a, average, full stroke)
 * become a curve.  With x = (distance - 1) / (longest - 1):
 *
 *   t(x) = a + b sqrt (x) + c x
 *
 * Over uniformly random pairs of cylinders E[sqrt x] = 8/15 and E[x] = 1/3,
 * which gives b = 5 (average - a) - 5/3 (full - a) and c = full - a - b.
 * That is monotone and concave when r = (average - a) / (full - a) lies
 * between 1/3 and 8/15.  Outside, a power law t(x) = a + (full - a) x^p
 * keeps all three numbers: E[x^p] = 2 / ((p + 1) (p + 2)) = r, so
 * p = (sqrt (1 + 8 / r) - 3) / 2.
 */
struct three_point {
  int64_t a, b, c;
  uint64_t power;               /* Q32; 0 = the sqrt and linear form */
};

static struct three_point
three_point_fit (const struct profile_curve *p)
{
  int64_t average = p->average_ns - p->track_ns;
  int64_t full = p->full_ns - p->track_ns;
  struct three_point f = { .a = p->track_ns, .b = full };

  if (full <= 0 || average <= 0)
    f.b = 0;
  else if (3 * average >= full && 15 * average <= 8 * full) {
    f.b = 5 * average - 5 * full / 3;
    f.c = full - f.b;
  }
  else {
    /* Q16 under the root gives Q8; scaled so that the root is Q24. */
    uint64_t ratio = ((uint64_t) full << 24) / (uint64_t) average;
    uint64_t root = isqrt64 ((8 * ratio + (UINT64_C (1) << 24)) << 24);

    f.power = ((root - (UINT64_C (3) << 24)) / 2) << 8;
  }
  return f;
}

/* 0 for one cylinder, 1 for all of them. */
static uint64_t
fraction (int64_t distance, int64_t longest)
{
  if (longest <= 1)
    return Q32_ONE;
  return ((uint64_t) (distance - 1) << 32) / (uint64_t) (longest - 1);
}

static int64_t
three_point_ns (const struct three_point *f, int64_t distance,
                int64_t longest)
{
  uint64_t x = fraction (distance, longest);

  if (f->power != 0)
    return f->a + q32_scale (f->b, q32_pow (x, f->power));
  return f->a + q32_scale (f->b, q32_sqrt (x)) + q32_scale (f->c, x);
}

/* Measured points, linear between them and beyond the last two. */
static int64_t
table_ns (const struct profile_curve *p, int64_t distance)
{
  uint32_t i = 1;
  const struct profile_seek_point *low, *high;

  if (p->n_points == 1 || distance <= p->points[0].cylinders)
    return p->points[0].time_ns;
  while (i + 1 < p->n_points && distance > p->points[i].cylinders)
    i++;
  low = &p->points[i - 1];
  high = &p->points[i];
  return low->time_ns + (high->time_ns - low->time_ns) *
    (distance - low->cylinders) / ((int64_t) high->cylinders - low->cylinders);
}

/* Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE
 * Computer 27(3), 1994.  The root has 16 binary places.
 */
static int64_t
two_piece_ns (const struct profile_curve *p, int64_t distance)
{
  if (distance >= p->knee_cylinders)
    return p->high_ns + p->high_ps * distance / 1000;
  return p->low_ns + p->low_root_ns *
    (int64_t) isqrt64 ((uint64_t) distance << 32) / 65536;
}

static int64_t
power_ns (const struct profile_curve *p, int64_t distance, int64_t longest)
{
  uint64_t exponent = ((uint64_t) p->exponent_permille << 32) / 1000;

  return p->track_ns + q32_scale (p->full_ns - p->track_ns,
                                  q32_pow (fraction (distance, longest),
                                           exponent));
}

static int64_t
curve_ns (const struct profile_curve *p, const struct three_point *fit,
          int64_t distance, int64_t longest)
{
  distance = min_i64 (distance, longest);
  if (distance <= 0)
    return 0;
  switch (p->kind) {
  case SEEK_CURVE_NONE:
    break;
  case SEEK_CURVE_THREE_POINT:
    return three_point_ns (fit, distance, longest);
  case SEEK_CURVE_TABLE:
    return table_ns (p, distance);
  case SEEK_CURVE_POWER:
    return power_ns (p, distance, longest);
  case SEEK_CURVE_TWO_PIECE:
    if (p->n_points > 0 && distance <= p->points[p->n_points - 1].cylinders)
      return table_ns (p, distance);
    return two_piece_ns (p, distance);
  }
  return 0;
}

static void
table_init (struct seek_table *t, const struct profile_curve *p,
            int64_t cylinders)
{
  struct three_point fit = three_point_fit (p);
  int64_t longest = max_i64 (cylinders - 1, 1);

  t->step = max_i64 (div_up (longest - SEEK_EXACT, SEEK_SPACED), 1);
  for (int64_t i = 0; i < SEEK_EXACT; i++)
    t->exact_ns[i] = curve_ns (p, &fit, i, longest);
  for (int64_t i = 0; i < SEEK_SPACED + 2; i++)
    t->spaced_ns[i] = curve_ns (p, &fit, SEEK_EXACT + i * t->step, longest);
}

void
seek_init (struct seek *s, const struct profile_seek *profile,
           int64_t cylinders)
{
  const struct profile_curve *read = &profile->read;
  const struct profile_curve *write = &profile->write;

  s->head_switch_ns = profile->head_switch_ns;
  s->write_settle_ns = profile->write_settle_ns;
  s->write_switch_ns = profile->write_switch_ns;
  s->write_minimum_ns = profile->write_minimum_ns;
  if (profile->quiet)
    read = write = &profile->quiet_read;
  else if (write->kind == SEEK_CURVE_NONE)
    write = read;
  table_init (&s->table[false], read, cylinders);
  table_init (&s->table[true], write, cylinders);
}

int64_t
seek_arm_ns (const struct seek *s, int64_t distance, bool write)
{
  const struct seek_table *t = &s->table[write];
  int64_t i, rest;

  if (distance < SEEK_EXACT)
    return t->exact_ns[distance];
  i = (distance - SEEK_EXACT) / t->step;
  rest = distance - SEEK_EXACT - i * t->step;
  return t->spaced_ns[i] +
    (t->spaced_ns[i + 1] - t->spaced_ns[i]) * rest / t->step;
}

int64_t
seek_ns (const struct seek *s, int64_t distance, bool head_changes,
         bool write)
{
  int64_t ns = seek_arm_ns (s, distance, write);

  return head_changes ? max_i64 (ns, s->head_switch_ns) : ns;
}

int64_t
seek_settled_ns (const struct seek *s, int64_t move_ns, bool write)
{
  if (!write)
    return move_ns;
  if (move_ns > 0)
    move_ns = max_i64 (move_ns + s->write_settle_ns, 0);
  return max_i64 (move_ns, s->write_minimum_ns);
}
