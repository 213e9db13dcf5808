/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle profile plot: a drive in four pictures, through gnuplot.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "geometry.h"
#include "gnuplot.h"
#include "loader.h"
#include "options.h"
#include "profile-command.h"
#include "profile-figures.h"
#include "spindle.h"

#define N_RANDOM 20000
#define BIN_MS 0.25

static const char help[] =
"usage: spindle profile plot -o DIR|FILE.svg NAME\n"
"\n"
"Draw the seek curve, the zones, the times of random reads, and the rate of\n"
"several sequential readers: all on one page, or one file each in DIR.\n"
"Needs gnuplot.\n";

struct picture {
  const char *name, *title, *x, *y;
  const char *style;            /* of gnuplot's plot */
  const char *set;              /* commands before it */
  int (*print) (const struct profile *p, FILE *fp);
};

static int
print_seeks (const struct profile *p, FILE *fp)
{
  const int64_t cylinders = geometry_cylinders (&p->geometry);
  struct seek *seek = allocate (1, sizeof *seek);
  int64_t step = cylinders / 500 + 1;

  seek_init (seek, &p->seek, cylinders);
  for (int64_t d = 1; d < cylinders; d += d < step ? 1 + d / 4 : step)
    fprintf (fp, "%lld %.6f %.6f\n", (long long) d,
             (double) seek_arm_ns (seek, d, false) * 1e-6,
             (double) seek_settled_ns (seek, seek_arm_ns (seek, d, true),
                                       true) * 1e-6);
  free (seek);
  return 0;
}

/* Steps: where a zone begins and ends, in GB, and its rate with and without
 * the switches.
 */
static int
print_zones (const struct profile *p, FILE *fp)
{
  struct seek *seek = allocate (1, sizeof *seek);
  struct geometry g;
  int r = -1;

  seek_init (seek, &p->seek, geometry_cylinders (&p->geometry));
  if (geometry_init (&g, &p->geometry, seek, 0) == -1)
    complain ("%s", strerror (errno));
  else {
    for (int i = 0; i < g.n_zones; i++) {
      const struct zone *z = &g.zones[i];
      double bytes = 512.0 * (double) z->sectors_per_track;
      double turn_ns = (double) g.revolution / (double) g.rate;
      double cylinder_ns = (double) z->cylinder_length[0] / (double) g.rate;

      for (int end = 0; end < 2; end++)
        fprintf (fp, "%.6f %.4f %.4f\n",
                 (double) (z->first_lba + end * z->sectors) * 512e-9,
                 bytes * 1e3 / turn_ns,
                 bytes * (double) g.heads * 1e3 / cylinder_ns);
    }
    geometry_free (&g);
    r = 0;
  }
  free (seek);
  return r;
}

static int
print_random (const struct profile *p, FILE *fp)
{
  double *ms = allocate (N_RANDOM, sizeof *ms);
  int *bins, last = 0, r = profile_random (p, N_RANDOM, ms);

  for (int i = 0; i < N_RANDOM; i++)
    if (ms[i] / BIN_MS > last)
      last = (int) (ms[i] / BIN_MS);
  bins = allocate ((size_t) last + 1, sizeof *bins);
  for (int i = 0; i < N_RANDOM; i++)
    bins[(int) (ms[i] / BIN_MS)]++;
  for (int i = 0; r == 0 && i <= last; i++)
    fprintf (fp, "%.3f %.4f\n", (i + 0.5) * BIN_MS,
             100.0 * bins[i] / N_RANDOM);
  free (bins);
  free (ms);
  return r;
}

static int
print_streams (const struct profile *p, FILE *fp)
{
  for (int n = 1; n <= 64; n += n < 32 ? 1 : 4) {
    double mb_s;

    if (profile_streams (p, n, &mb_s) == -1)
      return -1;
    fprintf (fp, "%d %.4f\n", n, mb_s);
  }
  return 0;
}

