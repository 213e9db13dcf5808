/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle replay: a trace through the model, without QEMU.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <libnbd.h>

#include "loader.h"
#include "options.h"
#include "replay-report.h"
#include "spindle.h"
#include "trace-file.h"
#include "words.h"

static const char help[] =
"usage: spindle replay --profile P [OPTION]... TRACE\n"
"       spindle replay --live URI [OPTION]... TRACE\n"
"\n"
"Send the requests of TRACE (- is standard input) to the drive P in virtual\n"
"time, or to an NBD server in real time, and say how long they took.\n"
"\n"
"  --profile P     the drive, a name or a file\n"
"  --set K=V       change a value of the profile\n"
"  --seed N        where the platter stands at first (default 0)\n"
"  --live URI      the NBD server\n"
"  --allow-writes  the server's data may be overwritten\n"
"  --open          requests arrive at the times of the trace\n"
"  --closed        a request is sent after the one before it is done\n"
"  --depth N       closed, with N requests outstanding\n"
"  --speed X       times and pauses of the trace are divided by X\n"
"  --skip N        the first N requests do not count\n"
"  --wrap          fold requests beyond the drive's end\n"
"  --format F      of the trace, instead of looking\n"
"  --device D      replay the requests of this device only\n"
"  --json          print JSON instead of tables\n"
"  --csv FILE      write a line for each request\n"
"  --plot FILE     draw the distribution of response times (SVG)\n"
"\n"
"spindle-replay(1) says more.\n";

static const struct option_def defs[] = {
  { "--profile", "P" }, { "--set", "K=V" }, { "--seed", "N" },
  { "--live", "URI" }, { "--allow-writes", NULL }, { "--open", NULL },
  { "--closed", NULL }, { "--depth", "N" }, { "--speed", "X" },
  { "--skip", "N" }, { "--wrap", NULL }, { "--format", "F" },
  { "--device", "D" }, { "--json", NULL }, { "--csv", "FILE" },
  { "--plot", "FILE" }, { NULL, NULL }
};

struct arguments {
  const char *profile, *live, *format, *device, *csv, *plot, *trace;
  struct words sets;
  int64_t seed, skip, depth;    /* -1: not given */
  int64_t speed_permille;
  bool open, closed, wrap, json, allow_writes;
};

static int
set_speed (struct arguments *a, const char *value)
{
  char *end;
  double speed = strtod (value, &end);
  double permille = speed * 1000 + 0.5;

  if (end != value && *end == '\0' && permille >= REPLAY_MIN_SPEED &&
      permille <= REPLAY_MAX_SPEED) {
    a->speed_permille = (int64_t) permille;
    return 0;
  }
  complain ("--speed: %s: a number from %g to %g", value,
            REPLAY_MIN_SPEED / 1e3, REPLAY_MAX_SPEED / 1e3);
  return -1;
}

static int
set_format (struct arguments *a, const char *value)
{
  const char *near;

  for (const char *const *f = trace_formats; *f; ++f)
    if (strcmp (value, *f) == 0) {
      a->format = *f;
      return 0;
    }
  near = nearest_word (value, trace_formats);
  if (near)
    complain ("--format: %s: unknown format; did you mean %s?", value, near);
  else
    complain ("--format: %s: csv, fio, blkparse, disksim or "
              "disksim-validate", value);
  return -1;
}

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct arguments *a = opaque;
  const struct { const char *name, **value; } texts[] = {
    { "--profile", &a->profile }, { "--live", &a->live },
    { "--device", &a->device }, { "--csv", &a->csv }, { "--plot", &a->plot },
  };
  const struct { const char *name; bool *flag; } flags[] = {
    { "--open", &a->open }, { "--closed", &a->closed },
    { "--wrap", &a->wrap }, { "--json", &a->json },
    { "--allow-writes", &a->allow_writes },
  };
  size_t i;

  for (i = 0; i < sizeof texts / sizeof texts[0]; ++i)
    if (strcmp (name, texts[i].name) == 0)
      *texts[i].value = value;
  for (i = 0; i < sizeof flags / sizeof flags[0]; ++i)
    if (strcmp (name, flags[i].name) == 0)
      *flags[i].flag = true;
  if (strcmp (name, "--set") == 0)
    words_add (&a->sets, value);
  if (strcmp (name, "--seed") == 0)
    return option_number (name, value, 0, INT64_MAX, &a->seed);
  if (strcmp (name, "--skip") == 0)
    return option_number (name, value, 0, TRACE_MAX_REQUESTS, &a->skip);
  if (strcmp (name, "--depth") == 0)
    return option_number (name, value, 1, DISK_MAX_QUEUE, &a->depth);
  if (strcmp (name, "--speed") == 0)
    return set_speed (a, value);
  if (strcmp (name, "--format") == 0)
    return set_format (a, value);
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  struct arguments *a = opaque;

  (void) after_dashes;
  if (a->trace) {
    complain ("%s: one trace at a time", word);
    return -1;
  }
  a->trace = word;
  return 0;
}

/* Do the options make sense together? */
static int
check (const struct arguments *a)
{
  const char *wrong = NULL;

  if (a->trace == NULL)
    wrong = "no trace given";
  else if ((a->profile == NULL) == (a->live == NULL))
    wrong = "either --profile or --live is needed";
  else if (a->live && (a->sets.n > 0 || a->seed != -1))
    wrong = "--set and --seed are for the model, not for --live";
  else if (a->allow_writes && a->live == NULL)
    wrong = "--allow-writes is for --live";
  else if (a->open && (a->closed || a->depth != -1))
    wrong = "--open excludes --closed and --depth";
  if (wrong == NULL)
    return 0;
  complain ("replay: %s; try 'spindle replay --help'", wrong);
  return -1;
}

