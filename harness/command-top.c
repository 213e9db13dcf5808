/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle top: what a drive does right now.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "control-client.h"
#include "json.h"
#include "options.h"
#include "spindle.h"
#include "table.h"

#define SECTOR 512

static const char help[] =
"usage: spindle top [OPTION]... SOCKET\n"
"\n"
"Show what a drive does (nbdkit's control=SOCKET), again and again.\n"
"\n"
"  --interval MS  between two looks (default: 1000)\n"
"  --json         print an object for each look instead\n"
"  --once         look once: what happened within one interval\n"
"\n"
"Ctrl-C ends it.  Exit status: 0, 2 usage, 3 there is no such drive, or it\n"
"has gone.\n";

static const struct option_def defs[] = {
  { "--interval", "MS" }, { "--json", NULL }, { "--once", NULL },
  { NULL, NULL }
};

/* Where the figures of one look are.  Those that add up come first. */
enum figure {
  READS, WRITES, FLUSHES, TRIMS, FAILED, UNTIMED,
  SECTORS_READ, SECTORS_WRITTEN, HITS, STREAM_HITS, MISSES, RESTARTS, SEEKS,
  DESTAGED, N_SUMS,
  QUEUED = N_SUMS, CYLINDER, DIRTY, DRIVE_NS, P50, P99, MAX, N_FIGURES
};

static const char *const paths[N_FIGURES] = {
  [READS] = "requests.read", [WRITES] = "requests.write",
  [FLUSHES] = "requests.flush", [TRIMS] = "requests.trim",
  [FAILED] = "requests.failed", [UNTIMED] = "requests.untimed",
  [SECTORS_READ] = "model.sectors_read",
  [SECTORS_WRITTEN] = "model.sectors_written",
  [HITS] = "model.hits", [STREAM_HITS] = "model.stream_hits",
  [MISSES] = "model.misses", [RESTARTS] = "model.restarts",
  [SEEKS] = "model.seeks", [DESTAGED] = "model.sectors_destaged",
  [QUEUED] = "queued", [CYLINDER] = "cylinder",
  [DIRTY] = "model.dirty_sectors", [DRIVE_NS] = "drive_ns",
  [P50] = "lateness_ns.p50", [P99] = "lateness_ns.p99",
  [MAX] = "lateness_ns.max",
};

struct look {
  char *json;
  double at_s;
  int64_t v[N_FIGURES];
};

struct top {
  const char *socket;
  int64_t interval_ms;
  bool json, once, terminal;
  int fd;
  struct look before, now;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct top *t = opaque;

  if (strcmp (name, "--interval") == 0)
    return option_number (name, value, 10, 3600000, &t->interval_ms);
  if (strcmp (name, "--json") == 0)
    t->json = true;
  else
    t->once = true;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  struct top *t = opaque;

  (void) after_dashes;
  if (t->socket) {
    complain ("top: %s: one socket only", word);
    return -1;
  }
  t->socket = word;
  return 0;
}

static int
look (struct top *t, struct look *l)
{
  unsigned i;

  free (l->json);
  l->json = control_ask (t->fd, "stats");
  if (l->json == NULL)
    return -1;
  l->at_s = monotonic_ns () / 1e9;
  for (i = 0; i < N_FIGURES; ++i) {
    l->v[i] = 0;
    json_get_int (l->json, paths[i], &l->v[i]);
  }
  return 0;
}

/* How much of a sum came in the last interval; all of it when somebody has
 * reset the statistics.
 */
static int64_t
since (const struct top *t, enum figure f)
{
  return t->now.v[f] < t->before.v[f] ? t->now.v[f]
    : t->now.v[f] - t->before.v[f];
}

static double
rate (const struct top *t, enum figure f)
{
  double s = t->now.at_s - t->before.at_s;

  return s > 0 ? since (t, f) / s : 0;
}

/* Of reads, those that need not wait for the arm; -1: there were none. */
static double
hit_percent (const struct top *t)
{
  int64_t hits = since (t, HITS) + since (t, STREAM_HITS);
  int64_t all = hits + since (t, MISSES) + since (t, RESTARTS);

  return all > 0 ? 100. * hits / all : -1;
}

static bool
flag (const struct top *t, const char *path)
{
  bool r = false;

  return json_get_bool (t->now.json, path, &r) == 0 && r;
}

/* "running", or what keeps it from that. */
static const char *
condition (const struct top *t)
{
  bool on = true;

  json_get_bool (t->now.json, "power.on", &on);
  return !on ? "no power" : flag (t, "paused") ? "paused"
    : flag (t, "instant") ? "instant" : "running";
}

static bool
has_lateness (const struct top *t)
{
  int64_t n;

  return json_get_int (t->now.json, "lateness_ns.count", &n) == 0;
}

