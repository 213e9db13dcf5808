/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle compare: drives, figures, kernels and results side by side.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "child.h"
#include "compare.h"
#include "matrix.h"
#include "options.h"
#include "run-output.h"
#include "runs.h"
#include "scenario-find.h"
#include "workdir.h"

static const char help[] =
"usage: spindle compare [--scenario SCENARIO] [OPTION]... WHAT...\n"
"\n"
"Put runs side by side in one table and one picture.  WHAT is a folder with\n"
"a results.json, or what SCENARIO is run with:\n"
"\n"
"  PROFILE                     a drive\n"
"  PROFILE,KEY=VALUE,...       with figures changed; kernel= and seed= too\n"
"  KEY=VALUE,...               the scenario's own drive, changed\n"
"\n"
"  --jobs N       guests at a time (default: one a host CPU)\n"
"  --json         print JSON instead of a table\n"
"  --keep DIR     keep everything in DIR, and compare.html, compare.svg\n"
"  --report FILE  write the page there\n"
"  --scenario S   what to run\n"
"\n"
"Exit status: 0 done, 2 usage, 3 something could not be run or read.\n";

static const struct option_def defs[] = {
  { "--jobs", "N" }, { "--json", NULL }, { "--keep", "DIR" },
  { "--report", "FILE" }, { "--scenario", "S" }, { NULL, NULL }
};

struct arguments {
  struct run_options run;
  struct words scenario, what;
};

/* What is compared, and where it comes from. */
struct sources {
  struct variants variants;
  struct words variant_titles, folders;
  struct records *records;      /* of the folders, then of what was run */
  unsigned n;
  struct compare compare;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct arguments *a = opaque;

  if (strcmp (name, "--jobs") == 0)
    return option_number (name, value, 1, 64, &a->run.jobs);
  if (strcmp (name, "--json") == 0)
    a->run.json = true;
  else if (strcmp (name, "--keep") == 0)
    a->run.keep = value;
  else if (strcmp (name, "--report") == 0)
    a->run.report = value;
  else
    words_add (&a->scenario, value);
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  (void) after_dashes;
  words_add (&((struct arguments *) opaque)->what, word);
  return 0;
}

static bool
is_folder (const char *word)
{
  struct stat st;

  return stat (word, &st) == 0 && S_ISDIR (st.st_mode);
}

static int
sort_out (const struct arguments *a, struct sources *s)
{
  size_t i;

  for (i = 0; i < a->what.n; ++i) {
    const char *what = a->what.word[i];
    struct variant v;

    if (is_folder (what)) {
      words_add (&s->folders, what);
      continue;
    }
    if (a->scenario.n != 1) {
      complain ("compare: %s: no folder; to run it, --scenario is wanted, "
                "once", what);
      return -1;
    }
    if (variant_parse (what, &v) == -1)
      return -1;
    variants_add (&s->variants, v);
    words_add (&s->variant_titles, what);
  }
  return 0;
}

static void
add_column (struct compare *c, const char *title, const struct record *run)
{
  c->column = reallocate (c->column, c->n + 1, sizeof *c->column);
  c->column[c->n++] = (struct compare_column) {
    .title = format ("%s", title), .run = run,
  };
}

static struct records *
load (struct sources *s, const char *folder)
{
  if (records_load (folder, &s->records[s->n]) == -1)
    return NULL;
  return &s->records[s->n++];
}

static int
add_folder (struct sources *s, const char *folder)
{
  struct records *r = load (s, folder);
  unsigned i;

  if (r == NULL)
    return -1;
  for (i = 0; i < r->n; ++i) {
    char *title = format ("%s/%s", folder, r->run[i].drive);

    add_column (&s->compare, r->n == 1 ? folder : title, &r->run[i]);
    free (title);
  }
  return 0;
}

