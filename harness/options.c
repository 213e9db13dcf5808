/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "spindle.h"

#define MAX_OPTIONS 32

static int
unknown (const char *word, const struct option_def *defs)
{
  const char *names[MAX_OPTIONS + 2], *near;
  unsigned n = 0;

  for (; defs->name && n < MAX_OPTIONS; ++defs)
    names[n++] = defs->name;
  names[n++] = "--help";
  names[n] = NULL;
  near = nearest_word (word, names);
  if (near)
    complain ("%s: unknown option; did you mean %s?", word, near);
  else
    complain ("%s: unknown option", word);
  return -1;
}

/* The definition of the option that WORD is, and its value if it is
 * written in the same word.
 */
static const struct option_def *
find (const char *word, const struct option_def *defs, const char **value)
{
  size_t n = strcspn (word, "=");

  *value = word[n] ? word + n + 1 : NULL;
  for (; defs->name; ++defs)
    if (strlen (defs->name) == n && strncmp (defs->name, word, n) == 0)
      return defs;
  return NULL;
}

int
options_parse (int argc, char **argv, const struct option_def *defs,
               int (*on_option) (void *opaque, const char *name,
                                 const char *value),
               int (*on_word) (void *opaque, const char *word,
                               bool after_dashes),
               void *opaque)
{
  const struct option_def *def;
  const char *value;
  bool dashes = false;
  int i, r;

  for (i = 1; i < argc; ++i) {
    if (!dashes && strcmp (argv[i], "--") == 0) {
      dashes = true;
      continue;
    }
    if (dashes || argv[i][0] != '-' || argv[i][1] == '\0') {
      if (on_word (opaque, argv[i], dashes) == -1)
        return -1;
      continue;
    }
    if (strcmp (argv[i], "--help") == 0 || strcmp (argv[i], "-h") == 0)
      return 1;
    def = find (argv[i], defs, &value);
    if (def == NULL)
      return unknown (argv[i], defs);
    if (def->value && value == NULL)
      value = ++i < argc ? argv[i] : NULL;
    if ((def->value == NULL) != (value == NULL)) {
      complain ("%s: %s%s", def->name,
                def->value ? "needs a value: " : "takes no value",
                def->value ? def->value : "");
      return -1;
    }
    r = on_option (opaque, def->name, value);
    if (r == -1)
      return -1;
  }
  return 0;
}

int
options_status (int parsed, const char *help)
{
  if (parsed != 1)
    return EXIT_USAGE;
  fputs (help, stdout);
  return EXIT_REPRODUCED;
}

int
option_number (const char *name, const char *value, int64_t min,
               int64_t max, int64_t *r)
{
  if (parse_number (value, min, max, r) == 0)
    return 0;
  complain ("%s: %s: a whole number from %lld to %lld", name, value,
            (long long) min, (long long) max);
  return -1;
}
