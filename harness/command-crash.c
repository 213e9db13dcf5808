/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle crash: cut the power under a file system.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash-files.h"
#include "crash.h"
#include "options.h"

static const char help[] =
"usage: spindle crash --profile PROFILE [OPTION]...\n"
"\n"
"Boot a guest that changes files and fsyncs every change, cut the power of\n"
"its drive, recover the file system and look whether what was acknowledged is\n"
"there.  One guest a seed, which decides the moment; the same seed finds the\n"
"same each time.\n"
"\n"
"  --again            do what was found once more, and compare the traces\n"
"  --boot             let the guest's kernel recover, in a second boot\n"
"                     (default: e2fsck)\n"
"  --files N          how many are changed (default: 8)\n"
"  --fs ext2|ext3|ext4  the file system (default: ext4)\n"
"  --jobs N           guests at a time (default: one a host CPU)\n"
"  --keep DIR         keep images, traces and records in DIR\n"
"  --kernel FILE      boot this kernel (default: Debian's)\n"
"  --machine ide|ahci PIIX IDE, or ICH9 AHCI (default: ide)\n"
"  --mount OPTIONS    mount options: barrier=0\n"
"  --profile PROFILE  the drive: a name, or a file\n"
"  --seed N           the first seed (default: 1)\n"
"  --seeds N          so many, one after the other (default: 1)\n"
"  --set KEY=VALUE    change one figure of the drive; can be repeated\n"
"  --size MIB         of the drive, the outer part of it (default: 64)\n"
"  --writes N         the cut comes soon after one of the first N writes\n"
"                     (default: 400)\n"
"\n"
"Exit status: 0 nothing was lost, 1 something was, 2 usage, 3 it could not\n"
"run, was not exact, or was not the same the second time.\n";

static const struct option_def defs[] = {
  { "--again", NULL }, { "--boot", NULL }, { "--files", "N" },
  { "--fs", "ext2|ext3|ext4" }, { "--jobs", "N" }, { "--keep", "DIR" },
  { "--kernel", "FILE" }, { "--machine", "ide|ahci" },
  { "--mount", "OPTIONS" }, { "--profile", "PROFILE" }, { "--seed", "N" },
  { "--seeds", "N" }, { "--set", "KEY=VALUE" }, { "--size", "MIB" },
  { "--writes", "N" }, { NULL, NULL }
};

/* -1 after a message. */
static int
choose (const char *name, const char *value, const char *const *choices,
        const char *allowed)
{
  int i;

  for (i = 0; choices[i]; ++i)
    if (strcmp (value, choices[i]) == 0)
      return i;
  complain ("%s: %s: %s", name, value, allowed);
  return -1;
}

static int
on_option (void *opaque, const char *name, const char *value)
{
  static const char *const systems[] = { "ext2", "ext3", "ext4", NULL };
  struct crash_options *o = opaque;
  const struct { const char *name; int64_t min, max, *r; } numbers[] = {
    { "--files", 1, CRASH_MAX_FILES, &o->files },
    { "--jobs", 1, 64, &o->jobs },
    { "--seed", 0, INT32_MAX / 2, &o->first_seed },
    { "--seeds", 1, 1000000, &o->n_seeds },
    { "--size", 32, 4096, &o->size_mib },
    { "--writes", 1, 100000, &o->writes },
  };
  size_t i;

  for (i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
    if (strcmp (name, numbers[i].name) == 0)
      return option_number (name, value, numbers[i].min, numbers[i].max,
                            numbers[i].r);
  if (strcmp (name, "--again") == 0)
    o->again = true;
  else if (strcmp (name, "--boot") == 0)
    o->boot = true;
  else if (strcmp (name, "--fs") == 0) {
    int fs = choose (name, value, systems, "ext2, ext3 or ext4");

    if (fs == -1)
      return -1;
    o->fs = systems[fs];
  }
  else if (strcmp (name, "--keep") == 0)
    o->keep = value;
  else if (strcmp (name, "--kernel") == 0)
    o->kernel = value;
  else if (strcmp (name, "--machine") == 0)
    return (o->machine = choose (name, value, machine_kinds,
                                 "ide or ahci")) == -1 ? -1 : 0;
  else if (strcmp (name, "--mount") == 0)
    o->mount = value;
  else if (strcmp (name, "--profile") == 0)
    o->profile = value;
  else if (strcmp (name, "--set") == 0)
    words_add (&o->set, value);
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  (void) opaque;
  (void) after_dashes;
  complain ("crash: %s: nothing but options; try 'spindle crash --help'",
            word);
  return -1;
}

int
command_crash (int argc, char **argv)
{
  struct crash_options o = {
    .fs = "ext4", .size_mib = 64, .files = 8, .writes = 400, .first_seed = 1,
    .n_seeds = 1, .machine = MACHINE_IDE,
  };
  int r = options_parse (argc, argv, defs, on_option, on_word, &o);

  if (r != 0)
    r = options_status (r, help);
  else if (o.profile == NULL) {
    complain ("crash: no --profile given; try 'spindle crash --help'");
    r = EXIT_USAGE;
  }
  else
    r = crash_run (&o);
  words_free (&o.set);
  return r;
}
