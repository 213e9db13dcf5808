/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "scenario-impl.h"
#include "spindle.h"

/* Names end up in file names and on the guest's console. */
static bool
good_name (const char *name)
{
  return *name && *name != '.' && strlen (name) < 64 &&
    strspn (name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
            "0123456789-_.") == strlen (name);
}

int
scenario_check_name (struct strict *s, const config_setting_t *setting,
            const char *name)
{
  if (good_name (name))
    return 0;
  return strict_fail (s, setting, "up to 63 letters, digits, - _ and .%s",
                      strchr (name, '{')
                      ? "; in braces only the key that is swept" : "");
}

/* GROUP.KEY is an array of strings, each KEY=VALUE; or, with PREFIX, what
 * comes behind that.
 */
static int
load_words (struct strict *s, config_setting_t *group, const char *key,
            const char *prefix, struct words *r)
{
  config_setting_t *list = config_setting_get_member (group, key);
  int i;

  if (list == NULL)
    return s->error ? -1 : 0;
  if (!config_setting_is_array (list))
    return strict_fail (s, list, "an array of strings, [\"%s\", ...]",
                        prefix ? "..." : "key=value");
  for (i = 0; i < config_setting_length (list); ++i) {
    const config_setting_t *e = config_setting_get_elem (list, i);
    const char *word = config_setting_get_string (e);

    if (word == NULL || strchr (word, ' ') ||
        (prefix == NULL && strchr (word, '=') == NULL))
      return strict_fail (s, e, "a string, \"%s\"",
                          prefix ? "..." : "key=value");
    words_addf (r, "%s%s", prefix ? prefix : "", word);
  }
  return 0;
}

int
scenario_words (struct strict *s, config_setting_t *group, const char *key,
                struct words *r)
{
  return load_words (s, group, key, NULL, r);
}

static int
load_cpu (struct strict *s, config_setting_t *host, struct scenario *sc)
{
  config_setting_t *setting = config_setting_get_member (host, "cpu");
  char *name = NULL, *error;
  int r = 0;

  if (setting == NULL || strict_string (s, host, "cpu", &name) == -1)
    return s->error ? -1 : 0;
  if (config_setting_get_member (host, "shift"))
    r = strict_fail (s, setting, "either cpu or shift");
  else if (cpu_find (name, &sc->machine.cpu, &error) == -1) {
    r = strict_fail (s, setting, "%s", error);
    free (error);
  }
  free (name);
  return r;
}

/* In real time the CPU is the host's.  A guest may have the clock "real" where
 * the scenario's host has a CPU for the others.
 */
static int
check_clock (struct strict *s, config_setting_t *host, bool virtual_clock)
{
  config_setting_t *cpu = config_setting_get_member (host, "cpu");

  if (cpu == NULL)
    cpu = config_setting_get_member (host, "shift");
  if (virtual_clock || cpu == NULL)
    return 0;
  return strict_fail (s, cpu, "for clock = \"virtual\" only");
}

/* HOST is the scenario's, or what one of its guests has in place of it. */
static int
load_host (struct strict *s, config_setting_t *host, struct scenario *sc)
{
  static const char *const keys[] = {
    "machine", "clock", "cpu", "shift", "memory-mib", "kernel", "append",
    "device", "queue", "queue-depth", "elevator", "sysctl", "name", NULL
  };
  static const char *const clocks[] = { "real", "virtual", NULL };
  int clock = sc->machine.virtual_clock;

  if (!config_setting_is_group (host))
    return strict_fail (s, host, "a group, { ... }");
  strict_keys (s, host, keys);
  strict_choice (s, host, "machine", machine_kinds, &sc->machine.kind);
  strict_choice (s, host, "clock", clocks, &clock);
  strict_int (s, host, "shift", 0, CPU_MAX_SHIFT, &sc->machine.cpu.shift);
  load_cpu (s, host, sc);
  strict_int (s, host, "queue-depth", 1, 32, &sc->queue_depth);
  strict_int (s, host, "memory-mib", 32, MACHINE_MAX_MEMORY_MIB,
              &sc->machine.memory_mib);
  strict_string (s, host, "kernel", &sc->kernel);
  strict_string (s, host, "append", &sc->append);
  strict_string (s, host, "device", &sc->device);
  strict_string (s, host, "elevator", &sc->elevator);
  sc->machine.virtual_clock = clock;
  scenario_words (s, host, "sysctl", &sc->sysctl);
  return scenario_words (s, host, "queue", &sc->queue) == -1
    ? -1 : check_clock (s, host, clock);
}

