/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "bad-sectors.h"
#include "change.h"
#include "control.h"
#include "drive.h"
#include "owned.h"
#include "real-time.h"

#define MAX_CLIENTS 8
#define MAX_LINE 256

struct client {
  int fd;                       /* -1: free */
  size_t n;                     /* bytes in line */
  char line[MAX_LINE];
};

static int listener = -1;
static int quit = -1;           /* eventfd */
static pthread_t thread;
static bool runs;
static struct client clients[MAX_CLIENTS];

/* Commands.  Each prints one line. */

static void
do_ping (struct drive *d, const char *arg, FILE *reply)
{
  (void) d;
  (void) arg;
  fputs ("ok\n", reply);
}

static void
do_stats (struct drive *d, const char *arg, FILE *reply)
{
  (void) arg;
  stats_print (reply, d);
}

static void
do_reset_stats (struct drive *d, const char *arg, FILE *reply)
{
  (void) arg;
  stats_reset (d);
  fputs ("ok\n", reply);
}

/* On the virtual clock a change would come at no moment of the guest's, and
 * the run would not be repeatable.
 */
static const struct {
  const char *name;
  bool has_arg;                 /* one word after the name */
  bool real_time;               /* only */
  void (*fn) (struct drive *d, const char *arg, FILE *reply);
} commands[] = {
  { "bad", true, false, bad_sectors_command },
  { "pause", false, true, real_time_pause },
  { "ping", false, false, do_ping },
  { "power", true, false, power_command },
  { "reset-stats", false, false, do_reset_stats },
  { "resume", false, true, real_time_resume },
  { "set", true, true, change_command },
  { "speed", true, true, real_time_speed },
  { "stats", false, false, do_stats },
};

static void
execute (struct drive *d, const char *line, FILE *reply)
{
  size_t n = strcspn (line, " ");
  const char *arg = line[n] ? line + n + 1 : NULL;

  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    const char *name = commands[i].name;

    if (strncmp (line, name, n) != 0 || name[n] != '\0')
      continue;
    if ((arg != NULL) != commands[i].has_arg)
      fprintf (reply, "error %s: %s\n", name,
               arg ? "takes nothing more" : "needs something more");
    else if (commands[i].real_time && d->clock != &clock_real)
      fputs ("error real time only: this drive's time is that of its guest\n",
             reply);
    else
      commands[i].fn (d, arg, reply);
    return;
  }
  fprintf (reply, "error %.*s: unknown command\n", (int) n, line);
}

/* Clients. */

static void
hang_up (struct client *c)
{
  close (c->fd);
  c->fd = -1;
}

/* Nobody's slow reading may hold us up: what does not fit in the socket's
 * buffer ends the connection.
 */
static int
reply_to (struct drive *d, struct client *c, const char *line)
{
  char *text = NULL;
  size_t n = 0;
  ssize_t sent = -1;
  FILE *fp = open_memstream (&text, &n);

  if (fp == NULL)
    return -1;
  execute (d, line, fp);
  if (fclose (fp) == 0)
    sent = send (c->fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL);
  free (text);
  return sent == (ssize_t) n ? 0 : -1;
}

/* Answer the whole lines that have come in. */
static int
answer_lines (struct drive *d, struct client *c)
{
  char *end;

  while ((end = memchr (c->line, '\n', c->n)) != NULL) {
    *end = '\0';
    if (reply_to (d, c, c->line) == -1)
      return -1;
    c->n -= (size_t) (end + 1 - c->line);
    memmove (c->line, end + 1, c->n);
  }
  return c->n == sizeof c->line ? -1 : 0;
}

static void
serve_client (struct drive *d, struct client *c)
{
  ssize_t r = recv (c->fd, c->line + c->n, sizeof c->line - c->n,
                    MSG_DONTWAIT);

  if (r == -1 && (errno == EINTR || errno == EAGAIN))
    return;
  if (r <= 0) {
    hang_up (c);
    return;
  }
  c->n += (size_t) r;
  if (answer_lines (d, c) == -1)
    hang_up (c);
}

