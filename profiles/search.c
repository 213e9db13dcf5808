/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where profiles are found by name.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader-impl.h"
#include "datadir.h"

#define MAX_DIRS 64
#define MAX_PARENTS 5

struct dirs {
  char *path[MAX_DIRS];
  size_t n;
};

static void
dirs_free (struct dirs *dirs)
{
  for (size_t i = 0; i < dirs->n; i++)
    free (dirs->path[i]);
}

static void
dirs_add (struct dirs *dirs, const char *dir, size_t len, const char *below)
{
  char *path;

  if (len == 0 || dirs->n == MAX_DIRS ||
      asprintf (&path, "%.*s%s", (int) len, dir, below) == -1)
    return;
  dirs->path[dirs->n++] = path;
}

static void
add_environment (struct dirs *dirs)
{
  const char *list = getenv ("SPINDLE_PATH");
  const char *config = getenv ("XDG_CONFIG_HOME");
  const char *home = getenv ("HOME");

  while (list && *list) {
    const size_t len = strcspn (list, ":");

    dirs_add (dirs, list, len, "/profiles");
    dirs_add (dirs, list, len, "");
    list += len;
    list += *list == ':';
  }
  if (config && *config)
    dirs_add (dirs, config, strlen (config), "/spindle/profiles");
  else if (home && *home)
    dirs_add (dirs, home, strlen (home), "/.config/spindle/profiles");
}

/* The file this code was loaded from: the plugin, or the program. */
static bool
own_file (char path[PATH_MAX])
{
  struct link_map *map = NULL;
  Dl_info info;

  if (dladdr1 ((void *) profile_list, &info, (void **) &map,
               RTLD_DL_LINKMAP) != 0 && map && map->l_name[0] != '\0')
    return realpath (map->l_name, path) != NULL;
  return realpath ("/proc/self/exe", path) != NULL;
}

/* Run from a build directory, use the source tree around it. */
static void
add_source_tree (struct dirs *dirs)
{
  char path[PATH_MAX], marker[PATH_MAX + 32], *slash;

  if (! own_file (path))
    return;
  for (int i = 0; i < MAX_PARENTS; i++) {
    slash = strrchr (path, '/');
    if (slash == NULL || slash == path)
      return;
    *slash = '\0';
    snprintf (marker, sizeof marker, "%s/profiles/loader-impl.h", path);
    if (access (marker, F_OK) == 0) {
      dirs_add (dirs, path, strlen (path), "/profiles");
      return;
    }
  }
}

/* Where `make install' has put them, below its DESTDIR if that is where this
 * code was loaded from.
 */
static void
add_installed (struct dirs *dirs)
{
  static const char *const own[] = { SPINDLE_BINDIR, SPINDLE_PLUGINDIR };
  char path[PATH_MAX], *slash = NULL;

  if (own_file (path))
    slash = strrchr (path, '/');
  for (size_t i = 0; slash && i < sizeof own / sizeof own[0]; i++) {
    const size_t len = (size_t) (slash - path), own_len = strlen (own[i]);

    if (len > own_len && memcmp (slash - own_len, own[i], own_len) == 0)
      dirs_add (dirs, path, len - own_len, SPINDLE_DATADIR "/profiles");
  }
  dirs_add (dirs, SPINDLE_DATADIR, strlen (SPINDLE_DATADIR), "/profiles");
}

static void
dirs_find (struct dirs *dirs)
{
  dirs->n = 0;
  add_environment (dirs);
  add_source_tree (dirs);
  add_installed (dirs);
}

struct names {
  struct name { char *name, *path; } *name;
  size_t n, room;
  bool full;                    /* memory is short */
};

static void
names_free (struct names *names)
{
  for (size_t i = 0; i < names->n; i++) {
    free (names->name[i].name);
    free (names->name[i].path);
  }
  free (names->name);
}

static bool
names_have (const struct names *names, const char *name, size_t len)
{
  for (size_t i = 0; i < names->n; i++)
    if (strlen (names->name[i].name) == len &&
        memcmp (names->name[i].name, name, len) == 0)
      return true;
  return false;
}

static void
names_add (struct names *names, const char *dir, const char *file)
{
  const size_t len = strlen (file);
  struct name *grown, entry = { NULL, NULL };

  if (len <= 4 || strcmp (file + len - 4, ".cfg") != 0 || file[0] == '.' ||
      names_have (names, file, len - 4))
    return;
  if (names->n == names->room) {
    grown = realloc (names->name, (names->room + 32) * sizeof *grown);
    if (grown == NULL) {
      names->full = true;
      return;
    }
    names->name = grown;
    names->room += 32;
  }
  entry.name = strndup (file, len - 4);
  if (entry.name == NULL ||
      asprintf (&entry.path, "%s/%s", dir, file) == -1) {
    free (entry.name);
    names->full = true;
    return;
  }
  names->name[names->n++] = entry;
}

static int
by_name (const void *a, const void *b)
{
  return strcmp (((const struct name *) a)->name,
                 ((const struct name *) b)->name);
}

static void
names_find (struct names *names)
{
  struct dirs dirs;

  *names = (struct names) { NULL, 0, 0, false };
  dirs_find (&dirs);
  for (size_t i = 0; i < dirs.n; i++) {
    DIR *dir = opendir (dirs.path[i]);
    struct dirent *entry;

    while (dir && (entry = readdir (dir)))
      names_add (names, dirs.path[i], entry->d_name);
    if (dir)
      closedir (dir);
  }
  dirs_free (&dirs);
  if (names->n > 0)
    qsort (names->name, names->n, sizeof *names->name, by_name);
}

int
profile_list (void (*fn) (void *opaque, const char *name, const char *path),
              void *opaque)
{
  struct names names;
  int r;

  names_find (&names);
  for (size_t i = 0; i < names.n; i++)
    fn (opaque, names.name[i].name, names.name[i].path);
  r = names.full ? -1 : (int) names.n;
  names_free (&names);
  return r;
}

char *
profile_find (struct load *load, const char *name)
{
  struct names names;
  struct nearest nearest;
  char *path = NULL;

  names_find (&names);
  nearest_start (&nearest, name);
  for (size_t i = 0; i < names.n && path == NULL; i++) {
    if (strcmp (names.name[i].name, name) == 0)
      path = strdup (names.name[i].path);
    nearest_offer (&nearest, names.name[i].name);
  }
  if (path == NULL)
    fail (load, "profile=%s: no such profile among the %zu found%s", name,
          names.n, nearest_hint (&nearest));
  names_free (&names);
  return path;
}
