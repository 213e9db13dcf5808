/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "scenario-impl.h"
#include "spindle.h"

#define MAX_STEPS 1000
#define MAX_MIB (2 * 1024 * 1024)

const char *const step_verbs[] = {
  "read", "write", "mix", "trim", "copy", NULL
};
const char *const step_units[] = { "MiB/s", "ms", "IO/s", "ratio", NULL };
const char *const step_fsyncs[] = { "no", "end", "each", NULL };

/* The numbers of a step, all of which can be swept. */
static const struct number {
  const char *key;
  size_t where;
  int64_t min, max;
} numbers[] = {
#define NUMBER(key, field, min, max) \
  { key, offsetof (struct scenario_step, field), min, max }
  NUMBER ("readahead", readahead, 0, 65535),
  NUMBER ("block-kib", block_kib, 1, 16384),
  NUMBER ("mib", mib, 1, MAX_MIB),
  NUMBER ("requests", requests, 1, 10000000),
  NUMBER ("offset-mib", offset_mib, 0, MAX_MIB),
  NUMBER ("span-mib", span_mib, 1, MAX_MIB),
  NUMBER ("seed", seed, 0, INT32_MAX),
  NUMBER ("ms", ms, 1, 3600000),
  NUMBER ("streams", streams, 1, 64),
  NUMBER ("jobs", jobs, 1, 64),
  NUMBER ("writes", writes, 0, 100),
#undef NUMBER
};
#define N_NUMBERS (sizeof numbers / sizeof numbers[0])

static int64_t *
number_in (struct scenario_step *step, const struct number *n)
{
  return (int64_t *) ((char *) step + n->where);
}

static const struct number *
number_called (const char *key)
{
  size_t i;

  for (i = 0; i < N_NUMBERS; ++i)
    if (strcmp (numbers[i].key, key) == 0)
      return &numbers[i];
  return NULL;
}

int64_t
scenario_step_value (const struct scenario_step *step)
{
  return step->sweep
    ? *number_in ((struct scenario_step *) step, number_called (step->sweep))
    : 0;
}

int64_t
scenario_step_bytes (const struct scenario_step *step)
{
  return step->requests
    ? step->requests * step->block_kib * 1024
    : step->mib * 1024 * 1024;
}

bool
scenario_reboots (const struct scenario *sc)
{
  unsigned i;

  for (i = 0; i < sc->n_steps; ++i)
    if (sc->steps[i].reboot)
      return true;
  return false;
}

struct scenario_step *
scenario_step_called (const struct scenario *sc, const char *name)
{
  unsigned i;

  for (i = 0; i < sc->n_steps; ++i)
    if (strcmp (sc->steps[i].name, name) == 0)
      return &sc->steps[i];
  return NULL;
}

/* FAMILY with "{SWEEP}" replaced by VALUE. */
static char *
unrolled_name (const char *family, const char *sweep, int64_t value)
{
  char *hole = format ("{%s}", sweep);
  const char *at = strstr (family, hole);
  char *r = NULL;

  if (at)
    r = format ("%.*s%lld%s", (int) (at - family), family,
                (long long) value, at + strlen (hole));
  free (hole);
  return r;
}

/* Takes over NAME. */
static int
add_step (struct strict *s, config_setting_t *group, struct scenario *sc,
          const struct scenario_step *step, char *name)
{
  struct scenario_step *new;

  if (sc->n_steps == MAX_STEPS || scenario_step_called (sc, name)) {
    strict_fail (s, group, sc->n_steps == MAX_STEPS
                 ? "%.0sno more than 1000 steps"
                 : "a second step called %s", name);
    free (name);
    return -1;
  }
  sc->steps = reallocate (sc->steps, sc->n_steps + 1, sizeof *new);
  new = &sc->steps[sc->n_steps++];
  *new = *step;
  new->name = name;
  new->family = format ("%s", step->family);
  return scenario_check_name (s, config_setting_get_member (group, "name"),
                              name);
}

/* One step for each of the values. */
static int
unroll (struct strict *s, config_setting_t *group, struct scenario *sc,
        struct scenario_step *step)
{
  config_setting_t *sweep = config_setting_get_member (group, "sweep");
  config_setting_t *values = config_setting_get_member (group, "values");
  const char *names[N_NUMBERS + 1];
  const struct number *number;
  int64_t stride = 0;
  int which = 0, i;
  char *name;

