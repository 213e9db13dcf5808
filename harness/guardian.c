/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian.h"

/* Standard error stays, for a last word.  In a session of its own it does
 * not get what the terminal sends to us.
 */
static void
leave_all_behind (void)
{
  int fd = open ("/dev/null", O_RDWR|O_CLOEXEC);

  if (fd != -1) {
    dup2 (fd, STDIN_FILENO);
    dup2 (fd, STDOUT_FILENO);
  }
  setsid ();
  (void) !chdir ("/");
  prctl (PR_SET_NAME, "spindle-guard");
}

int
guardian_start (struct guardian *g, void (*fn) (const void *opaque),
                const void *opaque)
{
  int fd[2];
  ssize_t n;
  char byte;

  g->pid = 0;
  if (pipe2 (fd, O_CLOEXEC) == -1)
    return -1;
  g->pid = fork ();
  if (g->pid == 0) {
    close (fd[1]);
    leave_all_behind ();
    do
      n = read (fd[0], &byte, 1);
    while (n == -1 && errno == EINTR);
    if (n == 0)
      fn (opaque);
    _exit (0);
  }
  close (fd[0]);
  g->fd = fd[1];
  if (g->pid != -1)
    return 0;
  close (fd[1]);
  g->pid = 0;
  return -1;
}

void
guardian_stop (struct guardian *g)
{
  if (g->pid == 0)
    return;
  (void) !write (g->fd, "", 1);
  close (g->fd);
  waitpid (g->pid, NULL, 0);
  g->pid = 0;
}
