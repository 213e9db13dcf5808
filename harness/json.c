/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "spindle.h"

static void
write_string (FILE *fp, const char *s)
{
  fputc ('"', fp);
  for (; *s; ++s)
    if (*s == '"' || *s == '\\')
      fprintf (fp, "\\%c", *s);
    else if ((unsigned char) *s < ' ')
      fprintf (fp, "\\u%04x", (unsigned) *s);
    else
      fputc (*s, fp);
  fputc ('"', fp);
}

static void
start (struct json *j, const char *key)
{
  if (j->need_comma)
    fputc (',', j->fp);
  if (j->depth)
    fprintf (j->fp, "\n%*s", (int) j->depth * 2, "");
  if (key) {
    write_string (j->fp, key);
    fputs (": ", j->fp);
  }
  j->need_comma = true;
}

void
json_open (struct json *j, const char *key, char bracket)
{
  start (j, key);
  fputc (bracket, j->fp);
  j->depth++;
  j->need_comma = false;
}

void
json_close (struct json *j, char bracket)
{
  j->depth--;
  if (j->need_comma)
    fprintf (j->fp, "\n%*s", (int) j->depth * 2, "");
  fputc (bracket, j->fp);
  if (j->depth == 0)
    fputc ('\n', j->fp);
  j->need_comma = true;
}

void
json_string (struct json *j, const char *key, const char *value)
{
  start (j, key);
  if (value)
    write_string (j->fp, value);
  else
    fputs ("null", j->fp);
}

void
json_int (struct json *j, const char *key, int64_t value)
{
  start (j, key);
  fprintf (j->fp, "%lld", (long long) value);
}

void
json_double (struct json *j, const char *key, double value)
{
  start (j, key);
  if (isfinite (value) && value == rint (value) && fabs (value) < 1e15)
    fprintf (j->fp, "%.0f", value);     /* a count, to the last digit */
  else if (isfinite (value))
    fprintf (j->fp, "%.6g", value);
  else
    fputs ("null", j->fp);
}

void
json_bool (struct json *j, const char *key, bool value)
{
  start (j, key);
  fputs (value ? "true" : "false", j->fp);
}

void
json_null (struct json *j, const char *key)
{
  json_string (j, key, NULL);
}

static const char *
skip_space (const char *p)
{
  while (isspace ((unsigned char) *p))
    ++p;
  return p;
}

/* The end of the string that starts at P (a quote), or NULL. */
static const char *
skip_string (const char *p)
{
  for (++p; *p && *p != '"'; ++p)
    if (*p == '\\' && p[1])
      ++p;
  return *p ? p + 1 : NULL;
}

/* The end of the value that starts at P, or NULL. */
static const char *
skip_value (const char *p)
{
  unsigned depth = 0;

  do {
    p = skip_space (p);
    if (*p == '"') {
      p = skip_string (p);
      if (p == NULL)
        return NULL;
    }
    else if (*p == '{' || *p == '[')
      ++depth, ++p;
    else if (*p == '}' || *p == ']') {
      if (depth == 0)
        return NULL;
      --depth, ++p;
    }
    else if (*p == ',' || *p == ':') {
      if (depth == 0)
        return NULL;
      ++p;
    }
    else {
      size_t n = strcspn (p, " \t\r\n,:{}[]\"");

      if (n == 0)
        return NULL;
      p += n;
    }
  } while (depth > 0);
  return p;
}

void
json_raw (struct json *j, const char *key, const char *text)
{
  const char *end = text ? skip_value (skip_space (text)) : NULL;

  start (j, key);
  fputs (end && *skip_space (end) == '\0' ? text : "null", j->fp);
}

/* The value of KEY (N bytes) in the object at P, or NULL. */
static const char *
find_member (const char *p, const char *key, size_t n)
{
  p = skip_space (p);
  if (*p != '{')
    return NULL;
  for (p = skip_space (p + 1); *p == '"'; p = skip_space (p + 1)) {
    const char *name = p + 1, *end = skip_string (p);

    if (end == NULL)
      return NULL;
    p = skip_space (end);
    if (*p != ':')
      return NULL;
    p = skip_space (p + 1);
    if ((size_t) (end - 1 - name) == n && memcmp (name, key, n) == 0)
      return p;
    p = skip_value (p);
    if (p == NULL)
      return NULL;
    p = skip_space (p);
    if (*p != ',')
      return NULL;
  }
  return NULL;
}

const char *
json_find (const char *text, const char *path)
{
  while (text && *path) {
    size_t n = strcspn (path, ".");

    text = find_member (text, path, n);
    path += n;
    if (*path == '.')
      ++path;
  }
  return text;
}

char *
json_string_at (const char *p)
{
  const char *end;
  char *r, *out;

  if (p == NULL || *p != '"' || (end = skip_string (p)) == NULL)
    return NULL;
  r = out = allocate (end - p, 1);
  for (++p; p < end - 1; ++p) {
    unsigned code;

    if (*p != '\\')
      *out++ = *p;
    else if (*++p == 'u' && end - p > 4 && sscanf (p + 1, "%4x", &code) == 1) {
      *out++ = (code >= ' ' && code < 127) || code == '\n' ? (char) code : '?';
      p += 4;
    }
    else
      *out++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
  }
  *out = '\0';
  return r;
}

int
json_get_string (const char *text, const char *path, char **r)
{
  char *s = json_string_at (json_find (text, path));

  if (s == NULL)
    return -1;
  *r = s;
  return 0;
}

int
json_get_int (const char *text, const char *path, int64_t *r)
{
  const char *p = json_find (text, path);
  char *end;
  long long n;

  if (p == NULL)
    return -1;
  errno = 0;
  n = strtoll (p, &end, 10);
  if (errno || end == p || (*end && strchr (".eE", *end)))
    return -1;
  *r = n;
  return 0;
}

int
json_get_bool (const char *text, const char *path, bool *r)
{
  const char *p = json_find (text, path);

  if (p == NULL ||
      (strncmp (p, "true", 4) != 0 && strncmp (p, "false", 5) != 0))
    return -1;
  *r = *p == 't';
  return 0;
}

int
json_get_double (const char *text, const char *path, double *r)
{
  const char *p = json_find (text, path);
  char *end;
  double v;

  if (p == NULL)
    return -1;
  v = strtod (p, &end);
  if (end == p)
    return -1;
  *r = v;
  return 0;
}

const char *
json_each (const char *text, const char *element)
{
  const char *p;

  if (element) {
    p = skip_value (element);
    p = p ? skip_space (p) : NULL;
    if (p == NULL || *p != ',')
      return NULL;
  }
  else {
    p = text ? skip_space (text) : NULL;
    if (p == NULL || *p != '[')
      return NULL;
  }
  p = skip_space (p + 1);
  return *p == ']' || *p == '\0' ? NULL : p;
}

size_t
json_size (const char *text)
{
  const char *end = text ? skip_value (text) : NULL;

  return end ? end - text : 0;
}
