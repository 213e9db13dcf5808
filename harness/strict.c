/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spindle.h"
#include "strict.h"

/* "steps[2].block-kib".  The caller frees it. */
static char *
key_of (const config_setting_t *setting)
{
  const config_setting_t *parent = config_setting_parent (setting);
  char *head, *r;

  if (parent == NULL)
    return format ("%s", "");
  head = key_of (parent);
  if (config_setting_name (setting))
    r = format ("%s%s%s", head, *head ? "." : "",
                config_setting_name (setting));
  else
    r = format ("%s[%d]", head, config_setting_index (setting));
  free (head);
  return r;
}

/* The value as it would be written, or NULL for a group or list. */
static char *
value_of (const config_setting_t *setting)
{
  switch (config_setting_type (setting)) {
  case CONFIG_TYPE_INT:
  case CONFIG_TYPE_INT64:
    return format ("%lld", config_setting_get_int64 (setting));
  case CONFIG_TYPE_FLOAT:
    return format ("%g", config_setting_get_float (setting));
  case CONFIG_TYPE_BOOL:
    return format ("%s", config_setting_get_bool (setting)
                   ? "true" : "false");
  case CONFIG_TYPE_STRING:
    return format ("\"%s\"", config_setting_get_string (setting));
  default:
    return NULL;
  }
}

int
strict_fail (struct strict *s, const config_setting_t *setting,
             const char *fmt, ...)
{
  char *text, *key, *value, *where;
  va_list args;

  if (s->error)
    return -1;
  va_start (args, fmt);
  text = format_args (fmt, args);
  va_end (args);
  if (setting == NULL)
    s->error = format ("%s: %s", s->path, text);
  else {
    const char *file = config_setting_source_file (setting);

    key = key_of (setting);
    value = value_of (setting);
    where = config_setting_is_root (setting)
      ? format ("%s", s->path)
      : format ("%s:%u: %s", file ? file : s->path,
                config_setting_source_line (setting), key);
    s->error = format ("%s: %s%s%s", where, value ? value : "",
                       value ? ": " : "", text);
    free (where);
    free (key);
    free (value);
  }
  /* One line, whatever the file has in it. */
  for (char *c = s->error; *c; c++)
    if (iscntrl ((unsigned char) *c))
      *c = '?';
  free (text);
  return -1;
}

int
strict_open (struct strict *s, const char *path)
{
  const char *slash = strrchr (path, '/');
  struct stat st;
  char *folder;

  s->path = path;
  s->error = NULL;
  config_init (&s->config);
  if (access (path, R_OK) == -1)
    return strict_fail (s, NULL, "%s", strerror (errno));
  /* A pipe would make us wait, a device never end. */
  if (stat (path, &st) == -1 || !S_ISREG (st.st_mode))
    return strict_fail (s, NULL, "not a regular file");
  if (slash) {
    folder = format ("%.*s", (int) (slash - path), path);
    config_set_include_dir (&s->config, folder);
    free (folder);
  }
  if (config_read_file (&s->config, path))
    return 0;
  if (config_error_line (&s->config) == 0)
    return strict_fail (s, NULL, "%s", config_error_text (&s->config));
  s->error = format ("%s:%d: %s", config_error_file (&s->config)
                     ? config_error_file (&s->config) : path,
                     config_error_line (&s->config),
                     config_error_text (&s->config));
  return -1;
}

void
strict_close (struct strict *s)
{
  config_destroy (&s->config);
  free (s->error);
  s->error = NULL;
}

static bool
is_one_of (const char *word, const char *const *list)
{
  for (; *list; ++list)
    if (strcmp (word, *list) == 0)
      return true;
  return false;
}

int
strict_keys (struct strict *s, const config_setting_t *group,
             const char *const *keys)
{
  int i, n = config_setting_length (group);

  for (i = 0; i < n; ++i) {
    const config_setting_t *member = config_setting_get_elem (group, i);
    const char *name = config_setting_name (member), *near;

    if (is_one_of (name, keys))
      continue;
    near = nearest_word (name, keys);
    return near
      ? strict_fail (s, member, "unknown key; did you mean %s?", near)
      : strict_fail (s, member, "unknown key");
  }
  return s->error ? -1 : 0;
}