static int
check_queue_depth (struct strict *s, config_setting_t *host,
                   const struct scenario *sc)
{
  config_setting_t *depth = host
    ? config_setting_get_member (host, "queue-depth") : NULL;

  if (depth == NULL || sc->machine.kind != MACHINE_IDE)
    return 0;
  return strict_fail (s, depth, "for machine = \"ahci\" only");
}

/* Several guests differ from the host in what is said for them. */
static int
load_guests (struct strict *s, config_setting_t *root, struct scenario *sc,
             unsigned pick)
{
  config_setting_t *host = config_setting_get_member (root, "host");
  config_setting_t *guests = config_setting_get_member (root, "guests");
  config_setting_t *name, *guest;

  if (host && (name = config_setting_get_member (host, "name")))
    return strict_fail (s, name, "only guests have names");
  if (host && load_host (s, host, sc) == -1)
    return -1;
  if (guests == NULL)
    return check_queue_depth (s, host, sc);
  if (strict_groups (s, guests, 1) == -1)
    return -1;
  sc->n_guests = config_setting_length (guests);
  if (pick >= sc->n_guests)
    pick = 0;
  guest = config_setting_get_elem (guests, pick);
  if ((name = strict_need (s, guest, "name")) == NULL ||
      load_host (s, guest, sc) == -1 ||
      check_queue_depth (s, guest, sc) == -1 ||
      check_queue_depth (s, host, sc) == -1 ||
      strict_string (s, guest, "name", &sc->guest) == -1)
    return -1;
  return scenario_check_name (s, name, sc->guest);
}

/* A kernel is a name, or a group that has also an image. */
static int
load_kernel (struct strict *s, config_setting_t *kernel, struct scenario *sc)
{
  static const char *const keys[] = { "name", "image", NULL };
  const char *word = config_setting_get_string (kernel);
  config_setting_t *name = kernel;

  if (word)
    sc->kernel_name = format ("%s", word);
  else if (!config_setting_is_group (kernel))
    return strict_fail (s, kernel, "a name, \"debian\", or a group, "
                        "{ name = \"...\"; image = \"...\"; }");
  else if (strict_keys (s, kernel, keys) == -1 ||
           (name = strict_need (s, kernel, "name")) == NULL ||
           strict_string (s, kernel, "name", &sc->kernel_name) == -1)
    return -1;
  free (sc->kernel);
  sc->kernel = format ("%s", sc->kernel_name);
  if (!word && strict_string (s, kernel, "image", &sc->kernel) == -1)
    return -1;
  return scenario_check_name (s, name, sc->kernel_name);
}

static int
load_kernels (struct strict *s, config_setting_t *root, struct scenario *sc,
              unsigned pick)
{
  config_setting_t *kernels = config_setting_get_member (root, "kernels");

  if (kernels == NULL)
    return 0;
  if (!config_setting_is_list (kernels) && !config_setting_is_array (kernels))
    return strict_fail (s, kernels, "a list, ( \"debian\", ... )");
  sc->n_kernels = config_setting_length (kernels);
  if (sc->n_kernels == 0)
    return strict_fail (s, kernels, "at least one kernel");
  return load_kernel (s, config_setting_get_elem (kernels, pick
                                                  < sc->n_kernels ? pick : 0),
                      sc);
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
    "name", "profile", "set", "bad", "seed", NULL
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
  if (scenario_words (s, group, "set", &d->set) == -1 ||
      load_words (s, group, "bad", "bad=", &d->bad) == -1)
    return -1;
  if (d->name == NULL)
    d->name = stem (d->profile);
  for (i = 0; i + 1 < sc->n_drives; ++i)
    if (strcmp (sc->drives[i].name, d->name) == 0)
      return strict_fail (s, group, "a second drive called %s: "
                          "give one of them a name", d->name);
  return scenario_check_name (s, group, d->name);
}

