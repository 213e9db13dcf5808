/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle merge: results of parts become those of the whole.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder-copy.h"
#include "options.h"
#include "record.h"
#include "run-output.h"
#include "workdir.h"

static const char help[] =
"usage: spindle merge --keep OUT [OPTION]... DIR...\n"
"\n"
"Join the results of runs that were done one by one (see spindle plan) in\n"
"OUT: they become what spindle run --keep OUT would have left, to the byte.\n"
"DIR has a results.json, or folders that have one.  The same run may be there\n"
"several times if it came out the same.\n"
"\n"
"  --json         print results.json\n"
"  --junit FILE   write JUnit XML as well\n"
"  --keep OUT     where the results go\n"
"  --report FILE  write the page there instead of as OUT/report.html\n"
"\n"
"Exit status: 0 all runs are there and reproduced, 1 not reproduced, 2 usage,\n"
"3 runs are missing, contradict each other or could not be run.\n";

static const struct option_def defs[] = {
  { "--json", NULL }, { "--junit", "FILE" }, { "--keep", "OUT" },
  { "--report", "FILE" }, { NULL, NULL }
};

struct merge {
  const char *keep, *junit, *report;
  bool json;
  struct words folders;
  struct records *source;       /* all that were read */
  unsigned n_sources;
  const struct record **run;    /* by part */
  const struct records **from;
  int64_t parts;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct merge *m = opaque;

  if (strcmp (name, "--json") == 0)
    m->json = true;
  else if (strcmp (name, "--junit") == 0)
    m->junit = value;
  else if (strcmp (name, "--report") == 0)
    m->report = value;
  else
    m->keep = value;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  (void) after_dashes;
  words_add (&((struct merge *) opaque)->folders, word);
  return 0;
}

static bool
has_results (const char *folder)
{
  char *path = format ("%s/results.json", folder);
  bool r = access (path, F_OK) == 0;

  free (path);
  return r;
}

static int
load (struct merge *m, const char *folder)
{
  m->source = reallocate (m->source, m->n_sources + 1, sizeof *m->source);
  if (records_load (folder, &m->source[m->n_sources]) == -1)
    return -1;
  m->n_sources++;
  return 0;
}

/* FOLDER, or those in it that have results.  What is not finished has none,
 * and will be missing.
 */
static int
load_all (struct merge *m, const char *folder)
{
  struct dirent **entry;
  int n, i, r = 0;

  if (has_results (folder))
    return load (m, folder);
  n = scandir (folder, &entry, NULL, alphasort);
  if (n == -1) {
    complain ("%s: %s", folder, strerror (errno));
    return -1;
  }
  for (i = 0; i < n; ++i) {
    char *path = format ("%s/%s", folder, entry[i]->d_name);

    if (r == 0 && entry[i]->d_name[0] != '.' && has_results (path))
      r = load (m, path);
    free (path);
    free (entry[i]);
  }
  free (entry);
  return r;
}

static int
check_matrix (const struct merge *m)
{
  const struct records *first = &m->source[0], *r;
  unsigned i;

  if (m->n_sources == 0) {
    complain ("merge: no results.json in any of these folders");
    return -1;
  }
  for (i = 1; i < m->n_sources; ++i) {
    r = &m->source[i];
    if (strcmp (r->version, first->version) != 0 ||
        strcmp (r->matrix, first->matrix) != 0 ||
        r->parts != first->parts) {
      complain ("%s and %s: not parts of one set of runs (matrix %s of "
                "spindle %s, and %s of %s)", first->where, r->where,
                first->matrix, first->version, r->matrix, r->version);
      return -1;
    }
  }
  return 0;
}

static int
add_run (struct merge *m, const struct records *from, const struct record *r)
{
  const struct record *had;

  if (r->part > m->parts) {
    complain ("%s: run %lld of %lld", from->where, (long long) r->part,
              (long long) m->parts);
    return -1;
  }
  had = m->run[r->part - 1];
  /* That a run failed says nothing when it has been done again. */
  if (had && record_outcome (r) == OUTCOME_FAILED)
    return 0;
  if (had && record_outcome (had) == OUTCOME_FAILED)
    had = NULL;
  if (had && strcmp (had->text, r->text) != 0) {
    complain ("%s and %s: two results of run %lld, %s, that differ",
              m->from[r->part - 1]->where, from->where,
              (long long) r->part, r->folder);
    return -1;
  }
  if (had == NULL) {
    m->run[r->part - 1] = r;
    m->from[r->part - 1] = from;
  }
  return 0;
}

