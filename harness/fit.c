/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The search.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "nlopt-there.h"
#include "spindle.h"

#ifdef HAVE_NLOPT
#include <nlopt.h>
#endif

/* Where a value leads nowhere, in tolerances. */
#define HOPELESS 1e6

/* So near that there is no need to look elsewhere, or once more. */
#define NEAR 0.05

/* ---- parameters ---- */

static int
split_words (struct fit_parameter *p, const char *text)
{
  char *copy = format ("%s", text), *rest = copy, *word;

  while ((word = strsep (&rest, "|")) != NULL)
    words_add (&p->words, word);
  free (copy);
  return p->words.n >= 2 ? 0 : -1;
}

static int
decimals (const char *number)
{
  const char *point = strchr (number, '.');

  return point ? (int) strlen (point + 1) : 0;
}

static int
split_range (struct fit_parameter *p, const char *text)
{
  const char *dots = strstr (text, "..");
  char *low, *end_low, *end_high;
  int r = -1;

  if (dots == NULL)
    return -1;
  low = format ("%.*s", (int) (dots - text), text);
  p->low = strtod (low, &end_low);
  p->high = strtod (dots + 2, &end_high);
  if (*low && *end_low == '\0' && dots[2] && *end_high == '\0' &&
      p->low < p->high) {
    p->decimals = decimals (low) > decimals (dots + 2)
      ? decimals (low) : decimals (dots + 2);
    if (p->decimals > 0)
      p->decimals = 4;
    r = 0;
  }
  free (low);
  return r;
}

int
fit_add_parameter (struct fit *f, const char *text)
{
  const char *equals = strchr (text, '=');
  struct fit_parameter *p = &f->parameters[f->n_parameters];

  if (f->n_parameters == FIT_MAX_PARAMETERS) {
    complain ("--free %s: no more than %d", text, FIT_MAX_PARAMETERS);
    return -1;
  }
  if (equals == NULL || equals == text ||
      (strchr (equals, '|') ? split_words (p, equals + 1)
                            : split_range (p, equals + 1)) == -1) {
    complain ("--free %s: KEY=LOW..HIGH, or KEY=WORD|WORD", text);
    return -1;
  }
  p->key = format ("%.*s", (int) (equals - text), text);
  f->n_parameters++;
  return 0;
}

/* Numbers over a wide range by their logarithm. */
static double
number_at (const struct fit_parameter *p, double x)
{
  if (p->low > 0 && p->high / p->low >= 4)
    return p->low * pow (p->high / p->low, x);
  return p->low + (p->high - p->low) * x;
}

static double
place_of (const struct fit_parameter *p, double number)
{
  double x = p->low > 0 && p->high / p->low >= 4
    ? log (number / p->low) / log (p->high / p->low)
    : (number - p->low) / (p->high - p->low);

  return fmin (fmax (x, 0), 1);
}

static size_t
word_at (const struct fit_parameter *p, double x)
{
  size_t i = (size_t) (x * (double) p->words.n);

  return i < p->words.n ? i : p->words.n - 1;
}

/* Where the value that is written for x lies, so that each is tried once. */
static double
settle (const struct fit_parameter *p, double x)
{
  const double unit = pow (10, p->decimals);

  if (p->words.n)
    return ((double) word_at (p, x) + 0.5) / (double) p->words.n;
  return place_of (p, round (number_at (p, x) * unit) / unit);
}

char *
fit_value (const struct fit_parameter *p, double x)
{
  if (p->words.n)
    return format ("%s", p->words.word[word_at (p, x)]);
  return format ("%.*f", p->decimals, number_at (p, x));
}

static void
make_set (const struct fit *f, const double *x, struct words *set)
{
  for (unsigned i = 0; i < f->n_parameters; i++) {
    char *value = fit_value (&f->parameters[i], x[i]);

    words_addf (set, "%s=%s", f->parameters[i].key, value);
    free (value);
  }
}

/* ---- how far off ---- */

/* Of the figures that count, in tolerances. */
struct errors {
  double squares, cost;         /* sums */
  unsigned n;
};

/* The search must not be led by figures that are far off, whatever they do:
 * the cost of one more tolerance becomes ever less.
 */
static void
add_error (struct errors *e, double off)
{
  e->squares += off * off;
  e->cost += log1p (off * off);
  e->n++;
}

