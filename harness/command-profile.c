/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle profile: what can be done with profiles.
 */
#include <stdio.h>
#include <string.h>

#include "import.h"
#include "profile-command.h"
#include "spindle.h"

static const char help[] =
"usage: spindle profile COMMAND [OPTION]...\n"
"\n"
"  check   run drives in the model, beside what is said of them\n"
"  diff    what is not the same in two profiles\n"
"  import  make a profile of a drive's parameters for DiskSim 4\n"
"  list    the drives that can be named\n"
"  plot    draw a drive's seeks, zones, random reads, readers\n"
"  show    what a profile says, and where it has it from\n"
"\n"
"'spindle profile COMMAND --help' says more; so does spindle-profile(1).\n";

static const struct command {
  const char *name;
  int (*run) (int argc, char **argv);
} commands[] = {
  { "check", command_profile_check },
  { "diff", command_profile_diff },
  { "import", command_profile_import },
  { "list", command_profile_list },
  { "plot", command_profile_plot },
  { "show", command_profile_show },
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static int
unknown (const char *word)
{
  const char *names[N_COMMANDS + 1], *near;
  size_t i;

  for (i = 0; i < N_COMMANDS; ++i)
    names[i] = commands[i].name;
  names[N_COMMANDS] = NULL;
  near = nearest_word (word, names);
  if (near)
    complain ("profile %s: unknown command; did you mean %s?", word, near);
  else
    complain ("profile %s: unknown command; try 'spindle profile --help'",
              word);
  return EXIT_USAGE;
}

int
command_profile (int argc, char **argv)
{
  size_t i;

  if (argc < 2) {
    fputs (help, stderr);
    return EXIT_USAGE;
  }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0) {
    fputs (help, stdout);
    return 0;
  }
  for (i = 0; i < N_COMMANDS; ++i)
    if (strcmp (argv[1], commands[i].name) == 0)
      return commands[i].run (argc - 1, argv + 1);
  return unknown (argv[1]);
}
