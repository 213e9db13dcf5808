/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "control-client.h"
#include "spindle.h"

#define LIMIT_S 10
#define LONGEST 256             /* line of the control socket */

int
control_open (const char *path)
{
  const struct timeval limit = { .tv_sec = LIMIT_S };
  struct sockaddr_un sun = { .sun_family = AF_UNIX };
  struct stat st;
  int fd;

  if (strlen (path) >= sizeof sun.sun_path) {
    complain ("%s: the path of a socket may have %zu bytes", path,
              sizeof sun.sun_path - 1);
    return -1;
  }
  if (stat (path, &st) == 0 && !S_ISSOCK (st.st_mode)) {
    complain ("%s: not a socket", path);
    return -1;
  }
  strcpy (sun.sun_path, path);
  fd = socket (AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0);
  if (fd == -1 ||
      setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == -1 ||
      connect (fd, (struct sockaddr *) &sun, sizeof sun) == -1) {
    complain ("%s: %s", path,
              errno == ECONNREFUSED ? "nobody listens" : strerror (errno));
    if (fd != -1)
      close (fd);
    return -1;
  }
  return fd;
}

/* Read up to the end of the line.  NULL without a message. */
static char *
read_line (int fd)
{
  char *line = NULL;
  size_t n = 0, room = 0;

  for (;;) {
    ssize_t r;

    if (n == room) {
      room += 4096;
      line = reallocate (line, room, 1);
    }
    r = recv (fd, line + n, room - n, 0);
    if (r == -1 && errno == EINTR)
      continue;
    if (r <= 0) {
      if (r == 0)
        errno = n >= 8 && memcmp (line, "NBDMAGIC", 8) == 0 ? EPROTO : 0;
      free (line);
      return NULL;
    }
    n += r;
    if (line[n-1] == '\n') {
      line[n-1] = '\0';
      return line;
    }
  }
}

char *
control_ask (int fd, const char *line)
{
  char *text = format ("%s\n", line), *answer = NULL;
  const ssize_t n = strlen (text);

  if (n > LONGEST) {
    complain ("a command has at most %d characters", LONGEST - 1);
    free (text);
    return NULL;
  }
  /* Hung up on, we may have been told why. */
  if (send (fd, text, n, MSG_NOSIGNAL) == n || errno == EPIPE)
    answer = read_line (fd);
  if (answer == NULL)
    complain ("%s", errno == EPROTO
              ? "this is the NBD socket; control=SOCKET names another"
              : errno == EAGAIN ? "the drive does not answer"
              : errno == 0 || errno == EPIPE || errno == ECONNRESET
              ? "the drive has gone"
              : strerror (errno));
  free (text);
  return answer;
}
