/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "json.h"
#include "replay-report.h"
#include "spindle.h"
#include "table.h"

static const char *
mode (const struct replay_report *p)
{
  return p->options->closed ? "closed" : "open";
}

static double
host_us (const struct replay_report *p)
{
  return (double) p->replay->host_ns / 1e3 / (double) p->replay->n;
}

static void
print_heading (const struct replay_report *p, FILE *fp)
{
  fprintf (fp, "%s on %s: %s, %s", p->trace->path, p->drive,
           p->trace->format, mode (p));
  if (p->options->depth > 1)
    fprintf (fp, ", %" PRIi64 " outstanding", p->options->depth);
  if (p->options->speed_permille != 1000)
    fprintf (fp, ", speed %g", (double) p->options->speed_permille / 1000);
  fprintf (fp, "\n%zu requests in %.3f s", p->stats->all.n,
           p->stats->elapsed_s);
  if (p->stats->skipped > 0)
    fprintf (fp, " after %zu that do not count", p->stats->skipped);
  if (p->replay->modelled)
    fprintf (fp, "; %.2f us each on this host", host_us (p));
  if (p->options->closed && p->trace->n_overlapping > 0)
    fprintf (fp, "\n%zu requests of the trace came before the one before "
             "was done", p->trace->n_overlapping);
  fputs ("\n\n", fp);
}

static void
summary_row (struct table *t, const char *name,
             const struct replay_summary *s)
{
  if (s->n == 0)
    return;
  table_cell (t, "%s", name);
  table_cell (t, "%zu", s->n);
  table_cell (t, "%.3f", s->mean_ms);
  table_cell (t, "%.3f", s->p50_ms);
  table_cell (t, "%.3f", s->p90_ms);
  table_cell (t, "%.3f", s->p99_ms);
  table_cell (t, "%.3f", s->max_ms);
  if (isnan (s->mb_per_s))
    table_cell (t, "-");
  else
    table_cell (t, "%.3f", s->mb_per_s);
}

static void
print_summaries (const struct replay_stats *s, FILE *fp)
{
  static const char *const heading[] = {
    "requests", "n", "mean ms", "p50", "p90", "p99", "max", "MB/s"
  };
  struct table t = { .columns = 8 };
  unsigned i;

  for (i = 0; i < 8; ++i)
    table_cell (&t, "%s", heading[i]);
  for (i = 0; i < REPLAY_OPS; ++i)
    summary_row (&t, disk_op_name ((enum disk_op) i), &s->op[i]);
  summary_row (&t, "all", &s->all);
  table_print (&t, 0, fp);
}

static void
print_hits (const struct replay_stats *s, FILE *fp)
{
  struct table t = { .columns = 4 };
  unsigned i;

  table_cell (&t, "data from or to");
  table_cell (&t, "n");
  table_cell (&t, "%%");
  table_cell (&t, "mean ms");
  for (i = 0; i < REPLAY_HITS; ++i)
    if (s->hit[i].n > 0) {
      table_cell (&t, "%s", disk_hit_name ((enum disk_hit) i));
      table_cell (&t, "%zu", s->hit[i].n);
      table_cell (&t, "%.1f", 100 * (double) s->hit[i].n /
                  (double) s->all.n);
      table_cell (&t, "%.3f", s->hit[i].mean_ms);
    }
  fputc ('\n', fp);
  table_print (&t, 0, fp);
}

static void
print_parts (const struct replay_stats *s, FILE *fp)
{
  struct table t = { .columns = REPLAY_PARTS + 1 };
  unsigned i;

  table_cell (&t, "mean of");
  for (i = 0; i < REPLAY_PARTS; ++i)
    table_cell (&t, "%s", replay_part_names[i]);
  table_cell (&t, "ms");
  for (i = 0; i < REPLAY_PARTS; ++i)
    table_cell (&t, "%.3f", s->part_ms[i]);
  fputc ('\n', fp);
  table_print (&t, 0, fp);
}

