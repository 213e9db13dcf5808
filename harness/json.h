/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The little JSON spindle needs: a writer, and a reader that picks single
 * values out of an object.
 */
#ifndef SPINDLE_JSON_H
#define SPINDLE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Writer.  KEY is NULL inside an array.  Values come out in the order of
 * the calls, indented, one a line.
 */
struct json {
  FILE *fp;
  unsigned depth;
  bool need_comma;
};

void json_open (struct json *j, const char *key, char bracket);
void json_close (struct json *j, char bracket);
void json_string (struct json *j, const char *key, const char *value);
void json_int (struct json *j, const char *key, int64_t value);
void json_double (struct json *j, const char *key, double value);
void json_bool (struct json *j, const char *key, bool value);
void json_null (struct json *j, const char *key);

/* A value that is JSON already; anything else comes out as null. */
void json_raw (struct json *j, const char *key, const char *text);

/* Reader.  PATH is the keys from the outermost object on, joined with
 * dots.  All return -1 if TEXT is no JSON object, or has nothing of that
 * type there.  json_get_string's result must be freed.
 */
int json_get_string (const char *text, const char *path, char **r);
int json_get_int (const char *text, const char *path, int64_t *r);
int json_get_bool (const char *text, const char *path, bool *r);
int json_get_double (const char *text, const char *path, double *r);

/* The value at PATH, for the functions here that take a TEXT, or NULL. */
const char *json_find (const char *text, const char *path);

/* The elements of the array that TEXT begins with, one after the other:
 * NULL after the last.  ELEMENT is the one before; NULL begins.
 */
const char *json_each (const char *text, const char *element);

/* The string that TEXT begins with, or NULL.  Free it. */
char *json_string_at (const char *text);

/* How many bytes the value that TEXT begins with takes; 0: it is none. */
size_t json_size (const char *text);

#endif /* SPINDLE_JSON_H */
