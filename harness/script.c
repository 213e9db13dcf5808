/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "script.h"
#include "spindle.h"

enum { MAX_ARGS = 16 };

int
set_error (char **error, const char *fmt, ...)
{
  va_list args;

  va_start (args, fmt);
  *error = format_args (fmt, args);
  va_end (args);
  return -1;
}

/* In the child. */
static void
become_shell (const char *script, const char *const *args, int out, int err)
{
  const char *argv[MAX_ARGS + 5] = { "sh", "-c", script, "sh" };
  int in = open ("/dev/null", O_RDONLY);
  sigset_t none;

  /* We may have blocked what shall end a long download. */
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  prctl (PR_SET_PDEATHSIG, SIGTERM);
  for (int i = 0; args[i] != NULL && i < MAX_ARGS; i++)
    argv[4 + i] = args[i];
  if (in == -1 || dup2 (in, STDIN_FILENO) == -1
      || dup2 (out, STDOUT_FILENO) == -1 || dup2 (err, STDERR_FILENO) == -1)
    _exit (126);
  execv ("/bin/sh", (char **) argv);
  _exit (127);
}

static char *
read_all (int fd, size_t *size)
{
  char *text = NULL;
  FILE *mem = open_memstream (&text, size);
  char buf[65536];
  ssize_t n;

  if (mem == NULL)
    return NULL;
  while ((n = read (fd, buf, sizeof buf)) > 0
         || (n == -1 && errno == EINTR))
    if (n > 0)
      fwrite (buf, 1, n, mem);
  if (fclose (mem) != 0) {
    free (text);
    return NULL;
  }
  return text;
}

/* The last line of what a script complained of. */
static char *
last_complaint (FILE *err)
{
  char *line = NULL, *last = NULL;
  size_t room = 0;

  rewind (err);
  while (getline (&line, &room, err) > 0) {
    line[strcspn (line, "\n")] = '\0';
    if (line[0] != '\0') {
      free (last);
      last = format ("%s", line);
    }
  }
  free (line);
  return last != NULL ? last : format ("a command failed silently");
}

int
script_run (const char *script, const char *const *args, char **output,
            size_t *size, char **error)
{
  FILE *err = tmpfile ();
  int fds[2], status = -1;
  size_t bytes = 0;
  char *text;
  pid_t pid;

  if (err == NULL || pipe2 (fds, O_CLOEXEC) == -1) {
    set_error (error, "cannot run a command: %s", strerror (errno));
    if (err != NULL)
      fclose (err);
    return -1;
  }
  pid = fork ();
  if (pid == 0)
    become_shell (script, args, fds[1], fileno (err));
  close (fds[1]);
  text = pid == -1 ? NULL : read_all (fds[0], &bytes);
  close (fds[0]);
  while (pid != -1 && waitpid (pid, &status, 0) == -1 && errno == EINTR)
    ;
  if (text == NULL)
    set_error (error, "cannot run a command: %s", strerror (errno));
  else if (WIFSIGNALED (status))
    set_error (error, "interrupted (%s)", strsignal (WTERMSIG (status)));
  else if (status != 0)
    *error = last_complaint (err);
  fclose (err);
  if (text == NULL || status != 0 || output == NULL) {
    free (text);
    return text == NULL || status != 0 ? -1 : 0;
  }
  *output = text;
  if (size != NULL)
    *size = bytes;
  return 0;
}

void
remove_tree (const char *dir)
{
  const char *const args[] = { dir, NULL };
  char *ignored = NULL;

  script_run ("PATH=$PATH:/usr/bin:/bin; rm -rf -- \"$1\"", args, NULL, NULL,
              &ignored);
  free (ignored);
}
