/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small things: messages, allocation, "did you mean".
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spindle.h"

void
complain (const char *fmt, ...)
{
  va_list args;

  fputs ("spindle: ", stderr);
  va_start (args, fmt);
  vfprintf (stderr, fmt, args);
  va_end (args);
  fputc ('\n', stderr);
}

static void __attribute__ ((noreturn))
out_of_memory (void)
{
  complain ("out of memory");
  exit (EXIT_COULD_NOT_RUN);
}

char *
format_args (const char *fmt, va_list args)
{
  char *r;

  if (vasprintf (&r, fmt, args) == -1)
    out_of_memory ();
  return r;
}

char *
format (const char *fmt, ...)
{
  va_list args;
  char *r;

  va_start (args, fmt);
  r = format_args (fmt, args);
  va_end (args);
  return r;
}

uint64_t
hash_bytes (uint64_t hash, const void *data, size_t n)
{
  const unsigned char *p = data;

  while (n-- > 0)
    hash = (hash ^ *p++) * UINT64_C (0x100000001b3);
  return hash;
}

uint64_t
hash_file (uint64_t hash, FILE *fp)
{
  char block[4096];
  size_t n;

  while ((n = fread (block, 1, sizeof block, fp)) > 0)
    hash = hash_bytes (hash, block, n);
  return hash;
}

void *
allocate (size_t n, size_t size)
{
  void *p = calloc (n ? n : 1, size);

  if (p == NULL)
    out_of_memory ();
  return p;
}

void *
reallocate (void *p, size_t n, size_t size)
{
  p = reallocarray (p, n ? n : 1, size);
  if (p == NULL)
    out_of_memory ();
  return p;
}

/* Levenshtein's distance.  Words longer than the table are far away. */
static unsigned
distance (const char *a, const char *b)
{
  size_t n = strlen (a), m = strlen (b), i, j;
  unsigned row[64];

  if (n >= 64 || m >= 64)
    return 64;
  for (j = 0; j <= m; ++j)
    row[j] = j;
  for (i = 1; i <= n; ++i) {
    unsigned diagonal = row[0];

    row[0] = i;
    for (j = 1; j <= m; ++j) {
      unsigned best = diagonal + (a[i-1] != b[j-1]);

      diagonal = row[j];
      if (row[j] + 1 < best)
        best = row[j] + 1;
      if (row[j-1] + 1 < best)
        best = row[j-1] + 1;
      row[j] = best;
    }
  }
  return row[m];
}

const char *
nearest_word (const char *word, const char *const *candidates)
{
  const char *best = NULL;
  unsigned best_distance = strlen (word) / 3 + 2;

  for (; *candidates; ++candidates) {
    unsigned d = distance (word, *candidates);

    if (d < best_distance) {
      best = *candidates;
      best_distance = d;
    }
  }
  return best;
}

int
parse_number (const char *text, int64_t min, int64_t max, int64_t *r)
{
  char *end;
  long long n;

  errno = 0;
  n = strtoll (text, &end, 10);
  if (errno || end == text || *end || text[0] == '+' || text[0] == ' ' ||
      n < min || n > max)
    return -1;
  *r = n;
  return 0;
}

int64_t
monotonic_ns (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C (1000000000) + t.tv_nsec;
}

int64_t
monotonic_ms (void)
{
  return monotonic_ns () / 1000000;
}
