/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a guest's serial console while it grows.
 */
#ifndef SPINDLE_CONSOLE_H
#define SPINDLE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

#define CONSOLE_LINE_MAX 4096

struct console {
  int fd;                       /* -1 until the file is there */
  char line[CONSOLE_LINE_MAX];
  size_t n;
};

void console_start (struct console *c);

/* Read what has come since; FN gets every complete line, without its line
 * end, and with LAST also an incomplete one.  Lines are cut at
 * CONSOLE_LINE_MAX.  Returns whether anything came.
 */
bool console_read (struct console *c, const char *path, bool last,
                   void (*fn) (void *opaque, const char *line),
                   void *opaque);

void console_stop (struct console *c);

/* The last line of a log that says something, for an error message; free
 * it.  NULL if there is none.  With PREFIX, the last line that has it, and
 * what follows it.
 */
char *last_line (const char *path, const char *prefix);

#endif /* SPINDLE_CONSOLE_H */