static int
sort_runs (struct merge *m)
{
  unsigned i, j;

  m->parts = m->source[0].parts;
  m->run = allocate (m->parts, sizeof *m->run);
  m->from = allocate (m->parts, sizeof *m->from);
  for (i = 0; i < m->n_sources; ++i)
    for (j = 0; j < m->source[i].n; ++j)
      if (add_run (m, &m->source[i], &m->source[i].run[j]) == -1)
        return -1;
  return 0;
}

/* One line: "3,7-9".  How many there are. */
static int64_t
complain_of_missing (const struct merge *m)
{
  char *list = format ("%s", ""), *longer;
  int64_t i, last, n = 0;

  for (i = 0; i < m->parts; i = last + 1) {
    last = i;
    if (m->run[i])
      continue;
    while (last + 1 < m->parts && m->run[last + 1] == NULL)
      ++last;
    n += last - i + 1;
    longer = last > i
      ? format ("%s%s%lld-%lld", list, *list ? "," : "", (long long) i + 1,
                (long long) last + 1)
      : format ("%s%s%lld", list, *list ? "," : "", (long long) i + 1);
    free (list);
    list = longer;
  }
  if (n > 0)
    complain ("%lld of %lld runs are missing: %s", (long long) n,
              (long long) m->parts, list);
  free (list);
  return n;
}

static int
copy_run (const struct merge *m, int64_t i)
{
  char *from = format ("%s/%s", m->from[i]->where, m->run[i]->folder);
  char *to = format ("%s/%s", m->keep, m->run[i]->folder);
  int r = folder_copy (from, to);

  free (from);
  free (to);
  return r;
}

static void
write_results (FILE *fp, const void *opaque)
{
  const struct merge *m = opaque;
  struct words runs = { 0 };
  int64_t i;

  for (i = 0; i < m->parts; ++i)
    if (m->run[i])
      words_add (&runs, m->run[i]->text);
  records_write (fp, m->source[0].matrix, m->parts, &runs);
  words_free (&runs);
}

static int
write_all (const struct merge *m)
{
  char *results = format ("%s/results.json", m->keep);
  char *page = m->report ? format ("%s", m->report)
    : format ("%s/report.html", m->keep);
  int r = make_directories (m->keep);
  int64_t i;

  for (i = 0; r == 0 && i < m->parts; ++i)
    if (m->run[i])
      r = copy_run (m, i);
  if (r == 0 &&
      (file_write (results, write_results, m) == -1 ||
       records_publish (m->keep, m->junit, page) == -1))
    r = -1;
  free (results);
  free (page);
  return r;
}

/* What is skipped counts only if nothing else is there. */
static enum spindle_exit
worst_exit (const struct merge *m)
{
  enum outcome worst = OUTCOME_SKIPPED;
  int64_t i;

  for (i = 0; i < m->parts; ++i)
    if (m->run[i] && record_outcome (m->run[i]) > worst)
      worst = record_outcome (m->run[i]);
  return outcome_exit (worst);
}

static enum spindle_exit
merge (struct merge *m)
{
  size_t i;

  for (i = 0; i < m->folders.n; ++i)
    if (load_all (m, m->folders.word[i]) == -1)
      return EXIT_COULD_NOT_RUN;
  if (check_matrix (m) == -1 || sort_runs (m) == -1 || write_all (m) == -1)
    return EXIT_COULD_NOT_RUN;
  if (m->json)
    write_results (stdout, m);
  if (complain_of_missing (m) > 0)
    return EXIT_COULD_NOT_RUN;
  return worst_exit (m);
}

int
command_merge (int argc, char **argv)
{
  struct merge m = { 0 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &m);
  unsigned i;

  if (r != 0)
    r = options_status (r, help);
  else if (m.folders.n == 0 || m.keep == NULL) {
    complain ("merge: %s; try 'spindle merge --help'", m.keep
              ? "no folder given" : "--keep is wanted");
    r = EXIT_USAGE;
  }
  else
    r = merge (&m);
  for (i = 0; i < m.n_sources; ++i)
    records_free (&m.source[i]);
  free (m.source);
  free (m.run);
  free (m.from);
  words_free (&m.folders);
  return r;
}
