/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "spindle.h"
#include "words.h"

static void
add (struct words *w, char *word)
{
  w->word = reallocate (w->word, w->n + 2, sizeof *w->word);
  w->word[w->n++] = word;
  w->word[w->n] = NULL;
}

void
words_add (struct words *w, const char *word)
{
  add (w, format ("%s", word));
}

void
words_addf (struct words *w, const char *fmt, ...)
{
  va_list args;

  va_start (args, fmt);
  add (w, format_args (fmt, args));
  va_end (args);
}

void
words_free (struct words *w)
{
  size_t i;

  for (i = 0; i < w->n; ++i)
    free (w->word[i]);
  free (w->word);
  w->word = NULL;
  w->n = 0;
}

static void
print_word (const char *word, FILE *fp)
{
  static const char plain[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    "-_./=,:+@%";

  if (*word && strspn (word, plain) == strlen (word)) {
    fputs (word, fp);
    return;
  }
  fputc ('\'', fp);
  for (; *word; ++word)
    if (*word == '\'')
      fputs ("'\\''", fp);
    else
      fputc (*word, fp);
  fputc ('\'', fp);
}

void
words_print (const struct words *w, FILE *fp, const char *end)
{
  size_t i;

  for (i = 0; i < w->n; ++i) {
    if (i)
      fputc (' ', fp);
    print_word (w->word[i], fp);
  }
  fputs (end, fp);
}
