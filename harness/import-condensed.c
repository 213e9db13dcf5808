/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A condensed parameter file: "key: value", and three sections of indented
 * lines, for the zones, the seek curve and the controller.  And the small
 * files around it: slips as CSV, DiskSim's seek curve.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "import-impl.h"
#include "spindle.h"

enum section { NO_SECTION, ZONES, CURVE, CONTROLLER };

/* Cut the next word off *line: up to white space or one of STOPS. */
static char *
next_word (char **line, const char *stops)
{
  char *word = *line + strspn (*line, " \t"), *end;

  word += strspn (word, stops);
  word += strspn (word, " \t");
  end = word;
  while (*end && !isspace ((unsigned char) *end) && !strchr (stops, *end))
    end++;
  *line = *end ? end + 1 : end;
  *end = '\0';
  return word;
}

static void
cut_end (char *text)
{
  size_t n = strlen (text);

  while (n > 0 && isspace ((unsigned char) text[n - 1]))
    text[--n] = '\0';
}

static int
zone_row (struct import *in, char *line)
{
  struct import_zone *zone = import_add_zone (in);
  int64_t n;

  if (zone == NULL)
    return -1;
  for (int i = 0; i < IMPORT_ZONE_COLUMNS; i++)
    if (import_put_zone (in, zone, i, next_word (&line, "")) == -1)
      return -1;
  for (int i = 0; i < 2; i++) {
    const char *word = next_word (&line, "");

    if (*word == '\0')
      return 0;
    if (import_number (in, i ? "n_defects" : "n_slips", word, 0, 0, 1000000,
                       &n) == -1)
      return -1;
    *(i ? &zone->n_defects : &zone->n_expected) = (size_t) n;
  }
  return 0;
}

/* "NAME = VALUE", and perhaps another one. */
static int
controller_row (struct import *in, char *line)
{
  while (*line) {
    char *equals = strchr (line, '='), *value;
    enum import_key key;

    if (equals == NULL)
      return import_fail (in, "line", line, "NAME = VALUE is allowed");
    *equals++ = '\0';
    cut_end (line);
    value = next_word (&equals, "");
    key = import_find (line, true);
    if (key != IMPORT_NO_KEY) {
      if (import_put (in, key, line, value) == -1)
        return -1;
    }
    else if (!import_beside_the_point (line))
      import_note (in, "%s = %s: not a parameter spindle knows", line, value);
    line = equals + strspn (equals, " \t");
  }
  return 0;
}

static int
section_row (struct import *in, enum section section, char *line)
{
  const char *word;

  switch (section) {
  case ZONES:
    return zone_row (in, line);
  case CURVE:
    word = next_word (&line, "");
    return import_put_point (in, word, next_word (&line, ""));
  case CONTROLLER:
    return controller_row (in, line);
  case NO_SECTION:
    break;
  }
  return import_fail (in, "line", line, "is indented outside of a section");
}

/* "[1, 2, 3]" */
static int
list (struct import *in, char *text,
      int (*put) (struct import *in, const char *text))
{
  const char *word;

  while (*(word = next_word (&text, "[],")))
    if (put (in, word) == -1)
      return -1;
  return 0;
}

/* "bus BUS1 type = 1; Read block transfer time = 0.17; ..." */
static int
bus_line (struct import *in, char *line)
{
  char *part = line;

  while (part) {
    char *next = strchr (part, ';'), *equals;

    if (next)
      *next++ = '\0';
    part += strspn (part, " \t");
    equals = strchr (part, '=');
    if (equals) {
      *equals++ = '\0';
      cut_end (part);
      if (import_put_bus (in, part, next_word (&equals, "")) == -1)
        return -1;
    }
    part = next;
  }
  return 0;
}

static bool
is_key (const char *line, const char *key)
{
  size_t n = strlen (key);

  return strncmp (line, key, n) == 0 && strchr (": \t[(", line[n]) &&
    line[n] != '\0';
}

static int
unknown_key (struct import *in, const char *key)
{
  const char *names[IMPORT_N_KEYS + 1], *near;
  size_t n = 0;

  for (int i = 0; i < IMPORT_N_KEYS; i++)
    if (import_keys[i].short_name)
      names[n++] = import_keys[i].short_name;
  names[n] = NULL;
  near = nearest_word (key, names);
  return near ? import_fail (in, key, NULL, "unknown; did you mean %s?", near)
              : import_fail (in, key, NULL, "unknown");
}

