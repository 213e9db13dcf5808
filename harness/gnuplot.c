/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "child.h"
#include "gnuplot.h"
#include "pieces.h"
#include "spindle.h"
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
  fprintf (fp, "\nset grid\nset key outside top horizontal\n");
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

bool
gnuplot_whole (const char *svg)
{
  static const char end[] = "</svg>";
  char tail[32] = "";
  FILE *fp = fopen (svg, "re");

  if (fp == NULL)
    return false;
  if (fseek (fp, -(long) sizeof tail + 1, SEEK_END) == 0)
    tail[fread (tail, 1, sizeof tail - 1, fp)] = '\0';
  fclose (fp);
  return strstr (tail, end) != NULL;
}

/* gnuplot would go on, and print a picture that it cannot write. */
static int
make_empty (const char *svg)
{
  FILE *fp = fopen (svg, "we");

  if (fp && fclose (fp) == 0)
    return 0;
  complain ("%s: %s", svg, strerror (errno));
  return -1;
}

FILE *
gnuplot_begin (const char *svg)
{
  FILE *fp;

  if (program_check ("gnuplot", "gnuplot-nox") == -1 ||
      make_empty (svg) == -1)
    return NULL;
  fp = popen ("gnuplot 2>/dev/null", "we");
  if (fp == NULL)
    complain ("gnuplot: %s", strerror (errno));
  return fp;
}

int
gnuplot_end (FILE *fp, const char *svg, int r)
{
  void (*old) (int) = signal (SIGPIPE, SIG_IGN);

  if (pclose (fp) != 0 || (r == 0 && !gnuplot_whole (svg))) {
    complain ("%s: gnuplot could not write it; is the disk full?", svg);
    r = -1;
  }
  if (r == -1)
    remove (svg);
  signal (SIGPIPE, old);
  return r;
}