static void
add_errors (const struct fit *f, const struct run_results *r,
            struct errors *e)
{
  const struct scenario *sc = r->scenario;
  double value, ratio;

  for (unsigned i = 0; i < sc->n_reported; i++) {
    const struct scenario_reported *reported = &sc->reported[i];

    if (!fit_counts (f, r, reported))
      continue;
    if (results_compare (r, reported, &value, &ratio) ==
        VERDICT_NOT_MEASURED || !(ratio > 0))
      add_error (e, HOPELESS);
    else
      add_error (e, 100 * log (ratio) / fmax (reported->tolerance, 0.1));
  }
}

static void
judge (struct fit_point *q, const struct errors *e)
{
  q->off = sqrt (e->squares / e->n);
  q->cost = e->cost / e->n;
}

/* As guests did it. */
static void
judge_runs (const struct fit *f, const struct fit_run *runs, unsigned n_runs,
            struct fit_point *q)
{
  struct errors e = { 0 };

  for (unsigned i = 0; i < n_runs; i++)
    add_errors (f, &runs[i].results, &e);
  judge (q, &e);
}

/* What the guest would have measured: what it did, and the difference that
 * the drive makes.  -1: there is no such drive.
 */
static int
model_run (const struct fit_run *r, const struct words *set,
           struct run_results *model)
{
  const unsigned n = r->results.scenario->n_steps;
  double *ns = allocate (n, sizeof *ns);
  int result = fit_replay (r, set, ns);

  *model = r->results;
  model->steps = allocate (n, sizeof *model->steps);
  memcpy (model->steps, r->results.steps, n * sizeof *model->steps);
  for (unsigned i = 0; i < n; i++)
    model->steps[i].ns += (int64_t) (ns[i] - r->step_ns[i]);
  free (ns);
  return result;
}

static const struct fit_point *
point_at (const struct fit *f, const double *x)
{
  for (size_t i = 0; i < f->n_points; i++)
    if (memcmp (f->points[i].x, x, sizeof f->points[i].x) == 0)
      return &f->points[i];
  return NULL;
}

/* The same in the model; noted. */
static struct fit_point
try_point (struct fit *f, const double *x)
{
  struct words set = { 0 };
  struct errors e = { 0 };
  struct fit_point q = { 0 };
  const struct fit_point *known;

  for (unsigned i = 0; i < f->n_parameters; i++)
    q.x[i] = settle (&f->parameters[i], x[i]);
  known = point_at (f, q.x);
  if (known)
    return *known;
  make_set (f, q.x, &set);
  for (unsigned i = 0; i < f->n_runs; i++) {
    struct run_results model;

    if (model_run (&f->runs[i], &set, &model) == -1)
      add_error (&e, HOPELESS);
    else
      add_errors (f, &model, &e);
    free (model.steps);
  }
  words_free (&set);
  f->replays++;
  judge (&q, &e);
  f->points = reallocate (f->points, f->n_points + 1, sizeof *f->points);
  f->points[f->n_points++] = q;
  return q;
}

static const struct fit_point *
best_point (const struct fit *f)
{
  const struct fit_point *best = &f->points[0];

  for (size_t i = 1; i < f->n_points; i++)
    if (f->points[i].cost < best->cost)
      best = &f->points[i];
  return best;
}

/* ---- the optimiser ---- */

#ifdef HAVE_NLOPT
static void
try_from (struct fit *f, struct fit_point *here, const double *x)
{
  struct fit_point q = try_point (f, x);

  if (q.cost < here->cost)
    *here = q;
}

/* The place of a value nearby: STEPS times so many parts of it more, or the
 * next whole numbers.
 */
static double
nearby (const struct fit_parameter *p, double x, int steps, double part)
{
  const double number = number_at (p, x);

  return place_of (p, p->decimals ? number * (1 + part * steps)
                                  : round (number) + steps);
}

/* One value after the other, the rest as it is. */
static void
scan (struct fit *f, struct fit_point *here)
{
  const int n = 48;

  for (unsigned i = 0; i < f->n_parameters; i++) {
    const struct fit_parameter *p = &f->parameters[i];
    const double from = here->x[i];
    double x[FIT_MAX_PARAMETERS];

    memcpy (x, here->x, sizeof x);
    for (int j = 0; j < n; j++) {
      x[i] = (j + 0.5) / n;
      try_from (f, here, x);
    }
    for (int j = -4; j <= 4 && p->words.n == 0; j++) {
      x[i] = nearby (p, from, j, 0.04);
      try_from (f, here, x);
    }
  }
}

