/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "spindle.h"
#include "workdir.h"

#define PREFIX "spindle-"

/* Room for a run's directory and a socket below ours. */
#define SOCKET_ROOM 24

/* A directory younger than this may not have been locked yet. */
#define STALE_AFTER_S 10

/* What our children write while they die may come after us. */
#define REMOVE_TRIES 500

static int
remove_entry (const char *path, const struct stat *st, int type,
              struct FTW *ftw)
{
  (void) st;
  (void) type;
  (void) ftw;
  remove (path);
  return 0;
}

static void
remove_tree (const char *path)
{
  nftw (path, remove_entry, 16, FTW_DEPTH|FTW_PHYS);
}

/* NAME in BASE is ours, old enough, and nobody holds its lock. */
static void
remove_if_stale (const char *base, const char *name)
{
  char *path = format ("%s/%s", base, name);
  struct stat st;
  int fd;

  fd = open (path, O_RDONLY|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC);
  if (fd != -1) {
    if (fstat (fd, &st) == 0 && st.st_uid == geteuid () &&
        time (NULL) - st.st_ctime > STALE_AFTER_S &&
        flock (fd, LOCK_EX|LOCK_NB) == 0)
      remove_tree (path);
    close (fd);
  }
  free (path);
}

static void
remove_stale (const char *base)
{
  DIR *dir = opendir (base);
  struct dirent *e;

  if (dir == NULL)
    return;
  while ((e = readdir (dir)) != NULL)
    if (strncmp (e->d_name, PREFIX, strlen (PREFIX)) == 0 &&
        strlen (e->d_name) == strlen (PREFIX) + 6)
      remove_if_stale (base, e->d_name);
  closedir (dir);
}

/* In the guardian.  Our children get SIGKILL with our end. */
static void
remove_orphan (const void *path)
{
  const struct timespec ms = { .tv_nsec = 10000000 };
  int i;

  for (i = 0; i < REMOVE_TRIES && access (path, F_OK) == 0; ++i) {
    remove_tree (path);
    nanosleep (&ms, NULL);
  }
  complain ("killed; what it had started is ended, what it had made is "
            "removed");
}

static int
create_under (struct workdir *w, const char *base)
{
  struct sockaddr_un address;

  if (base == NULL || base[0] != '/' ||
      strlen (base) + SOCKET_ROOM + sizeof PREFIX + 7
        > sizeof address.sun_path)
    return -1;
  remove_stale (base);
  w->path = format ("%s/" PREFIX "XXXXXX", base);
  if (mkdtemp (w->path) != NULL) {
    w->fd = open (w->path, O_RDONLY|O_DIRECTORY|O_CLOEXEC);
    if (w->fd != -1 && flock (w->fd, LOCK_EX|LOCK_NB) == 0 &&
        guardian_start (&w->guardian, remove_orphan, w->path) == 0)
      return 0;
    if (w->fd != -1)
      close (w->fd);
    rmdir (w->path);
  }
  free (w->path);
  w->path = NULL;
  return -1;
}

int
workdir_create (struct workdir *w)
{
  const char *tmpdir = getenv ("TMPDIR");

  if (create_under (w, getenv ("XDG_RUNTIME_DIR")) == 0 ||
      create_under (w, tmpdir) == 0 ||
      create_under (w, "/tmp") == 0)
    return 0;
  complain ("cannot make a private directory in /tmp: %s",
            strerror (errno));
  return -1;
}

int
workdir_create_large (struct workdir *w)
{
  if (create_under (w, getenv ("TMPDIR")) == 0 ||
      create_under (w, "/var/tmp") == 0)
    return 0;
  complain ("cannot make a private directory in /var/tmp: %s",
            strerror (errno));
  return -1;
}

void
workdir_remove (struct workdir *w)
{
  if (w->path == NULL)
    return;
  remove_tree (w->path);
  guardian_stop (&w->guardian);
  close (w->fd);
  free (w->path);
  w->path = NULL;
}

int
make_directories (const char *path)
{
  char *copy = format ("%s", path), *p;
  int r = 0;

  for (p = copy + 1; r == 0; ++p)
    if (*p == '/' || *p == '\0') {
      char c = *p;

      *p = '\0';
      if (mkdir (copy, 0777) == -1 && errno != EEXIST) {
        complain ("%s: cannot make this directory: %s", copy,
                  strerror (errno));
        r = -1;
      }
      *p = c;
      if (c == '\0')
        break;
    }
  free (copy);
  return r;
}
