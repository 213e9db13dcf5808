/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "drive.h"
#include "real-time.h"

void
stats_reset (struct drive *d)
{
  struct stats *s = &d->stats;

  pthread_mutex_lock (&d->lock);
  for (int op = DISK_READ; op <= DISK_TRIM; op++)
    atomic_store (&s->requests[op], 0);
  atomic_store (&s->failed, 0);
  atomic_store (&s->untimed, 0);
  s->lateness = (struct histogram) { .count = 0 };
  s->since_ns = d->now_ns;
  if (d->disk)
    s->before = *disk_get_stats (d->disk);
  pthread_mutex_unlock (&d->lock);
}

/* What the model has counted since then.  Some of it is not a sum. */
static struct disk_stats
since_reset (const struct disk_stats *now, const struct disk_stats *before)
{
  struct disk_stats r = *now;
  const int64_t *b = (const int64_t *) before;
  int64_t *v = (int64_t *) &r;

  for (size_t i = 0; i < sizeof r / sizeof v[0]; i++)
    v[i] -= b[i];
  r.dirty_sectors = now->dirty_sectors;
  r.max_queued = now->max_queued;
  r.pending_sectors = now->pending_sectors;
  return r;
}

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
    { "pending_sectors", s->pending_sectors },
    { "reallocated_sectors", s->reallocated_sectors },
    { "unloads", s->unloads },
    { "slowdowns", s->slowdowns },
    { "standbys", s->standbys },
    { "stalls", s->stalls },
    { "scanned_sectors", s->scanned_sectors },
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
print_queue (FILE *fp, const struct drive *d)
{
  int n = 0;

  for (const struct command *c = d->waiting; c; c = c->next)
    n++;
  fprintf (fp, ",\"queued\":%d", n);
  if (d->disk)
    fprintf (fp, ",\"cylinder\":%" PRIi64, disk_cylinder (d->disk));
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

static void
print_real_time (FILE *fp, const struct drive *d)
{
  const struct stats *s = &d->stats;
  bool valid = s->late_limit_ns == 0 ||
    histogram_quantile (&s->lateness, 990) <= s->late_limit_ns;

  print_lateness (fp, &s->lateness);
  fprintf (fp, ",\"late_limit_ns\":%" PRIi64 ",\"valid\":%s"
           ",\"floor_ns\":%" PRIi64, s->late_limit_ns,
           valid ? "true" : "false", d->floor_ns);
  real_time_print (fp);
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
  real_time_catch_up (d);
  fprintf (fp, ",\"drive_ns\":%" PRIi64 ",\"undo_bytes\":%" PRIi64,
           d->now_ns, d->undo ? undo_bytes (d->undo) : 0);
  power_print (fp, d);
  fprintf (fp, ",\"since_ns\":%" PRIi64, d->stats.since_ns);
  print_queue (fp, d);
  if (d->disk) {
    struct disk_stats s = since_reset (disk_get_stats (d->disk),
                                       &d->stats.before);

    print_model (fp, &s);
  }
  if (d->clock == &clock_real)
    print_real_time (fp, d);
  pthread_mutex_unlock (&d->lock);
  fputs ("}\n", fp);
}
