/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a profile file to a struct profile.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader-impl.h"

#define MAX_FILE_SIZE (1024 * 1024)

static const char *const marks[] = {
  "measured", "spec", "spec-sibling", "derived", "estimated", "fitted", NULL
};

/* One line, whatever bytes the file or the command line had in it. */
static void
set_error (struct load *load, const char *format, va_list args)
{
  free (load->error);
  if (vasprintf (&load->error, format, args) == -1) {
    load->error = NULL;
    return;
  }
  for (char *c = load->error; *c; c++)
    if (iscntrl ((unsigned char) *c))
      *c = '?';
}

int
fail (struct load *load, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  set_error (load, format, args);
  va_end (args);
  return -1;
}

int
fail_key (struct load *load, const struct key *key, const char *value,
          const char *format, ...)
{
  const struct origin *origin = &load->origin[key - keys];
  char *what;
  va_list args;

  va_start (args, format);
  if (vasprintf (&what, format, args) == -1)
    what = NULL;
  va_end (args);

  if (what == NULL)
    fail (load, "%s: out of memory", load->file);
  else if (origin->override)
    fail (load, "set=%s: %s", origin->override, what);
  else if (origin->line)
    fail (load, "%s:%u: %s: %s%s%s", load->file, origin->line, key->path,
          value ? value : "", value && *value ? ": " : "", what);
  else
    fail (load, "%s: %s: %s", load->file, key->path, what);
  free (what);
  return -1;
}

bool
key_given (const struct load *load, const char *path)
{
  const struct origin *origin = &load->origin[key_find (path) - keys];

  return origin->line || origin->override;
}

/* ---- marks and sources ---- */

static bool
source_known (const struct load *load, const char *id, size_t len)
{
  const config_setting_t *sources = config_lookup (&load->config, "sources");
  const int n = sources ? config_setting_length (sources) : 0;

  for (int i = 0; i < n; i++) {
    const char *known = NULL;

    config_setting_lookup_string (config_setting_get_elem (sources, i), "id",
                                  &known);
    if (strlen (known) == len && memcmp (known, id, len) == 0)
      return true;
  }
  return false;
}

static int
check_source (struct load *load, const struct key *key, const char *ids)
{
  size_t len;

  ids += strspn (ids, ", ");
  if (*ids == '\0')
    return fail_key (load, key, NULL, "the source is empty; an id from "
                     "sources is allowed");
  for (; *ids; ids += len, ids += strspn (ids, ", ")) {
    len = strcspn (ids, ", ");
    if (! source_known (load, ids, len))
      return fail_key (load, key, NULL, "source \"%.*s\": not in the list "
                       "of sources of this file",
                       (int) (len < 40 ? len : 40), ids);
  }
  return 0;
}

static int
check_mark (struct load *load, const struct key *key, const char *mark,
            bool has_note)
{
  struct nearest nearest;
  bool known = false;

  nearest_start (&nearest, mark);
  for (size_t i = 0; marks[i]; i++) {
    known |= strcmp (marks[i], mark) == 0;
    nearest_offer (&nearest, marks[i]);
  }
  if (! known)
    return fail_key (load, key, NULL, "mark \"%.40s\": measured, spec, "
                     "spec-sibling, derived, estimated or fitted is "
                     "allowed%s", mark, nearest_hint (&nearest));
  /* Somebody's reasoning is only as good as its words. */
  if (! has_note && (strcmp (mark, "derived") == 0 ||
                     strcmp (mark, "estimated") == 0 ||
                     strcmp (mark, "fitted") == 0))
    return fail_key (load, key, NULL, "%s figures need a fourth item that "
                     "says how or why", mark);
  return 0;
}

/* ( value, "mark", "source" [, "note"] ): returns the value. */
static config_setting_t *
open_figure (struct load *load, const struct key *key,
             const config_setting_t *setting)
{
  const int n = config_setting_length (setting);
  const char *item[3] = { NULL, NULL, NULL };

  for (int i = 1; i < n && i < 4; i++)
    item[i - 1] = config_setting_get_string_elem (setting, i);
  if (n < 3 || n > 4 || ! item[0] || ! item[1] || (n == 4 && ! item[2])) {
    fail_key (load, key, NULL, "not of the form ( value, \"mark\", "
              "\"source\" ) or ( value, \"mark\", \"source\", \"note\" )");
    return NULL;
  }
  if (check_mark (load, key, item[0], n == 4) == -1 ||
      check_source (load, key, item[1]) == -1)
    return NULL;
  return config_setting_get_elem (setting, 0);
}

