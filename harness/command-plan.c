/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle plan: the runs of a matrix as lines for a shell.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matrix.h"
#include "options.h"
#include "pieces.h"
#include "runs.h"
#include "scenario-find.h"

static const char help[] =
"usage: spindle plan --keep DIR [OPTION]... SCENARIO...\n"
"\n"
"Print a line for each run that spindle run would do with these options.  A\n"
"line can be run in any shell, on any machine that has these files, any\n"
"number of times; it leaves its results in a folder of its own in DIR.\n"
"spindle merge joins them.\n"
"\n"
"  --keep DIR     where results go\n"
MATRIX_HELP
"\n"
"Exit status: 0 done, 2 usage, 3 a scenario or a profile cannot be used.\n";

static const struct option_def defs[] = {
  { "--keep", "DIR" }, MATRIX_OPTIONS, { NULL, NULL }
};

struct arguments {
  const char *keep;
  struct matrix matrix;
  struct words scenarios;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct arguments *a = opaque;

  if (strcmp (name, "--keep") == 0) {
    a->keep = value;
    return 0;
  }
  return matrix_option (&a->matrix, name, value) == 1 ? 0 : -1;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  (void) after_dashes;
  words_add (&((struct arguments *) opaque)->scenarios, word);
  return 0;
}

/* FILE from the root on.  Free it. */
static char *
absolute (const char *file)
{
  char folder[PATH_MAX];

  if (file[0] == '/' || getcwd (folder, sizeof folder) == NULL)
    return format ("%s", file);
  return format ("%s/%s", folder, file);
}

/* Files, but no names, are made absolute. */
static void
make_absolute (struct words *w)
{
  size_t i;

  for (i = 0; i < w->n; ++i) {
    const size_t n = strlen (w->word[i]);
    char *path;

    if (strchr (w->word[i], '/') == NULL &&
        (n < 4 || strcmp (w->word[i] + n - 4, ".cfg") != 0))
      continue;
    path = absolute (w->word[i]);
    free (w->word[i]);
    w->word[i] = path;
  }
}

/* What every line begins with: us, and where we look for things. */
static void
add_program (struct words *argv)
{
  static const char *const names[] = {
    "SPINDLE_PATH", "SPINDLE_KERNELS", "SPINDLE_QEMU", "SPINDLE_NBDKIT"
  };
  char self[PATH_MAX];
  ssize_t n = readlink ("/proc/self/exe", self, sizeof self - 1);
  size_t i;

  for (i = 0; i < sizeof names / sizeof names[0]; ++i) {
    const char *value = getenv (names[i]);

    if (value == NULL)
      continue;
    if (argv->n == 0)
      words_add (argv, "env");
    words_addf (argv, "%s=%s", names[i], value);
  }
  self[n > 0 ? n : 0] = '\0';
  words_add (argv, n > 0 ? self : "spindle");
}

static void
print_line (const struct arguments *a, const struct words *files,
            const char *keep, const char *folder, size_t part, size_t parts)
{
  struct words argv = { 0 };
  size_t i;

  add_program (&argv);
  words_add (&argv, "run");
  words_addf (&argv, "--part=%zu/%zu", part, parts);
  words_addf (&argv, "--keep=%s/%05zu", keep, part);
  words_add (&argv, "--jobs=1");
  matrix_words (&a->matrix, &argv);
  for (i = 0; i < files->n; ++i)
    words_add (&argv, files->word[i]);
  words_print (&argv, stdout, "");
  printf ("  # %s\n", folder);
  words_free (&argv);
}

static int
plan (struct arguments *a)
{
  struct words files = { 0 }, folders = { 0 };
  struct variants variants = { 0 };
  char *keep = absolute (a->keep);
  int r = EXIT_COULD_NOT_RUN;
  size_t i;

  make_absolute (&a->matrix.profiles);
  make_absolute (&a->matrix.kernels);
  if (scenario_find_all (&a->scenarios, &files) == 0) {
    make_absolute (&files);
    variants = matrix_expand (&a->matrix);
    if (runs_list (&files, &variants, &folders) == 0) {
      for (i = 0; i < folders.n; ++i)
        print_line (a, &files, keep, folders.word[i], i + 1, folders.n);
      r = EXIT_REPRODUCED;
    }
  }
  if (fflush (stdout) == EOF) {
    complain ("cannot write the plan: %s", strerror (errno));
    r = EXIT_COULD_NOT_RUN;
  }
  variants_free (&variants);
  words_free (&files);
  words_free (&folders);
  free (keep);
  return r;
}

int
command_plan (int argc, char **argv)
{
  struct arguments a = { 0 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r != 0)
    r = options_status (r, help);
  else if (a.scenarios.n == 0 || a.keep == NULL) {
    complain ("plan: %s; try 'spindle plan --help'", a.keep
              ? "no scenario given" : "--keep is wanted");
    r = EXIT_USAGE;
  }
  else
    r = plan (&a);
  matrix_free (&a.matrix);
  words_free (&a.scenarios);
  return r;
}
