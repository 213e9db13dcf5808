/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "drive.h"

static void
print_string (FILE *fp, const char *s)
{
  putc ('"', fp);
  for (; *s; s++)
    if (*s == '"' || *s == '\\')
      fprintf (fp, "\\%c", *s);
    else if ((unsigned char) *s < ' ')
      fprintf (fp, "\\u%04x", *s);
    else
      putc (*s, fp);
  putc ('"', fp);
}

static void
print_requests (FILE *fp, struct stats *s)
{
  fputs (",\"requests\":{", fp);
  for (int op = DISK_READ; op <= DISK_TRIM; op++)
    fprintf (fp, "\"%s\":%" PRIi64 ",", disk_op_name (op),
             atomic_load (&s->requests[op]));
  fprintf (fp, "\"failed\":%" PRIi64 ",\"untimed\":%" PRIi64 "}",
           atomic_load (&s->failed), atomic_load (&s->untimed));
}

static void
print_model (FILE *fp, const struct disk_stats *s)
{
  const struct { const char *name; int64_t value; } fields[] = {
    { "reads", s->reads },
    { "writes", s->writes },
    { "flushes", s->flushes },
    { "trims", s->trims },
    { "sectors_read", s->sectors_read },
    { "sectors_written", s->sectors_written },
    { "hits", s->hits },
    { "stream_hits", s->stream_hits },
    { "misses", s->misses },
    { "restarts", s->restarts },
    { "seeks", s->seeks },
    { "seek_ns", s->seek_ns },
    { "rotation_ns", s->rotation_ns },
    { "media_ns", s->media_ns },
    { "bus_ns", s->bus_ns },
    { "destages", s->destages },
    { "sectors_destaged", s->sectors_destaged },
    { "media_sectors_read", s->media_sectors_read },
    { "dirty_sectors", s->dirty_sectors },
    { "max_queued", s->max_queued },
    { "errors", s->errors },
    { "retries", s->retries },
    { "healed_sectors", s->healed_sectors },
  };
  const char *separator = "";

  fputs (",\"model\":{", fp);
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    fprintf (fp, "%s\"%s\":%" PRIi64, separator, fields[i].name,
             fields[i].value);
    separator = ",";
  }
  putc ('}', fp);
}

static void
print_lateness (FILE *fp, const struct histogram *h)
{
  fprintf (fp,
           ",\"lateness_ns\":{\"count\":%" PRIi64 ",\"p50\":%" PRIi64
           ",\"p99\":%" PRIi64 ",\"max\":%" PRIi64 "}",
           h->count, histogram_quantile (h, 500),
           histogram_quantile (h, 990), h->max);
}

void
stats_print (FILE *fp, struct drive *d)
{
  fprintf (fp, "{\"version\":\"%s\",\"profile\":", SPINDLE_VERSION);
  print_string (fp, d->profile->name);
  fprintf (fp, ",\"seed\":%" PRIu64 ",\"clock\":\"%s\"", d->seed,
           d->clock->name);
  print_requests (fp, &d->stats);

  pthread_mutex_lock (&d->lock);
  fprintf (fp, ",\"drive_ns\":%" PRIi64 ",\"undo_bytes\":%" PRIi64,
           d->now_ns, d->undo ? undo_bytes (d->undo) : 0);
  power_print (fp, d);
  if (d->disk)
    print_model (fp, disk_get_stats (d->disk));
  if (d->clock == &clock_real)
    print_lateness (fp, &d->stats.lateness);
  pthread_mutex_unlock (&d->lock);
  fputs ("}\n", fp);
}
