/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "json.h"
#include "lateness.h"
#include "spindle.h"

static void
take_worse (int64_t *value, int64_t other)
{
  if (other > *value)
    *value = other;
}

static void
add (struct lateness *l, const char *stats)
{
  int64_t answers, p99_ns, max_ns, limit_ns;
  bool valid;

  if (json_get_int (stats, "lateness_ns.count", &answers) == -1 ||
      json_get_int (stats, "lateness_ns.p99", &p99_ns) == -1 ||
      json_get_int (stats, "lateness_ns.max", &max_ns) == -1 ||
      json_get_int (stats, "late_limit_ns", &limit_ns) == -1 ||
      json_get_bool (stats, "valid", &valid) == -1)
    return;
  l->valid = valid && (l->valid || !l->known);
  l->known = true;
  l->answers += answers;
  take_worse (&l->p99_ns, p99_ns);
  take_worse (&l->max_ns, max_ns);
  take_worse (&l->limit_ns, limit_ns);
}

void
lateness_add (struct lateness *l, const char *file)
{
  FILE *fp = fopen (file, "r");
  char text[65536];

  if (fp == NULL)
    return;
  text[fread (text, 1, sizeof text - 1, fp)] = '\0';
  fclose (fp);
  add (l, text);
}

char *
lateness_text (const struct lateness *l)
{
  if (!l->known)
    return format ("how late is not known");
  if (l->valid)
    return format ("99 %% of %lld answers at most %.3f ms late",
                   (long long) l->answers, l->p99_ns / 1e6);
  return format ("INVALID: 1 %% of %lld answers more than %.3f ms late, "
                 "where %.3f ms are allowed (--late-limit)",
                 (long long) l->answers, l->p99_ns / 1e6, l->limit_ns / 1e6);
}
