/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "matrix.h"
#include "spindle.h"

#define MAX_SEEDS 100000

void
variants_add (struct variants *v, struct variant variant)
{
  v->variant = reallocate (v->variant, v->n + 1, sizeof variant);
  v->variant[v->n++] = variant;
}

static void
variant_free (struct variant *v)
{
  free (v->label);
  free (v->profile);
  free (v->kernel);
  words_free (&v->set);
}

void
variants_free (struct variants *v)
{
  unsigned i;

  for (i = 0; i < v->n; ++i)
    variant_free (&v->variant[i]);
  free (v->variant);
  *v = (struct variants) { 0 };
}

void
matrix_free (struct matrix *m)
{
  words_free (&m->profiles);
  words_free (&m->kernels);
  words_free (&m->set);
  words_free (&m->vary);
  words_free (&m->seeds);
}

static char *
copy (const char *s)
{
  return s ? format ("%s", s) : NULL;
}

static int
wrong (const char *name, const char *value, const char *allowed)
{
  complain ("%s: %s: %s", name, value, allowed);
  return -1;
}

/* "KEY=VALUE", with both. */
static bool
is_pair (const char *text)
{
  const char *equals = strchr (text, '=');

  return equals && equals > text && equals[1];
}

/* "3", "1..8" or several with commas. */
static int
add_seeds (struct matrix *m, const char *name, const char *value)
{
  char *all = copy (value), *rest = all, *one;
  int r = 1;

  while (r == 1 && (one = strsep (&rest, ",")) != NULL) {
    char *dots = strstr (one, "..");
    int64_t first, last;

    if (dots)
      *dots = '\0';
    if (parse_number (one, 0, INT32_MAX, &first) == -1 ||
        parse_number (dots ? dots + 2 : one, 0, INT32_MAX, &last) == -1 ||
        last < first || last - first >= MAX_SEEDS)
      r = wrong (name, value, "a number, 1..8, or several with commas");
    else
      for (; first <= last; ++first)
        words_addf (&m->seeds, "%lld", (long long) first);
  }
  free (all);
  return r;
}

static int
add_kernels (struct matrix *m, const char *value)
{
  char *error = NULL;
  int r = 1;

  if (strcmp (value, "all") != 0)
    words_add (&m->kernels, value);
  else if (kernel_names (&m->kernels, &error) == -1)
    r = wrong ("--kernel", value, error);
  free (error);
  return r;
}

int
matrix_option (struct matrix *m, const char *name, const char *value)
{
  if (strcmp (name, "--profile") == 0)
    words_add (&m->profiles, value);
  else if (strcmp (name, "--kernel") == 0)
    return add_kernels (m, value);
  else if (strcmp (name, "--full") == 0)
    m->full = true;
  else if (strcmp (name, "--seed") == 0)
    return add_seeds (m, name, value);
  else if (strcmp (name, "--set") == 0 || strcmp (name, "--vary") == 0) {
    if (!is_pair (value))
      return wrong (name, value, name[2] == 's' ? "KEY=VALUE"
                    : "KEY=VALUE,VALUE...");
    words_add (name[2] == 's' ? &m->set : &m->vary, value);
  }
  else
    return 0;
  return 1;
}

static void
add_options (struct words *argv, const char *name, const struct words *values)
{
  size_t i;

  for (i = 0; i < values->n; ++i) {
    words_add (argv, name);
    words_add (argv, values->word[i]);
  }
}

void
matrix_words (const struct matrix *m, struct words *argv)
{
  size_t i;

  if (m->full)
    words_add (argv, "--full");
  add_options (argv, "--profile", &m->profiles);
  add_options (argv, "--kernel", &m->kernels);
  add_options (argv, "--set", &m->set);
  add_options (argv, "--vary", &m->vary);
  for (i = 0; i < m->seeds.n; ++i) {
    size_t j = i;

    while (j + 1 < m->seeds.n &&
           atoll (m->seeds.word[j + 1]) == atoll (m->seeds.word[j]) + 1)
      ++j;
    words_add (argv, "--seed");
    if (j > i)
      words_addf (argv, "%s..%s", m->seeds.word[i], m->seeds.word[j]);
    else
      words_add (argv, m->seeds.word[i]);
    i = j;
  }
}

/* What one dimension of the matrix does to a variant. */
typedef void apply_fn (struct variant *v, const char *key, const char *value);