static void
print_worst (const struct replay_report *p, FILE *fp)
{
  const struct replay_comparison *c = &p->stats->comparison;
  struct table t = { .columns = 6 };
  size_t i;

  table_cell (&t, "worst: line");
  table_cell (&t, "op");
  table_cell (&t, "lba");
  table_cell (&t, "sectors");
  table_cell (&t, "measured ms");
  table_cell (&t, "here ms");
  for (i = 0; i < c->n_worst; ++i) {
    const struct replay_done *d = &p->replay->done[c->worst[i]];
    const struct trace_request *q = &p->trace->request[d->index];

    table_cell (&t, "%" PRIu32, q->line);
    table_cell (&t, "%s", disk_op_name ((enum disk_op) q->op));
    table_cell (&t, "%" PRIi64, q->lba);
    table_cell (&t, "%" PRIi64, q->sectors);
    table_cell (&t, "%.3f", (double) q->response_ns / 1e6);
    table_cell (&t, "%.3f", (double) (d->complete_ns - d->arrival_ns) / 1e6);
  }
  fputc ('\n', fp);
  table_print (&t, 1 << 1, fp);
}

static void
print_comparison (const struct replay_report *p, FILE *fp)
{
  const struct replay_comparison *c = &p->stats->comparison;

  fprintf (fp, "\n%zu requests have a measured time:\n"
           "  mean           %.3f ms, here %.3f ms",
           c->n, c->measured_mean_ms, c->mean_ms);
  if (isfinite (c->mean_error_percent))
    fprintf (fp, " (%+.1f %%)", c->mean_error_percent);
  fprintf (fp, "\n  demerit        %.3f ms", c->demerit_ms);
  if (c->measured_mean_ms > 0)
    fprintf (fp, ", %.1f %% of the mean",
             c->demerit_ms / c->measured_mean_ms * 100);
  fprintf (fp, "\n  within 0.5 ms  %.1f %%\n", c->within_500us * 100);
  print_worst (p, fp);
}

void
replay_print (const struct replay_report *p, FILE *fp)
{
  print_heading (p, fp);
  print_summaries (p->stats, fp);
  if (p->replay->modelled && p->stats->all.n > 0) {
    print_hits (p->stats, fp);
    print_parts (p->stats, fp);
  }
  if (p->stats->comparison.n > 0)
    print_comparison (p, fp);
}

static void
json_summary (struct json *j, const struct replay_summary *s)
{
  json_int (j, "requests", (int64_t) s->n);
  json_double (j, "mean_ms", s->mean_ms);
  json_double (j, "p50_ms", s->p50_ms);
  json_double (j, "p90_ms", s->p90_ms);
  json_double (j, "p99_ms", s->p99_ms);
  json_double (j, "max_ms", s->max_ms);
  json_double (j, "mb_per_s", s->mb_per_s);
}

static void
json_groups (struct json *j, const struct replay_report *p)
{
  const struct replay_stats *s = p->stats;
  unsigned i;

  json_open (j, "by_op", '{');
  for (i = 0; i < REPLAY_OPS; ++i)
    if (s->op[i].n > 0) {
      json_open (j, disk_op_name ((enum disk_op) i), '{');
      json_summary (j, &s->op[i]);
      json_close (j, '}');
    }
  json_close (j, '}');
  if (!p->replay->modelled)
    return;
  json_open (j, "by_hit", '{');
  for (i = 0; i < REPLAY_HITS; ++i)
    if (s->hit[i].n > 0) {
      json_open (j, disk_hit_name ((enum disk_hit) i), '{');
      json_int (j, "requests", (int64_t) s->hit[i].n);
      json_double (j, "mean_ms", s->hit[i].mean_ms);
      json_close (j, '}');
    }
  json_close (j, '}');
  json_open (j, "breakdown_ms", '{');
  for (i = 0; i < REPLAY_PARTS; ++i)
    json_double (j, replay_part_names[i], s->part_ms[i]);
  json_close (j, '}');
}

static void
json_worst (struct json *j, const struct replay_report *p)
{
  const struct replay_comparison *c = &p->stats->comparison;
  size_t i;

  json_open (j, "worst", '[');
  for (i = 0; i < c->n_worst; ++i) {
    const struct replay_done *d = &p->replay->done[c->worst[i]];
    const struct trace_request *q = &p->trace->request[d->index];

    json_open (j, NULL, '{');
    json_int (j, "line", q->line);
    json_string (j, "op", disk_op_name ((enum disk_op) q->op));
    json_int (j, "lba", q->lba);
    json_int (j, "sectors", q->sectors);
    json_double (j, "measured_ms", (double) q->response_ns / 1e6);
    json_double (j, "ms", (double) (d->complete_ns - d->arrival_ns) / 1e6);
    json_close (j, '}');
  }
  json_close (j, ']');
}

