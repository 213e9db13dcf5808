/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle profile import.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import.h"
#include "loader.h"
#include "options.h"
#include "spindle.h"

static const char help[] =
"usage: spindle profile import [--slips FILE] [--force] -o OUT.cfg PARAMS\n"
"\n"
"Make a profile of a drive's parameters for DiskSim 4: a .diskspecs or .parv\n"
"file, with the .model and .seek beside it, or a condensed one.\n"
"\n"
"  -o OUT.cfg    the profile\n"
"  --slips FILE  slipped defects, CSV\n"
"  --force       overwrite OUT.cfg\n"
"\n"
"spindle-profile(1) says more.\n";

static int
fail_errno (const char *path)
{
  complain ("%s: %s", path, strerror (errno));
  return -1;
}

/* ---- reading ---- */

static int
open_directory (const char *path)
{
  char *copy = format ("%s", path);
  int fd = open (dirname (copy), O_RDONLY | O_CLOEXEC | O_DIRECTORY);

  free (copy);
  return fd;
}

static int
read_params (struct import *in)
{
  int fd = open (in->path, O_RDONLY | O_CLOEXEC | O_NOCTTY), dir, r = -1;

  if (fd == -1)
    return fail_errno (in->path);
  dir = open_directory (in->path);
  if (dir == -1)
    fail_errno (in->path);
  else {
    r = import_read (in, fd, dir);
    close (dir);
  }
  close (fd);
  return r;
}

static int
read_slips (struct import *in, const char *slips)
{
  int fd = open (slips, O_RDONLY | O_CLOEXEC | O_NOCTTY), r;

  if (fd == -1)
    return fail_errno (slips);
  r = import_read_slips (in, fd, slips);
  close (fd);
  return r;
}

/* ---- writing ---- */

static int
write_all (int fd, const char *text, size_t size)
{
  while (size > 0) {
    ssize_t n = write (fd, text, size);

    if (n == -1 && errno != EINTR)
      return -1;
    if (n > 0) {
      text += n;
      size -= n;
    }
  }
  return 0;
}

/* The text of the profile, as the loader accepts it. */
static char *
profile_text (const struct import *in, const struct profile *profile,
              size_t *size)
{
  char *text = NULL;
  FILE *fp = open_memstream (&text, size);

  if (fp)
    import_write (in, profile, fp);
  if (fp == NULL || fclose (fp) == EOF) {
    complain ("%s", strerror (errno));
    free (text);
    return NULL;
  }
  return text;
}

static int
try_load (const char *path, const char *text, size_t size)
{
  struct profile *profile = allocate (1, sizeof *profile);
  int fd = memfd_create ("profile", MFD_CLOEXEC), r = -1;
  char *error = NULL, *name = format ("/proc/self/fd/%d", fd);

  if (fd == -1 || write_all (fd, text, size) == -1)
    fail_errno ("memfd");
  else {
    r = profile_load (name, NULL, 0, profile, &error);
    if (r == -1)
      complain ("%s: cannot be said in a profile: %s", path,
                error ? error : "out of memory");
  }
  if (fd != -1)
    close (fd);
  free (error);
  free (name);
  free (profile);
  return r;
}

/* TEMPORARY becomes OUT. */
static int
put_in_place (const char *temporary, const char *out, bool force)
{
  if (force)
    return rename (temporary, out);
  if (renameat2 (AT_FDCWD, temporary, AT_FDCWD, out, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL || link (temporary, out) == -1)
    return -1;
  unlink (temporary);
  return 0;
}

/* All of it appears at once, or nothing. */
static int
write_file (const char *out, const char *text, size_t size, bool force)
{
  char *copy = format ("%s", out);
  char *temporary = format ("%s/.spindle-XXXXXX", dirname (copy));
  int fd = mkostemp (temporary, O_CLOEXEC), r = -1, saved;
  mode_t mask = umask (0);

  umask (mask);
  if (fd != -1) {
    if (write_all (fd, text, size) == 0 && fchmod (fd, 0666 & ~mask) == 0 &&
        fsync (fd) == 0)
      r = put_in_place (temporary, out, force);
    saved = errno;
    if (r == -1)
      unlink (temporary);
    close (fd);
    errno = saved;
  }
  if (r == -1)
    fail_errno (out);
  free (temporary);
  free (copy);
  return r;
}

/* Nobody interrupts us with a temporary file about. */
static int
write_undisturbed (const char *out, const char *text, size_t size,
                   bool force)
{
  sigset_t all, before;
  int r;

  sigfillset (&all);
  sigprocmask (SIG_BLOCK, &all, &before);
  r = write_file (out, text, size, force);
  sigprocmask (SIG_SETMASK, &before, NULL);
  return r;
}

static int
write_profile (const struct import *in, const struct profile *profile,
               const char *out, bool force)
{
  size_t size;
  char *text = profile_text (in, profile, &size);
  int r = -1;

  if (text && try_load (in->path, text, size) == 0)
    r = write_undisturbed (out, text, size, force);
  free (text);
  return r;
}

/* ---- all of it ---- */

/* A path the loader takes for one, and room for a drive's name. */
static int
check_out (const char *out, bool force)
{
  const char *slash = strrchr (out, '/'), *base = slash ? slash + 1 : out;
  size_t n = strlen (base);
  struct stat st;

  if (n <= 4 || strcmp (base + n - 4, ".cfg") != 0 ||
      n - 4 >= sizeof ((struct profile *) 0)->name) {
    complain ("-o: %s: NAME.cfg is allowed, with a NAME of at most %zu "
              "characters", out, sizeof ((struct profile *) 0)->name - 1);
    return -1;
  }
  if (!force && lstat (out, &st) == 0) {
    complain ("%s: exists; --force overwrites it", out);
    return -1;
  }
  return 0;
}

int
import_file (const char *path, const char *slips, const char *out,
             bool force)
{
  struct import *in = allocate (1, sizeof *in);
  struct profile *profile = allocate (1, sizeof *profile);
  int r = -1;

  import_init (in, path);
  if (check_out (out, force) == 0 && read_params (in) == 0 &&
      (slips == NULL || read_slips (in, slips) == 0) &&
      import_map (in, profile) == 0)
    r = write_profile (in, profile, out, force);
  if (in->error)
    complain ("%s", in->error);
  for (size_t i = 0; i < in->notes.n && r == 0; i++)
    complain ("%s: %s", path, in->notes.word[i]);
  import_free (in);
  free (profile);
  free (in);
  return r;
}

/* ---- the command line ---- */

static const struct option_def defs[] = {
  { "-o", "OUT.cfg" }, { "--slips", "FILE" }, { "--force", NULL },
  { NULL, NULL }
};

struct arguments {
  const char *params, *slips, *out;
  bool force;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct arguments *a = opaque;

  if (strcmp (name, "-o") == 0)
    a->out = value;
  else if (strcmp (name, "--slips") == 0)
    a->slips = value;
  else
    a->force = true;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  struct arguments *a = opaque;

  (void) after_dashes;
  if (a->params) {
    complain ("%s: one file of parameters at a time", word);
    return -1;
  }
  a->params = word;
  return 0;
}

int
command_profile_import (int argc, char **argv)
{
  struct arguments a = { 0 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r != 0)
    return options_status (r, help);
  if (a.params == NULL || a.out == NULL) {
    complain ("profile import: %s; try 'spindle profile import --help'",
              a.params ? "-o OUT.cfg is needed" : "no parameters given");
    return EXIT_USAGE;
  }
  return import_file (a.params, a.slips, a.out, a.force) == -1
    ? EXIT_COULD_NOT_RUN : EXIT_REPRODUCED;
}
