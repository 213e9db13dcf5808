/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <libnbd.h>

#include "server.h"

#define START_LIMIT_MS 30000
#define STOP_LIMIT_MS 30000

static const char *
from_environment (const char *name, const char *otherwise)
{
  const char *value = getenv (name);

  return value && value[0] ? value : otherwise;
}

void
server_dir (struct server *s)
{
  *s = (struct server) { .pid = -1 };
  snprintf (s->dir, sizeof s->dir, "%s/wireXXXXXX",
            from_environment ("TMPDIR", "/tmp"));
  assert_non_null (mkdtemp (s->dir));
  snprintf (s->socket, sizeof s->socket, "%s/sock", s->dir);
}

const char *
server_path (const struct server *s, const char *name)
{
  static char paths[8][128];
  static unsigned next;
  char *path = paths[next++ % 8];

  snprintf (path, sizeof paths[0], "%s/%s", s->dir, name);
  return path;
}

static int
connects (const struct server *s)
{
  struct nbd_handle *nbd = nbd_create ();
  int r;

  assert_non_null (nbd);
  r = nbd_connect_unix (nbd, s->socket);
  if (r == 0)
    nbd_shutdown (nbd, 0);
  nbd_close (nbd);
  return r == 0;
}

void
server_start (struct server *s, const char *parameters)
{
  char command[2048];

  snprintf (command, sizeof command,
            "exec %s -f --exit-with-parent -U %s "
            "%s/nbdkit-spindle-plugin.so %s",
            from_environment ("NBDKIT", "nbdkit"), s->socket,
            from_environment ("BUILD", "build"), parameters);
  s->pid = fork ();
  assert_true (s->pid >= 0);
  if (s->pid == 0) {
    execl ("/bin/sh", "sh", "-c", command, (char *) NULL);
    _exit (127);
  }
  for (int ms = 0; ms < START_LIMIT_MS; ms += 20) {
    if (access (s->socket, F_OK) == 0 && connects (s))
      return;
    if (waitpid (s->pid, NULL, WNOHANG) == s->pid)
      break;
    usleep (20000);
  }
  fail_msg ("does not start: %s", command);
}

struct nbd_handle *
server_connect (const struct server *s)
{
  struct nbd_handle *nbd = nbd_create ();

  assert_non_null (nbd);
  if (nbd_connect_unix (nbd, s->socket) == -1)
    fail_msg ("%s", nbd_get_error ());
  return nbd;
}

void
server_disconnect (struct nbd_handle *nbd)
{
  nbd_shutdown (nbd, 0);
  nbd_close (nbd);
}

static int
dial (const char *path)
{
  struct sockaddr_un sun = { .sun_family = AF_UNIX };
  struct timeval limit = { .tv_sec = 30 };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  assert_true (fd >= 0);
  setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  snprintf (sun.sun_path, sizeof sun.sun_path, "%s", path);
  assert_int_equal (connect (fd, (struct sockaddr *) &sun, sizeof sun), 0);
  return fd;
}

char *
server_control (const struct server *s, const char *line)
{
  char *answer = calloc (1, 8192);
  int fd = dial (server_path (s, "control"));
  size_t n = 0;

  assert_non_null (answer);
  assert_true (dprintf (fd, "%s\n", line) > 0);
  while (n < 8191 && recv (fd, answer + n, 1, 0) == 1 && answer[n] != '\n')
    n++;
  answer[n] = '\0';
  close (fd);
  return answer;
}

long long
json_number (const char *json, const char *key)
{
  char pattern[64];
  const char *at;

  snprintf (pattern, sizeof pattern, "\"%s\":", key);
  at = strstr (json, pattern);
  if (at == NULL)
    fail_msg ("no %s in %s", key, json);
  return strtoll (at + strlen (pattern), NULL, 10);
}

int
server_stop (struct server *s)
{
  int status;

  kill (s->pid, SIGTERM);
  for (int ms = 0; ms < STOP_LIMIT_MS; ms += 10) {
    if (waitpid (s->pid, &status, WNOHANG) == s->pid) {
      unlink (s->socket);
      return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
    }
    usleep (10000);
  }
  kill (s->pid, SIGKILL);
  waitpid (s->pid, &status, 0);
  unlink (s->socket);
  return -1;
}

void
server_remove (struct server *s)
{
  DIR *dir = opendir (s->dir);
  struct dirent *e;

  assert_non_null (dir);
  while ((e = readdir (dir)) != NULL)
    if (e->d_name[0] != '.')
      unlinkat (dirfd (dir), e->d_name, 0);
  closedir (dir);
  assert_int_equal (rmdir (s->dir), 0);
}

char *
slurp (const char *path, size_t *n)
{
  FILE *fp = fopen (path, "r");
  struct stat st;
  char *text;

  assert_non_null (fp);
  assert_int_equal (fstat (fileno (fp), &st), 0);
  text = malloc ((size_t) st.st_size + 1);
  assert_non_null (text);
  *n = fread (text, 1, (size_t) st.st_size, fp);
  text[*n] = '\0';
  fclose (fp);
  return text;
}
