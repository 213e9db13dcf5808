/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle run: scenarios.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "pieces.h"
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
"  --keep DIR     keep traces, consoles, plots and results.json in DIR\n"
"  --kernel FILE  boot this kernel instead of the scenario's\n"
"  --late-limit US  real clock: status 4 if 1 % of the answers are later than\n"
"                 that (default: 10000; 0 is no limit)\n"
"  --seed N       seed of the drives, instead of the scenario's\n"
"\n"
"Exit status: 0 reproduced, 1 not reproduced, 2 usage, 3 could not run,\n"
"4 the real clock was too late.\n"
"The format of scenarios is in spindle-scenario(5).\n";

static const struct option_def defs[] = {
  { "--jobs", "N" }, { "--json", NULL }, { "--keep", "DIR" },
  { "--kernel", "FILE" }, { "--late-limit", "US" }, { "--seed", "N" },
  { NULL, NULL }
};

struct arguments {
  struct run_options options;
  struct words scenarios;       /* as given */
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct run_options *o = &((struct arguments *) opaque)->options;

  if (strcmp (name, "--jobs") == 0)
    return option_number (name, value, 1, 64, &o->jobs);
  if (strcmp (name, "--late-limit") == 0)
    return option_number (name, value, 0, 1000000, &o->late_limit_us);
  if (strcmp (name, "--seed") == 0)
    return option_number (name, value, 0, INT32_MAX, &o->seed);
  if (strcmp (name, "--json") == 0)
    o->json = true;
  else if (strcmp (name, "--keep") == 0)
    o->keep = value;
  else if (strcmp (name, "--kernel") == 0)
    o->kernel = value;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  (void) after_dashes;
  words_add (&((struct arguments *) opaque)->scenarios, word);
  return 0;
}

/* Names become files. */
static int
find_files (const struct words *words, struct words *files)
{
  struct pieces pieces;
  int r = pieces_find (&pieces);

  if (r == -1)
    return -1;
  for (size_t i = 0; i < words->n && r == 0; ++i) {
    char *file = scenario_find (words->word[i], pieces.scenarios);

    if (file)
      words_add (files, file);
    else
      r = -1;
    free (file);
  }
  pieces_free (&pieces);
  return r;
}

int
command_run (int argc, char **argv)
{
  struct arguments a = { .options = { .seed = -1, .late_limit_us = -1 } };
  struct words files = { 0 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r == 1) {
    fputs (help, stdout);
    r = EXIT_REPRODUCED;
  }
  else if (r == -1)
    r = EXIT_USAGE;
  else if (a.scenarios.n == 0) {
    complain ("run: no scenario given; try 'spindle run --help'");
    r = EXIT_USAGE;
  }
  else if (find_files (&a.scenarios, &files) == -1)
    r = EXIT_COULD_NOT_RUN;
  else
    r = run_scenarios ((const char *const *) files.word, files.n,
                       &a.options);
  words_free (&files);
  words_free (&a.scenarios);
  return r;
}