/* A scenario with several drives has several runs for each variant. */
static int
add_runs (struct sources *s, const char *folder)
{
  struct records *r = load (s, folder);
  unsigned i, per;

  if (r == NULL || s->variants.n == 0 || r->n % s->variants.n != 0)
    return -1;
  per = r->n / s->variants.n;
  for (i = 0; i < r->n; ++i)
    add_column (&s->compare, per == 1 ? s->variant_titles.word[i]
                : r->run[i].drive, &r->run[i]);
  return 0;
}

static int
run_variants (const struct arguments *a, struct sources *s,
              const char *folder)
{
  struct run_options options = a->run;
  struct words files = { 0 };
  enum spindle_exit r = EXIT_COULD_NOT_RUN;

  options.keep = folder;
  options.json = false;
  options.quiet = true;
  options.report = NULL;
  if (scenario_find_all (&a->scenario, &files) == 0)
    r = run_scenarios (&files, &s->variants, &options);
  words_free (&files);
  return r <= EXIT_NOT_REPRODUCED ? add_runs (s, folder) : -1;
}

struct page {
  const struct compare *compare;
  const char *svg;
};

static void
write_page (FILE *fp, const void *opaque)
{
  const struct page *p = opaque;

  compare_write_page (fp, p->compare, p->svg);
}

static int
show (const struct arguments *a, const struct sources *s, const char *folder)
{
  const struct compare *c = &s->compare;
  char *svg = a->run.keep || a->run.report ? compare_plot (c, folder) : NULL;
  char *file = a->run.report ? format ("%s", a->run.report)
    : a->run.keep ? format ("%s/compare.html", folder) : NULL;
  struct page page = { .compare = c, .svg = svg };
  int r = 0;

  if (a->run.json)
    compare_write_json (stdout, c);
  else
    compare_print (stdout, c);
  if (file)
    r = file_write (file, write_page, &page);
  if (fflush (stdout) == EOF) {
    complain ("cannot write the table: %s", strerror (errno));
    r = -1;
  }
  free (svg);
  free (file);
  return r;
}

static void
free_sources (struct sources *s)
{
  unsigned i;

  for (i = 0; i < s->n; ++i)
    records_free (&s->records[i]);
  for (i = 0; i < s->compare.n; ++i)
    free (s->compare.column[i].title);
  free (s->records);
  free (s->compare.column);
  variants_free (&s->variants);
  words_free (&s->variant_titles);
  words_free (&s->folders);
}

static int
compare_in (const struct arguments *a, struct sources *s, const char *folder)
{
  size_t i;

  s->records = allocate (s->folders.n + 1, sizeof *s->records);
  for (i = 0; i < s->folders.n; ++i)
    if (add_folder (s, s->folders.word[i]) == -1)
      return -1;
  if (make_directories (folder) == -1 ||
      (s->variants.n > 0 && run_variants (a, s, folder) == -1))
    return -1;
  if (s->compare.n == 0) {
    complain ("compare: there are no runs in these folders");
    return -1;
  }
  return show (a, s, folder);
}

static enum spindle_exit
compare (const struct arguments *a)
{
  struct sources s = { 0 };
  struct workdir workdir = { 0 };
  char *folder;
  enum spindle_exit r = EXIT_USAGE;

  if (sort_out (a, &s) == 0) {
    r = EXIT_COULD_NOT_RUN;
    signals_take_over ();
    if (workdir_create (&workdir) == 0) {
      folder = a->run.keep ? format ("%s", a->run.keep)
        : format ("%s/compare", workdir.path);
      if (compare_in (a, &s, folder) == 0)
        r = EXIT_REPRODUCED;
      free (folder);
      workdir_remove (&workdir);
    }
  }
  free_sources (&s);
  return r;
}

int
command_compare (int argc, char **argv)
{
  struct arguments a = { .run = { .late_limit_us = -1 } };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r != 0)
    r = options_status (r, help);
  else if (a.what.n == 0) {
    complain ("compare: nothing to compare; try 'spindle compare --help'");
    r = EXIT_USAGE;
  }
  else
    r = compare (&a);
  words_free (&a.scenario);
  words_free (&a.what);
  return r;
}