static void
apply_profile (struct variant *v, const char *key, const char *value)
{
  (void) key;
  v->profile = copy (value);
}

static void
apply_kernel (struct variant *v, const char *key, const char *value)
{
  (void) key;
  v->kernel = copy (value);
}

static void
apply_seed (struct variant *v, const char *key, const char *value)
{
  (void) key;
  v->seed = atoll (value);
}

static void
apply_set (struct variant *v, const char *key, const char *value)
{
  words_addf (&v->set, "%s=%s", key, value);
}

static struct variant
variant_copy (const struct variant *v)
{
  struct variant c = {
    .label = copy (v->label), .profile = copy (v->profile),
    .kernel = copy (v->kernel), .seed = v->seed, .full = v->full,
  };
  size_t i;

  for (i = 0; i < v->set.n; ++i)
    words_add (&c.set, v->set.word[i]);
  return c;
}

/* Labels become names of folders. */
static void
add_label (struct variant *v, const char *key, const char *value)
{
  const char *slash = strrchr (value, '/');
  char *label = format ("%s,%s=%s", v->label, key, slash ? slash + 1 : value);

  free (v->label);
  v->label = label;
}

/* Every variant so far with every value. */
static void
multiply (struct variants *v, const char *key, const struct words *values,
          apply_fn *apply, bool labelled)
{
  struct variants old = *v;
  unsigned i;
  size_t j;

  if (values->n == 0)
    return;
  *v = (struct variants) { 0 };
  for (i = 0; i < old.n; ++i)
    for (j = 0; j < values->n; ++j) {
      struct variant one = variant_copy (&old.variant[i]);

      apply (&one, key, values->word[j]);
      if (labelled && values->n > 1)
        add_label (&one, key, values->word[j]);
      variants_add (v, one);
    }
  variants_free (&old);
}

/* "KEY=V1,V2" */
static void
multiply_varied (struct variants *v, const char *varied)
{
  char *key = copy (varied), *rest = strchr (key, '='), *value;
  struct words values = { 0 };

  *rest++ = '\0';
  while ((value = strsep (&rest, ",")) != NULL)
    words_add (&values, value);
  multiply (v, key, &values, apply_set, true);
  words_free (&values);
  free (key);
}

struct variants
matrix_expand (const struct matrix *m)
{
  struct variant start = {
    .label = format ("%s", ""), .seed = -1, .full = m->full,
  };
  struct variants v = { 0 };
  size_t i;

  for (i = 0; i < m->set.n; ++i)
    words_add (&start.set, m->set.word[i]);
  variants_add (&v, start);
  /* A profile names its runs as it is. */
  multiply (&v, "profile", &m->profiles, apply_profile, false);
  multiply (&v, "kernel", &m->kernels, apply_kernel, true);
  for (i = 0; i < m->vary.n; ++i)
    multiply_varied (&v, m->vary.word[i]);
  multiply (&v, "seed", &m->seeds, apply_seed, true);
  return v;
}

static int
parse_pair (const char *text, const char *pair, struct variant *v)
{
  const char *equals = strchr (pair, '=');
  char *key;

  if (!is_pair (pair))
    return wrong (text, pair, "KEY=VALUE is wanted here");
  key = format ("%.*s", (int) (equals - pair), pair);
  add_label (v, key, equals + 1);
  if (strcmp (key, "kernel") == 0) {
    free (v->kernel);
    v->kernel = copy (equals + 1);
  }
  else if (strcmp (key, "seed") == 0) {
    if (parse_number (equals + 1, 0, INT32_MAX, &v->seed) == -1) {
      free (key);
      return wrong (text, pair, "a whole number");
    }
  }
  else
    words_add (&v->set, pair);
  free (key);
  return 0;
}

int
variant_parse (const char *text, struct variant *v)
{
  char *all = copy (text), *rest = all, *word;
  int r = 0;

  *v = (struct variant) { .label = format ("%s", ""), .seed = -1 };
  if (strchr (text, '=') == NULL || strcspn (text, ",") < strcspn (text, "=")) {
    word = strsep (&rest, ",");
    v->profile = *word ? copy (word) : NULL;
  }
  while (r == 0 && (word = strsep (&rest, ",")) != NULL)
    r = parse_pair (text, word, v);
  if (r == -1)
    variant_free (v);
  free (all);
  return r;
}