static int
layout_type (struct import *in, const char *value)
{
  if (strcmp (value, "dm_layout_g1") == 0)
    return 0;
  return import_fail (in, "layout_type", value, "only dm_layout_g1 is "
                      "allowed");
}

static int
key_line (struct import *in, char *line, enum section *section)
{
  char *value = strchr (line, ':');
  enum import_key key;

  *section = NO_SECTION;
  if (is_key (line, "bus"))
    return bus_line (in, line);
  if (value == NULL)
    return import_fail (in, "line", line, "KEY: VALUE is allowed");
  if (is_key (line, "zones"))
    *section = ZONES;
  else if (is_key (line, "seek_curve"))
    *section = CURVE;
  else if (is_key (line, "disksim_disk"))
    *section = CONTROLLER;
  if (*section != NO_SECTION)
    return 0;
  *value++ = '\0';
  value += strspn (value, " \t");
  line[strcspn (line, " \t[(")] = '\0';
  if (strcmp (line, "name") == 0) {
    free (in->drive.name);
    in->drive.name = format ("%s", value);
    return 0;
  }
  if (strcmp (line, "layout_type") == 0)
    return layout_type (in, value);
  if (strcmp (line, "hpl_seek_equation") == 0)
    return list (in, value, import_put_hpl);
  if (strcmp (line, "first_ten_seek_ms") == 0)
    return list (in, value, import_put_first_ten);
  key = import_find (line, true);
  if (key == IMPORT_NO_KEY)
    return unknown_key (in, line);
  return strcmp (value, "None") == 0 ? 0 : import_put (in, key, line, value);
}

int
import_condensed (struct import *in, char *text)
{
  enum section section = NO_SECTION;
  bool indented;
  char *line;

  in->line = 0;
  while ((line = import_line (in, &text, &indented)) != NULL)
    if ((indented ? section_row (in, section, line)
                  : key_line (in, line, &section)) == -1)
      return -1;
  return 0;
}

/* ---- slips ---- */

static int
slip_row (struct import *in, char *line)
{
  struct import_drive *d = &in->drive;
  char *field[3];
  int64_t zone;

  for (int i = 0; i < 3; i++) {
    field[i] = line;
    if (line)
      strsep (&line, ",");
    if (field[i] == NULL)
      return import_fail (in, "slips", field[0],
                          "ZONE,KIND,SECTOR is allowed");
  }
  if (import_number (in, "zone", field[0], 0, 0, (int64_t) d->n_zones - 1,
                     &zone) == -1)
    return -1;
  if (strcmp (field[1], "slip") == 0)
    return import_put_slip (in, &d->zone[zone], field[2]);
  if (strcmp (field[1], "defect") != 0)
    return import_fail (in, "kind", field[1], "slip or defect");
  d->zone[zone].n_defects++;
  return 0;
}

static int
read_slips (struct import *in, char *text)
{
  bool indented, first = true;
  char *line;

  in->line = 0;
  for (; (line = import_line (in, &text, &indented)) != NULL; first = false) {
    if (first && !isdigit ((unsigned char) *line))
      continue;                 /* names of the columns */
    if (slip_row (in, line) == -1)
      return -1;
  }
  return 0;
}

int
import_read_slips (struct import *in, int fd, const char *path)
{
  struct import_drive *d = &in->drive;
  char *text;
  int r = -1;

  in->file = path;
  in->line = 0;
  for (size_t i = 0; i < d->n_zones; i++)
    if (d->zone[i].n_slips > 0)
      return import_fail (in, "slips", NULL, "%s has its own", in->path);
  /* The file says it all. */
  for (size_t i = 0; i < d->n_zones; i++)
    d->zone[i].n_defects = d->zone[i].n_expected = 0;
  text = import_text (in, fd);
  if (text) {
    r = read_slips (in, text);
    words_add (&in->files, path);
  }
  free (text);
  in->file = in->path;
  in->line = 0;
  return r;
}

/* ---- DiskSim's seek curve: "distance, ms" ---- */

int
import_seek_text (struct import *in, char *text)
{
  bool indented, more = false;
  char *line;

  in->line = 0;
  while ((line = import_line (in, &text, &indented)) != NULL) {
    const char *distance, *ms;

    if (in->drive.n_points == 0 && !isdigit ((unsigned char) *line))
      continue;                 /* "Seek distances measured: 103" */
    distance = next_word (&line, ",");
    ms = next_word (&line, ",");
    if (import_put_point (in, distance, ms) == -1)
      return -1;
    more |= *next_word (&line, ",") != '\0';
  }
  if (more)
    import_note (in, "%s: only the first two columns are used", in->file);
  return 0;
}
