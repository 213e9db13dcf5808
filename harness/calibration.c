/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibration.h"
#include "spindle.h"
#include "workdir.h"

/* A floor beyond this is no floor. */
#define MAX_FLOOR_NS 100000000

#define HEADER "# spindle calibrate: accelerator, bus, ns\n"

static char *
folder (void)
{
  const char *state = getenv ("XDG_STATE_HOME"), *home = getenv ("HOME");

  if (state && state[0] == '/')
    return format ("%s/spindle", state);
  return format ("%s/.local/state/spindle", home ? home : "");
}

static char *
path (void)
{
  char *f = folder (), *r = format ("%s/calibration", f);

  free (f);
  return r;
}

/* Is LINE that of this client?  Then its value. */
static int
parse (const char *line, const char *accelerator, const char *bus,
       int64_t *ns)
{
  char *key = format ("%s %s ", accelerator, bus);
  const size_t n = strlen (key);
  char value[32];
  int r = -1;

  if (strncmp (line, key, n) == 0 &&
      sscanf (line + n, "%31s", value) == 1)
    r = parse_number (value, 0, MAX_FLOOR_NS, ns);
  free (key);
  return r;
}

int64_t
calibration_floor_ns (const char *accelerator, const char *bus)
{
  char *name = path (), line[256];
  FILE *fp = fopen (name, "r");
  int64_t ns = 0;

  free (name);
  if (fp == NULL)
    return 0;
  while (fgets (line, sizeof line, fp))
    if (parse (line, accelerator, bus, &ns) == 0)
      break;
  fclose (fp);
  return ns;
}

/* Everything but the old line of this client. */
static void
copy_others (FILE *to, const char *name, const char *accelerator,
             const char *bus)
{
  FILE *from = fopen (name, "r");
  char line[256];
  int64_t ns;

  if (from == NULL)
    return;
  while (fgets (line, sizeof line, from))
    if (strcmp (line, HEADER) != 0 &&
        parse (line, accelerator, bus, &ns) == -1)
      fputs (line, to);
  fclose (from);
}

int
calibration_store (const char *accelerator, const char *bus,
                   int64_t floor_ns)
{
  char *dir = folder (), *name = path ();
  char *new = format ("%s.%ld", name, (long) getpid ());
  int r = make_directories (dir);
  FILE *fp = r == 0 ? fopen (new, "w") : NULL;

  if (fp) {
    fputs (HEADER, fp);
    copy_others (fp, name, accelerator, bus);
    fprintf (fp, "%s %s %lld\n", accelerator, bus, (long long) floor_ns);
  }
  if (r == 0 && (fp == NULL || fclose (fp) == EOF ||
                 rename (new, name) == -1)) {
    complain ("%s: %s", name, strerror (errno));
    unlink (new);
    r = -1;
  }
  free (dir);
  free (name);
  free (new);
  return r;
}
