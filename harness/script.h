/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small shell scripts and filters run by the harness.
 */
#ifndef SPINDLE_SCRIPT_H
#define SPINDLE_SCRIPT_H

#include <stddef.h>

/* Run a shell script with positional parameters $1, $2, ... (args ends with
 * NULL) and no standard input.  On success gives 0, and its standard output
 * in *output (NUL added, to be freed) and *size, where these are not NULL.
 * On failure gives -1 and, in *error (to be freed), the last line it wrote to
 * its standard error. */
int script_run (const char *script, const char *const *args, char **output,
                size_t *size, char **error);

/* Put one line, printf-like, in *error (to be freed).  Gives -1. */
int set_error (char **error, const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));

/* Remove a directory and all that is in it. */
void remove_tree (const char *dir);

/* The bytes of a file of this tree as a string, built into the program:
 * SCRIPT_FILE (fetch, "harness/fetch-kernel.sh") declares `fetch`. */
#define SCRIPT_FILE(name, path)                                         \
  extern const char name[] __attribute__ ((visibility ("hidden")));     \
  __asm__ (".pushsection .rodata\n"                                     \
           ".hidden " #name "\n"                                        \
           ".global " #name "\n"                                        \
           #name ": .incbin \"" path "\"\n"                             \
           ".byte 0\n"                                                  \
           ".popsection\n")

#endif
