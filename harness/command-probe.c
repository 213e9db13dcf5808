/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle probe: measure a disk, make a profile.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader.h"
#include "options.h"
#include "probe.h"
#include "spindle.h"

static const char help[] =
"usage: spindle probe [OPTION]... TARGET\n"
"\n"
"Measure a disk from outside, by how long reads take, and make a profile.\n"
"TARGET is a block device or file, an NBD URI, or profile:NAME, a drive that\n"
"exists in the model only.\n"
"\n"
"  -o OUT.cfg           write the profile; - is standard output\n"
"  --json               print JSON instead of text\n"
"  --clock-page PATH    the NBD server's clock page: virtual time\n"
"  --write              measure writes too: what is there is read and\n"
"                       written back; needs --device-name\n"
"  --device-name NAME   TARGET again, to be sure\n"
"  --seed N             other places (default 1)\n"
"  --quiet              say nothing meanwhile\n"
"\n"
"Without --write nothing is written.  Exit status: 0 measured, 1 not a\n"
"rotating disk, or one that cannot be made out, 2 usage, 3 could not run.\n";

static const struct option_def defs[] = {
  { "-o", "OUT.cfg" }, { "--json", NULL }, { "--clock-page", "PATH" },
  { "--write", NULL }, { "--device-name", "NAME" }, { "--seed", "N" },
  { "--quiet", NULL }, { NULL, NULL }
};

struct arguments {
  const char *target, *out, *clock_page, *device_name;
  bool json, write, quiet;
  int64_t seed;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct arguments *a = opaque;

  if (strcmp (name, "-o") == 0)
    a->out = value;
  else if (strcmp (name, "--clock-page") == 0)
    a->clock_page = value;
  else if (strcmp (name, "--device-name") == 0)
    a->device_name = value;
  else if (strcmp (name, "--json") == 0)
    a->json = true;
  else if (strcmp (name, "--write") == 0)
    a->write = true;
  else if (strcmp (name, "--quiet") == 0)
    a->quiet = true;
  else
    return option_number (name, value, 0, INT64_MAX, &a->seed);
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  struct arguments *a = opaque;

  (void) after_dashes;
  if (a->target) {
    complain ("probe: %s: one target at a time", word);
    return -1;
  }
  a->target = word;
  return 0;
}

static int
check (const struct arguments *a)
{
  if (a->target == NULL) {
    complain ("probe: no target given; try 'spindle probe --help'");
    return -1;
  }
  if (a->clock_page && strncmp (a->target, "nbd", 3) != 0) {
    complain ("--clock-page: %s is no NBD server", a->target);
    return -1;
  }
  if (a->write && (a->device_name == NULL ||
                   strcmp (a->device_name, a->target) != 0)) {
    complain ("--write: writes to %s; if that is meant, say --device-name "
              "%s", a->target, a->target);
    return -1;
  }
  return 0;
}

static struct target *
open_model (const char *name)
{
  struct profile *p = allocate (1, sizeof *p);
  struct target *t = NULL;
  char *error;

  if (profile_load (name, NULL, 0, p, &error) == 0)
    t = target_model (p, 1);
  else {
    complain ("%s", error ? error : "out of memory");
    free (error);
  }
  free (p);
  return t;
}

static struct target *
open_target (const struct arguments *a)
{
  if (strncmp (a->target, "profile:", 8) == 0)
    return open_model (a->target + 8);
  if (strncmp (a->target, "nbd:", 4) == 0 ||
      strncmp (a->target, "nbds:", 5) == 0 ||
      strncmp (a->target, "nbd+", 4) == 0 ||
      strncmp (a->target, "nbds+", 5) == 0)
    return target_nbd (a->target, a->clock_page, a->write);
  return target_file (a->target, a->write);
}

/* Written as a whole, and only if the loader accepts it. */
static int
save (const struct probe_result *r, const struct arguments *a)
{
  char *path = format ("%s.%ld.cfg", a->out, (long) getpid ());
  struct profile *p = allocate (1, sizeof *p);
  char *error = NULL;
  FILE *fp = fopen (path, "wxe");
  int result = -1;

  if (fp == NULL)
    complain ("%s: %s", path, strerror (errno));
  else {
    probe_write_profile (r, a->target, fp);
    if (fclose (fp) != 0)
      complain ("%s: %s", path, strerror (errno));
    else if (profile_load (path, NULL, 0, p, &error) == -1)
      complain ("what was measured makes no profile: %s",
                error ? error : "out of memory");
    else if (rename (path, a->out) == -1)
      complain ("%s: %s", a->out, strerror (errno));
    else
      result = 0;
    if (result == -1)
      unlink (path);
  }
  free (error);
  free (p);
  free (path);
  return result;
}

static int
run (const struct arguments *a)
{
  struct target *t = open_target (a);
  struct probe_result *r = allocate (1, sizeof *r);
  int result = EXIT_COULD_NOT_RUN;

  if (t && probe_run (t, (uint64_t) a->seed, a->write,
                      a->quiet ? NULL : stderr, r) == 0) {
    result = r->status == PROBE_DONE ? EXIT_REPRODUCED : EXIT_NOT_REPRODUCED;
    if (a->json)
      probe_print_json (r, a->target, stdout);
    else if (a->out == NULL || strcmp (a->out, "-") != 0)
      probe_print (r, a->target, stdout);
    if (a->out && r->status == PROBE_DONE) {
      if (strcmp (a->out, "-") == 0)
        probe_write_profile (r, a->target, stdout);
      else if (save (r, a) == -1)
        result = EXIT_COULD_NOT_RUN;
    }
  }
  target_close (t);
  free (r);
  return result;
}

int
command_probe (int argc, char **argv)
{
  struct arguments a = { .seed = 1 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r != 0)
    return options_status (r, help);
  if (check (&a) == -1)
    return EXIT_USAGE;
  return run (&a);
}