static void
print_json (const struct top *t)
{
  struct json j = { .fp = stdout };
  char *profile = NULL;

  json_get_string (t->now.json, "profile", &profile);
  json_open (&j, NULL, '{');
  json_string (&j, "profile", profile);
  json_string (&j, "state", condition (t));
  json_double (&j, "interval_s", t->now.at_s - t->before.at_s);
  json_double (&j, "drive_s", t->now.v[DRIVE_NS] / 1e9);
  json_double (&j, "reads_per_s", rate (t, READS));
  json_double (&j, "writes_per_s", rate (t, WRITES));
  json_double (&j, "flushes_per_s", rate (t, FLUSHES));
  json_double (&j, "trims_per_s", rate (t, TRIMS));
  json_double (&j, "untimed_per_s", rate (t, UNTIMED));
  json_int (&j, "failed", since (t, FAILED));
  json_double (&j, "read_mb_per_s", rate (t, SECTORS_READ) * SECTOR / 1e6);
  json_double (&j, "write_mb_per_s",
               rate (t, SECTORS_WRITTEN) * SECTOR / 1e6);
  if (hit_percent (t) >= 0)
    json_double (&j, "hit_percent", hit_percent (t));
  else
    json_null (&j, "hit_percent");
  json_double (&j, "seeks_per_s", rate (t, SEEKS));
  json_int (&j, "queued", t->now.v[QUEUED]);
  json_int (&j, "cylinder", t->now.v[CYLINDER]);
  json_int (&j, "dirty_bytes", t->now.v[DIRTY] * SECTOR);
  if (has_lateness (t)) {
    json_int (&j, "late_p50_ns", t->now.v[P50]);
    json_int (&j, "late_p99_ns", t->now.v[P99]);
    json_int (&j, "late_max_ns", t->now.v[MAX]);
    json_bool (&j, "valid", flag (t, "valid"));
  }
  free (profile);
  json_close (&j, '}');
}

static void
row (struct table *table, const char *name, const char *fmt, ...)
{
  va_list args;
  char *text;

  va_start (args, fmt);
  text = format_args (fmt, args);
  va_end (args);
  table_cell (table, "%s", name);
  table_cell (table, "%s", text);
  free (text);
}

static void
print_rows (const struct top *t, struct table *table)
{
  row (table, "requests/s", "%.0f read, %.0f write, %.0f flush, %.0f trim",
       rate (t, READS), rate (t, WRITES), rate (t, FLUSHES),
       rate (t, TRIMS));
  if (since (t, UNTIMED) || since (t, FAILED))
    row (table, "", "%lld untimed, %lld failed",
         (long long) since (t, UNTIMED), (long long) since (t, FAILED));
  row (table, "MB/s", "%.2f read, %.2f written, %.2f destaged",
       rate (t, SECTORS_READ) * SECTOR / 1e6,
       rate (t, SECTORS_WRITTEN) * SECTOR / 1e6,
       rate (t, DESTAGED) * SECTOR / 1e6);
  if (hit_percent (t) >= 0)
    row (table, "hits", "%.0f %%", hit_percent (t));
  else
    row (table, "hits", "-");
  row (table, "seeks/s", "%.0f", rate (t, SEEKS));
  row (table, "queue", "%lld", (long long) t->now.v[QUEUED]);
  row (table, "cylinder", "%lld", (long long) t->now.v[CYLINDER]);
  row (table, "dirty", "%lld KiB", (long long) t->now.v[DIRTY] / 2);
  if (has_lateness (t))
    row (table, "late", "p50 %.3f, p99 %.3f, max %.3f ms%s",
         t->now.v[P50] / 1e6, t->now.v[P99] / 1e6, t->now.v[MAX] / 1e6,
         flag (t, "valid") ? "" : ": INVALID");
}

static void
print_table (const struct top *t)
{
  struct table table = { .columns = 2 };
  char *profile = NULL, *clock = NULL;

  json_get_string (t->now.json, "profile", &profile);
  json_get_string (t->now.json, "clock", &clock);
  if (t->terminal)
    fputs ("\033[H\033[J", stdout);
  printf ("%s, %s clock, %s, %.1f s\n\n", profile ? profile : "?",
          clock ? clock : "?", condition (t), t->now.v[DRIVE_NS] / 1e9);
  print_rows (t, &table);
  table_print (&table, 2, stdout);
  free (profile);
  free (clock);
}

/* Returns when somebody ends it. */
static enum spindle_exit
watch (struct top *t)
{
  int64_t ms;

  if (look (t, &t->before) == -1)
    return EXIT_COULD_NOT_RUN;
  for (;;) {
    for (ms = t->interval_ms; ms > 0; ms -= 1000)
      if (signals_wait (ms < 1000 ? ms : 1000))
        return EXIT_REPRODUCED;
    if (look (t, &t->now) == -1)
      return EXIT_COULD_NOT_RUN;
    if (t->json)
      print_json (t);
    else
      print_table (t);
    if (fflush (stdout) == EOF) {
      complain ("cannot write: %s", strerror (errno));
      return EXIT_COULD_NOT_RUN;
    }
    if (t->once)
      return EXIT_REPRODUCED;
    free (t->before.json);
    t->before = t->now;
    t->now.json = NULL;
  }
}

int
command_top (int argc, char **argv)
{
  struct top t = {
    .interval_ms = 1000, .terminal = isatty (STDOUT_FILENO), .fd = -1,
  };
  int r = options_parse (argc, argv, defs, on_option, on_word, &t);

  if (r != 0)
    return options_status (r, help);
  if (t.socket == NULL) {
    complain ("top: no socket given; try 'spindle top --help'");
    return EXIT_USAGE;
  }
  signals_take_over ();
  if (t.once)
    t.terminal = false;
  t.fd = control_open (t.socket);
  if (t.fd == -1)
    return EXIT_COULD_NOT_RUN;
  r = watch (&t);
  close (t.fd);
  free (t.before.json);
  free (t.now.json);
  return r;
}
