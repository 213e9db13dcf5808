/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "child.h"
#include "gnuplot.h"
#include "words.h"

#define GNUPLOT_MS 60000

void
gnuplot_quoted (FILE *fp, const char *s)
{
  fputc ('"', fp);
  for (; *s; ++s) {
    if (*s == '"' || *s == '\\')
      fputc ('\\', fp);
    fputc (*s == '\n' ? ' ' : *s, fp);
  }
  fputc ('"', fp);
}

/* The last two parts of PATH, of letters, digits and _.  */
static void
print_name (FILE *fp, const char *path)
{
  const char *p = path + strlen (path);
  int slashes = 0;

  while (p > path && (p[-1] != '/' || slashes++ < 1))
    --p;
  for (; *p; ++p)
    fputc (isalnum ((unsigned char) *p) ? *p : '_', fp);
}

void
gnuplot_svg (FILE *fp, const char *svg, const char *title)
{
  /* Names of its own inside, as several may be put on one page. */
  fprintf (fp, "reset\nset terminal svg size 900,420 noenhanced "
           "font 'sans-serif,13' background '#ffffff' name '");
  print_name (fp, svg);
  fprintf (fp, "'\nset output ");
  gnuplot_quoted (fp, svg);
  fprintf (fp, "\nset title ");
  gnuplot_quoted (fp, title);
  fprintf (fp, "\nset grid\nset key outside bottom horizontal\n");
}

int
gnuplot_run (const char *script, const char *log)
{
  struct words argv = { 0 };
  struct child c;
  int ms, r;

  words_add (&argv, "gnuplot");
  words_add (&argv, script);
  r = child_start (&c, "gnuplot", &argv, NULL, log);
  words_free (&argv);
  if (r == -1)
    return -1;
  for (ms = 0; ms < GNUPLOT_MS && !child_ended (&c); ms += 10)
    if (signals_wait (10))
      break;
  child_stop (&c, 0);
  if (c.status != 0)
    return -1;
  remove (log);
  return 0;
}