/* Two values at a time, nearby: where one makes up for the other neither is
 * better alone.
 */
static void
scan_pair (struct fit *f, struct fit_point *here, unsigned a, unsigned b)
{
  const struct fit_point from = *here;
  double x[FIT_MAX_PARAMETERS];

  memcpy (x, from.x, sizeof x);
  for (int i = -3; i <= 3; i++)
    for (int j = -3; j <= 3; j++) {
      x[a] = nearby (&f->parameters[a], from.x[a], i, 0.01);
      x[b] = nearby (&f->parameters[b], from.x[b], j, 0.01);
      try_from (f, here, x);
    }
}

static void
scan_pairs (struct fit *f, struct fit_point *here)
{
  for (unsigned a = 0; a < f->n_parameters; a++)
    for (unsigned b = 0; b < a; b++)
      if (f->parameters[a].words.n == 0 && f->parameters[b].words.n == 0)
        scan_pair (f, here, a, b);
}

static double
objective (unsigned n, const double *x, double *gradient, void *opaque)
{
  double all[FIT_MAX_PARAMETERS] = { 0 };

  (void) gradient;
  memcpy (all, x, n * sizeof *x);
  return try_point (opaque, all).cost;
}

/* From one point on; what is better becomes that point. */
static void
optimise (struct fit *f, struct fit_point *here, nlopt_algorithm algorithm,
          int most, double step)
{
  nlopt_opt o = nlopt_create (algorithm, f->n_parameters);
  double x[FIT_MAX_PARAMETERS] = { 0 }, cost;

  memcpy (x, here->x, f->n_parameters * sizeof *x);
  nlopt_set_lower_bounds1 (o, 0);
  nlopt_set_upper_bounds1 (o, 1);
  nlopt_set_min_objective (o, objective, f);
  nlopt_set_maxeval (o, most);
  nlopt_set_xtol_abs1 (o, 1e-4);
  nlopt_set_initial_step1 (o, step);
  nlopt_optimize (o, x, &cost);
  nlopt_destroy (o);
  try_from (f, here, x);
}

/* Better is not told from this. */
#define PERFECT 1e-4

/* By one value after the other and by all of them, as long as that helps. */
static void
climb (struct fit *f, struct fit_point *here)
{
  const int most = 100 * (int) f->n_parameters;
  double before;

  do {
    before = here->cost;
    scan (f, here);
    optimise (f, here, NLOPT_LN_SBPLX, most, 0.1);
    optimise (f, here, NLOPT_LN_SBPLX, most, 0.02);
    scan_pairs (f, here);
  } while (here->cost > PERFECT && here->cost < 0.9 * before);
}

/* Points that are no nearer than this to each other lead elsewhere. */
#define APART 0.1

static bool
is_apart (const struct fit *f, const struct fit_point *a,
          const struct fit_point *b)
{
  for (unsigned i = 0; i < f->n_parameters; i++)
    if (fabs (a->x[i] - b->x[i]) > APART)
      return true;
  return false;
}

/* The best of the first N points that is apart from these, or NULL. */
static const struct fit_point *
next_start (const struct fit *f, size_t n, const struct fit_point *starts,
            unsigned n_starts)
{
  const struct fit_point *best = NULL;

  for (size_t i = 0; i < n; i++) {
    const struct fit_point *q = &f->points[i];
    bool apart = best == NULL || q->cost < best->cost;

    for (unsigned j = 0; j < n_starts && apart; j++)
      apart = is_apart (f, q, &starts[j]);
    if (apart)
      best = q;
  }
  return best;
}

#define STARTS 5

