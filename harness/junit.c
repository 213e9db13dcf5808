/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "junit.h"
#include "markup.h"

/* Runs of the same must give the same file, and in virtual time no other
 * time exists.
 */
#define TIMESTAMP "1970-01-01T00:00:00"

enum case_kind { CASE_PASSED, CASE_SKIPPED, CASE_FAILURE, CASE_ERROR };

struct junit {
  FILE *fp;                     /* NULL: only count */
  const struct record *run;
  unsigned n[CASE_ERROR + 1];
};

static void
attribute (FILE *fp, const char *name, const char *value)
{
  fprintf (fp, " %s=\"", name);
  markup_text (fp, value);
  fputc ('"', fp);
}

static void
write_case (struct junit *j, enum case_kind kind, const char *name, int64_t ns,
            const char *message)
{
  static const char *const elements[] = { "", "skipped", "failure", "error" };

  j->n[kind]++;
  if (j->fp == NULL)
    return;
  fprintf (j->fp, "    <testcase");
  attribute (j->fp, "name", name);
  attribute (j->fp, "classname", j->run->folder);
  fprintf (j->fp, " time=\"%.9f\"", (double) ns / 1e9);
  if (kind == CASE_PASSED) {
    fprintf (j->fp, "/>\n");
    return;
  }
  fprintf (j->fp, ">\n      <%s", elements[kind]);
  attribute (j->fp, "message", message);
  if (kind != CASE_SKIPPED)
    attribute (j->fp, "type", elements[kind]);
  fprintf (j->fp, "/>\n    </testcase>\n");
}

static bool
was_reported (const struct record *r, const char *figure)
{
  unsigned i;

  for (i = 0; i < r->n_reported; ++i)
    if (r->reported[i].figure && strcmp (r->reported[i].figure, figure) == 0)
      return true;
  return false;
}

/* What was measured and nobody has reported: that it was is all. */
static void
write_figures (struct junit *j)
{
  unsigned i;

  for (i = 0; i < j->run->n_figures; ++i) {
    const struct record_figure *f = &j->run->figures[i];

    if (!was_reported (j->run, f->name))
      write_case (j, f->measured ? CASE_PASSED : CASE_FAILURE, f->name,
                  f->ns, "not measured");
  }
}

static void
write_reported (struct junit *j, const struct record_reported *r)
{
  const struct record_figure *f =
    r->figure ? record_figure (j->run, r->figure) : NULL;
  const int64_t ns = f ? f->ns : 0;
  char name[512], message[512];

  snprintf (name, sizeof name, "%s%s%s%s%s%s", r->name,
            r->kernel ? " on " : "", r->kernel ? r->kernel : "",
            r->source ? " (" : "", r->source ? r->source : "",
            r->source ? ")" : "");
  if (strcmp (r->verdict, "skipped") == 0)
    snprintf (message, sizeof message, "%s", r->verdict);
  else if (!r->measured)
    snprintf (message, sizeof message, "not measured; reported %g %s",
              r->reported, r->unit ? r->unit : "");
  else
    snprintf (message, sizeof message, "measured %.4g, reported %.4g %s: "
              "%.2f of it, %g %% are allowed%s", r->value, r->reported,
              r->unit ? r->unit : "", r->ratio, r->tolerance,
              strcmp (r->verdict, "for comparison") == 0
              ? "; it was reported on another kernel or drive" : "");
  write_case (j, strcmp (r->verdict, "reproduced") == 0 ? CASE_PASSED
              : strcmp (r->verdict, "for comparison") == 0 ||
                strcmp (r->verdict, "skipped") == 0 ? CASE_SKIPPED
              : CASE_FAILURE, name, ns, message);
}

/* First of all: did it run, and do its figures mean anything? */
static void
write_cases (struct junit *j)
{
  const struct record *r = j->run;
  const enum outcome outcome = record_outcome (r);
  unsigned i;

  if (outcome == OUTCOME_FAILED) {
    write_case (j, CASE_ERROR, "run", 0, r->error);
    return;
  }
  if (outcome == OUTCOME_SKIPPED) {
    for (i = 0; i < r->n_reported; ++i)
      write_reported (j, &r->reported[i]);
    return;
  }
  write_case (j, outcome == OUTCOME_NOT_EXACT || outcome == OUTCOME_TOO_LATE
              ? CASE_ERROR : CASE_PASSED, "run", 0, r->exactness);
  write_figures (j);
  for (i = 0; i < r->n_reported; ++i)
    write_reported (j, &r->reported[i]);
}

static void
write_property (FILE *fp, const char *name, const char *value)
{
  if (value == NULL)
    return;
  fprintf (fp, "      <property");
  attribute (fp, "name", name);
  attribute (fp, "value", value);
  fprintf (fp, "/>\n");
}

static void
write_suite (FILE *fp, const struct records *records, unsigned i)
{
  const struct record *r = &records->run[i];
  struct junit count = { .run = r }, j = { .fp = fp, .run = r };

  write_cases (&count);
  fprintf (fp, "  <testsuite");
  attribute (fp, "name", r->folder);
  attribute (fp, "package", r->scenario);
  fprintf (fp, " id=\"%u\" tests=\"%u\" failures=\"%u\" errors=\"%u\" "
           "skipped=\"%u\" time=\"%.6f\" timestamp=\"" TIMESTAMP "\" "
           "hostname=\"localhost\">\n    <properties>\n", i,
           count.n[CASE_PASSED] + count.n[CASE_SKIPPED] +
           count.n[CASE_FAILURE] + count.n[CASE_ERROR],
           count.n[CASE_FAILURE], count.n[CASE_ERROR],
           count.n[CASE_SKIPPED], r->virtual_s);
  write_property (fp, "spindle", records->version);
  write_property (fp, "drive", r->drive);
  write_property (fp, "kernel", r->kernel);
  write_property (fp, "machine", r->machine);
  write_property (fp, "cpu", r->cpu);
  write_property (fp, "clock", r->clock);
  write_property (fp, "verdict", r->verdict);
  fprintf (fp, "    </properties>\n");
  write_cases (&j);
  fprintf (fp, "    <system-out>");
  markup_text (fp, r->exactness);
  fprintf (fp, "</system-out>\n    <system-err>");
  markup_text (fp, r->error);
  fprintf (fp, "</system-err>\n  </testsuite>\n");
}

void
junit_write (FILE *fp, const struct records *r)
{
  unsigned i;

  fprintf (fp, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
  for (i = 0; i < r->n; ++i)
    write_suite (fp, r, i);
  fprintf (fp, "</testsuites>\n");
}
