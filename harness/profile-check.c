/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle profile check: what drives do beside what is said of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "loader.h"
#include "options.h"
#include "profile-command.h"
#include "profile-figures.h"
#include "spindle.h"
#include "table.h"

static const char help[] =
"usage: spindle profile check [--json | --markdown] --all | NAME...\n"
"\n"
"Run each drive in the model, and print what it does beside what the sources\n"
"in its profile say it does, with the error in per cent.\n"
"\n"
"  --all       every drive that can be named\n"
"  --json      print JSON\n"
"  --markdown  print one table of all the drives\n"
"\n"
"Exit status: 0 if capacity and speed are exact, sustained rates, average\n"
"seek and full stroke within 3 %, IBM's figures within 5 %; or the profile\n"
"says why not.  1 if not.\n";

static const struct option_def defs[] = {
  { "--all", NULL }, { "--json", NULL }, { "--markdown", NULL },
  { NULL, NULL }
};

enum verdict {
  VERDICT_NONE,                 /* nothing is said */
  VERDICT_SHOWN,                /* said, but not asserted */
  VERDICT_MET,
  VERDICT_DEVIATES,             /* on purpose: the note says why */
  VERDICT_NOT_MET,
};
static const char *const verdicts[] = {
  "", "", "met", "deviates", "NOT MET"
};

#define DEVIATES "deviates:"

struct row {
  double does, said, error_percent;
  char *mark, *source, *note;   /* or NULL */
  enum verdict verdict;
};

struct check {
  struct profile profile;
  struct row rows[N_FIGURES];
  char *error;                  /* it could not be loaded */
  bool met;
};

static char *
copy (const char *text)
{
  return text ? format ("%s", text) : NULL;
}

static void
take_value (void *opaque, const struct profile_value *v)
{
  struct check *c = opaque;

  for (int i = 0; i < N_FIGURES; i++)
    if (profile_figures[i].key && strcmp (profile_figures[i].key, v->path)
        == 0) {
      c->rows[i].mark = copy (v->mark);
      c->rows[i].source = copy (v->source);
      c->rows[i].note = copy (v->note);
    }
}

/* The reason for a deviation, or NULL. */
static const char *
reason (const struct row *row)
{
  const char *at = row->note ? strstr (row->note, DEVIATES) : NULL;

  if (at == NULL)
    return NULL;
  at += strlen (DEVIATES);
  return at + strspn (at, " ");
}

static void
judge (struct row *row, const struct profile_figure_def *def)
{
  row->error_percent = (row->does / row->said - 1) * 100;
  if (isnan (row->said))
    row->verdict = VERDICT_NONE;
  else if (def->tolerance_percent < 0)
    row->verdict = VERDICT_SHOWN;
  else if (fabs (row->error_percent) <= def->tolerance_percent + 1e-6)
    row->verdict = VERDICT_MET;
  else
    row->verdict = reason (row) ? VERDICT_DEVIATES : VERDICT_NOT_MET;
}

static int
check_run (struct check *c, const char *name)
{
  static const struct profile_visitor visitor = { .value = take_value };
  double figures[N_FIGURES];

  memset (c, 0, sizeof *c);
  if (profile_describe (name, NULL, 0, &c->profile, &visitor, c, &c->error)
      == -1) {
    if (c->error == NULL)
      c->error = copy ("out of memory");
    return 0;
  }
  if (profile_measure (&c->profile, figures) == -1)
    return -1;
  c->met = true;
  for (int i = 0; i < N_FIGURES; i++) {
    struct row *row = &c->rows[i];

    row->does = figures[i];
    row->said = isnan (figures[i]) && i != FIGURE_CAPACITY ? NAN
      : profile_said (&c->profile, i);
    judge (row, &profile_figures[i]);
    c->met = c->met && row->verdict != VERDICT_NOT_MET;
  }
  return 0;
}

static void
check_free (struct check *c)
{
  for (int i = 0; i < N_FIGURES; i++) {
    free (c->rows[i].mark);
    free (c->rows[i].source);
    free (c->rows[i].note);
  }
  free (c->error);
}

/* ---- as text ---- */

static void
text_row (struct table *t, const struct row *row,
          const struct profile_figure_def *def)
{
  table_cell (t, "  %s", def->name);
  table_cell (t, "%.*f", def->decimals, row->does);
  table_cell (t, "%s", def->unit);
  if (row->verdict == VERDICT_NONE)
    for (int i = 0; i < 4; i++)
      table_cell (t, "%s", "");
  else {
    table_cell (t, "%.*f", def->decimals, row->said);
    if (fabs (row->error_percent) < 1e-6)
      table_cell (t, "exact");
    else
      table_cell (t, "%+.1f %%", row->error_percent);
    table_cell (t, "%s", verdicts[row->verdict]);
    table_cell (t, "%s%s%s", row->mark ? row->mark : "",
                row->source ? ", " : "", row->source ? row->source : "");
  }
}

static void
print_text (const struct check *c, const char *name)
{
  struct table t = { .columns = 7 };

  if (c->error) {
    printf ("%s\n  NOT MET: %s\n\n", name, c->error);
    return;
  }
  printf ("%s: %s\n", c->profile.name, c->profile.title);
  for (int i = 0; i < N_FIGURES; i++)
    if (!isnan (c->rows[i].does) || c->rows[i].verdict != VERDICT_NONE)
      text_row (&t, &c->rows[i], &profile_figures[i]);
  table_print (&t, 1 << 2 | 1 << 5 | 1 << 6, stdout);
  if (c->profile.instant)
    printf ("  takes no time at all\n");
  for (int i = 0; i < N_FIGURES; i++)
    if (c->rows[i].verdict == VERDICT_DEVIATES)
      printf ("  %s deviates: %s\n", profile_figures[i].name,
              reason (&c->rows[i]));
  printf ("\n");
}

