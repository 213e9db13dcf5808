/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One value: what type it has, whether the key allows it, where it goes.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader-impl.h"

void
value_from_text (struct value *value, const char *text)
{
  *value = (struct value) { .type = VALUE_TEXT, .text = text, .bare = true };
}

void
value_from_setting (struct value *value, const config_setting_t *setting)
{
  char *shown = value->shown;
  const size_t size = sizeof value->shown;

  *value = (struct value) { .type = VALUE_OTHER };
  switch (config_setting_type (setting)) {
  case CONFIG_TYPE_INT:
  case CONFIG_TYPE_INT64:
    value->type = VALUE_INTEGER;
    value->integer = config_setting_get_int64 (setting);
    snprintf (shown, size, "%lld", (long long) value->integer);
    break;
  case CONFIG_TYPE_FLOAT:
    value->type = VALUE_REAL;
    value->real = config_setting_get_float (setting);
    snprintf (shown, size, "%.12g", value->real);
    break;
  case CONFIG_TYPE_BOOL:
    value->type = VALUE_BOOL;
    value->integer = config_setting_get_bool (setting);
    snprintf (shown, size, "%s", value->integer ? "true" : "false");
    break;
  case CONFIG_TYPE_STRING:
    value->type = VALUE_TEXT;
    value->text = config_setting_get_string (setting);
    snprintf (shown, size, strlen (value->text) <= 50 ? "\"%.50s\""
              : "\"%.47s...\"", value->text);
    break;
  case CONFIG_TYPE_GROUP:
    snprintf (shown, size, "{ ... }");
    break;
  default:
    snprintf (shown, size, "( ... )");
  }
}

static int64_t
power_of_ten (int n)
{
  int64_t power = 1;

  while (n-- > 0)
    power *= 10;
  return power;
}

/* "8.9" with 6 decimals is 8900000: no floating point on the way. */
static enum number
number_from_text (const char *text, int decimals, int64_t *scaled)
{
  const bool negative = *text == '-';
  bool big = false, lost = false, point = false, any = false;
  int left = decimals;
  int64_t n = 0;

  for (text += negative; *text; text++) {
    if (*text == '.' && ! point) {
      point = true;
      continue;
    }
    if (! isdigit ((unsigned char) *text))
      return NUMBER_NOT;
    any = true;
    if (point && left-- <= 0)
      lost |= *text != '0';
    else if (__builtin_mul_overflow (n, 10, &n) ||
             __builtin_add_overflow (n, *text - '0', &n))
      big = true;
  }
  if (! any)
    return NUMBER_NOT;
  if (left > 0 && __builtin_mul_overflow (n, power_of_ten (left), &n))
    big = true;
  *scaled = negative ? -n : n;
  return big ? NUMBER_RANGE : lost ? NUMBER_DECIMALS : NUMBER_OK;
}

/* The decimal that was written is the nearest one to the double, as long as
 * the number has less than 15 digits.  Beyond that nothing is in range.
 */
static enum number
number_from_real (double real, int decimals, int64_t *scaled)
{
  const double x = real * (double) power_of_ten (decimals);
  double off;

  if (! (x > -1e15 && x < 1e15))
    return NUMBER_RANGE;
  *scaled = (int64_t) (x < 0 ? x - 0.5 : x + 0.5);
  off = x - (double) *scaled;
  return off > 1e-3 || off < -1e-3 ? NUMBER_DECIMALS : NUMBER_OK;
}

enum number
value_number (const struct value *value, int decimals, int64_t *scaled)
{
  switch (value->type) {
  case VALUE_INTEGER:
    return __builtin_mul_overflow (value->integer, power_of_ten (decimals),
                                   scaled) ? NUMBER_RANGE : NUMBER_OK;
  case VALUE_REAL:
    /* 2.0 is no count: whoever writes it may expect 2.5 to work. */
    return decimals == 0 ? NUMBER_NOT
      : number_from_real (value->real, decimals, scaled);
  case VALUE_TEXT:
    return value->bare ? number_from_text (value->text, decimals, scaled)
      : NUMBER_NOT;
  default:
    return NUMBER_NOT;
  }
}