static const struct picture pictures[] = {
  { "seek", "Seek curve", "cylinders", "ms",
    "$data using 1:3 with lines dashtype 2 title 'writing', "
    "$data using 1:2 with lines title 'reading'",
    "set yrange [0:*]\nset key bottom right\n", print_seeks },
  { "zones", "Zones", "GB from the start", "MB/s",
    "$data using 1:2 with lines dashtype 2 title 'under the head', "
    "$data using 1:3 with lines title 'sustained'",
    "set yrange [0:*]\nset offsets graph 0, 0, 0.05, 0\n"
    "set key bottom left\n", print_zones },
  { "random", "Random reads of 4 KiB", "ms", "% of reads per 0.25 ms",
    "$data using 1:2 with boxes notitle",
    "set yrange [0:*]\nset style fill solid 0.5\n", print_random },
  { "streams", "Sequential readers, 64 KiB in turn", "readers",
    "MB/s together", "$data using 1:2 with linespoints pt 7 ps 0.5 notitle",
    "set yrange [0:*]\n", print_streams },
};
#define N_PICTURES (sizeof pictures / sizeof pictures[0])

static int
print_picture (const struct picture *picture, const struct profile *p,
               FILE *fp)
{
  fprintf (fp, "reset\nset grid\nset xlabel '%s'\nset ylabel '%s'\n"
           "set title '%s'\nset autoscale xfix\n%s$data << E\n", picture->x,
           picture->y, picture->title, picture->set);
  if (picture->print (p, fp) == -1)
    return -1;
  fprintf (fp, "E\nplot %s\n", picture->style);
  return 0;
}

/* The pictures [first, end) as one file. */
static int
draw (const struct profile *p, size_t first, size_t end, const char *svg)
{
  FILE *fp = gnuplot_begin (svg);
  int r = 0;

  if (fp == NULL)
    return -1;
  fprintf (fp, "set terminal svg size %s noenhanced\nset output ",
           end - first > 1 ? "1200,840" : "900,540");
  gnuplot_quoted (fp, svg);
  if (end - first > 1) {
    fprintf (fp, "\nset multiplot layout 2,2 title ");
    gnuplot_quoted (fp, p->title);
  }
  fprintf (fp, "\n");
  for (size_t i = first; i < end && r == 0; i++)
    r = print_picture (&pictures[i], p, fp);
  if (end - first > 1)
    fprintf (fp, "unset multiplot\n");
  return gnuplot_end (fp, svg, r);
}

static int
draw_folder (const struct profile *p, const char *folder)
{
  int r = 0;

  if (mkdir (folder, 0777) == -1 && errno != EEXIST) {
    complain ("%s: %s", folder, strerror (errno));
    return -1;
  }
  for (size_t i = 0; i < N_PICTURES && r == 0; i++) {
    char *svg = format ("%s/%s-%s.svg", folder, p->name, pictures[i].name);

    r = draw (p, i, i + 1, svg);
    free (svg);
  }
  return r;
}

struct arguments {
  const char *name, *out;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  (void) name;
  ((struct arguments *) opaque)->out = value;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  struct arguments *a = opaque;

  (void) after_dashes;
  if (a->name) {
    complain ("profile plot: %s: one drive at a time", word);
    return -1;
  }
  a->name = word;
  return 0;
}

static int
plot (const struct arguments *a)
{
  const size_t len = strlen (a->out);
  struct profile *p = allocate (1, sizeof *p);
  char *error;
  int r = EXIT_USAGE;

  if (profile_load (a->name, NULL, 0, p, &error) == -1) {
    complain ("%s", error ? error : "out of memory");
    free (error);
  }
  else if (p->instant)
    complain ("%s: takes no time at all: nothing to draw", a->name);
  else if (len > 4 && strcmp (a->out + len - 4, ".svg") == 0)
    r = draw (p, 0, N_PICTURES, a->out) == 0 ? EXIT_REPRODUCED
                                              : EXIT_COULD_NOT_RUN;
  else
    r = draw_folder (p, a->out) == 0 ? EXIT_REPRODUCED : EXIT_COULD_NOT_RUN;
  free (p);
  return r;
}

int
command_profile_plot (int argc, char **argv)
{
  static const struct option_def defs[] = {
    { "-o", "DIR|FILE.svg" }, { NULL, NULL }
  };
  struct arguments a = { 0 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r != 0)
    return options_status (r, help);
  if (a.name == NULL || a.out == NULL) {
    complain ("profile plot: a drive and -o are wanted; try 'spindle profile "
              "plot --help'");
    return EXIT_USAGE;
  }
  return plot (&a);
}
