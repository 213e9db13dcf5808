/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle fit: figures of a profile from what was reported.
 */
#include <stdio.h>
#include <string.h>

#include "fit.h"
#include "options.h"
#include "scenario-find.h"
#include "spindle.h"

static const char help[] =
"usage: spindle fit --free KEY=LOW..HIGH [OPTION]... SCENARIO...\n"
"\n"
"Find the figures of a drive's profile with which the SCENARIOs give what was\n"
"reported: first in the model, with the requests that a guest sent; then in\n"
"guests.\n"
"\n"
"  --free KEY=LOW..HIGH  a figure to be found: whole if LOW and HIGH are\n"
"                  written without a decimal point; repeat it for several\n"
"  --free KEY=WORD|WORD  likewise, one of these\n"
"  --any-kernel    figures count whatever kernel they were reported on\n"
"  --json          print JSON instead of text\n"
"  --kernel FILE   boot this kernel instead of the scenarios'\n"
"  -o OUT.cfg      write the drive's profile with what was found\n"
"  --quiet         say nothing meanwhile\n"
"  --rounds N      of search and guest, at most (default: 4)\n"
"\n"
"Exit status: 0 the figures are reproduced, 1 they are not, 2 usage, 3 could\n"
"not run.  See spindle-fit(1).\n";

static const struct option_def defs[] = {
  { "--free", "KEY=LOW..HIGH" }, { "--any-kernel", NULL },
  { "--json", NULL }, { "--kernel", "FILE" }, { "-o", "OUT.cfg" },
  { "--quiet", NULL }, { "--rounds", "N" }, { NULL, NULL }
};

struct arguments {
  struct fit fit;
  struct words scenarios;
  const char *out;
  bool json;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct arguments *a = opaque;

  if (strcmp (name, "--free") == 0)
    return fit_add_parameter (&a->fit, value);
  if (strcmp (name, "--rounds") == 0)
    return option_number (name, value, 1, 100, &a->fit.rounds);
  if (strcmp (name, "--any-kernel") == 0)
    a->fit.any_kernel = true;
  else if (strcmp (name, "--json") == 0)
    a->json = true;
  else if (strcmp (name, "--kernel") == 0)
    a->fit.kernel = value;
  else if (strcmp (name, "-o") == 0)
    a->out = value;
  else
    a->fit.quiet = true;
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
run (struct arguments *a)
{
  struct fit *f = &a->fit;

  if (scenario_find_all (&a->scenarios, &f->files) == -1 ||
      fit_do (f) == -1)
    return EXIT_COULD_NOT_RUN;
  if (a->json)
    fit_print_json (f, stdout);
  else
    fit_print (f, stdout);
  if (a->out && fit_write_profile (f, a->out) == -1)
    return EXIT_COULD_NOT_RUN;
  return fit_reproduced (f) ? EXIT_REPRODUCED : EXIT_NOT_REPRODUCED;
}

int
command_fit (int argc, char **argv)
{
  struct arguments a = { .fit.rounds = 4 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r != 0)
    r = options_status (r, help);
  else if (a.scenarios.n == 0 || a.fit.n_parameters == 0) {
    complain ("fit: a scenario and --free are needed; try 'spindle fit "
              "--help'");
    r = EXIT_USAGE;
  }
  else
    r = run (&a);
  fit_free (&a.fit);
  words_free (&a.scenarios);
  return r;
}
