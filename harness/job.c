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
print_queue_files (FILE *fp, const struct words *queue)
{
  size_t i;

  for (i = 0; i < queue->n; ++i) {
    const char *word = queue->word[i], *equals = strchr (word, '=');

    fprintf (fp, "sysfs path=queue/%.*s value=%s\n", (int) (equals - word),
             word, equals + 1);
  }
}

/* "vm.dirty_ratio=40" is a file below /proc/sys. */
static void
print_sysctl (FILE *fp, const struct words *sysctl)
{
  size_t i;
  const char *p;

  for (i = 0; i < sysctl->n; ++i) {
    fprintf (fp, "sysfs path=/proc/sys/");
    for (p = sysctl->word[i]; *p != '='; ++p)
      fputc (*p == '.' ? '/' : *p, fp);
    fprintf (fp, " value=%s\n", p + 1);
  }
}

static void
print_queue (FILE *fp, const struct scenario *sc, bool no_flush)
{
  /* Linux sends FLUSH CACHE to any drive that has a write cache.  QEMU
   * answers it by itself if the drive cannot, and that takes host time.
   */
  if (no_flush)
    fprintf (fp, "sysfs path=queue/write_cache value=none\n");
  if (sc->queue_depth)
    fprintf (fp, "sysfs path=device/queue_depth value=%lld\n",
             (long long) sc->queue_depth);
  if (sc->elevator)
    fprintf (fp, "elevator name=%s\n", sc->elevator);
  print_queue_files (fp, &sc->queue);
}

static void
print_copy (FILE *fp, const struct scenario *sc,
            const struct scenario_step *s)
{
  fprintf (fp, "copy name=%s from=%s to=%s block=%lld bytes=%lld "
           "offset=%lld jobs=%lld\n", s->name, sc->drives[s->drive].name,
           sc->drives[s->to].name, (long long) scenario_step_block (s),
           (long long) scenario_step_bytes (s),
           (long long) s->offset_mib * 1024 * 1024, (long long) s->jobs);
}

static void
print_file (FILE *fp, const char *key, const char *name)
{
  char *pattern = scenario_file_pattern (name);

  fprintf (fp, " %s=%s", key, pattern);
  free (pattern);
}

static void
print_amount (FILE *fp, const struct scenario_step *s)
{
  const int64_t bytes = scenario_step_bytes (s);

  if (bytes)
    fprintf (fp, " bytes=%lld", (long long) bytes);
  else if (s->file == NULL)
    /* Until the time is over. */
    fprintf (fp, " bytes=%lld", 1LL << 50);
}

static void
print_transfer (FILE *fp, const struct scenario_step *s)
{
  fprintf (fp, "%s name=%s mode=%s pattern=%s block=%lld",
           step_verbs[s->verb], s->name, s->direct ? "direct" : "buffered",
           s->random ? "random" : "seq", (long long) scenario_step_block (s));
  print_amount (fp, s);
  fprintf (fp, " offset=%lld", (long long) s->offset_mib * 1024 * 1024);
  if (s->file)
    print_file (fp, "file", s->file);
  if (s->create)
    fprintf (fp, " create=1");
  if (s->close)
    fprintf (fp, " close=1");
  if (s->span_mib)
    fprintf (fp, " span=%lld", (long long) s->span_mib * 1024 * 1024);
  if (s->random || s->verb == STEP_MIX)
    fprintf (fp, " seed=%lld", (long long) s->seed);
  if (s->ms)
    fprintf (fp, " ms=%lld",
             (long long) (s->ms > s->scale ? s->ms / s->scale : 1));
  if (s->streams > 1)
    fprintf (fp, " streams=%lld", (long long) s->streams);
  if (s->jobs > 1)
    fprintf (fp, " jobs=%lld", (long long) s->jobs);
  if (s->verb == STEP_MIX)
    fprintf (fp, " writes=%lld", (long long) s->writes);
  if (s->fsync)
    fprintf (fp, " fsync=%s", s->fsync == 2 ? "each" : "1");
  /* The page cache answers in a few microseconds, a drive in no less. */
  if (s->alsos & (1 << ALSO_DISK | 1 << ALSO_DISK_MS))
    fprintf (fp, " slow-us=50");
  fputc ('\n', fp);
}

static void
print_files (FILE *fp, const struct scenario_step *s)
{
  fprintf (fp, "%s name=%s block=%lld", step_verbs[s->verb], s->name,
           (long long) scenario_step_block (s));
  print_file (fp, "file", s->file);
  if (s->verb == STEP_FRAMES) {
    print_file (fp, "sound", s->sound);
    fprintf (fp, " output=%s count=%lld output-bytes=%lld", s->output,
             (long long) (s->requests / s->scale ? s->requests / s->scale
                          : 1),
             (long long) (s->output_bytes / s->scale ? s->output_bytes
                          / s->scale : 1));
  }
  fputc ('\n', fp);
}

/* Every step finds the page cache empty and nothing left to write, unless it
 * says otherwise.
 */
static void
print_before (FILE *fp, const struct scenario_step *s)
{
  print_sysctl (fp, &s->sysctl);
  print_queue_files (fp, &s->queue);
  if (s->before != BEFORE_NOTHING)
    fprintf (fp, "sync\n");
  if (s->before == BEFORE_DROP)
    fprintf (fp, "drop\n");
  if (s->before == BEFORE_FORGET) {
    fprintf (fp, "forget");
    print_file (fp, "file", s->file);
    fputc ('\n', fp);
  }
}

static void
print_step (FILE *fp, const struct scenario *sc,
            const struct scenario_step *s, bool many)
{
  int64_t i;

  if (s->reboot)
    fprintf (fp, "reboot\n");
  if (many)
    fprintf (fp, "device name=%s\n", sc->drives[s->drive].name);
  if (s->readahead >= 0)
    fprintf (fp, "readahead sectors=%lld\n", (long long) s->readahead);
  for (i = 0; i < s->repeats; ++i) {
    print_before (fp, s);
    if (s->verb == STEP_COPY)
      print_copy (fp, sc, s);
    else if (s->verb == STEP_WALK || s->verb == STEP_FRAMES)
      print_files (fp, s);
    else
      print_transfer (fp, s);
  }
}

/* The file system is on the first drive. */
static void
print_mount (FILE *fp, const struct scenario *sc)
{
  if (sc->disk.file_system == NULL)
    return;
  fprintf (fp, "mount type=%s partition=%d", sc->disk.file_system,
           sc->disk.partition_lba ? 1 : 0);
  if (sc->disk.mount)
    fprintf (fp, " options=%s", sc->disk.mount);
  fputc ('\n', fp);
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
  print_sysctl (fp, &sc->sysctl);
  for (i = 0; i < n; ++i) {
    print_device (fp, sc, i, n > 1);
    print_queue (fp, sc, !drives[i].profile->interface.flush);
    if (i == 0)
      print_mount (fp, sc);
  }
  if (sc->job)
    fputs (sc->job, fp);
  for (i = 0; i < sc->n_steps; ++i)
    if (sc->steps[i].verb != STEP_ALSO)
      print_step (fp, sc, &sc->steps[i], n > 1);
  fprintf (fp, "poweroff\n");
  if (fclose (fp) == EOF)
    abort ();
  return text;
}
