/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A run's requests, cut into steps, and done again in the model.
 */
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "loader.h"

/* ---- which step a request belongs to ---- */

static bool
is_within (const struct scenario_step *s, int64_t lba, int64_t more)
{
  const int64_t first = s->offset_mib * 2048;
  int64_t sectors = s->span_mib * 2048;

  /* One reader goes no further than it reads, others anywhere. */
  if (sectors == 0)
    sectors = s->random || s->streams > 1 || s->jobs > 1
      ? INT64_MAX / 2 : (scenario_step_bytes (s) + 511) / 512;
  return lba >= first && lba < first + sectors + more;
}

/* The kernel reads ahead beyond what is read, but not this far. */
#define SPILL (4 * 2048)

/* Steps come one after the other: a request belongs to the one under way, if
 * it is in its place, or begins the next, or a later one.  A step that
 * cannot be told from the one before gets no requests.
 */
static int
step_of (const struct scenario *sc, unsigned step, int64_t lba)
{
  unsigned s = step;

  while (s < sc->n_steps && !is_within (&sc->steps[s], lba, 0))
    s++;
  if (s == sc->n_steps ||
      (s > step + 1 && !sc->steps[step].direct &&
       is_within (&sc->steps[step], lba, SPILL)))
    return -1;
  return (int) s;
}

static void
find_steps (struct fit_run *r)
{
  unsigned step = 0;

  r->step = allocate (r->trace.n, sizeof *r->step);
  for (size_t i = 0; i < r->trace.n; i++) {
    r->step[i] = step_of (r->results.scenario, step,
                          r->trace.request[i].lba);
    if (r->step[i] != -1)
      step = (unsigned) r->step[i];
  }
}

static int
check_steps (const struct fit_run *r)
{
  const struct scenario *sc = r->results.scenario;

  for (unsigned s = 0; s < sc->n_steps; s++) {
    size_t n = 0;

    for (size_t i = 0; i < r->trace.n; i++)
      n += r->step[i] == (int) s;
    if (n > 0)
      continue;
    complain ("%s: step %s: its requests cannot be told from those of the "
              "step before; give each step a place of its own (offset-mib, "
              "stride-mib)", sc->name, sc->steps[s].name);
    return -1;
  }
  return 0;
}

/* ---- what a request waited for ---- */

static int
by_completion (const void *a, const void *b, void *opaque)
{
  const struct trace_request *q = opaque;
  const size_t i = *(const size_t *) a, j = *(const size_t *) b;
  const int64_t x = q[i].arrival_ns + q[i].response_ns;
  const int64_t y = q[j].arrival_ns + q[j].response_ns;

  if (x != y)
    return x < y ? -1 : 1;
  return i < j ? -1 : i > j;
}

/* For the last one to be done before it came. */
static void
find_waits (struct fit_run *r)
{
  const struct trace_request *q = r->trace.request;
  const size_t n = r->trace.n;
  size_t *order = allocate (n, sizeof *order), done = 0;

  r->after = allocate (n, sizeof *r->after);
  r->think_ns = allocate (n, sizeof *r->think_ns);
  for (size_t i = 0; i < n; i++)
    order[i] = i;
  qsort_r (order, n, sizeof *order, by_completion, r->trace.request);
  for (size_t i = 0; i < n; i++) {
    /* What takes no time is done when it comes. */
    while (done < n && order[done] < i && q[order[done]].arrival_ns +
           q[order[done]].response_ns <= q[i].arrival_ns)
      done++;
    r->after[i] = done > 0 ? order[done - 1] : SIZE_MAX;
    r->think_ns[i] = q[i].arrival_ns;
    if (done > 0)
      r->think_ns[i] -= q[order[done - 1]].arrival_ns +
        q[order[done - 1]].response_ns;
  }
  free (order);
}

/* ---- the model ---- */

struct player {
  const struct fit_run *run;
  struct disk *disk;
  int64_t *done_ns;             /* of each request; -1: not yet */
};

static void
run_until (struct player *p, int64_t t_ns)
{
  struct disk_completion c;

  while (disk_next_event (p->disk) <= t_ns &&
         disk_next_event (p->disk) != DISK_NEVER)
    if (disk_advance (p->disk, disk_next_event (p->disk), &c))
      p->done_ns[c.request.tag] = c.complete_ns;
}