/* Everywhere, then around the best points. */
static void
search (struct fit *f)
{
  struct fit_point middle = { .cost = HUGE_VAL }, starts[STARTS], here;
  const struct fit_point *next;
  size_t n;

  for (unsigned i = 0; i < f->n_parameters; i++)
    middle.x[i] = 0.5;
  optimise (f, &middle, NLOPT_GN_DIRECT_L, 150 * (int) f->n_parameters, 0.1);
  n = f->n_points;
  for (unsigned i = 0; i < STARTS && (next = next_start (f, n, starts, i));
       i++) {
    starts[i] = here = *next;
    climb (f, &here);
    if (best_point (f)->off < NEAR)
      return;
  }
}
#else
static void
search (struct fit *f)
{
  (void) f;
}
#endif

/* ---- what else would do ---- */

static bool
is_as_good (const struct fit_point *best, const struct fit_point *q)
{
  return q->cost <= best->cost + FIT_EQUAL * FIT_EQUAL;
}

static void
find_ranges (struct fit *f, const struct fit_point *best)
{
  memcpy (f->low, best->x, sizeof f->low);
  memcpy (f->high, best->x, sizeof f->high);
  for (size_t i = 0; i < f->n_points; i++)
    for (unsigned j = 0; j < f->n_parameters; j++)
      if (is_as_good (best, &f->points[i])) {
        f->low[j] = fmin (f->low[j], f->points[i].x[j]);
        f->high[j] = fmax (f->high[j], f->points[i].x[j]);
      }
}

bool
fit_is_determined (const struct fit *f, unsigned parameter)
{
  const struct fit_parameter *p = &f->parameters[parameter];
  double low = number_at (p, f->low[parameter]);
  double high = number_at (p, f->high[parameter]);
  double best = number_at (p, f->best.x[parameter]);

  if (p->words.n)
    return word_at (p, f->low[parameter]) == word_at (p, f->high[parameter]);
  if (p->decimals == 0) {
    low = round (low);
    high = round (high);
    best = round (best);
  }
  return low == high || (low >= 0.9 * best && high <= 1.1 * best);
}

/* The farthest point that is as good, if that is not nearly the same. */
static void
find_other (struct fit *f, const struct fit_point *best)
{
  double farthest = 0;

  f->has_other = false;
  for (size_t i = 0; i < f->n_points; i++) {
    const struct fit_point *q = &f->points[i];
    double far = 0;

    for (unsigned j = 0; j < f->n_parameters; j++)
      if (!fit_is_determined (f, j))
        far = fmax (far, fabs (q->x[j] - best->x[j]));
    if (is_as_good (best, q) && far > farthest) {
      farthest = far;
      f->other = *q;
      f->has_other = true;
    }
  }
}

/* What a tenth more does, or the next whole number, or word. */
static void
find_sensitivity (struct fit *f, unsigned parameter)
{
  const struct fit_parameter *p = &f->parameters[parameter];
  struct fit_sensitivity *s = &f->sensitivity[parameter];
  double x[FIT_MAX_PARAMETERS], number = number_at (p, f->best.x[parameter]);
  struct words set = { 0 }, here = { 0 };

  memcpy (x, f->best.x, sizeof x);
  if (p->words.n)
    x[parameter] = ((double) ((word_at (p, x[parameter]) + 1) % p->words.n) +
                    0.5) / (double) p->words.n;
  else {
    double more = p->decimals ? number * 1.1
      : fmax (round (number * 1.1), round (number) + 1);

    x[parameter] = place_of (p, more <= p->high ? more : number / 1.1);
  }
  make_set (f, x, &set);
  make_set (f, f->best.x, &here);
  for (unsigned i = 0; i < f->n_runs; i++) {
    const struct scenario *sc = f->runs[i].results.scenario;
    struct run_results is, was;
    double a, b, ratio;
    int r = model_run (&f->runs[i], &set, &is);

    if (model_run (&f->runs[i], &here, &was) == -1)
      r = -1;
    for (unsigned j = 0; r == 0 && j < sc->n_reported; j++)
      if (fit_counts (f, &was, &sc->reported[j]) &&
          results_compare (&is, &sc->reported[j], &a, &ratio) !=
          VERDICT_NOT_MEASURED &&
          results_compare (&was, &sc->reported[j], &b, &ratio) !=
          VERDICT_NOT_MEASURED &&
          fabs (a / b - 1) * 100 >= fabs (s->percent)) {
        s->percent = (a / b - 1) * 100;
        s->figure = sc->reported[j].figure;
      }
    free (is.steps);
    free (was.steps);
  }
  words_free (&set);
  words_free (&here);
}