static void
accept_client (void)
{
  static const char full[] = "error too many others are connected\n";
  int fd = accept4 (listener, NULL, NULL, SOCK_CLOEXEC);

  if (fd == -1)
    return;
  for (size_t i = 0; i < MAX_CLIENTS; i++)
    if (clients[i].fd == -1) {
      clients[i] = (struct client) { .fd = fd };
      return;
    }
  (void) !send (fd, full, sizeof full - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  close (fd);
}

static void *
serve (void *opaque)
{
  struct drive *d = opaque;
  struct pollfd fds[2 + MAX_CLIENTS];

  for (;;) {
    fds[0] = (struct pollfd) { .fd = quit, .events = POLLIN };
    fds[1] = (struct pollfd) { .fd = listener, .events = POLLIN };
    for (size_t i = 0; i < MAX_CLIENTS; i++)
      fds[2 + i] = (struct pollfd) { .fd = clients[i].fd, .events = POLLIN };

    if (poll (fds, 2 + MAX_CLIENTS, -1) == -1)
      continue;
    if (fds[0].revents)
      return NULL;
    for (size_t i = 0; i < MAX_CLIENTS; i++)
      if (fds[2 + i].revents)
        serve_client (d, &clients[i]);
    if (fds[1].revents)
      accept_client ();
  }
}

/* The socket. */

static int
fill_address (struct sockaddr_un *sun, const char *path)
{
  *sun = (struct sockaddr_un) { .sun_family = AF_UNIX };
  if (strlen (path) >= sizeof sun->sun_path) {
    nbdkit_error ("control=%s: the path of a socket may have %zu bytes",
                  path, sizeof sun->sun_path - 1);
    return -1;
  }
  strcpy (sun->sun_path, path);
  return 0;
}

/* Remove a socket that nobody listens on. */
static int
remove_stale (const struct sockaddr_un *sun)
{
  const char *path = sun->sun_path;
  struct stat st;
  int r, fd;

  if (lstat (path, &st) == -1)
    return 0;
  if (!S_ISSOCK (st.st_mode)) {
    nbdkit_error ("control=%s exists and is not a socket", path);
    return -1;
  }
  fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd == -1) {
    nbdkit_error ("socket: %m");
    return -1;
  }
  r = connect (fd, (const struct sockaddr *) sun, sizeof *sun);
  if (r == -1 && errno == ECONNREFUSED)
    r = unlink (path);
  else {
    nbdkit_error ("control=%s is in use", path);
    r = -1;
  }
  close (fd);
  return r;
}

int
control_prepare (const char *path)
{
  struct sockaddr_un sun;
  mode_t mask;
  int r;

  if (fill_address (&sun, path) == -1 || remove_stale (&sun) == -1)
    return -1;

  quit = eventfd (0, EFD_CLOEXEC);
  listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (quit == -1 || listener == -1) {
    nbdkit_error ("control=%s: %m", path);
    return -1;
  }
  mask = umask (0177);
  r = bind (listener, (struct sockaddr *) &sun, sizeof sun);
  umask (mask);
  if (r == -1 || owned_add (path, listener) == -1 ||
      listen (listener, 5) == -1) {
    nbdkit_error ("control=%s: %m", path);
    return -1;
  }
  return 0;
}

int
control_start (struct drive *d)
{
  sigset_t all, old;
  int err;

  if (listener == -1)
    return 0;
  for (size_t i = 0; i < MAX_CLIENTS; i++)
    clients[i].fd = -1;

  /* Signals are the business of nbdkit's own threads. */
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  err = pthread_create (&thread, NULL, serve, d);
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  if (err) {
    errno = err;
    nbdkit_error ("cannot start the thread of the control socket: %m");
    return -1;
  }
  runs = true;
  return 0;
}

void
control_stop (void)
{
  uint64_t one = 1;

  if (runs) {
    while (write (quit, &one, sizeof one) == -1 && errno == EINTR)
      ;
    pthread_join (thread, NULL);
    for (size_t i = 0; i < MAX_CLIENTS; i++)
      if (clients[i].fd >= 0)
        hang_up (&clients[i]);
    runs = false;
  }
  if (listener >= 0)
    close (listener);
  if (quit >= 0)
    close (quit);
  listener = quit = -1;
}
