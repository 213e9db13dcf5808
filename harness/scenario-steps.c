/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "scenario-impl.h"
#include "spindle.h"

#define MAX_STEPS 1000
#define MAX_MIB (2 * 1024 * 1024)

const char *const step_verbs[] = {
  "read", "write", "mix", "trim", "copy", "walk", "frames", NULL
};
const char *const step_units[] = {
  "MiB/s", "ms", "IO/s", "ratio", "s", "IO", NULL
};
const char *const step_alsos[] = { "first", "disk", "disk-ms", NULL };
const char *const step_befores[] = {
  "drop", "forget", "sync", "nothing", NULL
};
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
  NUMBER ("block-kib", block_kib, 1, 4096),
  NUMBER ("block-bytes", block_bytes, 512, 4194304),
  NUMBER ("mib", mib, 1, MAX_MIB),
  NUMBER ("requests", requests, 1, 10000000),
  NUMBER ("offset-mib", offset_mib, 0, MAX_MIB),
  NUMBER ("span-mib", span_mib, 1, MAX_MIB),
  NUMBER ("seed", seed, 0, INT32_MAX),
  NUMBER ("ms", ms, 1, 3600000),
  NUMBER ("streams", streams, 1, 64),
  NUMBER ("jobs", jobs, 1, 64),
  NUMBER ("writes", writes, 0, 100),
  NUMBER ("repeats", repeats, 1, 100),
  NUMBER ("output-bytes", output_bytes, 1, INT64_C (1) << 40),
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
scenario_step_block (const struct scenario_step *step)
{
  return step->block_bytes ? step->block_bytes : step->block_kib * 1024;
}

