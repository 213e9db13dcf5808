/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "qemu-configs/bridge/qemu.h"
#include "qemu-configs/bridge/report.h"

struct report report;

static const char *stats_path;
static FILE *log_file;

void
report_open (void)
{
  const char *log_path = secure_getenv ("SPINDLE_CLOCK_LOG");

  stats_path = secure_getenv ("SPINDLE_CLOCK_STATS");
  if (log_path != NULL) {
    log_file = fopen (log_path, "we");
    if (log_file == NULL)
      bridge_fatal ("SPINDLE_CLOCK_LOG: %s: %m", log_path);
  }
}

void
report_log (const char *fmt, ...)
{
  va_list args;

  if (log_file == NULL)
    return;
  va_start (args, fmt);
  vfprintf (log_file, fmt, args);
  va_end (args);
}

static bool
exact (void)
{
  return !report.failed && report.timed > 0 && report.late == 0 &&
    report.forced == 0 && report.lost == 0;
}

static const char *
json_bool (bool b)
{
  return b ? "true" : "false";
}

static void
write_stats (FILE *fp)
{
  fprintf (fp, "{ \"qemu\": \"%s\",\n", qemu_version ());
  fprintf (fp, "  \"requests\": %" PRIi64 ", \"timed\": %" PRIi64
           ", \"untimed\": %" PRIi64 ",\n", report.requests, report.timed,
           report.untimed);
  fprintf (fp, "  \"late\": %" PRIi64 ", \"max_late_ns\": %" PRIi64
           ", \"forced\": %" PRIi64 ", \"max_early_ns\": %" PRIi64 ",\n",
           report.late, report.max_late_ns, report.forced,
           report.max_early_ns);
  fprintf (fp, "  \"lost\": %" PRIi64 ", \"reconnects\": %" PRIi64 ",\n",
           report.lost, report.reconnects);
  fprintf (fp, "  \"identify\": { \"patched\": %s, \"virtual_ns\": %" PRIi64
           ", \"copies\": %d },\n", json_bool (report.patched),
           report.patched_ns, report.copies);
  if (report.power_off)
    fprintf (fp, "  \"power_off_ns\": %" PRIi64 ",\n", report.power_off_ns);
  fprintf (fp, "  \"exact\": %s }\n", json_bool (exact ()));
}

void
report_close (void)
{
  FILE *fp;

  if (log_file != NULL)
    fflush (log_file);
  if (stats_path == NULL)
    return;
  fp = fopen (stats_path, "we");
  if (fp == NULL) {
    fprintf (stderr, "spindle-clock: SPINDLE_CLOCK_STATS: %s: %m\n",
             stats_path);
    return;
  }
  write_stats (fp);
  fclose (fp);
  stats_path = NULL;
}

void
bridge_fatal (const char *fmt, ...)
{
  va_list args;

  fprintf (stderr, "spindle-clock: ");
  va_start (args, fmt);
  vfprintf (stderr, fmt, args);
  va_end (args);
  fputc ('\n', stderr);
  report.failed = true;
  report_close ();
  /* Not exit: QEMU's handlers may wait for locks that we hold. */
  _exit (EXIT_FAILURE);
}

void
bridge_power_off (int64_t now_ns)
{
  fprintf (stderr, "spindle-clock: the power was cut at %" PRIi64 " ns\n",
           now_ns);
  report.power_off = true;
  report.power_off_ns = now_ns;
  report_close ();
  _exit (EXIT_SUCCESS);
}
