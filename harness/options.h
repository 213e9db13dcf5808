/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Command lines.
 */
#ifndef SPINDLE_OPTIONS_H
#define SPINDLE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* One "--name" or "--name VALUE" (also "--name=VALUE"). */
struct option_def {
  const char *name;             /* with the dashes */
  const char *value;            /* what stands for the value in the help,
                                   or NULL: none is wanted */
};

/* Go through ARGV from argv[1] on.  ON_OPTION is called for options (value
 * NULL where none is wanted), ON_WORD for other words; they return -1
 * after a message to stop.  After "--" everything is a word.  Returns -1
 * after a message, 1 if --help was given.
 */
int options_parse (int argc, char **argv, const struct option_def *defs,
                   int (*on_option) (void *opaque, const char *name,
                                     const char *value),
                   int (*on_word) (void *opaque, const char *word,
                                   bool after_dashes),
                   void *opaque);

/* What options_parse returned, if not 0, as an exit status; HELP is printed
 * if it was asked for.
 */
int options_status (int parsed, const char *help);

/* VALUE of option NAME as a number in MIN..MAX; -1 after a message. */
int option_number (const char *name, const char *value, int64_t min,
                   int64_t max, int64_t *r);

#endif /* SPINDLE_OPTIONS_H */
