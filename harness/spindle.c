/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The spindle command.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "spindle.h"

static const char help[] =
"usage: spindle COMMAND [OPTION]...\n"
"\n"
"  calibrate  measure what the way to the drive and back takes\n"
"  compare    put drives, kernels and results side by side\n"
"  crash      cut the power under a file system, again and again\n"
"  ctl        tell a drive that runs what to do\n"
"  demo       two drives of 2000 and 2003 under this system's kernel\n"
"  fit        find figures of a profile that give what was reported\n"
"  list       list the scenarios\n"
"  merge      join the results of runs that were done one by one\n"
"  plan       print the runs of a matrix, for a cluster to do\n"
"  probe      measure a disk from outside, and make a profile of it\n"
"  profile    look at profiles of drives; import DiskSim's parameters\n"
"  replay     send the requests of a trace to a drive, without a guest\n"
"  run        run scenarios and compare with what was reported\n"
"  show       show what a scenario does and what was reported\n"
"  top        show what a drive does right now\n"
"  vm         boot a disk image of your own on a named drive\n"
"\n"
"'spindle COMMAND --help' says more, and so does spindle(1).\n";

static const struct command {
  const char *name;
  int (*run) (int argc, char **argv);
} commands[] = {
  { "calibrate", command_calibrate },
  { "compare", command_compare },
  { "crash", command_crash },
  { "ctl", command_ctl },
  { "demo", command_demo },
  { "fit", command_fit },
  { "list", command_list },
  { "merge", command_merge },
  { "plan", command_plan },
  { "probe", command_probe },
  { "profile", command_profile },
  { "replay", command_replay },
  { "run", command_run },
  { "show", command_show },
  { "top", command_top },
  { "vm", command_vm },
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
    complain ("%s: unknown command; did you mean %s?", word, near);
  else
    complain ("%s: unknown command; try 'spindle --help'", word);
  return EXIT_USAGE;
}

static int
run (int argc, char **argv)
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
  if (strcmp (argv[1], "--version") == 0) {
    printf ("spindle %s\n", SPINDLE_VERSION);
    return 0;
  }
  for (i = 0; i < N_COMMANDS; ++i)
    if (strcmp (argv[1], commands[i].name) == 0)
      return commands[i].run (argc - 1, argv + 1);
  return unknown (argv[1]);
}

/* What cannot be written has not been done. */
int
main (int argc, char **argv)
{
  int r = run (argc, argv);

  if ((fflush (stdout) == EOF || ferror (stdout)) && r < EXIT_USAGE) {
    complain ("standard output: %s", strerror (errno));
    r = EXIT_COULD_NOT_RUN;
  }
  return r;
}