static int
load_drives (struct strict *s, config_setting_t *root, struct scenario *sc)
{
  config_setting_t *one = config_setting_get_member (root, "drive");
  config_setting_t *list = config_setting_get_member (root, "drives");
  int i;

  if (one && list)
    return strict_fail (s, list, "either drive or drives");
  if (one && !config_setting_is_list (one))
    return load_drive (s, one, sc);
  if (one) {
    sc->together = true;
    list = one;
  }
  if (list == NULL)
    return strict_fail (s, root, "drive is missing");
  if (strict_groups (s, list, 1) == -1)
    return -1;
  if (sc->together && config_setting_length (list) > MACHINE_MAX_DRIVES)
    return strict_fail (s, list, "no more than %d drives in one guest",
                        MACHINE_MAX_DRIVES);
  for (i = 0; i < config_setting_length (list); ++i)
    if (load_drive (s, config_setting_get_elem (list, i), sc) == -1)
      return -1;
  return 0;
}

static int
load (struct strict *s, struct scenario *sc, const struct scenario_pick *pick)
{
  static const char *const keys[] = {
    "name", "title", "source", "note", "host", "guests", "kernels", "limits",
    "drive", "drives", "disk", "scale", "steps", "reported", NULL
  };
  config_setting_t *root = config_root_setting (&s->config), *name;

  if (strict_keys (s, root, keys) == -1 ||
      (name = strict_need (s, root, "name")) == NULL ||
      strict_string (s, root, "name", &sc->name) == -1 ||
      scenario_check_name (s, name, sc->name) == -1)
    return -1;
  strict_string (s, root, "title", &sc->title);
  strict_string (s, root, "source", &sc->source);
  if (strict_string (s, root, "note", &sc->note) == -1 ||
      strict_int (s, root, "scale", 1, 10000, &sc->scale) == -1)
    return -1;
  if (pick->full)
    sc->scale = 1;
  if (load_guests (s, root, sc, pick->guest) == -1 ||
      load_kernels (s, root, sc, pick->kernel) == -1 ||
      load_limits (s, root, sc) == -1 || load_drives (s, root, sc) == -1 ||
      scenario_load_disk (s, root, sc) == -1 ||
      scenario_steps (s, root, sc) == -1)
    return -1;
  return scenario_reports (s, root, sc);
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
scenario_load (const char *path, const struct scenario_pick *pick,
               char **error)
{
  struct scenario *sc = allocate (1, sizeof *sc);
  struct strict s;

  *sc = (struct scenario) {
    .machine = MACHINE_DEFAULT,
    .kernel = format ("debian"),
    .device = format ("/dev/sda"),
    .real_limit_s = 600,
    .silence_limit_s = 600,
    .scale = 1,
    .n_guests = 1,
    .n_kernels = 1,
  };
  *error = NULL;
  if (strict_open (&s, path) == -1 || load (&s, sc, pick) == -1) {
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

static void
free_drives (struct scenario *sc)
{
  unsigned i;

  for (i = 0; i < sc->n_drives; ++i) {
    free (sc->drives[i].name);
    free (sc->drives[i].profile);
    words_free (&sc->drives[i].set);
    words_free (&sc->drives[i].bad);
  }
}

void
scenario_use_profile (struct scenario *sc, const char *profile)
{
  const int64_t seed = sc->drives[0].seed;

  free_drives (sc);
  sc->n_drives = 1;
  sc->drives[0] = (struct scenario_drive) {
    .name = stem (profile), .profile = format ("%s", profile), .seed = seed,
  };
}

void
scenario_free (struct scenario *sc)
{
  unsigned i;

  if (sc == NULL)
    return;
  free_drives (sc);
  for (i = 0; i < sc->n_steps; ++i)
    scenario_step_free (&sc->steps[i]);
  for (i = 0; i < sc->n_reported; ++i) {
    free (sc->reported[i].figure);
    free (sc->reported[i].over);
    free (sc->reported[i].drive);
    free (sc->reported[i].kernel);
    free (sc->reported[i].source);
  }
  words_free (&sc->queue);
  words_free (&sc->sysctl);
  scenario_disk_free (&sc->disk);
  free (sc->guest);
  free (sc->kernel_name);
  free (sc->elevator);
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
