/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle list, spindle show: which scenarios there are, and what is in one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "scenario-find.h"
#include "scenario.h"
#include "spindle.h"
#include "table.h"
#include "words.h"

static const char list_help[] =
"usage: spindle list\n"
"\n"
"List the scenarios that spindle run finds by name: those in the folders\n"
"'scenarios' of SPINDLE_PATH and of your configuration, then its own.\n";

static const char show_help[] =
"usage: spindle show SCENARIO...\n"
"\n"
"Show what a SCENARIO does and every figure that was reported: its kernel,\n"
"source and tolerance, and whether it counts on every kernel.\n";

static const struct option_def none[] = { { NULL, NULL } };

static int
no_option (void *opaque, const char *name, const char *value)
{
  (void) opaque;
  (void) name;
  (void) value;
  return 0;
}

static int
add_word (void *opaque, const char *word, bool after_dashes)
{
  (void) after_dashes;
  words_add (opaque, word);
  return 0;
}

/* NULL after a message. */
static struct scenario *
load (const char *file, const struct scenario_pick *pick)
{
  char *error;
  struct scenario *sc = scenario_load (file, pick, &error);

  if (sc == NULL) {
    complain ("%s", error);
    free (error);
  }
  return sc;
}

static int
list_row (struct table *t, const char *file)
{
  const struct scenario_pick first = { .guest = 0 };
  struct scenario *sc = load (file, &first);
  unsigned i;
  char *drives;

  if (sc == NULL)
    return -1;
  drives = format ("%s", sc->drives[0].profile);
  for (i = 1; i < sc->n_drives; ++i) {
    char *longer = format ("%s %s", drives, sc->drives[i].profile);

    free (drives);
    drives = longer;
  }
  table_cell (t, "%s", sc->name);
  table_cell (t, "%u", sc->n_reported);
  table_cell (t, "%s", drives);
  table_cell (t, "%s", sc->title ? sc->title : "");
  free (drives);
  scenario_free (sc);
  return 0;
}

int
command_list (int argc, char **argv)
{
  static const char *const heading[] = {
    "scenario", "figures", "drives", "title"
  };
  struct words words = { 0 }, files = { 0 };
  struct table t = { .columns = 4 };
  int r = options_parse (argc, argv, none, no_option, add_word, &words);
  size_t i;

  if (r == 1)
    fputs (list_help, stdout);
  else if (r == -1 || words.n > 0) {
    if (words.n > 0)
      complain ("list: %s: takes no word", words.word[0]);
    r = EXIT_USAGE;
  }
  else if (scenario_list (&files) == -1)
    r = EXIT_COULD_NOT_RUN;
  else {
    for (i = 0; i < 4; ++i)
      table_cell (&t, "%s", heading[i]);
    for (i = 0; i < files.n; ++i)
      if (list_row (&t, files.word[i]) == -1)
        r = EXIT_COULD_NOT_RUN;
    table_print (&t, 1ul << 2 | 1ul << 3, stdout);
  }
  words_free (&words);
  words_free (&files);
  return r == 1 ? 0 : r;
}

static void
show_disk (const struct scenario_disk *d)
{
  unsigned i;

  if (d->partition_lba)
    printf ("partition from sector %lld on\n", (long long) d->partition_lba);
  if (d->file_system)
    printf ("%s, blocks of %lld bytes%s%s\n", d->file_system,
            (long long) d->block_bytes, d->mount ? ", " : "",
            d->mount ? d->mount : "");
  for (i = 0; i < d->n_files; ++i)
    printf ("  %s: %lld of %lld bytes, %s\n", d->files[i].name,
            (long long) d->files[i].count, (long long) d->files[i].bytes,
            files_layouts[d->files[i].layout]);
}

static void
show_steps (const struct scenario *sc)
{
  struct table t = { .columns = 4 };
  unsigned i;

  table_cell (&t, "step");
  table_cell (&t, "%s", "");
  table_cell (&t, "block");
  table_cell (&t, "unit");
  for (i = 0; i < sc->n_steps; ++i) {
    const struct scenario_step *s = &sc->steps[i];

    if (s->verb == STEP_ALSO)
      continue;
    table_cell (&t, "%s", s->name);
    table_cell (&t, "%s%s%s", step_verbs[s->verb], s->file ? " " : "",
                s->file ? s->file : "");
    table_cell (&t, "%lld", (long long) scenario_step_block (s));
    table_cell (&t, "%s", step_units[s->unit]);
  }
  table_print (&t, 1ul << 1 | 1ul << 3, stdout);
}

