/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A growing, NULL-terminated list of words: an argv or an environment.
 */
#ifndef SPINDLE_WORDS_H
#define SPINDLE_WORDS_H

#include <stddef.h>
#include <stdio.h>

struct words {
  char **word;                  /* NULL while empty */
  size_t n;
};

void words_add (struct words *w, const char *word);
void words_addf (struct words *w, const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));
void words_free (struct words *w);

/* Write W so that a shell reads back the same words, then END. */
void words_print (const struct words *w, FILE *fp, const char *end);

#endif /* SPINDLE_WORDS_H */