  if (sweep == NULL && (values || config_setting_get_member (group,
                                                             "stride-mib")))
    return strict_fail (s, group, "values and stride-mib need a sweep");
  if (sweep == NULL)
    return add_step (s, group, sc, step, format ("%s", step->family));
  for (i = 0; i < (int) N_NUMBERS; ++i)
    names[i] = numbers[i].key;
  names[N_NUMBERS] = NULL;
  if (strict_choice (s, group, "sweep", names, &which) == -1 ||
      strict_int (s, group, "stride-mib", 0, MAX_MIB, &stride) == -1 ||
      (values = strict_need (s, group, "values")) == NULL)
    return -1;
  number = &numbers[which];
  step->sweep = number->key;
  if (config_setting_get_member (group, number->key))
    return strict_fail (s, sweep, "%s is swept and also given",
                        number->key);
  if (!config_setting_is_array (values) ||
      config_setting_length (values) == 0)
    return strict_fail (s, values, "an array of numbers, [1, 2, ...]");
  for (i = 0; i < config_setting_length (values); ++i) {
    const config_setting_t *e = config_setting_get_elem (values, i);
    int64_t value = config_setting_get_int64 (e);

    if ((config_setting_type (e) != CONFIG_TYPE_INT &&
         config_setting_type (e) != CONFIG_TYPE_INT64) ||
        value < number->min || value > number->max)
      return strict_fail (s, e, "a whole number from %lld to %lld",
                          (long long) number->min, (long long) number->max);
    *number_in (step, number) = value;
    name = unrolled_name (step->family, number->key, value);
    if (name == NULL)
      return strict_fail (s, config_setting_get_member (group, "name"),
                          "must contain {%s}, which is swept", number->key);
    if (add_step (s, group, sc, step, name) == -1)
      return -1;
    step->offset_mib += stride;
  }
  return 0;
}

/* What the kernel does with direct I/O and what is measured in bytes. */
static int
check_step (struct strict *s, config_setting_t *group,
            struct scenario_step *step)
{
  config_setting_t *swept = config_setting_get_member (group, "sweep");
  const char *key = swept ? config_setting_get_string (swept) : NULL;
  bool amount = step->mib || step->requests ||
    (key && (strcmp (key, "mib") == 0 || strcmp (key, "requests") == 0));

  if (step->mib && step->requests)
    return strict_fail (s, group, "either mib or requests");
  if (!amount)
    return strict_fail (s, group, "mib (or requests) is missing");
  if (!config_setting_get_member (group, "unit"))
    step->unit = step->random ? UNIT_MS : UNIT_MIB_PER_S;
  if (step->unit == UNIT_RATIO)
    return strict_fail (s, config_setting_get_member (group, "unit"),
                        "\"MiB/s\", \"ms\" or \"IO/s\"");
  return 0;
}

/* Exactly one of the verbs is there. */
static int
load_verb (struct strict *s, config_setting_t *group,
           struct scenario_step *step)
{
  int i, found = -1;

  for (i = 0; step_verbs[i]; ++i)
    if (config_setting_get_member (group, step_verbs[i])) {
      if (found != -1)
        return strict_fail (s, group, "either %s or %s", step_verbs[found],
                            step_verbs[i]);
      found = i;
    }
  if (found == -1)
    return strict_need (s, group, "read") ? 0 : -1;
  step->verb = found;
  return 0;
}

/* GROUP.KEY is the name of a drive of this guest. */
static int
load_drive_name (struct strict *s, config_setting_t *group, const char *key,
                 const struct scenario *sc, int *r)
{
  const char *names[MACHINE_MAX_DRIVES + 1] = { NULL };
  config_setting_t *setting = config_setting_get_member (group, key);
  unsigned i;

  if (setting == NULL)
    return s->error ? -1 : 0;
  if (!sc->together)
    return strict_fail (s, setting, "only where drive is a list of several");
  for (i = 0; i < sc->n_drives; ++i)
    names[i] = sc->drives[i].name;
  return strict_choice (s, group, key, names, r);
}