static void
show_figures (const struct scenario *sc)
{
  static const char *const heading[] = {
    "figure", "reported", "", "kernel", "within %", "counts", "source"
  };
  struct table t = { .columns = 7 };
  unsigned i;

  for (i = 0; i < 7; ++i)
    table_cell (&t, "%s", heading[i]);
  for (i = 0; i < sc->n_reported; ++i) {
    const struct scenario_reported *r = &sc->reported[i];

    table_cell (&t, "%s%s%s", r->figure, r->over ? " / " : "",
                r->over ? r->over : "");
    if (r->above > 0)
      table_cell (&t, "%g...%g", r->value - r->below, r->value + r->above);
    else
      table_cell (&t, "%g", r->value);
    table_cell (&t, "%s", step_units[r->unit]);
    table_cell (&t, "%s", r->kernel ? r->kernel : "any");
    table_cell (&t, "%g", r->tolerance);
    table_cell (&t, "%s", r->assert || r->kernel == NULL ? "always"
                : "on it");
    table_cell (&t, "%s", r->source ? r->source : "");
  }
  if (sc->n_reported) {
    putchar ('\n');
    table_print (&t, 1ul << 2 | 1ul << 3 | 1ul << 5 | 1ul << 6, stdout);
  }
  words_free (&t.cells);
}

static void
show (const struct scenario *sc, const char *file)
{
  char *cpu = cpu_text (&sc->machine.cpu);
  unsigned i;
  size_t k;

  printf ("%s\n", sc->title ? sc->title : sc->name);
  if (sc->source)
    printf ("%s\n", sc->source);
  printf ("%s\n%s, %lld MiB, CPU: %s\n", file,
          machine_kinds[sc->machine.kind],
          (long long) sc->machine.memory_mib, cpu);
  for (i = 0; i < sc->n_drives; ++i) {
    printf ("drive %s\n", sc->drives[i].profile);
    for (k = 0; k < sc->drives[i].set.n; ++k)
      printf ("  changed: %s\n", sc->drives[i].set.word[k]);
  }
  show_disk (&sc->disk);
  if (sc->scale > 1)
    printf ("1/%lld of what was reported is done, unless --full\n",
            (long long) sc->scale);
  if (sc->note)
    printf ("\n%s\n", sc->note);
  putchar ('\n');
  show_steps (sc);
  free (cpu);
}

/* What is the same for all guests and kernels once, figures for each. */
static int
show_file (const char *file)
{
  struct scenario_pick pick = { .guest = 0 };
  struct scenario *sc = load (file, &pick);
  unsigned n_guests, n_kernels;

  if (sc == NULL)
    return -1;
  show (sc, file);
  n_guests = sc->n_guests;
  n_kernels = sc->n_kernels;
  for (;;) {
    if (sc->guest)
      printf ("\nguest %s\n", sc->guest);
    show_figures (sc);
    scenario_free (sc);
    if (++pick.guest >= n_guests)
      break;
    sc = load (file, &pick);
    if (sc == NULL)
      return -1;
  }
  for (pick.guest = 0; pick.kernel < n_kernels && n_kernels > 1;
       ++pick.kernel) {
    sc = load (file, &pick);
    if (sc == NULL)
      return -1;
    printf ("%s%s", pick.kernel ? ", " : "\nkernels ", sc->kernel_name);
    scenario_free (sc);
  }
  if (n_kernels > 1)
    putchar ('\n');
  return 0;
}

int
command_show (int argc, char **argv)
{
  struct words words = { 0 }, files = { 0 };
  int r = options_parse (argc, argv, none, no_option, add_word, &words);
  size_t i;

  if (r == 1)
    fputs (show_help, stdout);
  else if (r == -1 || words.n == 0) {
    if (words.n == 0 && r != -1)
      complain ("show: no scenario given; see 'spindle list'");
    r = EXIT_USAGE;
  }
  else if (scenario_find_all (&words, &files) == -1)
    r = EXIT_COULD_NOT_RUN;
  for (i = 0; r == 0 && i < files.n; ++i) {
    if (i > 0)
      putchar ('\n');
    if (show_file (files.word[i]) == -1)
      r = EXIT_COULD_NOT_RUN;
  }
  words_free (&words);
  words_free (&files);
  return r == 1 ? 0 : r;
}
