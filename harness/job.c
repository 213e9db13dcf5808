/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "spindle.h"

static const char *
disk_name (const struct scenario *sc)
{
  const char *slash = strrchr (sc->device, '/');

  return slash ? slash + 1 : sc->device;
}

static void
print_queue (FILE *fp, const struct scenario *sc)
{
  size_t i;

  for (i = 0; i < sc->queue.n; ++i) {
    const char *word = sc->queue.word[i], *equals = strchr (word, '=');

    fprintf (fp, "sysfs path=/sys/block/%s/queue/%.*s value=%s\n",
             disk_name (sc), (int) (equals - word), word, equals + 1);
  }
}

static void
print_step (FILE *fp, const struct scenario_step *s)
{
  if (s->readahead >= 0)
    fprintf (fp, "readahead sectors=%lld\n", (long long) s->readahead);
  /* Every step finds the page cache empty and nothing left to write. */
  fprintf (fp, "sync\ndrop\n");
  fprintf (fp, "%s name=%s mode=%s pattern=%s block=%lld bytes=%lld "
           "offset=%lld", s->write ? "write" : "read", s->name,
           s->direct ? "direct" : "buffered", s->random ? "random" : "seq",
           (long long) s->block_kib * 1024,
           (long long) scenario_step_bytes (s),
           (long long) s->offset_mib * 1024 * 1024);
  if (s->span_mib)
    fprintf (fp, " span=%lld", (long long) s->span_mib * 1024 * 1024);
  if (s->random)
    fprintf (fp, " seed=%lld", (long long) s->seed);
  if (s->ms)
    fprintf (fp, " ms=%lld", (long long) s->ms);
  if (s->streams > 1)
    fprintf (fp, " streams=%lld", (long long) s->streams);
  if (s->write && s->fsync)
    fprintf (fp, " fsync=%s", s->fsync == 2 ? "each" : "1");
  fputc ('\n', fp);
}

char *
job_text (const struct scenario *sc, bool no_flush)
{
  char *text = NULL;
  size_t size, i;
  FILE *fp = open_memstream (&text, &size);

  if (fp == NULL)
    abort ();
  fprintf (fp, "modules\ndevice path=%s\n", sc->device);
  if (no_flush)
    fprintf (fp, "sysfs path=/sys/block/%s/queue/write_cache "
             "value=none\n", disk_name (sc));
  print_queue (fp, sc);
  for (i = 0; i < sc->n_steps; ++i)
    print_step (fp, &sc->steps[i]);
  fprintf (fp, "poweroff\n");
  if (fclose (fp) == EOF)
    abort ();
  return text;
}