static int
load_step_drives (struct strict *s, config_setting_t *group,
                  const struct scenario *sc, struct scenario_step *step)
{
  if (step->verb != STEP_COPY) {
    if (config_setting_get_member (group, "from") ||
        config_setting_get_member (group, "to"))
      return strict_fail (s, group, "from and to belong to a copy");
    return load_drive_name (s, group, "drive", sc, &step->drive);
  }
  if (config_setting_get_member (group, "drive"))
    return strict_fail (s, group, "a copy has from and to, not drive");
  if (strict_need (s, group, "from") == NULL ||
      strict_need (s, group, "to") == NULL)
    return -1;
  load_drive_name (s, group, "from", sc, &step->drive);
  return load_drive_name (s, group, "to", sc, &step->to);
}

/* What only some verbs have. */
static int
check_verb (struct strict *s, config_setting_t *group,
            const struct scenario_step *step)
{
  static const struct { const char *key; unsigned verbs; } belongs[] = {
    { "fsync", 1 << STEP_WRITE | 1 << STEP_MIX },
    { "writes", 1 << STEP_MIX },
    { "pattern", ~(1u << STEP_COPY) }, { "span-mib", ~(1u << STEP_COPY) },
    { "streams", ~(1u << STEP_COPY) }, { "ms", ~(1u << STEP_COPY) },
    { "seed", ~(1u << STEP_COPY) },
  };
  config_setting_t *setting;
  size_t i;

  for (i = 0; i < sizeof belongs / sizeof belongs[0]; ++i) {
    setting = config_setting_get_member (group, belongs[i].key);
    if (setting && !(belongs[i].verbs & 1u << step->verb))
      return strict_fail (s, setting, "a %s step has no such key",
                          step_verbs[step->verb]);
  }
  return 0;
}

static int
load_step (struct strict *s, config_setting_t *group, struct scenario *sc)
{
  static const char *const keys[] = {
    "name", "read", "write", "mix", "trim", "copy", "from", "to", "drive",
    "reboot", "jobs", "writes", "pattern", "fsync", "unit", "sweep", "values",
    "stride-mib", "readahead", "block-kib", "mib", "requests",
    "offset-mib", "span-mib", "seed", "ms", "streams", NULL
  };
  static const char *const modes[] = { "buffered", "direct", NULL };
  static const char *const patterns[] = { "seq", "random", NULL };
  struct scenario_step step = {
    .readahead = -1, .streams = 1, .jobs = 1, .seed = 1, .writes = 50,
  };
  int direct = 0, random = 0, r = -1;
  size_t i;

  if (strict_keys (s, group, keys) == -1 ||
      strict_need (s, group, "name") == NULL ||
      load_verb (s, group, &step) == -1 ||
      load_step_drives (s, group, sc, &step) == -1 ||
      check_verb (s, group, &step) == -1)
    return -1;
  for (i = 0; i < N_NUMBERS; ++i)
    strict_int (s, group, numbers[i].key, numbers[i].min, numbers[i].max,
                number_in (&step, &numbers[i]));
  strict_choice (s, group, step_verbs[step.verb], modes, &direct);
  strict_bool (s, group, "reboot", &step.reboot);
  if (!direct && (step.verb == STEP_TRIM || step.verb == STEP_COPY))
    strict_fail (s, config_setting_get_member (group, step_verbs[step.verb]),
                 "\"direct\"");
  strict_choice (s, group, "pattern", patterns, &random);
  strict_choice (s, group, "fsync", step_fsyncs, &step.fsync);
  strict_choice (s, group, "unit", step_units, &step.unit);
  strict_string (s, group, "name", &step.family);
  step.direct = direct;
  step.random = random;
  if (!s->error && step.block_kib == 0 &&
      !config_setting_get_member (group, "sweep"))
    strict_need (s, group, "block-kib");
  if (!s->error && check_step (s, group, &step) == 0)
    r = unroll (s, group, sc, &step);
  free (step.family);
  return r;
}

int
scenario_steps (struct strict *s, config_setting_t *root, struct scenario *sc)
{
  config_setting_t *list = strict_need (s, root, "steps");
  int i;

  if (list == NULL || strict_groups (s, list, 1) == -1)
    return -1;
  for (i = 0; i < config_setting_length (list); ++i)
    if (load_step (s, config_setting_get_elem (list, i), sc) == -1)
      return -1;
  return 0;
}
