/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle profile list, show, diff: what profiles say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "loader.h"
#include "options.h"
#include "profile-command.h"
#include "spindle.h"
#include "table.h"

/* What all three commands are given. */
struct arguments {
  struct words names;
  bool json;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  (void) name;
  (void) value;
  ((struct arguments *) opaque)->json = true;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  (void) after_dashes;
  words_add (&((struct arguments *) opaque)->names, word);
  return 0;
}

/* Returns -1 to go on, else the exit status. */
static int
parse (int argc, char **argv, const char *help, size_t n_names,
       struct arguments *a)
{
  static const struct option_def defs[] = {
    { "--json", NULL }, { NULL, NULL }
  };
  int r = options_parse (argc, argv, defs, on_option, on_word, a);

  if (r == 1)
    fputs (help, stdout);
  else if (r == 0 && a->names.n != n_names) {
    complain ("profile %s: %zu name%s wanted; try 'spindle profile %s "
              "--help'", argv[0], n_names, n_names == 1 ? "" : "s", argv[0]);
    r = -1;
  }
  return r == 0 ? -1 : r == 1 ? 0 : EXIT_USAGE;
}

static int
refuse (char *error)
{
  complain ("%s", error ? error : "out of memory");
  free (error);
  return EXIT_USAGE;
}

/* ---- list ---- */

static const char list_help[] =
"usage: spindle profile list [--json]\n"
"\n"
"The drives that can be named: those of SPINDLE_PATH, your own, and those\n"
"that came with spindle.\n";

struct listing {
  struct words names, paths;
};

static void
add_listed (void *opaque, const char *name, const char *path)
{
  struct listing *l = opaque;

  words_add (&l->names, name);
  words_add (&l->paths, path);
}

static void
list_json (struct json *j, const struct profile *p, const char *name,
           const char *path, const char *error)
{
  json_open (j, NULL, '{');
  json_string (j, "name", name);
  json_string (j, "path", path);
  if (error)
    json_string (j, "error", error);
  else {
    json_string (j, "title", p->title);
    json_int (j, "sectors", p->geometry.sectors);
    json_double (j, "rpm", p->geometry.rpm_x100 / 100.0);
    json_double (j, "buffer_kib", (double) p->buffer.size_bytes / 1024);
  }
  json_close (j, '}');
}

static void
list_row (struct table *t, const struct profile *p, const char *name,
          const char *error)
{
  table_cell (t, "%s", name);
  if (error) {
    table_cell (t, "%s", "");
    table_cell (t, "%s", "");
    table_cell (t, "%s", error);
    return;
  }
  table_cell (t, "%.1f GB", (double) p->geometry.sectors * 512e-9);
  if (p->instant)
    table_cell (t, "-");
  else
    table_cell (t, "%g rpm", p->geometry.rpm_x100 / 100.0);
  table_cell (t, "%s", p->title);
}

int
command_profile_list (int argc, char **argv)
{
  struct arguments a = { 0 };
  int r = parse (argc, argv, list_help, 0, &a);
  struct json j = { .fp = stdout };
  struct table t = { .columns = 4 };
  struct listing l = { 0 };

  words_free (&a.names);
  if (r != -1)
    return r;
  if (profile_list (add_listed, &l) == -1)
    return refuse (NULL);
  if (a.json)
    json_open (&j, NULL, '[');
  r = EXIT_REPRODUCED;
  for (size_t i = 0; i < l.names.n; i++) {
    struct profile p;
    char *error = NULL;

    if (profile_load (l.names.word[i], NULL, 0, &p, &error) == -1)
      r = EXIT_NOT_REPRODUCED;
    if (a.json)
      list_json (&j, &p, l.names.word[i], l.paths.word[i], error);
    else
      list_row (&t, &p, l.names.word[i], error);
    free (error);
  }
  if (a.json)
    json_close (&j, ']');
  else
    table_print (&t, 1 << 3, stdout);
  words_free (&l.names);
  words_free (&l.paths);
  return r;
}

int
profile_names (struct words *w)
{
  struct listing l = { 0 };

  if (profile_list (add_listed, &l) == -1) {
    complain ("out of memory");
    return -1;
  }
  for (size_t i = 0; i < l.names.n; i++)
    words_add (w, l.names.word[i]);
  words_free (&l.names);
  words_free (&l.paths);
  return 0;
}

/* ---- show ---- */

static const char show_help[] =
"usage: spindle profile show [--json] NAME\n"
"\n"
"Everything the profile says, with mark, source and note.\n";

struct showing {
  struct json *j;               /* NULL: text */
  bool sources_open;
};

