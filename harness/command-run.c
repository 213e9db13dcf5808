/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle run: scenarios.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "options.h"
#include "run-output.h"
#include "runs.h"
#include "scenario-find.h"
#include "words.h"

static const char help[] =
"usage: spindle run [OPTION]... SCENARIO...\n"
"\n"
"Boot the kernel of each SCENARIO, a file that ends in .cfg or the name of\n"
"one, on each of its drives, measure, and compare with what was reported.\n"
"\n"
"  --jobs N       guests at a time (default: one a host CPU)\n"
"  --json         print results.json instead of tables\n"
"  --junit FILE   write JUnit XML as well\n"
"  --keep DIR     keep traces, consoles, plots, results.json, report.html\n"
"  --late-limit US  real clock: status 4 if 1 % of the answers are later than\n"
"                 that (default: 10000; 0 is no limit)\n"
"  --part I/N     only the Ith of these N runs (see spindle plan)\n"
"  --report FILE  write the page there\n"
MATRIX_HELP
"\n"
"Exit status: 0 reproduced, 1 not reproduced, 2 usage, 3 could not run,\n"
"4 the real clock was too late.\n"
"The format of scenarios is in spindle-scenario(5).\n";

static const struct option_def defs[] = {
  { "--jobs", "N" }, { "--json", NULL }, { "--junit", "FILE" },
  { "--keep", "DIR" }, { "--late-limit", "US" }, { "--part", "I/N" },
  { "--report", "FILE" }, MATRIX_OPTIONS, { NULL, NULL }
};

struct arguments {
  struct run_options options;
  struct matrix matrix;
  struct words scenarios;       /* as given */
};

/* "3/64" */
static int
take_part (struct run_options *o, const char *value)
{
  char *text = format ("%s", value), *slash = strchr (text, '/');
  int r = -1;

  if (slash) {
    *slash = '\0';
    if (parse_number (slash + 1, 1, INT32_MAX, &o->parts) == 0)
      r = parse_number (text, 1, o->parts, &o->part);
  }
  if (r == -1)
    complain ("--part: %s: I/N, the number of a run and how many there are",
              value);
  free (text);
  return r;
}

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct arguments *a = opaque;
  struct run_options *o = &a->options;
  int r = matrix_option (&a->matrix, name, value);

  if (r != 0)
    return r == 1 ? 0 : -1;
  if (strcmp (name, "--jobs") == 0)
    return option_number (name, value, 1, 64, &o->jobs);
  if (strcmp (name, "--late-limit") == 0)
    return option_number (name, value, 0, 1000000, &o->late_limit_us);
  if (strcmp (name, "--part") == 0)
    return take_part (o, value);
  if (strcmp (name, "--json") == 0)
    o->json = true;
  else if (strcmp (name, "--junit") == 0)
    o->junit = value;
  else if (strcmp (name, "--keep") == 0)
    o->keep = value;
  else if (strcmp (name, "--report") == 0)
    o->report = value;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  (void) after_dashes;
  words_add (&((struct arguments *) opaque)->scenarios, word);
  return 0;
}

static enum spindle_exit
run (const struct arguments *a)
{
  struct words files = { 0 };
  struct variants variants;
  enum spindle_exit r = EXIT_COULD_NOT_RUN;

  /* Not when the guests have run. */
  if (file_check (a->options.junit) == 0 &&
      file_check (a->options.report) == 0 &&
      scenario_find_all (&a->scenarios, &files) == 0) {
    variants = matrix_expand (&a->matrix);
    r = run_scenarios (&files, &variants, &a->options);
    variants_free (&variants);
  }
  words_free (&files);
  return r;
}

int
command_run (int argc, char **argv)
{
  struct arguments a = { .options = { .late_limit_us = -1 } };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r != 0)
    r = options_status (r, help);
  else if (a.scenarios.n == 0) {
    complain ("run: no scenario given; try 'spindle run --help'");
    r = EXIT_USAGE;
  }
  else
    r = run (&a);
  matrix_free (&a.matrix);
  words_free (&a.scenarios);
  return r;
}
