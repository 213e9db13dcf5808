/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "spindle.h"

/* Several disks are found by their address: letters go to whichever answers
 * first.  Kernels with another driver (/dev/hda) have letters by place.
 */
static void
print_device (FILE *fp, const struct scenario *sc, unsigned place, bool many)
{
  char *address;

  if (!many)
    fprintf (fp, "device path=%s\n", sc->device);
  else if (strncmp (sc->device, "/dev/sd", 7) == 0) {
    address = machine_scsi_address (&sc->machine, place);
    fprintf (fp, "device name=%s scsi=%s\n", sc->drives[place].name, address);
    free (address);
  }
  else
    fprintf (fp, "device name=%s path=%.*s%c\n", sc->drives[place].name,
             (int) strlen (sc->device) - 1, sc->device,
             sc->device[strlen (sc->device) - 1] + (int) place);
}

static void
print_queue (FILE *fp, const struct scenario *sc, bool no_flush)
{
  size_t i;

  /* Linux sends FLUSH CACHE to any drive that has a write cache.  QEMU
   * answers it by itself if the drive cannot, and that takes host time.
   */
  if (no_flush)
    fprintf (fp, "sysfs path=queue/write_cache value=none\n");
  if (sc->queue_depth)
    fprintf (fp, "sysfs path=device/queue_depth value=%lld\n",
             (long long) sc->queue_depth);
  for (i = 0; i < sc->queue.n; ++i) {
    const char *word = sc->queue.word[i], *equals = strchr (word, '=');

    fprintf (fp, "sysfs path=queue/%.*s value=%s\n", (int) (equals - word),
             word, equals + 1);
  }
}

static void
print_copy (FILE *fp, const struct scenario *sc,
            const struct scenario_step *s)
{
  fprintf (fp, "copy name=%s from=%s to=%s block=%lld bytes=%lld "
           "offset=%lld jobs=%lld\n", s->name, sc->drives[s->drive].name,
           sc->drives[s->to].name, (long long) s->block_kib * 1024,
           (long long) scenario_step_bytes (s),
           (long long) s->offset_mib * 1024 * 1024, (long long) s->jobs);
}

static void
print_transfer (FILE *fp, const struct scenario_step *s)
{
  fprintf (fp, "%s name=%s mode=%s pattern=%s block=%lld bytes=%lld "
           "offset=%lld", step_verbs[s->verb], s->name,
           s->direct ? "direct" : "buffered", s->random ? "random" : "seq",
           (long long) s->block_kib * 1024,
           (long long) scenario_step_bytes (s),
           (long long) s->offset_mib * 1024 * 1024);
  if (s->span_mib)
    fprintf (fp, " span=%lld", (long long) s->span_mib * 1024 * 1024);
  if (s->random || s->verb == STEP_MIX)
    fprintf (fp, " seed=%lld", (long long) s->seed);
  if (s->ms)
    fprintf (fp, " ms=%lld", (long long) s->ms);
  if (s->streams > 1)
    fprintf (fp, " streams=%lld", (long long) s->streams);
  if (s->jobs > 1)
    fprintf (fp, " jobs=%lld", (long long) s->jobs);
  if (s->verb == STEP_MIX)
    fprintf (fp, " writes=%lld", (long long) s->writes);
  if (s->fsync)
    fprintf (fp, " fsync=%s", s->fsync == 2 ? "each" : "1");
  fputc ('\n', fp);
}

static void
print_step (FILE *fp, const struct scenario *sc,
            const struct scenario_step *s, bool many)
{
  if (s->reboot)
    fprintf (fp, "reboot\n");
  if (many)
    fprintf (fp, "device name=%s\n", sc->drives[s->drive].name);
  if (s->readahead >= 0)
    fprintf (fp, "readahead sectors=%lld\n", (long long) s->readahead);
  /* Every step finds the page cache empty and nothing left to write. */
  fprintf (fp, "sync\ndrop\n");
  if (s->verb == STEP_COPY)
    print_copy (fp, sc, s);
  else
    print_transfer (fp, s);
}

char *
job_text (const struct scenario *sc, const struct machine_drive *drives,
          unsigned n)
{
  char *text = NULL;
  size_t size;
  unsigned i;
  FILE *fp = open_memstream (&text, &size);

  if (fp == NULL)
    abort ();
  fprintf (fp, "modules\n");
  for (i = 0; i < n; ++i) {
    print_device (fp, sc, i, n > 1);
    print_queue (fp, sc, !drives[i].profile->interface.flush);
  }
  if (sc->job)
    fputs (sc->job, fp);
  for (i = 0; i < sc->n_steps; ++i)
    print_step (fp, sc, &sc->steps[i], n > 1);
  fprintf (fp, "poweroff\n");
  if (fclose (fp) == EOF)
    abort ();
  return text;
}
