/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "markup.h"
#include "page.h"
#include "spindle.h"

static const char style[] =
"body { font: 15px/1.45 sans-serif; color: #222; background: #fff;\n"
"       max-width: 62em; margin: 1.5em auto; padding: 0 1em; }\n"
"h1 { font-size: 1.6em; } h2 { font-size: 1.25em; margin-top: 2em;\n"
"     border-top: 1px solid #ccc; padding-top: .8em; }\n"
"table { border-collapse: collapse; margin: 1em 0; }\n"
"th, td { padding: .15em .7em; text-align: right;\n"
"         border-bottom: 1px solid #e4e4e4; }\n"
"th { border-bottom: 2px solid #999; }\n"
"th.l, td.l { text-align: left; }\n"
".good { color: #14691d; } .bad { color: #b01217; font-weight: bold; }\n"
".other { color: #666; }\n"
"svg { width: 100%; height: auto; }\n"
"figure { margin: 1em 0; } p.small { color: #555; font-size: .9em; }\n";

void
page_start (FILE *fp, const char *title)
{
  fprintf (fp, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
           "<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>");
  markup_text (fp, title);
  fprintf (fp, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
  markup_text (fp, title);
  fprintf (fp, "</h1>\n");
}

void
page_end (FILE *fp, const char *version)
{
  fprintf (fp, "<p class=\"small\">spindle ");
  markup_text (fp, version);
  fprintf (fp, "</p>\n</body>\n</html>\n");
}

void
page_picture (FILE *fp, const char *svg, const char *what)
{
  FILE *in = fopen (svg, "re");
  bool inside = false;
  char *line = NULL;
  size_t room = 0;

  if (in == NULL) {
    fprintf (fp, "<p class=\"other\">");
    markup_format (fp, "(no picture: %s)", what);
    fprintf (fp, "</p>\n");
    return;
  }
  fprintf (fp, "<figure role=\"img\" aria-label=\"");
  markup_text (fp, what);
  fprintf (fp, "\">\n");
  /* What is before <svg is of XML files only. */
  while (getline (&line, &room, in) != -1) {
    inside = inside || strncmp (line, "<svg", 4) == 0;
    if (inside)
      fputs (line, fp);
  }
  fprintf (fp, "</figure>\n");
  free (line);
  fclose (in);
}

static const char *
class_of (const char *verdict)
{
  if (strcmp (verdict, "reproduced") == 0)
    return "good";
  return strcmp (verdict, "for comparison") == 0 ||
    strcmp (verdict, "measured") == 0 || strcmp (verdict, "skipped") == 0
    ? "other" : "bad";
}

static void
cell (FILE *fp, const char *class, const char *text)
{
  fprintf (fp, "<td%s%s%s>", class ? " class=\"" : "", class ? class : "",
           class ? "\"" : "");
  markup_text (fp, text);
  fprintf (fp, "</td>");
}

static void
verdict_cell (FILE *fp, const char *verdict)
{
  char *class = format ("l %s", class_of (verdict));

  cell (fp, class, verdict);
  free (class);
}

static void
number_cell (FILE *fp, bool there, double value)
{
  char *text = there ? format ("%.2f", value) : format ("%s", "");

  cell (fp, NULL, text);
  free (text);
}

static void
write_summary (FILE *fp, const struct records *records)
{
  unsigned i;

  fprintf (fp, "<table>\n<tr><th class=\"l\">run</th>"
           "<th class=\"l\">kernel</th><th class=\"l\">exactness</th>"
           "<th class=\"l\">verdict</th></tr>\n");
  for (i = 0; i < records->n; ++i) {
    const struct record *r = &records->run[i];

    fprintf (fp, "<tr><td class=\"l\"><a href=\"#run%u\">", i + 1);
    markup_text (fp, r->folder);
    fprintf (fp, "</a></td>");
    cell (fp, "l", r->kernel);
    cell (fp, "l", r->error ? r->error : r->exactness);
    verdict_cell (fp, r->verdict);
    fprintf (fp, "</tr>\n");
  }
  fprintf (fp, "</table>\n");
}

static void
write_reported (FILE *fp, const struct record *r)
{
  unsigned i;

  if (r->n_reported == 0)
    return;
  fprintf (fp, "<table>\n<tr><th class=\"l\">figure</th><th>reported</th>"
           "<th>measured</th><th class=\"l\"></th><th>ratio</th>"
           "<th class=\"l\">verdict</th><th class=\"l\">reported on</th>"
           "<th class=\"l\">source</th></tr>\n");
  for (i = 0; i < r->n_reported; ++i) {
    const struct record_reported *p = &r->reported[i];

    fprintf (fp, "<tr>");
    cell (fp, "l", p->name);
    number_cell (fp, true, p->reported);
    number_cell (fp, p->measured, p->value);
    cell (fp, "l", p->unit);
    number_cell (fp, p->measured, p->ratio);
    verdict_cell (fp, p->verdict);
    cell (fp, "l", p->kernel);
    cell (fp, "l", p->source);
    fprintf (fp, "</tr>\n");
  }
  fprintf (fp, "</table>\n");
}

static void
write_figures (FILE *fp, const struct record *r)
{
  unsigned i;

  fprintf (fp, "<details%s><summary>All that was measured</summary>\n"
           "<table>\n<tr><th class=\"l\">figure</th><th>measured</th>"
           "<th class=\"l\"></th></tr>\n",
           r->n_reported ? "" : " open");
  for (i = 0; i < r->n_figures; ++i) {
    const struct record_figure *f = &r->figures[i];

    fprintf (fp, "<tr>");
    cell (fp, "l", f->name);
    number_cell (fp, f->measured, f->value);
    cell (fp, "l", f->measured ? f->unit : "not measured");
    fprintf (fp, "</tr>\n");
  }
  fprintf (fp, "</table></details>\n");
}

static void
line (FILE *fp, const char *what, const char *text)
{
  if (text == NULL)
    return;
  fprintf (fp, "%s", what);
  markup_text (fp, text);
  fprintf (fp, "<br>\n");
}

static void
write_pictures (FILE *fp, const struct records *records,
                const struct record *r)
{
  size_t i;

  if (r->plots.n == 0)
    fprintf (fp, "<p class=\"other\">No pictures: they need gnuplot.</p>\n");
  for (i = 0; i < r->plots.n; ++i) {
    char *path = format ("%s/%s", records->where, r->plots.word[i]);

    page_picture (fp, path, r->plots.word[i]);
    free (path);
  }
}

/* The picture of it in figures. */
static void
write_spent (FILE *fp, const struct record *r)
{
  size_t d;
  int p;

  if (r->drives.n == 0)
    return;
  fprintf (fp, "<table>\n<tr><th class=\"l\">ms spent on</th>"
           "<th>commands</th>");
  for (p = 0; p < N_PARTS; ++p)
    fprintf (fp, "<th>%s</th>", trace_part_names[p]);
  fprintf (fp, "</tr>\n");
  for (d = 0; d < r->drives.n; ++d) {
    fprintf (fp, "<tr>");
    cell (fp, "l", r->drives.word[d]);
    fprintf (fp, "<td>%lld</td>", (long long) r->spent[d].commands);
    for (p = 0; p < N_PARTS; ++p)
      fprintf (fp, "<td>%.1f</td>", (double) r->spent[d].part_ns[p] / 1e6);
    fprintf (fp, "</tr>\n");
  }
  fprintf (fp, "</table>\n");
}

static void
write_run (FILE *fp, const struct records *records, unsigned i)
{
  const struct record *r = &records->run[i];
  size_t d;

  fprintf (fp, "<h2 id=\"run%u\">", i + 1);
  markup_text (fp, r->title ? r->title : r->scenario);
  markup_format (fp, ": %s", r->drive);
  fprintf (fp, "</h2>\n<p>");
  line (fp, "", r->source);
  for (d = 0; d < r->drives.n; ++d)
    line (fp, "", r->drives.word[d]);
  for (d = 0; d < r->set.n; ++d)
    line (fp, "changed: ", r->set.word[d]);
  line (fp, "Linux ", r->kernel);
  line (fp, "machine: ", r->machine);
  line (fp, "CPU: ", r->cpu);
  line (fp, "memory: ", r->memory);
  line (fp, "", r->exactness);
  fprintf (fp, "</p>\n<p class=\"%s\">", class_of (r->verdict));
  markup_text (fp, r->verdict);
  if (r->error)
    markup_format (fp, ": %s", r->error);
  fprintf (fp, "</p>\n");
  write_reported (fp, r);
  if (r->error)
    return;
  write_figures (fp, r);
  if (r->note) {
    fprintf (fp, "<p>");
    markup_text (fp, r->note);
    fprintf (fp, "</p>\n");
  }
  write_pictures (fp, records, r);
  write_spent (fp, r);
}

void
page_write (FILE *fp, const struct records *records)
{
  unsigned i;

  page_start (fp, records->n == 1 ? records->run[0].folder
              : "spindle: results");
  if (records->n > 1)
    write_summary (fp, records);
  for (i = 0; i < records->n; ++i)
    write_run (fp, records, i);
  page_end (fp, records->version);
}