/* A trace of requests one at a time, or without times, is replayed so. */
static struct replay_options
choose (const struct arguments *a, const struct trace_file *t)
{
  bool one_at_a_time = t->n_measured > 0 && t->n_overlapping == 0;

  return (struct replay_options) {
    .closed = a->closed || a->depth != -1 ||
      (!a->open && (one_at_a_time || !t->timed)),
    .depth = a->depth == -1 ? 1 : a->depth,
    .speed_permille = a->speed_permille,
  };
}

static int
fit (const struct arguments *a, struct trace_file *t, int64_t sectors)
{
  char *error;

  if (trace_file_fit (t, sectors, a->wrap, &error) == 0)
    return 0;
  complain ("%s", error);
  free (error);
  return -1;
}

static int
send_to_model (const struct arguments *a, struct trace_file *t,
               struct replay_report *report, struct replay *r)
{
  struct profile *profile = allocate (1, sizeof *profile);
  char *error;
  int result = -1;

  if (profile_load (a->profile, (const char *const *) a->sets.word,
                    a->sets.n, profile, &error) == -1) {
    complain ("%s", error ? error : "out of memory");
    free (error);
  }
  else if (fit (a, t, profile->geometry.sectors) == 0) {
    report->drive = a->profile;
    report->seed = a->seed == -1 ? 0 : (uint64_t) a->seed;
    result = replay_model (profile, report->seed, t, report->options, r);
  }
  free (profile);
  return result;
}

static int
may_write (const struct arguments *a, const struct trace_file *t)
{
  for (size_t i = 0; i < t->n && !a->allow_writes; ++i)
    if (t->request[i].op == DISK_WRITE || t->request[i].op == DISK_TRIM) {
      complain ("%s:%" PRIu32 ": %s: would destroy the server's data; "
                "--allow-writes allows it", t->path, t->request[i].line,
                disk_op_name (t->request[i].op));
      return -1;
    }
  return 0;
}

static int
send_to_server (const struct arguments *a, struct trace_file *t,
                struct replay_report *report, struct replay *r)
{
  struct nbd_handle *nbd;
  int64_t size;

  if (may_write (a, t) == -1)
    return -1;
  nbd = replay_connect (a->live);
  if (nbd == NULL)
    return -1;
  report->drive = a->live;
  size = nbd_get_size (nbd);
  if (size == -1)
    complain ("%s", nbd_get_error ());
  if (size == -1 || fit (a, t, size / DISK_SECTOR_SIZE) == -1) {
    replay_disconnect (nbd);
    return -1;
  }
  return replay_live (nbd, t, report->options, r);
}

static int
show (const struct arguments *a, const struct replay_report *report)
{
  if (a->json)
    replay_print_json (report, stdout);
  else
    replay_print (report, stdout);
  if (a->csv && replay_write_csv (report, a->csv) == -1)
    return -1;
  return a->plot ? replay_plot (report, a->plot) : 0;
}

/* The trace must not be overwritten by what is made of it. */
static int
check_output (const struct arguments *a, const char *path)
{
  struct stat in, out;

  if (path && strcmp (path, "-") == 0) {
    complain ("--csv and --plot: -: the name of a file is needed");
    return -1;
  }
  if (path == NULL || stat (path, &out) == -1 || ! S_ISREG (out.st_mode) ||
      stat (a->trace, &in) == -1 || in.st_dev != out.st_dev ||
      in.st_ino != out.st_ino)
    return 0;
  complain ("%s: is the trace itself", path);
  return -1;
}

static int
replay (const struct arguments *a)
{
  struct trace_file trace;
  struct replay_options options;
  struct replay r;
  struct replay_stats stats;
  struct replay_report report = {
    .trace = &trace, .options = &options, .replay = &r, .stats = &stats
  };
  char *error;
  int result;

  if (check_output (a, a->csv) == -1 || check_output (a, a->plot) == -1)
    return -1;
  if (trace_file_read (a->trace, a->format, a->device, &trace,
                       &error) == -1) {
    complain ("%s", error);
    free (error);
    return -1;
  }
  if ((size_t) a->skip >= trace.n) {
    complain ("--skip: %lld: less than the %zu requests of the trace is "
              "allowed", (long long) a->skip, trace.n);
    trace_file_free (&trace);
    return -1;
  }
  options = choose (a, &trace);
  result = a->live ? send_to_server (a, &trace, &report, &r)
                   : send_to_model (a, &trace, &report, &r);
  if (result == 0) {
    replay_stats_make (&stats, &trace, &r, (size_t) a->skip);
    result = show (a, &report);
    replay_stats_free (&stats);
    replay_free (&r);
  }
  trace_file_free (&trace);
  return result;
}

int
command_replay (int argc, char **argv)
{
  struct arguments a = { .seed = -1, .depth = -1, .speed_permille = 1000 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &a);

  if (r != 0)
    r = options_status (r, help);
  else if (check (&a) == -1)
    r = EXIT_USAGE;
  else
    r = replay (&a) == -1 ? EXIT_COULD_NOT_RUN : EXIT_REPRODUCED;
  words_free (&a.sets);
  return r;
}
