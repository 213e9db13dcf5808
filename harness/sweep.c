/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "spindle.h"
#include "sweep.h"

/* How many steps from FIRST on are of one family. */
static unsigned
family_size (const struct scenario *sc, unsigned first)
{
  unsigned n = 1;

  while (first + n < sc->n_steps &&
         strcmp (sc->steps[first + n].family, sc->steps[first].family) == 0)
    ++n;
  return n;
}

static bool
same_values (const struct scenario *sc, unsigned a, unsigned b, unsigned n)
{
  unsigned i;

  if (sc->steps[b].sweep == NULL || family_size (sc, b) != n ||
      strcmp (sc->steps[a].sweep, sc->steps[b].sweep) != 0 ||
      sc->steps[a].unit != sc->steps[b].unit)
    return false;
  for (i = 0; i < n; ++i)
    if (scenario_step_value (&sc->steps[a + i]) !=
        scenario_step_value (&sc->steps[b + i]))
      return false;
  return true;
}

static bool
is_for (const struct scenario_reported *r, const char *drive,
        const struct scenario_step *step)
{
  return r->over == NULL && strcmp (r->figure, step->name) == 0 &&
    (r->drive == NULL || strcmp (r->drive, drive) == 0);
}

static const char *
kernel_of (const struct scenario_reported *r)
{
  return r->kernel ? r->kernel : "";
}

static void
add_kernel (struct sweep *s, const char *kernel)
{
  unsigned i;

  for (i = 0; i < s->n_kernels; ++i)
    if (strcmp (s->kernels[i], kernel) == 0)
      return;
  if (s->n_kernels < SWEEP_MAX_KERNELS)
    s->kernels[s->n_kernels++] = kernel;
}

bool
sweep_has (const struct sweep *s, unsigned step)
{
  unsigned f;

  for (f = 0; f < s->n_families; ++f)
    if (step >= s->first[f] && step < s->first[f] + s->n_values)
      return true;
  return false;
}

struct sweep
sweep_at (const struct scenario *sc, const char *drive, unsigned step)
{
  struct sweep s = { .key = sc->steps[step].sweep };
  unsigned i, r;

  if (s.key == NULL)
    return s;
  s.unit = sc->steps[step].unit;
  s.n_values = family_size (sc, step);
  for (i = step; i < sc->n_steps; i += family_size (sc, i))
    if (s.n_families < SWEEP_MAX_FAMILIES &&
        same_values (sc, step, i, s.n_values))
      s.first[s.n_families++] = i;
  for (r = 0; r < sc->n_reported; ++r)
    for (i = 0; i < sc->n_steps; ++i)
      if (sweep_has (&s, i) && is_for (&sc->reported[r], drive,
                                       &sc->steps[i]))
        add_kernel (&s, kernel_of (&sc->reported[r]));
  return s;
}

const struct scenario_reported *
sweep_reported (const struct sweep *s, const struct scenario *sc,
                const char *drive, unsigned v, unsigned kernel)
{
  unsigned f, r;

  for (f = 0; f < s->n_families; ++f)
    for (r = 0; r < sc->n_reported; ++r)
      if (is_for (&sc->reported[r], drive, &sc->steps[s->first[f] + v]) &&
          strcmp (kernel_of (&sc->reported[r]), s->kernels[kernel]) == 0)
        return &sc->reported[r];
  return NULL;
}

unsigned
sweep_kernel (const struct sweep *s, const struct scenario *sc,
              const char *drive, unsigned f)
{
  unsigned k, v, r;

  for (r = 0; r < sc->n_reported; ++r)
    for (v = 0; v < s->n_values; ++v)
      for (k = 0; k < s->n_kernels; ++k)
        if (is_for (&sc->reported[r], drive, &sc->steps[s->first[f] + v]) &&
            strcmp (kernel_of (&sc->reported[r]), s->kernels[k]) == 0)
          return k;
  return 0;
}

char *
sweep_title (const struct scenario_step *step)
{
  char *hole = format ("{%s}", step->sweep);
  const char *at = strstr (step->family, hole);
  const char *tail = at + strlen (hole);
  int head = at - step->family;
  char *r;

  free (hole);
  if (*tail == '-')
    r = format ("%s", tail + 1);
  else
    r = format ("%.*s%s", head, step->family, tail);
  return r;
}
