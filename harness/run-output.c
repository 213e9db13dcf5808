/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"
#include "junit.h"
#include "page.h"
#include "record.h"
#include "run-output.h"

int
file_write (const char *file, void (*write) (FILE *fp, const void *opaque),
            const void *opaque)
{
  char *temporary = format ("%s.new", file);
  FILE *fp = fopen (temporary, "we");
  int r = -1;

  if (fp) {
    write (fp, opaque);
    r = ferror (fp) ? -1 : 0;
    if (fclose (fp) == EOF || r == -1 || rename (temporary, file) == -1)
      r = -1;
  }
  if (r == -1) {
    complain ("%s: %s", file, strerror (errno));
    if (fp)
      unlink (temporary);
  }
  free (temporary);
  return r;
}

int
file_check (const char *file)
{
  char *temporary = format ("%s.new", file ? file : "");
  struct stat st;
  int fd = -1, r = 0;

  if (file) {
    if (stat (file, &st) == 0 && S_ISDIR (st.st_mode))
      errno = EISDIR;
    else
      fd = open (temporary, O_WRONLY|O_CREAT|O_CLOEXEC, 0666);
    if (fd == -1) {
      complain ("%s: %s", file, strerror (errno));
      r = -1;
    }
    else {
      close (fd);
      unlink (temporary);
    }
  }
  free (temporary);
  return r;
}

int
run_output_start (const char *root)
{
  char *path = format ("%s/results.json", root);
  int r = unlink (path);

  if (r == -1 && errno != ENOENT)
    complain ("%s: %s", path, strerror (errno));
  else
    r = 0;
  free (path);
  return r;
}

/* The run as it stands in the array of results.json.  Free it. */
static char *
run_text (const struct run_results *r)
{
  char *text = NULL, *trimmed;
  size_t size;
  FILE *fp = open_memstream (&text, &size);
  struct json j = { .fp = fp, .depth = 2 };

  if (fp == NULL)
    return format ("null");
  results_write_json (&j, r);
  fclose (fp);
  trimmed = format ("%s", text + strspn (text, "\n "));
  free (text);
  return trimmed;
}

static void
write_results (FILE *fp, const void *opaque)
{
  const struct run_output *o = opaque;
  struct words runs = { 0 };
  unsigned i;

  for (i = 0; i < o->n; ++i) {
    char *text = run_text (o->runs[i]);

    words_add (&runs, text);
    free (text);
  }
  records_write (fp, o->matrix, o->parts, &runs);
  words_free (&runs);
}

static int
write_kept (const struct run_output *o)
{
  char *path = format ("%s/results.json", o->root);
  int r = file_write (path, write_results, o);

  free (path);
  return r;
}

static void
write_junit (FILE *fp, const void *opaque)
{
  junit_write (fp, opaque);
}

static void
write_page (FILE *fp, const void *opaque)
{
  page_write (fp, opaque);
}

int
records_publish (const char *folder, const char *junit, const char *report)
{
  struct records records;
  int r = 0;

  if (junit == NULL && report == NULL)
    return 0;
  if (records_load (folder, &records) == -1)
    return -1;
  if (junit && file_write (junit, write_junit, &records) == -1)
    r = -1;
  if (report && file_write (report, write_page, &records) == -1)
    r = -1;
  records_free (&records);
  return r;
}

/* The names of files that will not be there. */
static void
forget_files (struct run_results *r)
{
  unsigned i;

  for (i = 0; i < r->n_drives; ++i) {
    free (r->traces[i]);
    r->traces[i] = NULL;
  }
  words_free (&r->plots);
}

static void
print_run (const struct run_output *o, unsigned i)
{
  struct run_results *r = o->runs[i];
  const enum outcome outcome = results_outcome (r);
  char *exactness;

  if (r->failure) {
    complain ("%s: %s", r->folder, r->failure);
    return;
  }
  if (!o->options->json && !o->options->quiet) {
    if (i > 0)
      putchar ('\n');
    results_print (stdout, r, o->options->keep ? o->root : NULL);
  }
  if (outcome == OUTCOME_NOT_EXACT || outcome == OUTCOME_TOO_LATE) {
    exactness = results_exactness (r);
    complain ("%s: %s", r->folder, exactness);
    free (exactness);
  }
}

static enum spindle_exit
worst_exit (const struct run_output *o)
{
  enum spindle_exit worst = EXIT_REPRODUCED;
  unsigned i, skipped = 0;

  for (i = 0; i < o->n; ++i) {
    const enum outcome outcome = results_outcome (o->runs[i]);

    if (outcome == OUTCOME_SKIPPED)
      skipped++;
    else if (outcome_exit (outcome) > worst)
      worst = outcome_exit (outcome);
  }
  if (skipped < o->n)
    return worst;
  complain ("nothing ran: all is skipped");
  return outcome_exit (OUTCOME_SKIPPED);
}

/* The page that --keep leaves, unless another was asked for. */
static char *
page_path (const struct run_output *o)
{
  if (o->options->report)
    return format ("%s", o->options->report);
  return o->options->keep ? format ("%s/report.html", o->root) : NULL;
}

enum spindle_exit
run_output (const struct run_output *o)
{
  enum spindle_exit worst = worst_exit (o);
  char *page = page_path (o);
  unsigned i;

  for (i = 0; i < o->n; ++i) {
    if (o->runs[i]->failure || o->runs[i]->skipped)
      continue;
    results_read_traces (o->runs[i]);
    if (page)
      results_plot (o->runs[i], o->root);
  }
  if (write_kept (o) == -1 ||
      records_publish (o->root, o->options->junit, page) == -1)
    worst = EXIT_COULD_NOT_RUN;
  for (i = 0; i < o->n; ++i) {
    if (!o->options->keep)
      forget_files (o->runs[i]);
    print_run (o, i);
  }
  if (o->options->json)
    write_results (stdout, o);
  if (fflush (stdout) == EOF || ferror (stdout)) {
    complain ("cannot write the results: %s", strerror (errno));
    worst = EXIT_COULD_NOT_RUN;
  }
  free (page);
  return worst;
}
