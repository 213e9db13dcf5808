/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The drive's profile, with what was found in it.  libconfig writes it, so
 * comments are lost.
 */
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fit.h"
#include "loader.h"
#include "spindle.h"

struct lookup {
  const char *name;
  char *path;
};

static void
on_profile (void *opaque, const char *name, const char *path)
{
  struct lookup *l = opaque;

  if (strcmp (name, l->name) == 0)
    l->path = format ("%s", path);
}

/* Free it. */
static char *
find_path (const char *profile)
{
  struct lookup l = { .name = profile };

  if (strchr (profile, '/') == NULL)
    profile_list (on_profile, &l);
  return l.path ? l.path : format ("%s", profile);
}

/* The id of the report, which is the beginning of its name. */
static char *
report_id (const struct scenario *sc)
{
  const char *source = sc->n_reported ? sc->reported[0].source : NULL;

  if (source == NULL)
    source = sc->source ? sc->source : sc->name;
  return format ("%.*s", (int) strcspn (source, ", "), source);
}

static void
add_source (config_t *c, const struct scenario *sc, const char *id)
{
  config_setting_t *list = config_lookup (c, "sources"), *group;
  const char *known;

  if (list == NULL)
    list = config_setting_add (config_root_setting (c), "sources",
                               CONFIG_TYPE_LIST);
  for (int i = 0; i < config_setting_length (list); i++)
    if (config_setting_lookup_string (config_setting_get_elem (list, i),
                                      "id", &known) &&
        strcmp (known, id) == 0)
      return;
  group = config_setting_add (list, NULL, CONFIG_TYPE_GROUP);
  config_setting_set_string (config_setting_add (group, "id",
                                                 CONFIG_TYPE_STRING), id);
  config_setting_set_string (config_setting_add (group, "text",
                                                 CONFIG_TYPE_STRING),
                             sc->source ? sc->source : sc->name);
}

/* The group that KEY is in, made if need be; *last: its own name. */
static config_setting_t *
group_of (config_t *c, const char *key, const char **last)
{
  config_setting_t *at = config_root_setting (c), *next;
  const char *dot;

  for (*last = key; (dot = strchr (*last, '.')) != NULL; *last = dot + 1) {
    char *name = format ("%.*s", (int) (dot - *last), *last);

    next = config_setting_get_member (at, name);
    if (next == NULL)
      next = config_setting_add (at, name, CONFIG_TYPE_GROUP);
    at = next;
    free (name);
    if (at == NULL || config_setting_type (at) != CONFIG_TYPE_GROUP)
      return NULL;
  }
  return at;
}

/* A value as it stands in a file. */
static void
add_value (config_setting_t *list, const char *text)
{
  char *end;
  long long whole = strtoll (text, &end, 10);
  config_setting_t *v;

  if (*text && *end == '\0') {
    v = config_setting_add (list, NULL, whole > INT32_MAX ? CONFIG_TYPE_INT64
                                                          : CONFIG_TYPE_INT);
    if (whole > INT32_MAX)
      config_setting_set_int64 (v, whole);
    else
      config_setting_set_int (v, (int) whole);
    return;
  }
  strtod (text, &end);
  if (*text && *end == '\0')
    config_setting_set_float (config_setting_add (list, NULL,
                                                  CONFIG_TYPE_FLOAT),
                              strtod (text, NULL));
  else if (strcmp (text, "true") == 0 || strcmp (text, "false") == 0)
    config_setting_set_bool (config_setting_add (list, NULL,
                                                 CONFIG_TYPE_BOOL),
                             *text == 't');
  else
    config_setting_set_string (config_setting_add (list, NULL,
                                                   CONFIG_TYPE_STRING),
                               text);
}

static int
put_figure (config_t *c, const char *key, const char *value,
            const char *mark, const char *id, const char *note)
{
  const char *last;
  config_setting_t *group = group_of (c, key, &last), *list;
  const char *const words[] = { mark, id, note };

  if (group == NULL) {
    complain ("%s: cannot be put into the profile", key);
    return -1;
  }
  config_setting_remove (group, last);
  list = config_setting_add (group, last, CONFIG_TYPE_LIST);
  add_value (list, value);
  for (int i = 0; i < 3; i++)
    config_setting_set_string (config_setting_add (list, NULL,
                                                   CONFIG_TYPE_STRING),
                               words[i]);
  return 0;
}

static int
put_fitted (const struct fit *f, config_t *c, const char *id, unsigned i)
{
  const struct fit_parameter *p = &f->parameters[i];
  char *value = fit_value (p, f->best.x[i]);
  char *low = fit_value (p, f->low[i]), *high = fit_value (p, f->high[i]);
  char *note = format ("with %s, as reported; %s to %s fit as well%s",
                       f->runs[0].results.scenario->name, low, high,
                       fit_is_determined (f, i) ? "" : ": not determined");
  int r = put_figure (c, p->key, value, "fitted", id, note);

  free (value);
  free (low);
  free (high);
  free (note);
  return r;
}

/* What the scenario changes is part of the drive that was fitted. */
static int
put_set (const struct words *set, config_t *c, const char *id)
{
  for (size_t i = 0; i < set->n; i++) {
    const char *equals = strchr (set->word[i], '=');
    char *key = format ("%.*s", (int) (equals - set->word[i]), set->word[i]);
    int r = put_figure (c, key, equals + 1, "estimated", id,
                        "set in the scenario");

    free (key);
    if (r == -1)
      return -1;
  }
  return 0;
}

static int
save (config_t *c, const char *path)
{
  char *new = format ("%s.%ld.cfg", path, (long) getpid ());
  struct profile *p = allocate (1, sizeof *p);
  char *error = NULL;
  int r = -1;

  if (config_write_file (c, new) != CONFIG_TRUE)
    complain ("%s: cannot be written", new);
  else if (profile_load (new, NULL, 0, p, &error) == -1)
    complain ("what was found makes no profile: %s",
              error ? error : "out of memory");
  else if (rename (new, path) == -1)
    complain ("%s: cannot be written", path);
  else
    r = 0;
  if (r == -1)
    unlink (new);
  free (error);
  free (p);
  free (new);
  return r;
}

int
fit_write_profile (const struct fit *f, const char *path)
{
  const struct run_results *first = &f->runs[0].results;
  char *from = find_path (first->drive->profile);
  char *id = report_id (first->scenario);
  config_t c;
  int r = -1;

  config_init (&c);
  if (config_read_file (&c, from) != CONFIG_TRUE)
    complain ("%s: %s", from, config_error_text (&c));
  else {
    add_source (&c, first->scenario, id);
    r = put_set (&first->drive->set, &c, id);
    for (unsigned i = 0; i < f->n_parameters && r == 0; i++)
      r = put_fitted (f, &c, id, i);
    if (r == 0)
      r = save (&c, path);
  }
  config_destroy (&c);
  free (id);
  free (from);
  return r;
}
