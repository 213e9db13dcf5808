/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console.h"
#include "spindle.h"

void
console_start (struct console *c)
{
  c->fd = -1;
  c->n = 0;
}

static void
end_line (struct console *c, void (*fn) (void *opaque, const char *line),
          void *opaque)
{
  while (c->n > 0 && c->line[c->n - 1] == '\r')
    c->n--;
  c->line[c->n] = '\0';
  c->n = 0;
  fn (opaque, c->line);
}

bool
console_read (struct console *c, const char *path, bool last,
              void (*fn) (void *opaque, const char *line), void *opaque)
{
  char buf[4096];
  ssize_t n, i;
  bool any = false;

  if (c->fd == -1)
    c->fd = open (path, O_RDONLY|O_CLOEXEC);
  if (c->fd == -1)
    return false;
  while ((n = read (c->fd, buf, sizeof buf)) > 0) {
    any = true;
    for (i = 0; i < n; ++i)
      if (buf[i] == '\n')
        end_line (c, fn, opaque);
      else if (buf[i] != '\0' && c->n < CONSOLE_LINE_MAX - 1)
        c->line[c->n++] = buf[i];
  }
  if (last && c->n > 0)
    end_line (c, fn, opaque);
  return any;
}

void
console_stop (struct console *c)
{
  if (c->fd != -1)
    close (c->fd);
  c->fd = -1;
}

char *
last_line (const char *path, const char *prefix)
{
  FILE *fp = fopen (path, "r");
  char *line = NULL, *r = NULL;
  size_t size = 0, skip = prefix ? strlen (prefix) : 0;

  if (fp == NULL)
    return NULL;
  while (getline (&line, &size, fp) != -1) {
    line[strcspn (line, "\r\n")] = '\0';
    if (line[0] == '\0' || (prefix && strncmp (line, prefix, skip) != 0))
      continue;
    free (r);
    r = format ("%s", line + skip);
  }
  free (line);
  fclose (fp);
  return r;
}