/* ---- as JSON ---- */

static void
print_json (struct json *j, const struct check *c, const char *name)
{
  json_open (j, NULL, '{');
  json_string (j, "name", c->error ? name : c->profile.name);
  json_bool (j, "met", c->met);
  if (c->error)
    json_string (j, "error", c->error);
  else {
    json_string (j, "title", c->profile.title);
    json_open (j, "figures", '{');
    for (int i = 0; i < N_FIGURES; i++) {
      const struct row *row = &c->rows[i];

      if (isnan (row->does) && row->verdict == VERDICT_NONE)
        continue;
      json_open (j, profile_figures[i].id, '{');
      json_double (j, "does", row->does);
      if (row->verdict != VERDICT_NONE) {
        json_double (j, "said", row->said);
        json_double (j, "error_percent", row->error_percent);
        json_string (j, "mark", row->mark);
        json_string (j, "source", row->source);
        if (row->verdict != VERDICT_SHOWN)
          json_string (j, "verdict", verdicts[row->verdict]);
        if (row->verdict == VERDICT_DEVIATES)
          json_string (j, "reason", reason (row));
      }
      json_close (j, '}');
    }
    json_close (j, '}');
  }
  json_close (j, '}');
}

/* ---- as one table ---- */

static const enum profile_figure in_table[] = {
  FIGURE_OUTER, FIGURE_INNER, FIGURE_AVERAGE_SEEK, FIGURE_FULL_STROKE,
  FIGURE_IOPS, FIGURE_IOPS_32, FIGURE_SEGMENTS, FIGURE_LOOKAHEAD,
  FIGURE_SYNC_IOPS,
};
#define N_IN_TABLE (sizeof in_table / sizeof in_table[0])

static void
print_markdown_head (void)
{
  printf ("| profile | drive | GB | rpm | buffer, KiB | outer, MB/s | "
          "inner, MB/s | average seek, ms | full stroke, ms | "
          "random reads/s | at depth 32 | segments | look-ahead, KiB | "
          "sync. writes/s |\n"
          "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
}

static void
print_markdown (const struct check *c, const char *name)
{
  const struct profile *p = &c->profile;

  if (c->error) {
    printf ("| `%s` | %s |\n", name, c->error);
    return;
  }
  printf ("| `%s` | %s | %.1f | ", p->name, p->title,
          (double) p->geometry.sectors * 512e-9);
  if (p->instant)
    printf ("- | - |");
  else
    printf ("%g | %g |", p->geometry.rpm_x100 / 100.0,
            (double) p->buffer.size_bytes / 1024);
  for (size_t i = 0; i < N_IN_TABLE; i++) {
    const struct row *row = &c->rows[in_table[i]];
    const struct profile_figure_def *def = &profile_figures[in_table[i]];

    if (isnan (row->does))
      printf (" - |");
    else if (isnan (row->said))
      printf (" %.*f |", def->decimals, row->does);
    else
      printf (" %.*f (%.*f) |", def->decimals, row->does, def->decimals,
              row->said);
  }
  printf ("\n");
}

/* ---- the command ---- */

struct arguments {
  struct words names;
  bool all, json, markdown;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct arguments *a = opaque;

  (void) value;
  if (strcmp (name, "--all") == 0)
    a->all = true;
  else if (strcmp (name, "--json") == 0)
    a->json = true;
  else
    a->markdown = true;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  (void) after_dashes;
  words_add (&((struct arguments *) opaque)->names, word);
  return 0;
}

static int
check_all (const struct arguments *a)
{
  struct check *c = allocate (1, sizeof *c);
  struct json j = { .fp = stdout };
  size_t n_met = 0;
  int r = 0;

  if (a->json)
    json_open (&j, NULL, '[');
  if (a->markdown)
    print_markdown_head ();
  for (size_t i = 0; i < a->names.n && r == 0; i++) {
    const char *name = a->names.word[i];

    r = check_run (c, name);
    n_met += c->met;
    if (a->json)
      print_json (&j, c, name);
    else if (a->markdown)
      print_markdown (c, name);
    else
      print_text (c, name);
    check_free (c);
  }
  if (a->json)
    json_close (&j, ']');
  else if (!a->markdown)
    printf ("%zu of %zu profiles do what is said of them\n", n_met,
            a->names.n);
  free (c);
  if (r == -1)
    return EXIT_COULD_NOT_RUN;
  return n_met == a->names.n ? EXIT_REPRODUCED : EXIT_NOT_REPRODUCED;
}

int
command_profile_check (int argc, char **argv)
{
  struct arguments a = { 0 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r != 0)
    r = options_status (r, help);
  else if (a.all == (a.names.n > 0) || (a.json && a.markdown)) {
    complain ("profile check: --all or names, --json or --markdown; try "
              "'spindle profile check --help'");
    r = EXIT_USAGE;
  }
  else if (a.all && profile_names (&a.names) == -1)
    r = EXIT_COULD_NOT_RUN;
  else
    r = check_all (&a);
  words_free (&a.names);
  return r;
}
