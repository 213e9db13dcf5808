/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "record.h"
#include "results.h"
#include "spindle.h"

#define MAX_BYTES (256u << 20)

/* All of a file, or NULL with errno. */
static char *
read_all (const char *path)
{
  FILE *fp = fopen (path, "re");
  char *text = NULL;
  size_t n = 0, room = 0;

  if (fp == NULL)
    return NULL;
  do {
    room = room ? 2 * room : 65536;
    text = reallocate (text, room + 1, 1);
    n += fread (text + n, 1, room - n, fp);
  } while (n == room && room < MAX_BYTES);
  text[n] = '\0';
  fclose (fp);
  return text;
}

/* The string at PATH, or NULL. */
static char *
get (const char *text, const char *path)
{
  char *s = NULL;

  json_get_string (text, path, &s);
  return s;
}

static void
get_words (const char *text, const char *path, struct words *w)
{
  const char *array = json_find (text, path), *e = NULL;

  while ((e = json_each (array, e)) != NULL) {
    char *s = json_string_at (e);

    if (s)
      words_add (w, s);
    free (s);
  }
}

static void
load_figure (const char *text, struct record_figure *f)
{
  *f = (struct record_figure) {
    .name = get (text, "name"), .unit = get (text, "unit"),
    .sweep = get (text, "sweep"), .family = get (text, "family"),
  };
  f->measured = json_get_double (text, "value", &f->value) == 0;
  json_get_int (text, "ns", &f->ns);
  json_get_int (text, "at", &f->at);
}

static void
load_reported (const char *text, struct record_reported *r)
{
  char *over = get (text, "over");

  *r = (struct record_reported) {
    .name = get (text, "name"), .unit = get (text, "unit"),
    .kernel = get (text, "kernel"), .source = get (text, "source"),
    .verdict = get (text, "verdict"),
  };
  r->measured = json_get_double (text, "value", &r->value) == 0 &&
    json_get_double (text, "ratio", &r->ratio) == 0;
  json_get_double (text, "reported", &r->reported);
  json_get_double (text, "tolerance", &r->tolerance);
  if (over) {
    char *both = format ("%s / %s", r->name ? r->name : "?", over);

    free (r->name);
    r->name = both;
    free (over);
  }
  else
    r->figure = r->name ? format ("%s", r->name) : NULL;
}

static void
load_spent (const char *text, struct spent *s)
{
  int i;

  *s = (struct spent) { 0 };
  json_get_int (text, "commands", &s->commands);
  for (i = 0; i < N_PARTS; ++i) {
    char *path = format ("time_ns.%s", trace_part_names[i]);

    json_get_int (text, path, &s->part_ns[i]);
    free (path);
  }
}

static void
load_drives (const char *text, struct record *r)
{
  const char *array = json_find (text, "drives"), *e = NULL;

  while ((e = json_each (array, e)) != NULL) {
    char *title = get (e, "title"), *name = get (e, "name");
    char *trace = get (e, "trace");

    words_add (&r->drives, title ? title : name ? name : "?");
    r->spent = reallocate (r->spent, r->drives.n, sizeof *r->spent);
    load_spent (e, &r->spent[r->drives.n - 1]);
    if (trace)
      words_add (&r->traces, trace);
    get_words (e, "set", &r->set);
    free (title);
    free (name);
    free (trace);
  }
}

static void
load_lists (const char *text, struct record *r)
{
  const char *figures = json_find (text, "figures"), *e = NULL;
  const char *reported = json_find (text, "reported");

  while ((e = json_each (figures, e)) != NULL) {
    r->figures = reallocate (r->figures, r->n_figures + 1,
                             sizeof *r->figures);
    load_figure (e, &r->figures[r->n_figures++]);
  }
  while ((e = json_each (reported, e)) != NULL) {
    r->reported = reallocate (r->reported, r->n_reported + 1,
                              sizeof *r->reported);
    load_reported (e, &r->reported[r->n_reported++]);
  }
}

/* The run that TEXT begins with.  -1 if what names it is missing. */
static int
load_run (const char *text, struct record *r)
{
  *r = (struct record) {
    .text = format ("%.*s", (int) json_size (text), text),
    .folder = get (text, "folder"), .scenario = get (text, "scenario"),
    .title = get (text, "title"), .source = get (text, "source"),
    .note = get (text, "note"), .drive = get (text, "drive"),
    .machine = get (text, "machine"), .cpu = get (text, "cpu.text"),
    .memory = get (text, "memory"),
    .kernel = get (text, "kernel"), .verdict = get (text, "verdict"),
    .error = get (text, "error"), .clock = get (text, "clock"),
    .exactness = get (text, "exactness"),
  };
  json_get_int (text, "part", &r->part);
  json_get_int (text, "requests", &r->requests);
  json_get_bool (text, "exact", &r->exact);
  json_get_double (text, "virtual_s", &r->virtual_s);
  get_words (text, "plots", &r->plots);
  load_drives (text, r);
  load_lists (text, r);
  return r->folder && r->scenario && r->drive && r->verdict && r->clock &&
    r->part >= 1 && strchr (r->folder, '/') == NULL && r->folder[0] != '.'
    ? 0 : -1;
}

