/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A look at the text of a profile before libconfig gets it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader-impl.h"

#define MAX_NESTING 16

struct scan {
  struct load *load;
  const char *at, *end;
  unsigned line;
  int depth;
};

static bool
looking_at (const struct scan *scan, const char *what)
{
  const size_t len = strlen (what);

  return (size_t) (scan->end - scan->at) >= len &&
    memcmp (scan->at, what, len) == 0;
}

static void
step (struct scan *scan)
{
  if (*scan->at == '\n')
    scan->line++;
  scan->at++;
}

static void
skip_until (struct scan *scan, const char *what)
{
  while (scan->at < scan->end && ! looking_at (scan, what))
    step (scan);
}

/* libconfig acts on it at the start of any line, so a comment is no excuse. */
static int
check_directives (struct load *load, const char *text, const char *end)
{
  struct scan scan = { .load = load, .at = text, .end = end, .line = 1 };

  while (scan.at < end) {
    while (scan.at < end && (*scan.at == ' ' || *scan.at == '\t'))
      scan.at++;
    if (looking_at (&scan, "@include"))
      return fail (load, "%s:%u: @include: a profile is one file",
                   load->file, scan.line);
    skip_until (&scan, "\n");
    if (scan.at < end)
      step (&scan);
  }
  return 0;
}

/* Of one that does not end libconfig says "syntax error" at the file's end. */
static int
skip_string (struct scan *scan)
{
  const unsigned line = scan->line;

  scan->at++;
  while (scan->at < scan->end && *scan->at != '"') {
    if (*scan->at == '\\' && scan->at + 1 < scan->end)
      step (scan);
    step (scan);
  }
  if (scan->at == scan->end)
    return fail (scan->load, "%s:%u: text without a closing quote",
                 scan->load->file, line);
  scan->at++;
  return 0;
}

/* An integer literal without L has 32 bits, and libconfig 1.5 drops the
 * others without a word.
 */
static int
check_integer (struct scan *scan, const char *start, size_t len)
{
  char digits[64];
  char *rest;
  long long value;

  if (len >= sizeof digits)
    return fail (scan->load, "%s:%u: %.20s...: a number this long is not "
                 "allowed", scan->load->file, scan->line, start);
  memcpy (digits, start, len);
  digits[len] = '\0';
  errno = 0;
  value = strtoll (digits, &rest, strpbrk (digits, "xX") ? 16 : 10);
  if (errno == ERANGE)
    return fail (scan->load, "%s:%u: %s: does not fit in 64 bits",
                 scan->load->file, scan->line, digits);
  if (*rest == '\0' && (value > INT32_MAX || value < INT32_MIN))
    return fail (scan->load, "%s:%u: %s: an integer above 31 bits needs an "
                 "L: write %sL", scan->load->file, scan->line, digits,
                 digits);
  return 0;
}

static int
scan_number (struct scan *scan)
{
  const char *start = scan->at;
  bool hex, real = false;

  if (*scan->at == '+' || *scan->at == '-')
    scan->at++;
  hex = looking_at (scan, "0x") || looking_at (scan, "0X");
  for (; scan->at < scan->end; scan->at++) {
    const unsigned char c = *scan->at;
    const bool exponent = ! hex && (c == 'e' || c == 'E');

    if (! isalnum (c) && c != '.' &&
        ! (! hex && (c == '+' || c == '-') && strchr ("eE", scan->at[-1])))
      break;
    if (c == '.' || exponent)
      real = true;
  }
  return real ? 0 : check_integer (scan, start, scan->at - start);
}

/* One token, comment or byte. */
static int
scan_token (struct scan *scan)
{
  const unsigned char c = *scan->at;

  if (c == '"')
    return skip_string (scan);
  if (c == '#' || looking_at (scan, "//"))
    skip_until (scan, "\n");
  else if (looking_at (scan, "/*"))
    skip_until (scan, "*/");
  else if (isalpha (c) || c == '*')
    while (scan->at < scan->end &&
           (isalnum ((unsigned char) *scan->at) || strchr ("-_*", *scan->at)))
      scan->at++;
  else if (isdigit (c) || (strchr ("+-.", c) && scan->at + 1 < scan->end &&
                           isdigit ((unsigned char) scan->at[1])))
    return scan_number (scan);
  else {
    scan->depth += strchr ("([{", c) != NULL;
    scan->depth -= strchr (")]}", c) != NULL;
    step (scan);
    if (scan->depth > MAX_NESTING)
      return fail (scan->load, "%s:%u: nested more than %d deep",
                   scan->load->file, scan->line, MAX_NESTING);
  }
  return 0;
}

int
scan_text (struct load *load, const char *text, size_t len)
{
  struct scan scan =
    { .load = load, .at = text, .end = text + len, .line = 1 };

  if (memchr (text, '\0', len))
    return fail (load, "%s: not a text file: it has a NUL byte", load->file);
  if (check_directives (load, text, text + len) == -1)
    return -1;
  while (scan.at < scan.end)
    if (scan_token (&scan) == -1)
      return -1;
  return 0;
}
