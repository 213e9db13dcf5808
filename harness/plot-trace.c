/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "gnuplot.h"
#include "plot-trace.h"
#include "spindle.h"

#define MAX_POINTS 1500         /* of a colour */
#define N_SLICES 120

/* A tenth of a decade each, from 0.01 ms on. */
#define N_BINS 60
#define FIRST_BIN_NS 10000.0
#define BIN_FACTOR 1.2589254117941673

static const char *const class_colours[] = {
  "#1f77b4", "#17becf", "#ff9f1c", "#d62728", "#2ca02c", "#8c564b", "#999999"
};

/* In the order of a bar, from below; what is left is nobody's. */
static const struct { enum trace_part part; const char *name, *colour; }
bars[] = {
  { PART_MEDIA, "media", "#2ca02c" }, { PART_BUS, "bus", "#1f77b4" },
  { PART_OVERHEAD, "controller", "#9467bd" },
  { PART_ROTATION, "rotation", "#ff9f1c" }, { PART_SEEK, "seek", "#d62728" },
  { PART_SETTLE, "settle", "#e377c2" },
  { PART_ACTUATOR, "waiting for the arm", "#8c564b" },
};
#define N_BARS (sizeof bars / sizeof bars[0])

static void
count_classes (const struct drive_trace *t, size_t n[N_CLASSES])
{
  for (int c = 0; c < N_CLASSES; ++c)
    n[c] = 0;
  for (size_t i = 0; i < t->n; ++i)
    n[t->command[i].class]++;
}

static double
seconds (const struct drive_trace *t, int64_t ns)
{
  return (double) (ns - t->command[0].arrival_ns) / 1e9;
}

void
plot_places (FILE *fp, const struct drive_trace *t, const char *svg,
             const char *title)
{
  size_t n[N_CLASSES], seen;
  const char *between = "plot ";

  count_classes (t, n);
  gnuplot_svg (fp, svg, title);
  fprintf (fp, "set xlabel 'seconds'\nset ylabel 'MiB from the start'\n"
           "set yrange [0:*]\nset autoscale xfix\n");
  for (int c = 0; c < CLASS_OTHER; ++c) {
    const size_t step = n[c] / MAX_POINTS + 1;

    seen = 0;
    fprintf (fp, "$c%d << E\n", c);
    for (size_t i = 0; i < t->n; ++i)
      if (t->command[i].class == (enum trace_class) c && seen++ % step == 0)
        fprintf (fp, "%.4f %.2f\n", seconds (t, t->command[i].complete_ns),
                 (double) t->command[i].lba / 2048);
    fprintf (fp, "E\n");
  }
  for (int c = 0; c < CLASS_OTHER; ++c)
    if (n[c] > 0) {
      fprintf (fp, "%s$c%d with points pointtype 7 pointsize 0.3 "
               "linecolor rgb '%s' title '%s: %zu'", between, c,
               class_colours[c], trace_class_names[c], n[c]);
      between = ", ";
    }
  fprintf (fp, "%s\n", between[0] == 'p' ? "plot NaN notitle" : "");
}

/* The bin of a duration.  No logarithm: it must be the same everywhere. */
static int
bin_of (int64_t ns)
{
  double end = FIRST_BIN_NS * BIN_FACTOR;
  int bin = 0;

  for (; bin < N_BINS - 1 && (double) ns >= end; ++bin)
    end *= BIN_FACTOR;
  return bin;
}

