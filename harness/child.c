/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "spindle.h"

static sigset_t taken, original;
static int end_signal;

void
signals_take_over (void)
{
  static bool done;

  if (done)
    return;                     /* what children get is the first mask */
  done = true;
  sigemptyset (&taken);
  sigaddset (&taken, SIGINT);
  sigaddset (&taken, SIGTERM);
  sigaddset (&taken, SIGHUP);
  sigaddset (&taken, SIGQUIT);
  sigaddset (&taken, SIGCHLD);
  sigprocmask (SIG_BLOCK, &taken, &original);
  signal (SIGPIPE, SIG_IGN);
}

int
signals_wait (int ms)
{
  const struct timespec t = {
    .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L
  };
  int sig = sigtimedwait (&taken, NULL, &t);

  if (sig > 0 && sig != SIGCHLD)
    end_signal = sig;
  return end_signal;
}

/* Runs in the child.  Only returns, with errno set, on failure. */
static void
become (const struct words *argv, const struct words *env,
        const char *output, pid_t parent)
{
  size_t i;
  int fd;

  /* The parent may have died before prctl. */
  if (prctl (PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid () != parent)
    return;
  if (output) {
    if (setpgid (0, 0) == -1)
      return;
    fd = open ("/dev/null", O_RDONLY);
    if (fd == -1 || dup2 (fd, STDIN_FILENO) == -1)
      return;
    fd = open (output, O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600);
    if (fd == -1 || dup2 (fd, STDOUT_FILENO) == -1 ||
        dup2 (fd, STDERR_FILENO) == -1)
      return;
  }
  for (i = 0; env && i < env->n; ++i)
    putenv (env->word[i]);
  signal (SIGPIPE, SIG_DFL);
  sigprocmask (SIG_SETMASK, &original, NULL);
  execvp (argv->word[0], argv->word);
}

int
child_start (struct child *c, const char *name, const struct words *argv,
             const struct words *env, const char *output)
{
  pid_t parent = getpid ();
  int fd[2], error = 0;
  ssize_t n;

  memset (c, 0, sizeof *c);
  c->name = name;
  if (pipe2 (fd, O_CLOEXEC) == -1 || (c->pid = fork ()) == -1) {
    complain ("cannot start %s: %s", name, strerror (errno));
    c->pid = 0;
    return -1;
  }
  if (c->pid == 0) {
    become (argv, env, output, parent);
    error = errno;
    (void) !write (fd[1], &error, sizeof error);
    _exit (127);
  }
  close (fd[1]);
  /* The pipe closes when the child executes its program. */
  do
    n = read (fd[0], &error, sizeof error);
  while (n == -1 && errno == EINTR);
  close (fd[0]);
  if (n == 0)
    return 0;
  complain ("cannot start %s: %s: %s", name, argv->word[0],
            strerror (error));
  child_stop (c, 0);
  return -1;
}

bool
child_ended (struct child *c)
{
  if (c->pid && waitpid (c->pid, &c->status, WNOHANG) == c->pid) {
    c->pid = 0;
    c->ended = true;
  }
  return c->ended;
}

int
child_wait_for (struct child *c, const char *file, int limit_ms)
{
  int ms;

  for (ms = 0; access (file, F_OK) == -1; ms += 5)
    if (signals_wait (5) || child_ended (c) || ms > limit_ms)
      return -1;
  return 0;
}

void
child_stop (struct child *c, int grace_ms)
{
  const struct timespec ms = { .tv_nsec = 1000000 };

  if (c->pid == 0)
    return;
  if (grace_ms > 0)
    kill (c->pid, SIGTERM);
  for (; grace_ms > 0; --grace_ms) {
    if (child_ended (c))
      return;
    nanosleep (&ms, NULL);
  }
  kill (c->pid, SIGKILL);
  if (waitpid (c->pid, &c->status, 0) == c->pid)
    c->ended = true;
  c->pid = 0;
}

char *
child_fate (const struct child *c)
{
  if (WIFSIGNALED (c->status))
    return format ("was killed by signal %d (%s)", WTERMSIG (c->status),
                   strsignal (WTERMSIG (c->status)));
  return format ("ended with status %d", WEXITSTATUS (c->status));
}