static void
json_comparison (struct json *j, const struct replay_report *p)
{
  const struct replay_comparison *c = &p->stats->comparison;

  json_int (j, "measured_requests", (int64_t) c->n);
  if (c->n == 0) {
    json_null (j, "measured_mean_ms");
    json_null (j, "mean_error_percent");
    json_null (j, "demerit_ms");
    json_null (j, "within_500us");
    return;
  }
  json_double (j, "measured_mean_ms", c->measured_mean_ms);
  json_double (j, "mean_error_percent", c->mean_error_percent);
  json_double (j, "demerit_ms", c->demerit_ms);
  json_double (j, "within_500us", c->within_500us);
  json_worst (j, p);
}

void
replay_print_json (const struct replay_report *p, FILE *fp)
{
  struct json j = { .fp = fp };

  json_open (&j, NULL, '{');
  json_string (&j, "trace", p->trace->path);
  json_string (&j, "format", p->trace->format);
  json_string (&j, p->replay->modelled ? "profile" : "live", p->drive);
  if (p->replay->modelled)
    json_int (&j, "seed", (int64_t) p->seed);
  json_string (&j, "mode", mode (p));
  json_int (&j, "depth", p->options->depth);
  json_double (&j, "speed", (double) p->options->speed_permille / 1000);
  json_int (&j, "skipped", (int64_t) p->stats->skipped);
  json_int (&j, "overlapping", (int64_t) p->trace->n_overlapping);
  json_double (&j, "elapsed_s", p->stats->elapsed_s);
  json_double (&j, "host_us_per_request", host_us (p));
  json_summary (&j, &p->stats->all);
  json_comparison (&j, p);
  json_groups (&j, p);
  json_close (&j, '}');
}

static void
write_row (const struct replay_report *p, const struct replay_done *d,
           FILE *fp)
{
  const struct trace_request *q = &p->trace->request[d->index];
  const struct disk_times *t = &d->times;

  fprintf (fp, "%" PRIu32 ",%" PRIu32 ",%" PRIi64 ",%" PRIi64 ",%s,%" PRIi64
           ",%" PRIi64 ",%s,", d->index + 1, q->line, d->arrival_ns,
           d->complete_ns, disk_op_name ((enum disk_op) q->op), q->lba,
           q->sectors, q->flags & DISK_FUA ? "fua" : "");
  if (q->response_ns != TRACE_UNKNOWN)
    fprintf (fp, "%" PRIi64, q->response_ns);
  if (p->replay->modelled)
    fprintf (fp, ",%" PRIi64 ",%s,%d,%" PRIi64 ",%" PRIi64 ",%" PRIi64
             ",%" PRIi64 ",%" PRIi64 ",%" PRIi64 ",%" PRIi64 ",%" PRIi64
             ",%u", d->start_ns, disk_hit_name ((enum disk_hit) d->hit),
             d->segment, t->queue_ns, t->overhead_ns, t->actuator_ns,
             t->seek_ns, t->settle_ns, t->rotation_ns, t->media_ns,
             t->bus_ns, d->background);
  fputc ('\n', fp);
}

int
replay_write_csv (const struct replay_report *p, const char *path)
{
  FILE *fp = fopen (path, "we");
  bool bad;

  if (fp) {
    fprintf (fp, "seq,line,arrival_ns,complete_ns,op,lba,sectors,flags,"
             "traced_ns%s\n", p->replay->modelled
             ? ",start_ns,hit,segment,queue_ns,overhead_ns,actuator_ns,"
               "seek_ns,settle_ns,rotation_ns,media_ns,bus_ns,background"
             : "");
    for (size_t i = 0; i < p->replay->n; ++i)
      write_row (p, &p->replay->done[i], fp);
    errno = 0;
    bad = ferror (fp);
    if (fclose (fp) == 0 && !bad)
      return 0;
  }
  complain ("%s: %s", path, strerror (errno ? errno : EIO));
  return -1;
}
