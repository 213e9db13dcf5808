/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"
#include "spindle.h"
#include "strict.h"

#define MAX_STEPS 1000
#define MAX_MIB (2 * 1024 * 1024)

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

static struct scenario_step *
step_called (const struct scenario *sc, const char *name)
{
  unsigned i;

  for (i = 0; i < sc->n_steps; ++i)
    if (strcmp (sc->steps[i].name, name) == 0)
      return &sc->steps[i];
  return NULL;
}

/* Names end up in file names and on the guest's console. */
static bool
good_name (const char *name)
{
  return *name && *name != '.' && strlen (name) < 64 &&
    strspn (name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
            "0123456789-_.") == strlen (name);
}

static int
check_name (struct strict *s, const config_setting_t *setting,
            const char *name)
{
  if (good_name (name))
    return 0;
  return strict_fail (s, setting, "up to 63 letters, digits, - _ and .%s",
                      strchr (name, '{')
                      ? "; in braces only the key that is swept" : "");
}

/* GROUP.KEY is an array of strings, each KEY=VALUE. */
static int
load_words (struct strict *s, config_setting_t *group, const char *key,
            struct words *r)
{
  config_setting_t *list = config_setting_get_member (group, key);
  int i;

  if (list == NULL)
    return s->error ? -1 : 0;
  if (!config_setting_is_array (list))
    return strict_fail (s, list, "an array of strings, [\"key=value\", ...]");
  for (i = 0; i < config_setting_length (list); ++i) {
    const config_setting_t *e = config_setting_get_elem (list, i);
    const char *word = config_setting_get_string (e);

    if (word == NULL || strchr (word, '=') == NULL || strchr (word, ' '))
      return strict_fail (s, e, "a string, \"key=value\"");
    words_add (r, word);
  }
  return 0;
}

static int
load_host (struct strict *s, config_setting_t *root, struct scenario *sc)
{
  static const char *const keys[] = {
    "machine", "clock", "shift", "memory-mib", "kernel", "append", "device",
    "queue", NULL
  };
  static const char *const clocks[] = { "real", "virtual", NULL };
  config_setting_t *host = config_setting_get_member (root, "host");
  int clock = sc->machine.virtual_clock;

  if (host == NULL)
    return 0;
  if (!config_setting_is_group (host))
    return strict_fail (s, host, "a group, { ... }");
  strict_keys (s, host, keys);
  strict_choice (s, host, "machine", machine_kinds, &sc->machine.kind);
  strict_choice (s, host, "clock", clocks, &clock);
  strict_int (s, host, "shift", 0, MACHINE_MAX_SHIFT, &sc->machine.shift);
  strict_int (s, host, "memory-mib", 32, MACHINE_MAX_MEMORY_MIB,
              &sc->machine.memory_mib);
  strict_string (s, host, "kernel", &sc->kernel);
  strict_string (s, host, "append", &sc->append);
  strict_string (s, host, "device", &sc->device);
  sc->machine.virtual_clock = clock;
  return load_words (s, host, "queue", &sc->queue);
}

static int
load_limits (struct strict *s, config_setting_t *root, struct scenario *sc)
{
  static const char *const keys[] = { "real-s", "silence-s", NULL };
  config_setting_t *limits = config_setting_get_member (root, "limits");

  if (limits == NULL)
    return s->error ? -1 : 0;
  if (!config_setting_is_group (limits))
    return strict_fail (s, limits, "a group, { ... }");
  strict_keys (s, limits, keys);
  strict_int (s, limits, "real-s", 1, 86400, &sc->real_limit_s);
  return strict_int (s, limits, "silence-s", 1, 86400,
                     &sc->silence_limit_s);
}

/* The last part of a path, without ".cfg". */
static char *
stem (const char *path)
{
  const char *slash = strrchr (path, '/'), *name = slash ? slash + 1 : path;
  size_t n = strlen (name);

  if (n > 4 && strcmp (name + n - 4, ".cfg") == 0)
    n -= 4;
  return format ("%.*s", (int) n, name);
}

static int
load_drive (struct strict *s, config_setting_t *group, struct scenario *sc)
{
  static const char *const keys[] = {
    "name", "profile", "set", "seed", NULL
  };
  struct scenario_drive *d;
  unsigned i;

  if (!config_setting_is_group (group))
    return strict_fail (s, group, "a group, { profile = \"...\"; ... }");
  sc->drives = reallocate (sc->drives, sc->n_drives + 1, sizeof *d);
  d = &sc->drives[sc->n_drives++];
  *d = (struct scenario_drive) { .seed = 1 };
  strict_keys (s, group, keys);
  strict_need (s, group, "profile");
  strict_string (s, group, "profile", &d->profile);
  strict_string (s, group, "name", &d->name);
  strict_int (s, group, "seed", 0, INT32_MAX, &d->seed);
  if (load_words (s, group, "set", &d->set) == -1)
    return -1;
  if (d->name == NULL)
    d->name = stem (d->profile);
  for (i = 0; i + 1 < sc->n_drives; ++i)
    if (strcmp (sc->drives[i].name, d->name) == 0)
      return strict_fail (s, group, "a second drive called %s: "
                          "give one of them a name", d->name);
  return check_name (s, group, d->name);
}

