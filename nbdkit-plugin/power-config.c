/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "power.h"

#define LAST_NS (INT64_MAX / 4)

static int
unit_ns (const char *unit, int64_t *ns)
{
  static const struct { const char *name; int64_t ns; } units[] = {
    { "ns", 1 },
    { "us", 1000 },
    { "ms", 1000000 },
    { "s", 1000000000 },
  };

  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp (unit, units[i].name) == 0) {
      *ns = units[i].ns;
      return 0;
    }
  return -1;
}

/* Digits, perhaps a fraction, a unit: more than nothing, up to 73 years. */
static int
read_time (const char *text, int64_t *ns)
{
  int64_t value = 0, scale = 1, unit;
  bool fraction = false, digits = false;
  const char *p;

  for (p = text; isdigit ((unsigned char) *p) || (*p == '.' && !fraction);
       p++)
    if (*p == '.')
      fraction = true;
    else {
      digits = true;
      if (__builtin_mul_overflow (value, 10, &value) ||
          __builtin_add_overflow (value, *p - '0', &value) ||
          (fraction && __builtin_mul_overflow (scale, 10, &scale)))
        return -1;
    }
  if (!digits || unit_ns (p, &unit) == -1 ||
      __builtin_mul_overflow (value, unit, &value))
    return -1;
  *ns = value / scale;
  return *ns > 0 && *ns <= LAST_NS ? 0 : -1;
}

static int
parse_time (const char *key, const char *text, int64_t *ns)
{
  if (read_time (text, ns) == 0)
    return 1;
  nbdkit_error ("%s=%s: must be a time like 2.5s, 300ms, 40us or 7ns",
                key, text);
  return -1;
}

static int
parse_count (const char *key, const char *text, int64_t *n)
{
  if (nbdkit_parse_int64_t (key, text, n) == -1)
    return -1;
  if (*n > 0)
    return 1;
  nbdkit_error ("%s=%s: must be 1 or more", key, text);
  return -1;
}

/* N, or N+TIME. */
static int
parse_after_writes (const char *key, const char *text, struct power *p)
{
  const char *plus = strchr (text, '+');
  char count[32];

  if (plus == NULL)
    return parse_count (key, text, &p->after_writes);
  snprintf (count, sizeof count, "%.*s", (int) (plus - text), text);
  if (parse_count (key, count, &p->after_writes) == -1)
    return -1;
  if (read_time (plus + 1, &p->after_writes_ns) == 0)
    return 1;
  nbdkit_error ("%s=%s: must be a number, or a number and a time like "
                "100+3.5ms", key, text);
  return -1;
}

static int
parse_torn (const char *text, enum torn *torn)
{
  static const char *const names[] = {
    [TORN_NEW] = "new",
    [TORN_OLD] = "old",
    [TORN_UNREADABLE] = "unreadable",
    [TORN_RANDOM] = "random",
  };

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp (text, names[i]) == 0) {
      *torn = (enum torn) i;
      return 1;
    }
  nbdkit_error ("torn=%s: must be new, old, unreadable or random", text);
  return -1;
}

int
power_config (struct power *p, const char *key, const char *value)
{
  if (strcmp (key, "cut-at") == 0)
    return parse_time (key, value, &p->at_ns);
  if (strcmp (key, "cut-after-writes") == 0)
    return parse_after_writes (key, value, p);
  if (strcmp (key, "cut-while-destaging") == 0)
    return parse_count (key, value, &p->while_destaging);
  if (strcmp (key, "cut-random") == 0)
    return parse_time (key, value, &p->mean_ns);
  if (strcmp (key, "torn") == 0)
    return parse_torn (value, &p->torn);
  return 0;
}
