/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle run: scenarios.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "runs.h"
#include "words.h"

static const char help[] =
"usage: spindle run [OPTION]... FILE...\n"
"\n"
"Boot the kernel of each scenario FILE on each of its drives, measure, and\n"
"compare with what was reported.\n"
"\n"
"  --jobs N       guests at a time (default: one a host CPU)\n"
"  --json         print results.json instead of tables\n"
"  --keep DIR     keep traces, consoles, plots and results.json in DIR\n"
"  --kernel FILE  boot this kernel instead of the scenario's\n"
"  --seed N       seed of the drives, instead of the scenario's\n"
"\n"
"Exit status: 0 reproduced, 1 not reproduced, 2 usage, 3 could not run.\n"
"The format of scenarios is in spindle-scenario(5).\n";

static const struct option_def defs[] = {
  { "--jobs", "N" }, { "--json", NULL }, { "--keep", "DIR" },
  { "--kernel", "FILE" }, { "--seed", "N" }, { NULL, NULL }
};

struct arguments {
  struct run_options options;
  struct words files;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct run_options *o = &((struct arguments *) opaque)->options;

  if (strcmp (name, "--jobs") == 0)
    return option_number (name, value, 1, 64, &o->jobs);
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
  words_add (&((struct arguments *) opaque)->files, word);
  return 0;
}

int
command_run (int argc, char **argv)
{
  struct arguments a = { .options.seed = -1 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r == 1) {
    fputs (help, stdout);
    r = EXIT_REPRODUCED;
  }
  else if (r == -1)
    r = EXIT_USAGE;
  else if (a.files.n == 0) {
    complain ("run: no scenario given; try 'spindle run --help'");
    r = EXIT_USAGE;
  }
  else
    r = run_scenarios ((const char *const *) a.files.word, a.files.n,
                       &a.options);
  words_free (&a.files);
  return r;
}
