/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pieces.h"
#include "places.h"               /* generated */
#include "spindle.h"

/* Where we were started from; the caller frees it.  NULL if unknown. */
static char *
program_folder (void)
{
  char path[PATH_MAX];
  ssize_t n = readlink ("/proc/self/exe", path, sizeof path - 1);
  char *slash;

  if (n <= 0)
    return NULL;
  path[n] = '\0';
  slash = strrchr (path, '/');
  if (slash == NULL)
    return NULL;
  *slash = '\0';
  return format ("%s", path);
}

static void
in_build_tree (struct pieces *p, const char *build)
{
  p->plugin = format ("%s/nbdkit-spindle-plugin.so", build);
  p->bridge = format ("%s/spindle-clock.so", build);
  p->agent = format ("%s/agent", build);
  p->configs = format ("%s/qemu-configs", build);
  p->scenarios = format ("%s/scenarios", build);
}

/* What stands before the folder we were installed for: nothing, or what was
 * given as DESTDIR.
 */
static char *
destdir (const char *folder)
{
  size_t n = folder ? strlen (folder) : 0, bin = strlen (PLACE_BIN);

  if (n < bin || strcmp (folder + n - bin, PLACE_BIN) != 0)
    return format ("%s", "");
  return format ("%.*s", (int) (n - bin), folder);
}

static void
installed (struct pieces *p, const char *folder)
{
  char *root = destdir (folder);

  p->plugin = format ("%s%s/nbdkit-spindle-plugin.so", root, PLACE_PLUGINS);
  p->bridge = format ("%s%s/spindle-clock.so", root, PLACE_LIB);
  p->agent = format ("%s%s/agent", root, PLACE_LIB);
  p->configs = format ("%s%s/qemu-configs", root, PLACE_DATA);
  p->scenarios = format ("%s%s/scenarios", root, PLACE_DATA);
  free (root);
}

static int
check (const char *path)
{
  if (access (path, R_OK) == 0)
    return 0;
  complain ("%s is missing: build or install spindle again", path);
  return -1;
}

int
pieces_find (struct pieces *p)
{
  char *folder = program_folder ();
  char *mark = format ("%s/scenarios", folder ? folder : "");

  if (folder && access (mark, R_OK) == 0)
    in_build_tree (p, folder);
  else
    installed (p, folder);
  free (mark);
  free (folder);
  if (check (p->plugin) == -1 || check (p->bridge) == -1 ||
      check (p->agent) == -1 || check (p->configs) == -1) {
    pieces_free (p);
    return -1;
  }
  return 0;
}

void
pieces_free (struct pieces *p)
{
  free (p->plugin);
  free (p->bridge);
  free (p->agent);
  free (p->configs);
  free (p->scenarios);
  memset (p, 0, sizeof *p);
}

const char *
qemu_program (void)
{
  const char *s = getenv ("SPINDLE_QEMU");

  return s && *s ? s : "qemu-system-x86_64";
}

const char *
nbdkit_program (void)
{
  const char *s = getenv ("SPINDLE_NBDKIT");

  return s && *s ? s : "nbdkit";
}

static int
executable_in_path (const char *program)
{
  const char *path = getenv ("PATH");

  if (strchr (program, '/'))
    return access (program, X_OK) == 0;
  while (path && *path) {
    size_t n = strcspn (path, ":");
    char *file = format ("%.*s/%s", (int) n, path, program);
    int found = access (file, X_OK) == 0;

    free (file);
    if (found)
      return 1;
    path += n;
    if (*path == ':')
      ++path;
  }
  return 0;
}

int
program_check (const char *program, const char *debian_package)
{
  if (executable_in_path (program))
    return 0;
  complain ("%s is not installed: apt install %s", program, debian_package);
  return -1;
}