/* Send all of them.  *first_ns and *last_ns of each step: when the first
 * came and the last was done.
 */
static int
play (struct player *p, double *ns)
{
  const struct fit_run *r = p->run;
  const struct trace_request *q = r->trace.request;
  int64_t now_ns = 0, *first_ns;

  first_ns = allocate (r->results.scenario->n_steps, sizeof *first_ns);
  for (size_t i = 0; i < r->trace.n; i++) {
    const struct disk_request request = {
      .tag = i, .op = (enum disk_op) q[i].op, .flags = q[i].flags,
      .lba = q[i].lba, .sectors = q[i].sectors,
    };
    int64_t due_ns = r->think_ns[i];

    if (r->after[i] != SIZE_MAX) {
      while (p->done_ns[r->after[i]] == -1 &&
             disk_next_event (p->disk) != DISK_NEVER)
        run_until (p, disk_next_event (p->disk));
      due_ns += p->done_ns[r->after[i]];
    }
    if (due_ns > now_ns)
      now_ns = due_ns;
    run_until (p, now_ns);
    if (disk_submit (p->disk, now_ns, &request) == -1) {
      free (first_ns);
      return -1;
    }
    if (r->step[i] != -1 && first_ns[r->step[i]] == 0)
      first_ns[r->step[i]] = now_ns;
  }
  while (disk_next_event (p->disk) != DISK_NEVER && p->done_ns[r->trace.n - 1]
         == -1)
    run_until (p, disk_next_event (p->disk));
  for (size_t i = 0; i < r->trace.n; i++)
    if (r->step[i] != -1 && p->done_ns[i] != -1)
      ns[r->step[i]] = (double) (p->done_ns[i] - first_ns[r->step[i]]);
  free (first_ns);
  return 0;
}

int
fit_load_profile (const struct scenario_drive *d, const struct words *more,
                  struct profile *profile, char **error)
{
  struct words all = { 0 };
  int r;

  for (size_t i = 0; i < d->set.n; i++)
    words_add (&all, d->set.word[i]);
  for (size_t i = 0; i < more->n; i++)
    words_add (&all, more->word[i]);
  r = profile_load (d->profile, (const char *const *) all.word, all.n,
                    profile, error);
  words_free (&all);
  return r;
}

int
fit_replay (const struct fit_run *r, const struct words *set, double *ns)
{
  const struct scenario_drive *d = r->results.drive;
  struct profile *profile = allocate (1, sizeof *profile);
  struct player p = { .run = r };
  char *error = NULL;
  int result = -1;

  if (fit_load_profile (d, set, profile, &error) == 0 &&
      (p.disk = disk_new (profile, (uint64_t) d->seed)) != NULL) {
    p.done_ns = allocate (r->trace.n, sizeof *p.done_ns);
    for (size_t i = 0; i < r->trace.n; i++)
      p.done_ns[i] = -1;
    result = play (&p, ns);
    free (p.done_ns);
    disk_free (p.disk);
  }
  free (error);
  free (profile);
  return result;
}

int
fit_prepare (struct fit_run *r, const struct words *set)
{
  find_steps (r);
  find_waits (r);
  if (check_steps (r) == -1)
    return -1;
  r->step_ns = allocate (r->results.scenario->n_steps, sizeof *r->step_ns);
  return fit_replay (r, set, r->step_ns);
}

void
fit_runs_free (struct fit_run *runs, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    struct fit_run *r = &runs[i];
    struct scenario *sc = (struct scenario *) r->results.scenario;

    run_results_free (&r->results);
    if (sc)
      scenario_free (sc);
    trace_file_free (&r->trace);
    free (r->step);
    free (r->after);
    free (r->think_ns);
    free (r->step_ns);
  }
  free (runs);
}

bool
fit_counts (const struct fit *f, const struct run_results *r,
            const struct scenario_reported *reported)
{
  double value, ratio;

  return results_applies (r, reported) &&
    (f->any_kernel || results_compare (r, reported, &value, &ratio) !=
     VERDICT_COMPARISON);
}