int64_t
scenario_step_bytes (const struct scenario_step *step)
{
  const int64_t block = scenario_step_block (step);
  int64_t bytes = step->requests
    ? step->requests / step->scale * block
    : step->mib * 1024 * 1024 / step->scale / block * block;

  return bytes == 0 && (step->mib || step->requests) ? block : bytes;
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

static char *
copy_of (const char *text)
{
  return text ? format ("%s", text) : NULL;
}

static void
copy_words (struct words *to, const struct words *from)
{
  size_t i;

  *to = (struct words) { .n = 0 };
  for (i = 0; i < from->n; ++i)
    words_add (to, from->word[i]);
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
  new->file = copy_of (step->file);
  new->sound = copy_of (step->sound);
  new->output = copy_of (step->output);
  copy_words (&new->sysctl, &step->sysctl);
  copy_words (&new->queue, &step->queue);
  return scenario_check_name (s, config_setting_get_member (group, "name"),
                              name);
}

void
scenario_step_free (struct scenario_step *step)
{
  free (step->name);
  free (step->family);
  free (step->file);
  free (step->sound);
  free (step->output);
  words_free (&step->sysctl);
  words_free (&step->queue);
}

/* What else the steps from FIRST on tell, as steps of their own. */
static int
add_alsos (struct strict *s, config_setting_t *group, struct scenario *sc,
           unsigned first)
{
  static const int units[] = { UNIT_S, UNIT_IO, UNIT_MS };
  const unsigned end = sc->n_steps;
  unsigned i;
  int also;

  for (also = 0; step_alsos[also]; ++also)
    for (i = first; i < end && sc->steps[i].alsos & 1u << also; ++i) {
      struct scenario_step step = sc->steps[i];
      char *family = format ("%s-%s", step.family, step_alsos[also]);
      int r;

      step.verb = STEP_ALSO;
      step.of = i;
      step.also = also;
      step.unit = units[also];
      step.family = family;
      r = add_step (s, group, sc, &step,
                    format ("%s-%s", step.name, step_alsos[also]));
      free (family);
      if (r == -1)
        return -1;
    }
  return 0;
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
  bool amount = step->mib || step->requests || step->ms ||
    (step->file && step->verb == STEP_READ) || step->verb == STEP_WALK ||
    (key && (strcmp (key, "mib") == 0 || strcmp (key, "requests") == 0));

  if (step->mib && step->requests)
    return strict_fail (s, group, "either mib or requests");
  if (!amount)
    return strict_fail (s, group, "mib (or requests) is missing");
  if (!config_setting_get_member (group, "unit"))
    step->unit = step->random ? UNIT_MS
      : step->verb == STEP_WALK || step->verb == STEP_FRAMES ? UNIT_S
      : UNIT_MIB_PER_S;
  if (step->unit == UNIT_RATIO || step->unit == UNIT_IO)
    return strict_fail (s, config_setting_get_member (group, "unit"),
                        "\"MiB/s\", \"ms\", \"IO/s\" or \"s\"");
  return 0;
}

/* Exactly one of the verbs is there. */
static int
load_verb (struct strict *s, config_setting_t *group,
           struct scenario_step *step)
{
  int i, found = config_setting_get_member (group, "hdparm")
    ? STEP_READ : -1;

  for (i = 0; step_verbs[i]; ++i)
    if (config_setting_get_member (group, step_verbs[i])) {
      if (found != -1)
        return strict_fail (s, group, "either %s or %s",
                            config_setting_get_member (group, "hdparm")
                            ? "hdparm" : step_verbs[found], step_verbs[i]);
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
  enum {
    WRITES = 1 << STEP_WRITE | 1 << STEP_MIX, IO = 1 << STEP_READ | WRITES,
    FILMS = 1 << STEP_FRAMES, TREES = 1 << STEP_WALK,
    TRANSFERS = IO | 1 << STEP_TRIM, MANY = TRANSFERS | 1 << STEP_COPY
  };
  static const struct { const char *key; unsigned verbs; } belongs[] = {
    { "fsync", WRITES }, { "writes", 1 << STEP_MIX },
    { "create", 1 << STEP_WRITE }, { "close", IO },
    { "file", IO | FILMS | TREES }, { "also", IO },
    { "sound", FILMS }, { "output", FILMS }, { "output-bytes", FILMS },
    { "pattern", TRANSFERS }, { "span-mib", TRANSFERS },
    { "streams", TRANSFERS }, { "ms", TRANSFERS }, { "seed", TRANSFERS },
    { "jobs", MANY }, { "offset-mib", MANY }, { "mib", MANY },
    { "requests", MANY | FILMS },
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

/* hdparm -t of today, for three seconds, or of old, 64 MiB; 1 MiB each. */
static int
load_hdparm (struct strict *s, config_setting_t *group,
             struct scenario_step *step)
{
  static const char *const kinds[] = { "3s", "64mib", NULL };
  int kind = -1;

  if (strict_choice (s, group, "hdparm", kinds, &kind) == -1 || kind == -1)
    return s->error ? -1 : 0;
  if (step->block_kib == 0 && step->block_bytes == 0)
    step->block_kib = 1024;
  if (kind == 0 && step->ms == 0)
    step->ms = 3000;
  if (kind == 1 && step->mib == 0)
    step->mib = 64;
  return 0;
}

static int
load_also (struct strict *s, config_setting_t *group,
           struct scenario_step *step)
{
  config_setting_t *list = config_setting_get_member (group, "also");
  int i, a;

  if (list == NULL)
    return s->error ? -1 : 0;
  if (!config_setting_is_array (list))
    return strict_fail (s, list, "an array, [\"first\", ...]");
  for (i = 0; i < config_setting_length (list); ++i) {
    const config_setting_t *e = config_setting_get_elem (list, i);
    const char *word = config_setting_get_string (e);

    for (a = 0; step_alsos[a]; ++a)
      if (word && strcmp (word, step_alsos[a]) == 0)
        break;
    if (step_alsos[a] == NULL)
      return strict_fail (s, e, "\"first\", \"disk\" or \"disk-ms\"");
    if (a == ALSO_FIRST && step->jobs == 1)
      return strict_fail (s, e, "only where there are several jobs");
    step->alsos |= 1u << a;
  }
  return 0;
}

/* Is there an earlier step that makes the file? */
static bool
is_created (const struct scenario *sc, const char *name)
{
  unsigned i;

  for (i = 0; i < sc->n_steps; ++i)
    if (sc->steps[i].create && strcmp (sc->steps[i].file, name) == 0)
      return true;
  return false;
}

static int
check_file (struct strict *s, config_setting_t *group, const char *key,
            const struct scenario *sc, const char *name)
{
  if (name == NULL || is_created (sc, name) ||
      scenario_disk_has (&sc->disk, name))
    return 0;
  return strict_fail (s, config_setting_get_member (group, key),
                      "no such file: neither in disk.files nor created "
                      "before");
}

static int
load_files (struct strict *s, config_setting_t *group,
            const struct scenario *sc, struct scenario_step *step)
{
  const bool films = step->verb == STEP_FRAMES;

  strict_string (s, group, "file", &step->file);
  strict_string (s, group, "sound", &step->sound);
  strict_string (s, group, "output", &step->output);
  strict_bool (s, group, "create", &step->create);
  if (strict_bool (s, group, "close", &step->close) == -1 ||
      strict_choice (s, group, "before", step_befores, &step->before) == -1)
    return -1;
  if ((films || step->verb == STEP_WALK) &&
      (strict_need (s, group, "file") == NULL ||
       (films && (strict_need (s, group, "sound") == NULL ||
                  strict_need (s, group, "output") == NULL ||
                  strict_need (s, group, "output-bytes") == NULL))))
    return -1;
  if (step->file == NULL)
    return !step->create && !step->close && step->before != BEFORE_FORGET
      ? 0 : strict_fail (s, group, "file is missing: create, close and "
                         "forget are for files");
  if (sc->disk.file_system == NULL)
    return strict_fail (s, config_setting_get_member (group, "file"),
                        "disk.file-system is missing");
  if (!step->create && check_file (s, group, "file", sc, step->file) == -1)
    return -1;
  return check_file (s, group, "sound", sc, step->sound);
}

static int
load_block (struct strict *s, config_setting_t *group,
            const struct scenario_step *step)
{
  config_setting_t *sweep = config_setting_get_member (group, "sweep");
  const char *swept = sweep ? config_setting_get_string (sweep) : NULL;

  if (step->block_kib && step->block_bytes)
    return strict_fail (s, group, "either block-kib or block-bytes");
  if (step->block_kib == 0 && step->block_bytes == 0 &&
      (swept == NULL || strncmp (swept, "block-", 6) != 0))
    return strict_need (s, group, "block-kib") ? 0 : -1;
  if ((step->block_bytes & 511) && (step->verb != STEP_READ || step->direct))
    return strict_fail (s, config_setting_get_member (group, "block-bytes"),
                        "a multiple of 512");
  return 0;
}

static int
load_values (struct strict *s, config_setting_t *group, struct scenario *sc,
             struct scenario_step *step)
{
  static const char *const modes[] = { "buffered", "direct", NULL };
  static const char *const patterns[] = { "seq", "random", NULL };
  int direct = 0, random = 0;
  size_t i;

  for (i = 0; i < N_NUMBERS; ++i)
    strict_int (s, group, numbers[i].key, numbers[i].min, numbers[i].max,
                number_in (step, &numbers[i]));
  strict_choice (s, group, step_verbs[step->verb], modes, &direct);
  strict_bool (s, group, "reboot", &step->reboot);
  if (!direct && (step->verb == STEP_TRIM || step->verb == STEP_COPY))
    strict_fail (s, config_setting_get_member (group,
                                               step_verbs[step->verb]),
                 "\"direct\"");
  if (direct && (step->verb == STEP_WALK || step->verb == STEP_FRAMES))
    strict_fail (s, config_setting_get_member (group,
                                               step_verbs[step->verb]),
                 "\"buffered\"");
  strict_choice (s, group, "pattern", patterns, &random);
  strict_choice (s, group, "fsync", step_fsyncs, &step->fsync);
  strict_choice (s, group, "unit", step_units, &step->unit);
  strict_string (s, group, "name", &step->family);
  step->direct = direct;
  step->random = random;
  scenario_words (s, group, "sysctl", &step->sysctl);
  if (scenario_words (s, group, "queue", &step->queue) == -1 ||
      load_hdparm (s, group, step) == -1 ||
      load_block (s, group, step) == -1 ||
      load_also (s, group, step) == -1)
    return -1;
  return load_files (s, group, sc, step);
}

static int
load_step (struct strict *s, config_setting_t *group, struct scenario *sc)
{
  static const char *const keys[] = {
    "name", "read", "write", "mix", "trim", "copy", "walk", "frames",
    "hdparm", "from", "to", "drive", "file", "create", "close", "sound",
    "output", "output-bytes", "also", "before", "sysctl", "queue", "repeats",
    "reboot", "jobs", "writes", "pattern", "fsync", "unit", "sweep", "values",
    "stride-mib", "readahead", "block-kib", "block-bytes", "mib", "requests",
    "offset-mib", "span-mib", "seed", "ms", "streams", NULL
  };
  struct scenario_step step = {
    .readahead = -1, .streams = 1, .jobs = 1, .seed = 1, .writes = 50,
    .repeats = 1, .scale = sc->scale,
  };
  const unsigned first = sc->n_steps;
  int r = -1;

  if (strict_keys (s, group, keys) == 0 &&
      strict_need (s, group, "name") != NULL &&
      load_verb (s, group, &step) == 0 &&
      load_step_drives (s, group, sc, &step) == 0 &&
      check_verb (s, group, &step) == 0 &&
      load_values (s, group, sc, &step) == 0 &&
      check_step (s, group, &step) == 0 &&
      unroll (s, group, sc, &step) == 0)
    r = add_alsos (s, group, sc, first);
  scenario_step_free (&step);
  return r;
}

char *
scenario_file_pattern (const char *name)
{
  const char *hole = strchr (name, '{');

  return hole ? format ("%.*s%%%s", (int) (hole - name), name,
                        hole + strcspn (hole, "}") + 1)
    : format ("%s", name);
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