/* ---- rounds ---- */

static void
say (const struct fit *f, const char *what, const struct fit_point *q)
{
  if (f->quiet)
    return;
  fprintf (stderr, "%s: off by %.2f tolerances;", what, q->off);
  for (unsigned i = 0; i < f->n_parameters; i++) {
    char *value = fit_value (&f->parameters[i], q->x[i]);

    fprintf (stderr, " %s=%s", f->parameters[i].key, value);
    free (value);
  }
  fputc ('\n', stderr);
}

/* A guest with these values: how far off it is. */
static int
try_in_guest (struct fit *f, struct fit_point *q, struct fit_run **runs,
              unsigned *n)
{
  struct words set = { 0 };
  int r;

  make_set (f, q->x, &set);
  r = fit_record (f, &set, runs, n);
  words_free (&set);
  if (r == 0)
    judge_runs (f, *runs, *n, q);
  return r;
}

static int
one_round (struct fit *f, bool *done)
{
  struct fit_run *runs;
  struct fit_point q;
  unsigned n;

  f->n_points = 0;
  if (f->has_best)
    try_point (f, f->best.x);
  search (f);
  q = *best_point (f);
  say (f, "  model", &q);
  if (try_in_guest (f, &q, &runs, &n) == -1)
    return -1;
  say (f, "  guest", &q);
  *done = q.off < NEAR;
  fit_runs_free (f->runs, f->n_runs);
  f->runs = runs;
  f->n_runs = n;
  f->recorded = q;
  if (!f->has_best || q.cost < f->best.cost)
    f->best = q;
  f->has_best = true;
  return 0;
}

static int
check_figures (const struct fit *f)
{
  struct errors e = { 0 };

  for (unsigned i = 0; i < f->n_runs; i++)
    add_errors (f, &f->runs[i].results, &e);
  if (e.n > 0)
    return 0;
  complain ("%s: none of the reported figures counts on %s: give the kernel "
            "with --kernel, or --any-kernel", f->files.word[0],
            f->runs[0].results.kernel ? f->runs[0].results.kernel
                                      : "this kernel");
  return -1;
}

/* Around the values found, as recorded from them. */
static int
finish (struct fit *f)
{
  struct fit_run *runs;
  struct fit_point here;
  unsigned n;

  if (memcmp (f->best.x, f->recorded.x, sizeof f->best.x) != 0) {
    if (try_in_guest (f, &f->best, &runs, &n) == -1)
      return -1;
    fit_runs_free (f->runs, f->n_runs);
    f->runs = runs;
    f->n_runs = n;
  }
  f->n_points = 0;
  here = try_point (f, f->best.x);
  search (f);
  find_ranges (f, &here);
  find_other (f, &here);
  for (unsigned i = 0; i < f->n_parameters; i++)
    find_sensitivity (f, i);
  if (!f->has_other)
    return 0;
  say (f, "  as good in the model", &f->other);
  if (try_in_guest (f, &f->other, &runs, &n) == -1)
    return -1;
  say (f, "  and in a guest", &f->other);
  f->other_in_guest = is_as_good (&f->best, &f->other);
  fit_runs_free (runs, n);
  return 0;
}

int
fit_do (struct fit *f)
{
  struct words none = { 0 };
  bool done = false;

  if (fit_check (f) == -1)
    return -1;
#ifndef HAVE_NLOPT
  complain ("fit: built without NLopt: install libnlopt-dev (make deps) and "
            "build again");
  return -1;
#endif
  if (!f->quiet)
    fprintf (stderr, "recording a guest\n");
  if (fit_record (f, &none, &f->runs, &f->n_runs) == -1 ||
      check_figures (f) == -1)
    return -1;
  for (int64_t i = 0; i < f->rounds && !done; i++) {
    if (!f->quiet)
      fprintf (stderr, "round %lld\n", (long long) i + 1);
    if (one_round (f, &done) == -1)
      return -1;
  }
  return finish (f);
}

void
fit_free (struct fit *f)
{
  for (unsigned i = 0; i < f->n_parameters; i++) {
    free (f->parameters[i].key);
    words_free (&f->parameters[i].words);
  }
  fit_runs_free (f->runs, f->n_runs);
  free (f->points);
  words_free (&f->files);
}