config_setting_t *
strict_need (struct strict *s, config_setting_t *group, const char *key)
{
  config_setting_t *r = config_setting_get_member (group, key);

  if (r == NULL)
    strict_fail (s, group, "%s is missing", key);
  return r;
}

int
strict_groups (struct strict *s, const config_setting_t *setting, int min)
{
  int i, n;

  if (!config_setting_is_list (setting))
    return strict_fail (s, setting, "a list of groups, ( { ... }, ... )");
  n = config_setting_length (setting);
  if (n < min)
    return strict_fail (s, setting, "at least %d group%s", min,
                        min == 1 ? "" : "s");
  for (i = 0; i < n; ++i) {
    const config_setting_t *e = config_setting_get_elem (setting, i);

    if (!config_setting_is_group (e))
      return strict_fail (s, e, "a group, { ... }");
  }
  return 0;
}

int
strict_int (struct strict *s, config_setting_t *group, const char *key,
            int64_t min, int64_t max, int64_t *r)
{
  config_setting_t *m = config_setting_get_member (group, key);
  int type;
  long long n;

  if (m == NULL)
    return s->error ? -1 : 0;
  type = config_setting_type (m);
  n = config_setting_get_int64 (m);
  if ((type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64) ||
      n < min || n > max)
    return strict_fail (s, m, "a whole number from %lld to %lld",
                        (long long) min, (long long) max);
  *r = n;
  return s->error ? -1 : 0;
}

int
strict_number (struct strict *s, config_setting_t *group, const char *key,
               double min, double max, double *r)
{
  config_setting_t *m = config_setting_get_member (group, key);
  double n = 0;

  if (m == NULL)
    return s->error ? -1 : 0;
  switch (config_setting_type (m)) {
  case CONFIG_TYPE_INT:
  case CONFIG_TYPE_INT64:
    n = config_setting_get_int64 (m);
    break;
  case CONFIG_TYPE_FLOAT:
    n = config_setting_get_float (m);
    break;
  default:
    return strict_fail (s, m, "a number from %g to %g", min, max);
  }
  if (!(n >= min && n <= max))
    return strict_fail (s, m, "a number from %g to %g", min, max);
  *r = n;
  return s->error ? -1 : 0;
}

int
strict_bool (struct strict *s, config_setting_t *group, const char *key,
             bool *r)
{
  config_setting_t *m = config_setting_get_member (group, key);

  if (m == NULL)
    return s->error ? -1 : 0;
  if (config_setting_type (m) != CONFIG_TYPE_BOOL)
    return strict_fail (s, m, "true or false");
  *r = config_setting_get_bool (m);
  return s->error ? -1 : 0;
}

int
strict_string (struct strict *s, config_setting_t *group, const char *key,
               char **r)
{
  config_setting_t *m = config_setting_get_member (group, key);

  /* A caller that fails has nothing to free. */
  if (s->error)
    return -1;
  if (m == NULL)
    return 0;
  if (config_setting_type (m) != CONFIG_TYPE_STRING)
    return strict_fail (s, m, "a string, \"...\"");
  free (*r);
  *r = format ("%s", config_setting_get_string (m));
  return 0;
}

int
strict_choice (struct strict *s, config_setting_t *group, const char *key,
               const char *const *choices, int *r)
{
  config_setting_t *m = config_setting_get_member (group, key);
  const char *word;
  char *list, *longer;
  int i;

  if (m == NULL)
    return s->error ? -1 : 0;
  word = config_setting_get_string (m);
  for (i = 0; choices[i]; ++i)
    if (word && strcmp (word, choices[i]) == 0) {
      *r = i;
      return s->error ? -1 : 0;
    }
  list = format ("\"%s\"", choices[0]);
  for (i = 1; choices[i]; ++i) {
    longer = format ("%s%s\"%s\"", list, choices[i+1] ? ", " : " or ",
                     choices[i]);
    free (list);
    list = longer;
  }
  strict_fail (s, m, "%s", list);
  free (list);
  return -1;
}