static void
show_value (void *opaque, const struct profile_value *v)
{
  struct showing *s = opaque;

  if (!v->given)
    return;
  if (s->j) {
    json_open (s->j, v->path, '{');
    json_string (s->j, "value", v->value);
    if (v->mark) {
      json_string (s->j, "mark", v->mark);
      json_string (s->j, "source", v->source);
    }
    if (v->note)
      json_string (s->j, "note", v->note);
    json_close (s->j, '}');
    return;
  }
  printf ("%s = %s", v->path, v->value);
  if (v->mark)
    printf ("   [%s, %s]", v->mark, v->source);
  printf ("\n");
  if (v->note && *v->note)
    printf ("    %s\n", v->note);
}

static void
show_source (void *opaque, const char *id, const char *text, const char *url)
{
  struct showing *s = opaque;

  if (!s->sources_open) {
    s->sources_open = true;
    if (s->j)
      json_open (s->j, "sources", '{');
    else
      printf ("\n");
  }
  if (s->j) {
    json_open (s->j, id, '{');
    json_string (s->j, "text", text);
    json_string (s->j, "url", url);
    json_close (s->j, '}');
  }
  else
    printf ("%s: %s%s%s%s\n", id, text, url ? " <" : "", url ? url : "",
            url ? ">" : "");
}

int
command_profile_show (int argc, char **argv)
{
  static const struct profile_visitor visitor = {
    .value = show_value, .source = show_source,
  };
  struct arguments a = { 0 };
  int r = parse (argc, argv, show_help, 1, &a);
  struct json j = { .fp = stdout };
  struct showing s = { .j = a.json ? &j : NULL };
  struct profile p;
  char *error;

  if (r == -1 &&
      profile_load (a.names.word[0], NULL, 0, &p, &error) == -1)
    r = refuse (error);
  if (r == -1) {
    if (a.json)
      json_open (&j, NULL, '{');
    if (profile_describe (a.names.word[0], NULL, 0, NULL, &visitor, &s,
                          &error) == -1)
      r = refuse (error);
    if (s.j && s.sources_open)
      json_close (&j, '}');
    if (a.json)
      json_close (&j, '}');
  }
  words_free (&a.names);
  return r == -1 ? EXIT_REPRODUCED : r;
}

/* ---- diff ---- */

static const char diff_help[] =
"usage: spindle profile diff [--json] A B\n"
"\n"
"What is not the same in two profiles.  Exit status 1 if there is anything.\n";

static void
keep_value (void *opaque, const struct profile_value *v)
{
  words_add (opaque, v->path);
  words_add (opaque, v->value);
}

/* Long lists: where they begin to differ. */
static void
print_side (struct table *t, const char *value, size_t same)
{
  const size_t most = 40;

  if (strlen (value) <= most)
    table_cell (t, "%s", *value ? value : "-");
  else if (same < most / 2)
    table_cell (t, "%.*s...", (int) most - 3, value);
  else
    table_cell (t, "...%.*s%s", (int) most - 6, value + same - 5,
                strlen (value + same - 5) > most - 6 ? "..." : "");
}

static int
print_diff (const struct words *a, const struct words *b, bool json)
{
  struct table t = { .columns = 3 };
  struct json j = { .fp = stdout };
  int r = EXIT_REPRODUCED;

  if (json)
    json_open (&j, NULL, '{');
  for (size_t i = 0; i + 1 < a->n; i += 2) {
    const char *x = a->word[i + 1], *y = b->word[i + 1];
    size_t same = 0;

    if (strcmp (x, y) == 0)
      continue;
    r = EXIT_NOT_REPRODUCED;
    if (json) {
      json_open (&j, a->word[i], '[');
      json_string (&j, NULL, x);
      json_string (&j, NULL, y);
      json_close (&j, ']');
      continue;
    }
    while (x[same] && x[same] == y[same])
      same++;
    table_cell (&t, "%s", a->word[i]);
    print_side (&t, x, same);
    print_side (&t, y, same);
  }
  if (json)
    json_close (&j, '}');
  else
    table_print (&t, 6, stdout);
  return r;
}

int
command_profile_diff (int argc, char **argv)
{
  static const struct profile_visitor visitor = { .value = keep_value };
  struct arguments a = { 0 };
  struct words values[2] = { { 0 } };
  int r = parse (argc, argv, diff_help, 2, &a);
  char *error;

  for (int i = 0; i < 2 && r == -1; i++)
    if (profile_describe (a.names.word[i], NULL, 0, NULL, &visitor,
                          &values[i], &error) == -1)
      r = refuse (error);
  if (r == -1)
    r = print_diff (&values[0], &values[1], a.json);
  words_free (&values[0]);
  words_free (&values[1]);
  words_free (&a.names);
  return r;
}