void
plot_latency (FILE *fp, const struct drive_trace *t, const char *svg,
              const char *title)
{
  size_t count[N_BINS][N_CLASSES] = { 0 }, n[N_CLASSES];
  double start = FIRST_BIN_NS / 1e6;

  count_classes (t, n);
  for (size_t i = 0; i < t->n; ++i) {
    const struct trace_command *c = &t->command[i];

    count[bin_of (c->complete_ns - c->arrival_ns)][c->class]++;
  }
  gnuplot_svg (fp, svg, title);
  fprintf (fp, "set xlabel 'ms from arrival to completion'\n"
           "set ylabel '%% of commands'\nset logscale x\n"
           "set yrange [0:*]\nset style fill solid\n$bins << E\n");
  for (int b = 0; b < N_BINS; ++b, start *= BIN_FACTOR) {
    size_t sum = 0;

    fprintf (fp, "%.6f %.6f", start, start * BIN_FACTOR);
    for (int c = 0; c < N_CLASSES; ++c) {
      sum += count[b][c];
      fprintf (fp, " %.4f", 100 * (double) sum / (double) t->n);
    }
    fputc ('\n', fp);
  }
  fprintf (fp, "E\nplot [0.01:1000] ");
  /* The highest first: each hides the lower part of the one before. */
  for (int c = N_CLASSES - 1; c >= 0; --c)
    if (n[c] > 0)
      fprintf (fp, "$bins using (sqrt($1*$2)):%d:($1):($2):(0):%d "
               "with boxxyerror linecolor rgb '%s' title '%s', ", c + 3,
               c + 3, class_colours[c], trace_class_names[c]);
  fprintf (fp, "1/0 notitle\n");
}

/* What of the time from A to B is in each slice, to BIN of it. */
static void
spread (double (*slices)[N_BARS], size_t bar, double a, double b)
{
  for (int s = (int) a; s < N_SLICES && s < b; ++s) {
    const double from = a > s ? a : s, to = b < s + 1 ? b : s + 1;

    if (s >= 0 && to > from)
      slices[s][bar] += to - from;
  }
}

static size_t
bar_of (enum trace_part part)
{
  size_t bar = 0;

  while (bars[bar].part != part)
    ++bar;
  return bar;
}

/* A command spends its parts one after the other. */
static void
spread_command (double (*slices)[N_BARS], const struct trace_command *c,
                int64_t begin_ns, double slice_ns)
{
  int64_t at = c->start_ns - begin_ns;

  for (int p = PART_OVERHEAD; p < N_PARTS; ++p) {
    spread (slices, bar_of (p), (double) at / slice_ns,
            (double) (at + c->part_ns[p]) / slice_ns);
    at += c->part_ns[p];
  }
}

/* A line a slice: its middle, and how high each bar reaches. */
static void
print_slices (FILE *fp, double (*slices)[N_BARS], double slice_ns,
              bool used[N_BARS])
{
  fprintf (fp, "$slices << E\n");
  for (int s = 0; s < N_SLICES; ++s) {
    double sum = 0;

    fprintf (fp, "%.5f", (s + 0.5) * slice_ns / 1e9);
    for (size_t b = 0; b < N_BARS; ++b) {
      sum += slices[s][b];
      if (slices[s][b] < 0.0005)
        fprintf (fp, " ?");
      else {
        used[b] = true;
        fprintf (fp, " %.2f", 100 * sum);
      }
    }
    fputc ('\n', fp);
  }
  fprintf (fp, "E\n");
}

void
plot_time (FILE *fp, const struct drive_trace *t, const char *svg,
           const char *title)
{
  const int64_t begin_ns = t->command[0].arrival_ns;
  const double slice_ns =
    (double) (t->command[t->n - 1].complete_ns - begin_ns + 1) / N_SLICES;
  double slices[N_SLICES][N_BARS] = { 0 };
  bool used[N_BARS] = { false };

  for (size_t i = 0; i < t->n; ++i)
    spread_command (slices, &t->command[i], begin_ns, slice_ns);
  gnuplot_svg (fp, svg, title);
  fprintf (fp, "set xlabel 'seconds'\nset ylabel '%% of the time'\n"
           "set yrange [0:100]\nset autoscale xfix\n"
           "set style fill solid\nset datafile missing '?'\n");
  print_slices (fp, slices, slice_ns, used);
  fprintf (fp, "set boxwidth %.6f\nplot ", slice_ns / 1e9);
  for (size_t b = N_BARS; b-- > 0;)
    if (used[b])
      fprintf (fp, "$slices using 1:%zu with boxes linewidth 0 "
               "linecolor rgb '%s' title '%s', ", b + 2, bars[b].colour,
               bars[b].name);
  fprintf (fp, "1/0 notitle\n");
}
