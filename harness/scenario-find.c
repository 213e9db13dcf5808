/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pieces.h"
#include "scenario-find.h"
#include "spindle.h"

static bool
ends_in_cfg (const char *word)
{
  size_t n = strlen (word);

  return n > 4 && strcmp (word + n - 4, ".cfg") == 0;
}

static void
add_folder (struct words *folders, char *folder)
{
  words_add (folders, folder);
  free (folder);
}

static void
add_users (struct words *folders)
{
  const char *list = getenv ("SPINDLE_PATH");
  const char *config = getenv ("XDG_CONFIG_HOME"), *home = getenv ("HOME");

  while (list && *list) {
    int n = (int) strcspn (list, ":");

    if (n > 0)
      add_folder (folders, format ("%.*s/scenarios", n, list));
    list += n;
    list += *list == ':';
  }
  if (config && *config)
    add_folder (folders, format ("%s/spindle/scenarios", config));
  else if (home && *home)
    add_folder (folders, format ("%s/.config/spindle/scenarios", home));
}

/* The names in all the folders, for a mistake. */
static void
add_names (struct words *names, const char *folder)
{
  DIR *dir = opendir (folder);
  struct dirent *entry;

  while (dir && (entry = readdir (dir)))
    if (ends_in_cfg (entry->d_name)) {
      char *name = format ("%.*s", (int) strlen (entry->d_name) - 4,
                           entry->d_name);

      words_add (names, name);
      free (name);
    }
  if (dir)
    closedir (dir);
}

static void
not_found (const char *word, const struct words *folders)
{
  struct words names = { 0 };
  const char *near = NULL;

  for (size_t i = 0; i < folders->n; ++i)
    add_names (&names, folders->word[i]);
  if (names.n > 0)
    near = nearest_word (word, (const char *const *) names.word);
  if (near)
    complain ("run: %s: no such scenario; did you mean %s?", word, near);
  else
    complain ("run: %s: no such scenario among the %zu found; a file ends in "
              ".cfg", word, names.n);
  words_free (&names);
}

char *
scenario_find (const char *word, const char *folder)
{
  struct words folders = { 0 };
  char *file = NULL;

  if (strchr (word, '/') || ends_in_cfg (word))
    return format ("%s", word);
  add_users (&folders);
  words_add (&folders, folder);
  for (size_t i = 0; i < folders.n && file == NULL; ++i) {
    file = format ("%s/%s.cfg", folders.word[i], word);
    if (access (file, R_OK) == -1) {
      free (file);
      file = NULL;
    }
  }
  if (file == NULL)
    not_found (word, &folders);
  words_free (&folders);
  return file;
}

/* For qsort. */
static int
by_name (const void *a, const void *b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

int
scenario_list (struct words *files)
{
  struct words folders = { 0 }, names = { 0 };
  struct pieces pieces;
  size_t i;

  if (pieces_find (&pieces) == -1)
    return -1;
  add_users (&folders);
  words_add (&folders, pieces.scenarios);
  for (i = 0; i < folders.n; ++i)
    add_names (&names, folders.word[i]);
  if (names.n > 0)
    qsort (names.word, names.n, sizeof names.word[0], by_name);
  for (i = 0; i < names.n; ++i)
    if (i == 0 || strcmp (names.word[i], names.word[i - 1]) != 0) {
      char *file = scenario_find (names.word[i], pieces.scenarios);

      if (file)
        words_add (files, file);
      free (file);
    }
  words_free (&folders);
  words_free (&names);
  pieces_free (&pieces);
  return 0;
}

int
scenario_find_all (const struct words *scenarios, struct words *files)
{
  struct pieces pieces;
  int r = pieces_find (&pieces);
  size_t i;

  if (r == -1)
    return -1;
  for (i = 0; i < scenarios->n && r == 0; ++i) {
    char *file = scenario_find (scenarios->word[i], pieces.scenarios);

    if (file)
      words_add (files, file);
    else
      r = -1;
    free (file);
  }
  pieces_free (&pieces);
  return r;
}
