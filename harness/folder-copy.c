/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder-copy.h"
#include "spindle.h"
#include "workdir.h"

static bool
same_file (const char *a, const char *b)
{
  struct stat sa, sb;

  return stat (a, &sa) == 0 && stat (b, &sb) == 0 &&
    sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static int
copy_bytes (FILE *in, FILE *out)
{
  char block[65536];
  size_t n;

  while ((n = fread (block, 1, sizeof block, in)) > 0)
    if (fwrite (block, 1, n, out) != n)
      return -1;
  return ferror (in) ? -1 : 0;
}

static int
copy_file (const char *from, const char *to)
{
  FILE *in, *out;
  int r = -1;

  if (same_file (from, to))
    return 0;
  if (unlink (to) == -1 && errno != ENOENT)
    return -1;
  if (link (from, to) == 0)
    return 0;
  in = fopen (from, "re");
  out = in ? fopen (to, "we") : NULL;
  if (out) {
    r = copy_bytes (in, out);
    if (fclose (out) == EOF)
      r = -1;
  }
  if (in)
    fclose (in);
  return r;
}

/* Call DO_IT with the path of each file in FOLDER, and that of its like in
 * OTHER.
 */
static int
each_file (const char *folder, const char *other,
           int (*do_it) (const char *path, const char *like))
{
  DIR *dir = opendir (folder);
  struct dirent *e;
  int r = 0;

  if (dir == NULL) {
    complain ("%s: %s", folder, strerror (errno));
    return -1;
  }
  while (r == 0 && (e = readdir (dir)) != NULL) {
    char *path, *like;

    if (e->d_name[0] == '.')
      continue;
    path = format ("%s/%s", folder, e->d_name);
    like = format ("%s/%s", other, e->d_name);
    r = do_it (path, like);
    if (r == -1)
      complain ("%s: %s", path, strerror (errno));
    free (path);
    free (like);
  }
  closedir (dir);
  return r;
}

static int
remove_if_new (const char *path, const char *like)
{
  return access (like, F_OK) == 0 ? 0 : unlink (path);
}

int
folder_copy (const char *from, const char *to)
{
  if (same_file (from, to))
    return 0;
  if (make_directories (to) == -1 ||
      each_file (from, to, copy_file) == -1)
    return -1;
  return each_file (to, from, remove_if_new);
}
