/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
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

/* One value, or an array of them. */
static int
load_value (struct strict *s, config_setting_t *group,
            struct scenario_reported *r)
{
  config_setting_t *list = config_setting_get_member (group, "value");
  double low = HUGE_VAL, high = 0, v;
  int i, n;

  if (!config_setting_is_array (list))
    return strict_number (s, group, "value", 1e-9, 1e9, &r->value);
  n = config_setting_length (list);
  for (i = 0; i < n; ++i) {
    const config_setting_t *e = config_setting_get_elem (list, i);

    v = config_setting_type (e) == CONFIG_TYPE_FLOAT
      ? config_setting_get_float (e) : (double) config_setting_get_int64 (e);
    if (!(v >= 1e-9 && v <= 1e9))
      return strict_fail (s, e, "a number from 1e-09 to 1e+09");
    r->value += v / n;
    low = fmin (low, v);
    high = fmax (high, v);
  }
  if (n == 0)
    return strict_fail (s, list, "a number, or an array of them");
  r->below = r->value - low;
  r->above = high - r->value;
  return 0;
}

/* Figures of another of the scenario's guests are left out: *R is true if
 * this is one.
 */
static int
of_another_guest (struct strict *s, config_setting_t *group,
                  const struct scenario *sc, bool *r)
{
  config_setting_t *setting = config_setting_get_member (group, "guest");
  config_setting_t *guests, *root = group;
  const char *name, *wanted;
  int i;

  *r = false;
  if (setting == NULL)
    return s->error ? -1 : 0;
  wanted = config_setting_get_string (setting);
  while (!config_setting_is_root (root))
    root = config_setting_parent (root);
  guests = config_setting_get_member (root, "guests");
  for (i = 0; guests && i < config_setting_length (guests); ++i)
    if (wanted &&
        config_setting_lookup_string (config_setting_get_elem (guests, i),
                                      "name", &name) &&
        strcmp (name, wanted) == 0) {
      *r = strcmp (wanted, sc->guest) != 0;
      return 0;
    }
  return strict_fail (s, setting, "the name of one of the guests");
}

static int
load_reported (struct strict *s, config_setting_t *group,
               struct scenario *sc)
{
  static const char *const keys[] = {
    "figure", "over", "drive", "guest", "value", "unit", "kernel", "source",
    "tolerance", "assert", NULL
  };
  struct scenario_reported *r;
  bool other;

  if (strict_keys (s, group, keys) == -1 ||
      strict_need (s, group, "figure") == NULL ||
      strict_need (s, group, "value") == NULL ||
      of_another_guest (s, group, sc, &other) == -1)
    return -1;
  if (other)
    return 0;
  sc->reported = reallocate (sc->reported, sc->n_reported + 1, sizeof *r);
  r = &sc->reported[sc->n_reported++];
  *r = (struct scenario_reported) { .tolerance = 5 };
  strict_string (s, group, "figure", &r->figure);
  strict_string (s, group, "over", &r->over);
  strict_string (s, group, "drive", &r->drive);
  load_value (s, group, r);
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