static int
load_drives (struct strict *s, config_setting_t *root, struct scenario *sc)
{
  config_setting_t *one = config_setting_get_member (root, "drive");
  config_setting_t *list = config_setting_get_member (root, "drives");
  int i;

  if (one && list)
    return strict_fail (s, list, "either drive or drives");
  if (one)
    return load_drive (s, one, sc);
  if (list == NULL)
    return strict_fail (s, root, "drive is missing");
  if (strict_groups (s, list, 1) == -1)
    return -1;
  for (i = 0; i < config_setting_length (list); ++i)
    if (load_drive (s, config_setting_get_elem (list, i), sc) == -1)
      return -1;
  return 0;
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

  if (sc->n_steps == MAX_STEPS || step_called (sc, name)) {
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
  return check_name (s, config_setting_get_member (group, "name"), name);
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

static int
load_step (struct strict *s, config_setting_t *group, struct scenario *sc)
{
  static const char *const keys[] = {
    "name", "read", "write", "pattern", "fsync", "unit", "sweep", "values",
    "stride-mib", "readahead", "block-kib", "mib", "requests", "offset-mib", "span-mib",
    "seed", "ms", "streams", NULL
  };
  static const char *const modes[] = { "buffered", "direct", NULL };
  static const char *const patterns[] = { "seq", "random", NULL };
  struct scenario_step step = { .readahead = -1, .streams = 1, .seed = 1 };
  const char *verb;
  int direct = 0, random = 0, r = -1;
  size_t i;

  step.write = config_setting_get_member (group, "write") != NULL;
  verb = step.write ? "write" : "read";
  if (strict_keys (s, group, keys) == -1 ||
      strict_need (s, group, "name") == NULL ||
      strict_need (s, group, verb) == NULL)
    return -1;
  if (step.write && config_setting_get_member (group, "read"))
    return strict_fail (s, group, "either read or write");
  for (i = 0; i < N_NUMBERS; ++i)
    strict_int (s, group, numbers[i].key, numbers[i].min, numbers[i].max,
                number_in (&step, &numbers[i]));
  strict_choice (s, group, verb, modes, &direct);
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

static int
load_steps (struct strict *s, config_setting_t *root, struct scenario *sc)
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

/* GROUP.KEY must name a step. */
static int
check_figure (struct strict *s, config_setting_t *group, const char *key,
              const struct scenario *sc, const char *name)
{
  const char **names, *near;
  unsigned i;

  if (step_called (sc, name))
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
  unit = r->over ? UNIT_RATIO : step_called (sc, r->figure)->unit;
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
  r->unit = r->over ? UNIT_RATIO : step_called (sc, r->figure)->unit;
  return 0;
}

static int
load_all_reported (struct strict *s, config_setting_t *root,
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

static int
load (struct strict *s, struct scenario *sc)
{
  static const char *const keys[] = {
    "name", "title", "source", "note", "host", "limits", "drive", "drives",
    "steps", "reported", NULL
  };
  config_setting_t *root = config_root_setting (&s->config), *name;

  if (strict_keys (s, root, keys) == -1 ||
      (name = strict_need (s, root, "name")) == NULL ||
      strict_string (s, root, "name", &sc->name) == -1 ||
      check_name (s, name, sc->name) == -1)
    return -1;
  strict_string (s, root, "title", &sc->title);
  strict_string (s, root, "source", &sc->source);
  if (strict_string (s, root, "note", &sc->note) == -1 ||
      load_host (s, root, sc) == -1 || load_limits (s, root, sc) == -1 ||
      load_drives (s, root, sc) == -1 || load_steps (s, root, sc) == -1)
    return -1;
  return load_all_reported (s, root, sc);
}

/* A file named in a scenario is looked for beside it. */
static void
resolve (char **name, const char *scenario)
{
  const char *slash = strrchr (scenario, '/');
  size_t n = strlen (*name);
  char *r;

  if (slash == NULL || (*name)[0] == '/' ||
      (strchr (*name, '/') == NULL &&
       (n < 4 || strcmp (*name + n - 4, ".cfg") != 0)))
    return;
  r = format ("%.*s/%s", (int) (slash - scenario), scenario, *name);
  free (*name);
  *name = r;
}

static void
resolve_all (struct scenario *sc, const char *path)
{
  unsigned i;

  resolve (&sc->kernel, path);
  for (i = 0; i < sc->n_drives; ++i)
    resolve (&sc->drives[i].profile, path);
}

struct scenario *
scenario_load (const char *path, char **error)
{
  struct scenario *sc = allocate (1, sizeof *sc);
  struct strict s;

  *sc = (struct scenario) {
    .machine = MACHINE_DEFAULT,
    .kernel = format ("debian"),
    .device = format ("/dev/sda"),
    .real_limit_s = 600,
    .silence_limit_s = 600,
  };
  *error = NULL;
  if (strict_open (&s, path) == -1 || load (&s, sc) == -1) {
    *error = s.error;
    s.error = NULL;
    scenario_free (sc);
    sc = NULL;
  }
  else
    resolve_all (sc, path);
  strict_close (&s);
  return sc;
}

void
scenario_free (struct scenario *sc)
{
  unsigned i;

  if (sc == NULL)
    return;
  for (i = 0; i < sc->n_drives; ++i) {
    free (sc->drives[i].name);
    free (sc->drives[i].profile);
    words_free (&sc->drives[i].set);
  }
  for (i = 0; i < sc->n_steps; ++i) {
    free (sc->steps[i].name);
    free (sc->steps[i].family);
  }
  for (i = 0; i < sc->n_reported; ++i) {
    free (sc->reported[i].figure);
    free (sc->reported[i].over);
    free (sc->reported[i].drive);
    free (sc->reported[i].kernel);
    free (sc->reported[i].source);
  }
  words_free (&sc->queue);
  free (sc->drives);
  free (sc->steps);
  free (sc->reported);
  free (sc->name);
  free (sc->title);
  free (sc->source);
  free (sc->note);
  free (sc->kernel);
  free (sc->device);
  free (sc->append);
  free (sc);
}
