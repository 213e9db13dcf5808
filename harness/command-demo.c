/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle demo: the scenarios that show what this is about.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "pieces.h"
#include "runs.h"

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

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct run_options *o = opaque;

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
  (void) opaque;
  (void) after_dashes;
  complain ("demo: %s: takes no file; see 'spindle run --help'", word);
  return -1;
}

static int
run_demo (const struct run_options *options)
{
  struct pieces pieces;
  char *files[2];
  int r;

  if (pieces_find (&pieces) == -1)
    return EXIT_COULD_NOT_RUN;
  files[0] = format ("%s/readahead-wd200bb.cfg", pieces.scenarios);
  files[1] = format ("%s/readahead-6y120p0.cfg", pieces.scenarios);
  pieces_free (&pieces);
  if (!options->json) {
    printf ("Two drives, one kernel, read-ahead from none to 1024 sectors. "
            "About a minute.\n\n");
    fflush (stdout);
  }
  r = run_scenarios ((const char *const *) files, 2, options);
  free (files[0]);
  free (files[1]);
  return r;
}

int
command_demo (int argc, char **argv)
{
  struct run_options options = {
    .keep = "spindle-demo", .seed = -1, .late_limit_us = -1,
  };
  int r = options_parse (argc, argv, defs, on_option, on_word, &options);

  if (r == 1) {
    fputs (help, stdout);
    return EXIT_REPRODUCED;
  }
  return r == -1 ? EXIT_USAGE : run_demo (&options);
}
