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

/* What LINE has for this client, or NULL. */
static const char *
find (const char *line, const char *accelerator, const char *bus)
{
  char *key = format ("%s %s ", accelerator, bus);
  const size_t n = strlen (key);
  const char *r = strncmp (line, key, n) == 0 ? line + n : NULL;

  free (key);
  return r;
}

int
calibration_floor (const char *accelerator, const char *bus, int64_t *ns)
{
  char *name = path (), line[256];
  FILE *fp = fopen (name, "r");
  const char *value;
  int n, r = 0;

  *ns = 0;
  for (n = 1; fp && fgets (line, sizeof line, fp); ++n) {
    line[strcspn (line, "\n")] = '\0';
    value = find (line, accelerator, bus);
    if (value && parse_number (value, 0, MAX_FLOOR_NS, ns) == -1) {
      complain ("%s:%d: %s %s: %s: nanoseconds from 0 to %d; spindle calibrate "
                "measures them", name, n, accelerator, bus, value,
                MAX_FLOOR_NS);
      r = -1;
    }
    if (value)
      break;
  }
  if (fp)
    fclose (fp);
  free (name);
  return r;
}

/* Everything but the old line of this client. */
static void
copy_others (FILE *to, const char *name, const char *accelerator,
             const char *bus)
{
  FILE *from = fopen (name, "r");
  char line[256];

  if (from == NULL)
    return;
  while (fgets (line, sizeof line, from))
    if (strcmp (line, HEADER) != 0 &&
        find (line, accelerator, bus) == NULL)
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
