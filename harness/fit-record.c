/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What guests do: recorded, cut into steps, and done again in the model.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "loader.h"
#include "runs.h"

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

/* The profile with what the scenario and `more' set. */
static int
load_profile (const struct scenario_drive *d, const struct words *more,
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

  if (load_profile (d, set, profile, &error) == 0 &&
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

/* ---- before any guest runs ---- */

struct known {
  const char *key;
  bool found;
};

static void
on_key (void *opaque, const struct profile_key *key)
{
  struct known *k = opaque;

  k->found = k->found || strcmp (key->path, k->key) == 0;
}

/* There is such a key, and it takes these words. */
static int
check_parameter (const struct fit_parameter *p,
                 const struct scenario_drive *d)
{
  struct known k = { .key = p->key };
  struct profile *profile = allocate (1, sizeof *profile);
  int r = 0;

  profile_keys (on_key, &k);
  if (!k.found) {
    complain ("--free %s: profiles have no such key", p->key);
    r = -1;
  }
  for (size_t i = 0; i < p->words.n && r == 0; i++) {
    struct words set = { 0 };
    char *error = NULL;

    words_addf (&set, "%s=%s", p->key, p->words.word[i]);
    r = load_profile (d, &set, profile, &error);
    if (r == -1)
      complain ("--free: %s", error ? error : "out of memory");
    free (error);
    words_free (&set);
  }
  free (profile);
  return r;
}

static int
check_scenario (const struct fit *f, const struct scenario *sc)
{
  if (sc->together && sc->n_drives > 1) {
    complain ("%s: has several drives in one guest", sc->name);
    return -1;
  }
  for (unsigned i = 0; i < sc->n_steps; i++)
    if (sc->steps[i].file || sc->steps[i].verb > STEP_COPY) {
      complain ("%s: step %s is not of the drive itself: its requests cannot "
                "be told from others", sc->name, sc->steps[i].name);
      return -1;
    }
  for (unsigned i = 0; i < f->n_parameters; i++)
    for (unsigned j = 0; j < sc->n_drives; j++)
      if (check_parameter (&f->parameters[i], &sc->drives[j]) == -1)
        return -1;
  if (sc->n_reported > 0)
    return 0;
  complain ("%s: no figure is reported", sc->name);
  return -1;
}

int
fit_check (const struct fit *f)
{
  int r = 0;

  for (size_t i = 0; i < f->files.n && r == 0; i++) {
    char *error;
    const struct scenario_pick first = { 0 };
    struct scenario *sc = scenario_load (f->files.word[i], &first, &error);

    if (sc) {
      r = check_scenario (f, sc);
      scenario_free (sc);
    }
    else {
      complain ("%s", error);
      free (error);
      r = -1;
    }
  }
  return r;
}

/* ---- guests ---- */

struct recording {
  struct fit *fit;
  const struct words *set;
  struct fit_run *runs;
  unsigned n;
  bool failed;
};

static bool
is_same (const char *a, const char *b)
{
  return a == b || (a && b && strcmp (a, b) == 0);
}

/* Read it again: the scenario of the run is not there any longer when we
 * want it.  NULL: it is not in this file.
 */
static struct scenario *
load_same (const char *file, const struct scenario *old)
{
  struct scenario_pick pick = { 0 };

  for (pick.guest = 0; pick.guest == 0 || pick.guest < old->n_guests;
       pick.guest++)
    for (pick.kernel = 0; pick.kernel == 0 || pick.kernel < old->n_kernels;
         pick.kernel++) {
      char *error = NULL;
      struct scenario *sc = scenario_load (file, &pick, &error);

      if (sc && is_same (sc->name, old->name) &&
          is_same (sc->guest, old->guest) &&
          is_same (sc->kernel_name, old->kernel_name))
        return sc;
      if (sc)
        scenario_free (sc);
      free (error);
    }
  return NULL;
}

static int
copy_results (struct recording *rec, const struct run_results *from,
              struct run_results *to)
{
  const struct scenario *old = from->scenario;
  struct scenario *sc = NULL;

  for (size_t i = 0; i < rec->fit->files.n && sc == NULL; i++)
    sc = load_same (rec->fit->files.word[i], old);
  if (sc == NULL) {
    complain ("%s: the scenario has changed meanwhile", old->name);
    return -1;
  }
  to->scenario = sc;
  to->drive = &sc->drives[from->drive - old->drives];
  to->n_drives = 1;
  to->name = format ("%s", from->name);
  to->kernel = from->kernel ? format ("%s", from->kernel) : NULL;
  to->steps = allocate (sc->n_steps, sizeof *to->steps);
  memcpy (to->steps, from->steps, sc->n_steps * sizeof *to->steps);
  return 0;
}

static int
take_run (struct recording *rec, const struct run_results *from)
{
  struct fit_run *r = &rec->runs[rec->n++];
  char *error;

  if (from->failure)
    return -1;                  /* which will be said */
  if (copy_results (rec, from, &r->results) == -1)
    return -1;
  if (trace_file_read (from->traces[0], "csv", NULL, &r->trace, &error)
      == -1) {
    complain ("%s", error);
    free (error);
    return -1;
  }
  find_steps (r);
  find_waits (r);
  if (check_steps (r) == -1)
    return -1;
  r->step_ns = allocate (r->results.scenario->n_steps, sizeof *r->step_ns);
  return fit_replay (r, rec->set, r->step_ns);
}

static void
on_run (void *opaque, const struct run_results *from)
{
  struct recording *rec = opaque;

  rec->runs = reallocate (rec->runs, rec->n + 1, sizeof *rec->runs);
  memset (&rec->runs[rec->n], 0, sizeof *rec->runs);
  if (take_run (rec, from) == -1)
    rec->failed = true;
}

int
fit_record (struct fit *f, const struct words *set, struct fit_run **runs,
            unsigned *n)
{
  struct recording rec = { .fit = f, .set = set };
  const struct run_options options = {
    .late_limit_us = -1, .quiet = true, .each = on_run, .opaque = &rec,
  };
  struct variant v = { .label = format ("%s", ""), .seed = -1 };
  struct variants variants = { 0 };
  enum spindle_exit r;

  if (f->kernel)
    v.kernel = format ("%s", f->kernel);
  for (size_t i = 0; i < set->n; i++)
    words_add (&v.set, set->word[i]);
  variants_add (&variants, v);
  r = run_scenarios (&f->files, &variants, &options);
  variants_free (&variants);
  f->guests += rec.n;
  *runs = rec.runs;
  *n = rec.n;
  if (rec.failed || rec.n == 0 ||
      (r != EXIT_REPRODUCED && r != EXIT_NOT_REPRODUCED)) {
    fit_runs_free (rec.runs, rec.n);
    *runs = NULL;
    *n = 0;
    return -1;
  }
  return 0;
}

void
fit_runs_free (struct fit_run *runs, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    struct fit_run *r = &runs[i];

    if (r->results.scenario)
      scenario_free ((struct scenario *) r->results.scenario);
    run_results_free (&r->results);
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
