/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "spindle.h"
#include "trace-reader.h"

#define VALUE_SHOWN 60

/* VALUE as it may be shown on a terminal, and not too long.  Free it. */
static char *
printable (const char *value)
{
  char *r = format ("%.*s%s", VALUE_SHOWN, value,
                    strlen (value) > VALUE_SHOWN ? "..." : "");

  for (char *p = r; *p; ++p)
    if (!isprint ((unsigned char) *p))
      *p = '?';
  return r;
}

int
trace_fail (struct trace_reader *r, const char *what, const char *value,
            const char *fmt, ...)
{
  char *text, *shown;
  va_list args;

  if (r->error)
    return -1;
  va_start (args, fmt);
  text = format_args (fmt, args);
  va_end (args);
  shown = printable (value ? value : "");
  r->error = format ("%s:%" PRIu32 ": %s: %s%s%s", r->trace->path, r->line,
                     what, shown, value ? ": " : "", text);
  free (shown);
  free (text);
  return -1;
}

/* Why there is no further character: 0 if it is the end. */
static int
end_of_file (struct trace_reader *r)
{
  int err;
  const char *text = gzerror (r->gz, &err);

  if (err == Z_OK || err == Z_STREAM_END)
    return 0;
  if (text[0] == '<' && strchr (text, ' '))
    text = strchr (text, ' ') + 1; /* "<fd:3>: " */
  return trace_fail (r, "cannot read", NULL, "%s",
                     err == Z_ERRNO ? strerror (errno) : text);
}

/* Editors of other systems begin a text with this mark. */
static void
drop_byte_order_mark (char *text, size_t *n)
{
  if (*n >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0) {
    *n -= 3;
    memmove (text, text + 3, *n);
  }
}

int
trace_line (struct trace_reader *r)
{
  size_t n;
  int c;

  if (r->again) {
    r->again = false;
    return 1;
  }
  do {
    if (++r->line == UINT32_MAX)
      return trace_fail (r, "line", NULL, "there are too many");
    for (n = 0; (c = gzgetc (r->gz)) != -1 && c != '\n'; r->text[n++] = c)
      if (c == '\0' || n == sizeof r->text - 1) {
        r->text[n] = '\0';
        return trace_fail (r, "line", r->text,
                           "text, at most %d characters", TRACE_LINE_MAX - 1);
      }
    if (c == -1 && end_of_file (r) == -1)
      return -1;
    if (r->line == 1)
      drop_byte_order_mark (r->text, &n);
    while (n > 0 && isspace ((unsigned char) r->text[n-1]))
      --n;
    r->text[n] = '\0';
  } while (n == 0 && c != -1);
  return n > 0;
}

static char *
trim (char *text)
{
  size_t n;

  text += strspn (text, " \t");
  n = strlen (text);
  while (n > 0 && (text[n-1] == ' ' || text[n-1] == '\t'))
    text[--n] = '\0';
  return text;
}

int
trace_split (struct trace_reader *r, bool comma)
{
  char *rest = r->text, *word;

  r->n_fields = 0;
  while ((word = strsep (&rest, comma ? "," : " \t"))) {
    if (!comma && *word == '\0')
      continue;
    if (r->n_fields == TRACE_MAX_FIELDS) {
      if (!comma)
        break;
      return trace_fail (r, "line", NULL, "at most %d fields",
                         TRACE_MAX_FIELDS);
    }
    r->field[r->n_fields++] = trim (word);
  }
  return 0;
}

int
trace_number (struct trace_reader *r, const char *what, const char *text,
              int64_t min, int64_t max, int64_t *v)
{
  if (!isspace ((unsigned char) text[0]) &&
      parse_number (text, min, max, v) == 0)
    return 0;
  return trace_fail (r, what, text,
                     "a whole number from %" PRIi64 " to %" PRIi64, min, max);
}

int
trace_time (struct trace_reader *r, const char *what, const char *text,
            int64_t unit_ns, int64_t *ns)
{
  int64_t limit = TRACE_MAX_NS / unit_ns, v = 0, digit_ns = unit_ns;
  const char *p = text;

  while (isdigit ((unsigned char) *p) && v <= limit)
    v = v * 10 + (*p++ - '0');
  if (p > text && v <= limit) {
    v *= unit_ns;
    if (*p == '.') {
      bool round = true;        /* at the first digit that is too many */

      while (isdigit ((unsigned char) *++p)) {
        digit_ns /= 10;
        v += digit_ns * (*p - '0');
        if (digit_ns == 0 && round) {
          v += *p >= '5';
          round = false;
        }
      }
    }
    if (*p == '\0' && v <= TRACE_MAX_NS) {
      *ns = v;
      return 0;
    }
  }
  return trace_fail (r, what, text, "%s from 0 to %" PRIi64,
                     unit_ns == 1 ? "nanoseconds" :
                     unit_ns == 1000 ? "microseconds" :
                     unit_ns == 1000000 ? "milliseconds" : "seconds", limit);
}

int
trace_bytes (struct trace_reader *r, const char *what, const char *text,
             int64_t *sectors)
{
  int64_t bytes;

  if (trace_number (r, what, text, 0, INT64_MAX, &bytes) == -1)
    return -1;
  if (bytes % DISK_SECTOR_SIZE != 0)
    return trace_fail (r, what, text, "a multiple of %d",
                       DISK_SECTOR_SIZE);
  *sectors = bytes / DISK_SECTOR_SIZE;
  return 0;
}

int
trace_device (struct trace_reader *r, const char *device)
{
  r->has_devices = true;
  if (r->device)
    return strcmp (r->device, device) == 0;
  if (r->first_device == NULL)
    r->first_device = format ("%s", device);
  if (strcmp (r->first_device, device) == 0)
    return 1;
  return trace_fail (r, "device", device,
                     "only one, like %s above, or one picked with --device",
                     r->first_device);
}

struct trace_request
trace_new_request (enum disk_op op)
{
  return (struct trace_request) {
    .op = (uint8_t) op,
    .response_ns = TRACE_UNKNOWN, .think_ns = TRACE_UNKNOWN,
  };
}

int
trace_add (struct trace_reader *r, const struct trace_request *request)
{
  struct trace_file *t = r->trace;
  struct trace_request *q;

  if (t->n == TRACE_MAX_REQUESTS)
    return trace_fail (r, "request", NULL, "at most %u", TRACE_MAX_REQUESTS);
  if (request->op != DISK_FLUSH &&
      request->lba > INT64_MAX / DISK_SECTOR_SIZE - request->sectors)
    return trace_fail (r, "request", NULL, "within the first 2^63 bytes");
  if (t->n == r->allocated) {
    r->allocated = r->allocated ? r->allocated * 2 : 64;
    t->request = reallocate (t->request, r->allocated, sizeof *t->request);
  }
  q = &t->request[t->n];
  *q = *request;
  q->line = r->line;
  if (q->op == DISK_FLUSH)
    q->lba = q->sectors = 0;
  if (!r->sort) {
    q->order = t->n;
    if (t->timed && t->n > 0 && q->arrival_ns < q[-1].arrival_ns)
      return trace_fail (r, "arrival", NULL,
                         "not before the request on line %" PRIu32,
                         q[-1].line);
  }
  t->n++;
  return 0;
}