/* An id without blanks or commas, a text, and perhaps an address. */
static bool
source_is_good (const config_setting_t *source)
{
  const char *id, *text, *url;
  int known;

  if (config_setting_type (source) != CONFIG_TYPE_GROUP ||
      ! config_setting_lookup_string (source, "id", &id) ||
      ! config_setting_lookup_string (source, "text", &text))
    return false;
  known = 2 + config_setting_lookup_string (source, "url", &url);
  return *id && *text && ! strpbrk (id, ", ") &&
    config_setting_length (source) == known;
}

/* Every other key may refer to them, so they are checked first. */
static int
check_sources (struct load *load)
{
  const struct key *key = key_find ("sources");
  const config_setting_t *list = config_lookup (&load->config, "sources");
  const int n = list ? config_setting_length (list) : 0;

  if (list && config_setting_type (list) != CONFIG_TYPE_LIST)
    return list_bad (load, key, list);
  for (int i = 0; i < n; i++)
    if (! source_is_good (config_setting_get_elem (list, i)))
      return list_bad (load, key, config_setting_get_elem (list, i));
  return 0;
}

/* ---- keys ---- */

static int
read_key (struct load *load, const struct key *key, config_setting_t *setting)
{
  const bool figure = config_setting_type (setting) == CONFIG_TYPE_LIST;
  struct value value;

  load->origin[key - keys].line = config_setting_source_line (setting);
  value_from_setting (&value, setting);
  if (key->kind == KEY_SOURCES)
    return 0;                   /* done */
  if (! figure && key_wants_mark (key))
    return fail_key (load, key, value.shown, "a figure needs its mark and "
                     "source: %s = ( %s, \"mark\", \"source\" );",
                     config_setting_name (setting),
                     value.type == VALUE_OTHER ? "..." : value.shown);
  if (figure && key->kind != KEY_TEXT) {
    setting = open_figure (load, key, setting);
    if (setting == NULL)
      return -1;
    value_from_setting (&value, setting);
  }
  switch (key->kind) {
  case KEY_ZONES:
    return list_zones (load, key, setting);
  case KEY_REMAPS:
    return list_remaps (load, key, setting);
  case KEY_HOLES:
    return list_holes (load, key, setting);
  case KEY_SEEK_TABLE:
    return list_seek_points (load, key, setting);
  default:
    return value_put (load, key, &value);
  }
}

static void
offer_keys (struct nearest *nearest, const char *word)
{
  nearest_start (nearest, word);
  for (size_t i = 0; i < n_keys; i++)
    nearest_offer (nearest, keys[i].path);
  if (nearest->best[0])
    return;
  /* Perhaps only the group was forgotten. */
  for (size_t i = 0; i < n_keys; i++) {
    const char *dot = strrchr (keys[i].path, '.');

    if (dot && strcmp (dot + 1, word) == 0) {
      snprintf (nearest->best, sizeof nearest->best, "%s", keys[i].path);
      return;
    }
  }
}

static int
read_group (struct load *load, const config_setting_t *group,
            const char *prefix)
{
  const int n = config_setting_length (group);

  for (int i = 0; i < n; i++) {
    config_setting_t *setting = config_setting_get_elem (group, i);
    const unsigned line = config_setting_source_line (setting);
    char path[128];
    const struct key *key;
    struct nearest nearest;

    snprintf (path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "",
              config_setting_name (setting));
    key = key_find (path);
    if (key) {
      if (read_key (load, key, setting) == -1)
        return -1;
    } else if (! key_is_group (path)) {
      offer_keys (&nearest, path);
      return fail (load, "%s:%u: %s: unknown key%s", load->file, line, path,
                   nearest_hint (&nearest));
    } else if (config_setting_type (setting) != CONFIG_TYPE_GROUP)
      return fail (load, "%s:%u: %s: a group { ... } is allowed",
                   load->file, line, path);
    else if (read_group (load, setting, path) == -1)
      return -1;
  }
  return 0;
}

/* ---- the file ---- */

static char *
read_fd (struct load *load, int fd, size_t *len)
{
  struct stat st;
  char *text;
  ssize_t n = 1;

  if (fstat (fd, &st) == -1 || ! S_ISREG (st.st_mode)) {
    fail (load, "%s: not a regular file", load->file);
    return NULL;
  }
  text = malloc (MAX_FILE_SIZE + 2);
  if (text == NULL) {
    fail (load, "%s: out of memory", load->file);
    return NULL;
  }
  for (*len = 0; n > 0 && *len <= MAX_FILE_SIZE; *len += n) {
    n = read (fd, text + *len, MAX_FILE_SIZE + 1 - *len);
    if (n == -1) {
      fail (load, "%s: %s", load->file, strerror (errno));
      free (text);
      return NULL;
    }
  }
  if (*len > MAX_FILE_SIZE) {
    fail (load, "%s: larger than 1 MiB: not a profile", load->file);
    free (text);
    return NULL;
  }
  text[*len] = '\0';
  return text;
}