static int
load (const char *text, struct records *r)
{
  const char *runs = json_find (text, "runs"), *e = NULL;

  if (json_size (text) == 0 || runs == NULL)
    return -1;
  r->version = get (text, "spindle");
  r->matrix = get (text, "matrix");
  if (r->version == NULL || r->matrix == NULL ||
      json_get_int (text, "parts", &r->parts) == -1)
    return -1;
  while ((e = json_each (runs, e)) != NULL) {
    r->run = reallocate (r->run, r->n + 1, sizeof *r->run);
    if (load_run (e, &r->run[r->n++]) == -1)
      return -1;
  }
  return 0;
}

int
records_load (const char *folder, struct records *r)
{
  char *path = format ("%s/results.json", folder);
  char *text = read_all (path);
  int result = -1;

  *r = (struct records) { .where = format ("%s", folder) };
  if (text == NULL)
    complain ("%s: %s", path, strerror (errno));
  else if (load (text, r) == -1)
    complain ("%s: not the results of spindle %s", path, SPINDLE_VERSION);
  else
    result = 0;
  free (path);
  free (text);
  if (result == -1)
    records_free (r);
  return result;
}

static void
free_run (struct record *r)
{
  char *const strings[] = {
    r->text, r->folder, r->scenario, r->title, r->source, r->note, r->drive,
    r->machine, r->cpu, r->memory, r->kernel, r->verdict, r->error, r->clock,
    r->exactness,
  };
  size_t i;

  for (i = 0; i < sizeof strings / sizeof strings[0]; ++i)
    free (strings[i]);
  for (i = 0; i < r->n_figures; ++i) {
    free (r->figures[i].name);
    free (r->figures[i].unit);
    free (r->figures[i].sweep);
    free (r->figures[i].family);
  }
  for (i = 0; i < r->n_reported; ++i) {
    free (r->reported[i].name);
    free (r->reported[i].figure);
    free (r->reported[i].unit);
    free (r->reported[i].kernel);
    free (r->reported[i].source);
    free (r->reported[i].verdict);
  }
  free (r->spent);
  free (r->figures);
  free (r->reported);
  words_free (&r->drives);
  words_free (&r->set);
  words_free (&r->traces);
  words_free (&r->plots);
}

void
records_free (struct records *r)
{
  unsigned i;

  for (i = 0; i < r->n; ++i)
    free_run (&r->run[i]);
  free (r->run);
  free (r->where);
  free (r->version);
  free (r->matrix);
  *r = (struct records) { 0 };
}

/* Which of outcome_words the run's verdict is. */
static enum outcome
outcome_of (const char *verdict)
{
  enum outcome o = OUTCOME_SKIPPED;

  while (o < OUTCOME_FAILED && strcmp (outcome_words[o], verdict) != 0)
    ++o;
  return o;
}

enum outcome
record_outcome (const struct record *r)
{
  return outcome_of (r->verdict);
}

enum outcome
records_outcome (const struct records *r)
{
  enum outcome worst = OUTCOME_SKIPPED;
  unsigned i;

  for (i = 0; i < r->n; ++i)
    if (record_outcome (&r->run[i]) > worst)
      worst = record_outcome (&r->run[i]);
  return worst;
}

void
records_write (FILE *fp, const char *matrix, int64_t parts,
               const struct words *runs)
{
  struct json j = { .fp = fp };
  enum outcome worst = OUTCOME_SKIPPED;
  size_t i;

  for (i = 0; i < runs->n; ++i) {
    char *verdict = get (runs->word[i], "verdict");

    if (verdict && outcome_of (verdict) > worst)
      worst = outcome_of (verdict);
    free (verdict);
  }
  json_open (&j, NULL, '{');
  json_string (&j, "spindle", SPINDLE_VERSION);
  json_string (&j, "verdict", outcome_words[worst]);
  json_string (&j, "matrix", matrix);
  json_int (&j, "parts", parts);
  json_open (&j, "runs", '[');
  for (i = 0; i < runs->n; ++i)
    json_raw (&j, NULL, runs->word[i]);
  json_close (&j, ']');
  json_close (&j, '}');
}

const struct record_figure *
record_figure (const struct record *r, const char *name)
{
  unsigned i;

  for (i = 0; i < r->n_figures; ++i)
    if (r->figures[i].name && strcmp (r->figures[i].name, name) == 0)
      return &r->figures[i];
  return NULL;
}
