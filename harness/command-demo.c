/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle demo: the scenarios that show what this is about.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "options.h"
#include "runs.h"
#include "scenario-find.h"

static const char help[] =
"usage: spindle demo [OPTION]...\n"
"\n"
"Boot this system's kernel on a WD200BB of 2000 and a Maxtor 6Y120P0 of\n"
"2003, sweep the read-ahead, and show the figures that were reported for\n"
"both in January 2004 beside what is measured.\n"
"\n"
"  --json         print results.json instead of tables\n"
"  --keep DIR     where traces and plots go (default: spindle-demo)\n"
"  --kernel FILE  boot this kernel instead\n"
"\n"
"Exit status: as of spindle run.\n";

static const struct option_def defs[] = {
  { "--json", NULL }, { "--keep", "DIR" }, { "--kernel", "FILE" },
  { NULL, NULL }
};

struct arguments {
  struct run_options options;
  struct matrix matrix;         /* at most a kernel */
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct arguments *a = opaque;
  struct run_options *o = &a->options;

  if (strcmp (name, "--json") == 0)
    o->json = true;
  else if (strcmp (name, "--keep") == 0)
    o->keep = value;
  else if (strcmp (name, "--kernel") == 0)
    matrix_option (&a->matrix, name, value);
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  (void) opaque;
  (void) after_dashes;
  complain ("demo: %s: takes no file; see 'spindle run --help'", word);
  return -1;
}

static int
run_demo (const struct arguments *a)
{
  struct words names = { 0 }, files = { 0 };
  struct variants variants;
  int r = EXIT_COULD_NOT_RUN;

  words_add (&names, "readahead-wd200bb");
  words_add (&names, "readahead-6y120p0");
  if (scenario_find_all (&names, &files) == 0) {
    if (!a->options.json) {
      printf ("Two drives, one kernel, read-ahead from none to 1024 sectors. "
              "About a minute.\n\n");
      fflush (stdout);
    }
    variants = matrix_expand (&a->matrix);
    r = run_scenarios (&files, &variants, &a->options);
    variants_free (&variants);
  }
  words_free (&names);
  words_free (&files);
  return r;
}

int
command_demo (int argc, char **argv)
{
  struct arguments a = {
    .options = { .keep = "spindle-demo", .late_limit_us = -1 },
  };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  r = r == 0 ? run_demo (&a) : options_status (r, help);
  matrix_free (&a.matrix);
  return r;
}