static char *
read_text (struct load *load, size_t *len)
{
  const int fd = open (load->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  char *text;

  if (fd == -1) {
    fail (load, "%s: %s", load->file, strerror (errno));
    return NULL;
  }
  text = read_fd (load, fd, len);
  close (fd);
  return text;
}

/* libconfig says only "syntax error": show the line. */
static int
fail_syntax (struct load *load, const char *text)
{
  const unsigned line = config_error_line (&load->config);
  size_t len;

  for (unsigned i = 1; i < line && strchr (text, '\n'); i++)
    text = strchr (text, '\n') + 1;
  text += strspn (text, " \t\r");
  len = strcspn (text, "\r\n");
  return fail (load, "%s:%u: %.*s%s%s", load->file, line,
               (int) (len < 60 ? len : 60), text, len ? ": " : "",
               config_error_text (&load->config));
}

static int
parse_file (struct load *load)
{
  size_t len;
  char *text = read_text (load, &len);
  int r;

  if (text == NULL)
    return -1;
  r = scan_text (load, text, len);
  if (r == 0 && ! config_read_string (&load->config, text))
    r = fail_syntax (load, text);
  free (text);
  return r;
}

/* ---- overrides and defaults ---- */

static int
apply_override (struct load *load, const char *override)
{
  const char *equals = strchr (override, '=');
  const struct key *key;
  struct nearest nearest;
  struct value value;
  char path[80];

  if (equals == NULL || equals == override)
    return fail (load, "set=%s: KEY=VALUE is allowed", override);
  snprintf (path, sizeof path, "%.*s", (int) (equals - override), override);
  key = key_find (path);
  if (key == NULL && key_is_group (path))
    return fail (load, "set=%s: %s is a group; set=%s.KEY=VALUE is allowed",
                 override, path, path);
  if (key == NULL) {
    offer_keys (&nearest, path);
    return fail (load, "set=%s: unknown key%s", override,
                 nearest_hint (&nearest));
  }
  load->origin[key - keys].override = override;
  value_from_text (&value, equals + 1);
  return value_put (load, key, &value);
}

static int
apply_defaults (struct load *load)
{
  for (size_t i = 0; i < n_keys; i++) {
    const struct key *key = &keys[i];
    struct value value;

    if (load->origin[i].line || load->origin[i].override)
      continue;
    if (key->need == NEED_ALWAYS ||
        (key->need == NEED_TIMED && ! load->profile.instant))
      return fail_key (load, key, NULL, "is missing: %s", key->text);
    if (key->fallback == NULL)
      continue;
    value_from_text (&value, key->fallback);
    if (value_put (load, key, &value) == -1)
      return -1;
  }
  return 0;
}

/* The name of a drive is that of its file. */
static int
set_name (struct load *load)
{
  const char *slash = strrchr (load->file, '/');
  const char *base = slash ? slash + 1 : load->file;
  size_t len = strlen (base);

  if (len > 4 && strcmp (base + len - 4, ".cfg") == 0)
    len -= 4;
  if (len >= sizeof load->profile.name)
    return fail (load, "%s: a file name of at most %zu characters is allowed",
                 load->file, sizeof load->profile.name - 1 + 4);
  memcpy (load->profile.name, base, len);
  return 0;
}

static int
load_file (struct load *load, const char *const *overrides,
           size_t n_overrides)
{
  if (set_name (load) == -1 || parse_file (load) == -1 ||
      check_sources (load) == -1 ||
      read_group (load, config_root_setting (&load->config), "") == -1)
    return -1;
  for (size_t i = 0; i < n_overrides; i++)
    if (apply_override (load, overrides[i]) == -1)
      return -1;
  return apply_defaults (load) == -1 ? -1 : check_profile (load);
}

static bool
is_path (const char *name)
{
  const size_t len = strlen (name);

  return strchr (name, '/') ||
    (len > 4 && strcmp (name + len - 4, ".cfg") == 0);
}

void
load_free (struct load *load)
{
  config_destroy (&load->config);
  free (load->found);
  free (load);
}

struct load *
load_new (const char *name_or_path, const char *const *overrides,
          size_t n_overrides, char **error)
{
  struct load *load = calloc (1, sizeof *load);

  *error = NULL;
  if (load == NULL)
    return NULL;
  config_init (&load->config);
  load->file = name_or_path;
  if (! is_path (name_or_path))
    load->file = load->found = profile_find (load, name_or_path);
  if (load->file && load_file (load, overrides, n_overrides) == 0)
    return load;
  *error = load->error;
  load_free (load);
  return NULL;
}

int
profile_load (const char *name_or_path, const char *const *overrides,
              size_t n_overrides, struct profile *profile, char **error)
{
  struct load *load = load_new (name_or_path, overrides, n_overrides, error);

  if (load == NULL)
    return -1;
  *profile = load->profile;
  load_free (load);
  return 0;
}
