/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Guests, and what they do.
 */
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "loader.h"
#include "runs.h"

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
    r = fit_load_profile (d, &set, profile, &error);
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
          (old->kernel_name == NULL ||
           is_same (sc->kernel_name, old->kernel_name)))
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
  if (old->kernel_name == NULL) {
    free (sc->kernel_name);     /* --kernel was instead of it */
    sc->kernel_name = NULL;
  }
  to->scenario = sc;
  to->drive = &sc->drives[from->drive - old->drives];
  to->n_drives = 1;
  to->name = format ("%s", from->name);
  to->kernel = from->kernel ? format ("%s", from->kernel) : NULL;
  to->steps = allocate (sc->n_steps, sizeof *to->steps);
  memcpy (to->steps, from->steps, sc->n_steps * sizeof *to->steps);
  for (unsigned i = 0; i < sc->n_steps; i++)
    to->steps[i].finished = NULL; /* remains the run's */
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
  return fit_prepare (r, rec->set);
}

static void
on_run (void *opaque, const struct run_results *from)
{
  struct recording *rec = opaque;

  if (from->skipped)
    return;                     /* its kernel is not there */
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
