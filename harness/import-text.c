/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text, numbers and messages for the readers of parameters.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "import-impl.h"
#include "spindle.h"

#define MAX_NOTES 100

/* What a hostile file holds must not garble a terminal, or fill it. */
static void
make_printable (char *text)
{
  for (; *text; text++)
    if (*text < ' ' || *text > '~')
      *text = '?';
}

int
import_fail (struct import *in, const char *key, const char *value,
             const char *fmt, ...)
{
  char *allowed, *where, line[16] = "";
  va_list args;

  if (in->error)
    return -1;
  va_start (args, fmt);
  allowed = format_args (fmt, args);
  va_end (args);
  if (in->line)
    snprintf (line, sizeof line, ":%u", in->line);
  where = format ("%s%s", in->file, line);
  if (value)
    in->error = format ("%s: %.60s: %.60s: %s", where, key, value, allowed);
  else
    in->error = format ("%s: %.60s: %s", where, key, allowed);
  make_printable (in->error);
  free (where);
  free (allowed);
  return -1;
}

void
import_note (struct import *in, const char *fmt, ...)
{
  va_list args;
  char *note;

  /* A file of unknown parameters need not fill a screen. */
  if (in->notes.n == MAX_NOTES - 1)
    words_add (&in->notes, "and more");
  if (in->notes.n >= MAX_NOTES)
    return;
  va_start (args, fmt);
  note = format_args (fmt, args);
  va_end (args);
  make_printable (note);
  words_add (&in->notes, note);
  free (note);
}

void
import_init (struct import *in, const char *path)
{
  *in = (struct import) { .path = path, .file = path };
}

void
import_free (struct import *in)
{
  for (size_t i = 0; i < in->drive.n_zones; i++)
    free (in->drive.zone[i].slips);
  free (in->drive.name);
  free (in->error);
  words_free (&in->files);
  words_free (&in->notes);
}

/* ---- numbers ---- */

enum scan { SCAN_OK, SCAN_NOT, SCAN_NOT_WHOLE, SCAN_RANGE };

/* A digit more, unless there are too many. */
static bool
shift_in (int64_t *n, int digit)
{
  return !__builtin_mul_overflow (*n, 10, n) &&
    !__builtin_add_overflow (*n, digit, n);
}

static enum scan
scan_decimal (const char *text, int decimals, int64_t *r)
{
  bool negative = *text == '-', point = false, any = false, more = false;
  int left = decimals, dropped = -1;

  *r = 0;
  for (text += negative; *text; text++) {
    if (*text == '.' && !point) {
      point = true;
      continue;
    }
    if (!isdigit ((unsigned char) *text))
      return SCAN_NOT;
    any = true;
    if (point && left-- <= 0) {
      more |= *text != '0';
      if (dropped == -1)
        dropped = *text - '0';
    }
    else if (!shift_in (r, *text - '0'))
      return SCAN_RANGE;
  }
  if (!any)
    return SCAN_NOT;
  if (more && decimals == 0)
    return SCAN_NOT_WHOLE;
  while (left-- > 0)
    if (!shift_in (r, 0))
      return SCAN_RANGE;
  if (dropped >= 5 && __builtin_add_overflow (*r, 1, r))
    return SCAN_RANGE;
  if (negative)
    *r = -*r;
  return SCAN_OK;
}

int
import_number (struct import *in, const char *key, const char *text,
               int decimals, int64_t min, int64_t max, int64_t *r)
{
  char low[IMPORT_DECIMAL], high[IMPORT_DECIMAL];

  if (scan_decimal (text, decimals, r) == SCAN_OK && *r >= min && *r <= max)
    return 0;
  return import_fail (in, key, text, "%s from %s to %s",
                      decimals ? "a number" : "a whole number",
                      import_decimal (low, min, decimals),
                      import_decimal (high, max, decimals));
}

char *
import_decimal (char buf[IMPORT_DECIMAL], int64_t value, int decimals)
{
  uint64_t n = value < 0 ? -(uint64_t) value : (uint64_t) value, one = 1;
  int used;

  for (int i = 0; i < decimals; i++)
    one *= 10;
  used = snprintf (buf, IMPORT_DECIMAL, "%s%" PRIu64, value < 0 ? "-" : "",
                   n / one);
  if (n % one == 0)
    return buf;
  used += snprintf (buf + used, IMPORT_DECIMAL - used, ".%0*" PRIu64,
                    decimals, n % one);
  while (buf[used - 1] == '0')
    buf[--used] = '\0';
  return buf;
}

/* ---- files ---- */

static char *
read_gz (struct import *in, gzFile gz)
{
  size_t used = 0, size = 64 << 10;
  char *text = allocate (size, 1);
  const char *why;
  int got, code;

  while ((got = gzread (gz, text + used, size - used - 1)) > 0) {
    used += got;
    if (used > IMPORT_MAX_BYTES) {
      import_fail (in, "file", NULL, "at most %d MiB are allowed",
                   IMPORT_MAX_BYTES >> 20);
      free (text);
      return NULL;
    }
    if (size - used < size / 2)
      text = reallocate (text, size *= 2, 1);
  }
  text[used] = '\0';
  why = gzerror (gz, &code);
  if (got == -1 || code == Z_BUF_ERROR)
    import_fail (in, "cannot read", NULL, "%s",
                 code == Z_ERRNO ? strerror (errno) : why);
  else if (strlen (text) < used)
    import_fail (in, "file", NULL, "not a text file: it has a NUL byte");
  else
    return text;
  free (text);
  return NULL;
}

char *
import_text (struct import *in, int fd)
{
  int copy = dup (fd);
  gzFile gz = copy == -1 ? NULL : gzdopen (copy, "r");
  char *text;

  in->line = 0;
  if (gz == NULL) {
    import_fail (in, "cannot read", NULL, "%s", strerror (errno));
    if (copy != -1)
      close (copy);
    return NULL;
  }
  text = read_gz (in, gz);
  gzclose (gz);
  return text;
}

char *
import_line (struct import *in, char **text, bool *indented)
{
  while (**text) {
    char *line = *text, *end = line + strcspn (line, "\n");

    *text = *end ? end + 1 : end;
    in->line++;
    *indented = *line == ' ' || *line == '\t';
    line += strspn (line, " \t\r\f\v");
    while (end > line && isspace ((unsigned char) end[-1]))
      end--;
    *end = '\0';
    if (*line && *line != '#')
      return line;
  }
  return NULL;
}
