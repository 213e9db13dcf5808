/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "scenario-impl.h"
#include "spindle.h"

/* GROUP.KEY must name a step. */
static int
check_figure (struct strict *s, config_setting_t *group, const char *key,
              const struct scenario *sc, const char *name)
{
  const char **names, *near;
  unsigned i;

  if (scenario_step_called (sc, name))
    return 0;
  names = allocate (sc->n_steps + 1, sizeof *names);
  for (i = 0; i < sc->n_steps; ++i)
    names[i] = sc->steps[i].name;
  near = nearest_word (name, names);
  strict_fail (s, config_setting_get_member (group, key),
               near ? "no step of that name; did you mean \"%s\"?"
               : "no step of that name%.0s", near ? near : "");
  free (names);
  return -1;
}

static int
check_reported (struct strict *s, config_setting_t *group,
                const struct scenario *sc, const struct scenario_reported *r)
{
  int unit;
  unsigned i;

  if (check_figure (s, group, "figure", sc, r->figure) == -1 ||
      (r->over && check_figure (s, group, "over", sc, r->over) == -1))
    return -1;
  unit = r->over ? UNIT_RATIO : scenario_step_called (sc, r->figure)->unit;
  if (config_setting_get_member (group, "unit") && r->unit != unit)
    return strict_fail (s, config_setting_get_member (group, "unit"),
                        "\"%s\", which is what %s is measured in",
                        step_units[unit], r->over ? "a ratio" : r->figure);
  for (i = 0; r->drive && i < sc->n_drives; ++i)
    if (strcmp (sc->drives[i].name, r->drive) == 0)
      return 0;
  return r->drive == NULL ? 0
    : strict_fail (s, config_setting_get_member (group, "drive"),
                   "the name of one of the drives");
}

static int
load_reported (struct strict *s, config_setting_t *group,
               struct scenario *sc)
{
  static const char *const keys[] = {
    "figure", "over", "drive", "value", "unit", "kernel", "source",
    "tolerance", "assert", NULL
  };
  struct scenario_reported *r;

  if (strict_keys (s, group, keys) == -1 ||
      strict_need (s, group, "figure") == NULL ||
      strict_need (s, group, "value") == NULL)
    return -1;
  sc->reported = reallocate (sc->reported, sc->n_reported + 1, sizeof *r);
  r = &sc->reported[sc->n_reported++];
  *r = (struct scenario_reported) { .tolerance = 5 };
  strict_string (s, group, "figure", &r->figure);
  strict_string (s, group, "over", &r->over);
  strict_string (s, group, "drive", &r->drive);
  strict_number (s, group, "value", 1e-9, 1e9, &r->value);
  strict_choice (s, group, "unit", step_units, &r->unit);
  strict_string (s, group, "kernel", &r->kernel);
  strict_string (s, group, "source", &r->source);
  strict_number (s, group, "tolerance", 0, 100, &r->tolerance);
  if (strict_bool (s, group, "assert", &r->assert) == -1 ||
      check_reported (s, group, sc, r) == -1)
    return -1;
  r->unit = r->over ? UNIT_RATIO : scenario_step_called (sc, r->figure)->unit;
  return 0;
}

int
scenario_reports (struct strict *s, config_setting_t *root,
                   struct scenario *sc)
{
  config_setting_t *list = config_setting_get_member (root, "reported");
  int i;

  if (list == NULL)
    return 0;
  if (strict_groups (s, list, 0) == -1)
    return -1;
  for (i = 0; i < config_setting_length (list); ++i)
    if (load_reported (s, config_setting_get_elem (list, i), sc) == -1)
      return -1;
  return 0;
}