static void
store (struct load *load, const struct key *key, int64_t n)
{
  char *field = (char *) load + key->offset;

  switch (key->width) {
  case sizeof (bool): *(bool *) field = n != 0; break;
  case sizeof (uint32_t): *(uint32_t *) field = (uint32_t) n; break;
  case sizeof (int64_t): *(int64_t *) field = n; break;
  default: abort ();
  }
}

static int
not_allowed (struct load *load, const struct key *key,
             const struct value *value, const char *hint)
{
  char allowed[256];

  return fail_key (load, key, value->shown, "%s%s%s",
                   value->type == VALUE_OTHER && key_wants_mark (key) ?
                   "one value is allowed, " : "",
                   key_allowed (key, allowed, sizeof allowed), hint);
}

static int
put_number (struct load *load, const struct key *key,
            const struct value *value)
{
  const int decimals = key_decimals (key->kind);
  int64_t n;

  switch (value_number (value, decimals, &n)) {
  case NUMBER_OK:
    break;
  case NUMBER_DECIMALS:
    if (decimals > 0)
      return fail_key (load, key, value->shown,
                       "at most %d decimals are allowed", decimals);
    /* fall through */
  default:
    return not_allowed (load, key, value, "");
  }
  if (n < key->min || n > key->max)
    return not_allowed (load, key, value, "");
  if (key->kind == KEY_KIB)
    n = n * 1024 / 10;
  else if (key->kind == KEY_BUS) /* thousandths of MB/s to ps per byte */
    n = (1000000000 + n / 2) / n;
  store (load, key, n);
  return 0;
}

static int
put_choice (struct load *load, const struct key *key,
            const struct value *value)
{
  struct nearest nearest;

  if (value->type != VALUE_TEXT)
    return not_allowed (load, key, value, "");
  nearest_start (&nearest, value->text);
  for (size_t i = 0; key->names[i]; i++) {
    if (strcmp (key->names[i], value->text) == 0) {
      store (load, key, i);
      return 0;
    }
    nearest_offer (&nearest, key->names[i]);
  }
  return not_allowed (load, key, value, nearest_hint (&nearest));
}

static int
put_bool (struct load *load, const struct key *key,
          const struct value *value)
{
  int64_t n = value->integer;

  if (value->bare && strcmp (value->text, "true") == 0)
    n = 1;
  else if (value->bare && strcmp (value->text, "false") == 0)
    n = 0;
  else if (value->type != VALUE_BOOL)
    return not_allowed (load, key, value, "");
  store (load, key, n);
  return 0;
}

static int
put_text (struct load *load, const struct key *key,
          const struct value *value)
{
  const char *c = value->text;

  if (value->type != VALUE_TEXT || strlen (c) > (size_t) key->max)
    return not_allowed (load, key, value, "");
  for (; *c; c++)
    if (*c < ' ' || *c > '~')
      return not_allowed (load, key, value, "");
  strcpy ((char *) load + key->offset, value->text);
  return 0;
}

int
value_put (struct load *load, const struct key *key,
           const struct value *value)
{
  switch (key->kind) {
  case KEY_TEXT:
    return put_text (load, key, value);
  case KEY_BOOL:
    return put_bool (load, key, value);
  case KEY_CHOICE:
    return put_choice (load, key, value);
  case KEY_BUS:
    if (value->type == VALUE_TEXT && bus_mode_find (value->text) >= 0) {
      store (load, key, bus_mode_find (value->text));
      return 0;
    }
    return put_number (load, key, value);
  case KEY_SKEW:
    if (value->type == VALUE_TEXT && strcmp (value->text, "auto") == 0) {
      store (load, key, PROFILE_SKEW_AUTO);
      return 0;
    }
    return put_number (load, key, value);
  case KEY_ZONES: case KEY_HOLES: case KEY_REMAPS:
   case KEY_SEEK_TABLE: case KEY_SOURCES:
    return fail_key (load, key, value->shown,
                     "a list can only be given in the profile file");
  default:
    return put_number (load, key, value);
  }
}
