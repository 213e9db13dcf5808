/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "drive.h"
#include "fixed.h"

/* How often to look whether the drive destages, in model time, and whether
 * a cut is due, in the host's.
 */
#define LOOK_NS 1000000

static pthread_t thread;
static bool runs;
static atomic_bool quit;

/* 0 to n - 1. */
static int64_t
pick (struct power *p, int64_t n)
{
  return (int64_t) (splitmix64 (&p->random) % (uint64_t) n);
}

static void
plan (struct power *p, int64_t cut_ns)
{
  if (cut_ns < p->cut_ns)
    p->cut_ns = cut_ns;
}

/* The power is on since now_ns. */
static void
plan_known (struct drive *d, int64_t now_ns)
{
  struct power *p = &d->power;

  p->cut_ns = DISK_NEVER;
  if (p->at_ns > 0)
    plan (p, p->at_ns);
  if (p->mean_ns > 0)
    plan (p, now_ns + 1 + pick (p, 2 * p->mean_ns));
}

bool
power_is_scheduled (const struct power *p)
{
  return p->at_ns > 0 || p->after_writes > 0 || p->while_destaging > 0 ||
    p->mean_ns > 0;
}

void
power_init (struct drive *d)
{
  d->power.random = d->seed;
  plan_known (d, 0);
}

void
power_saw_write (struct drive *d, int64_t complete_ns)
{
  struct power *p = &d->power;

  if (p->after_writes > 0 && ++p->writes == p->after_writes)
    plan (p, complete_ns + p->after_writes_ns);
}

static int64_t
revolution_ns (const struct drive *d)
{
  return INT64_C (6000000000000) / d->profile->geometry.rpm_x100;
}

void
power_look (struct drive *d)
{
  struct power *p = &d->power;
  const struct disk_stats *s;

  if (p->while_destaging == 0 || atomic_load (&p->off))
    return;
  s = disk_get_stats (d->disk);
  if (s->destages < p->while_destaging - 1 || s->dirty_sectors == 0)
    return;
  p->while_destaging = 0;
  plan (p, d->now_ns + 1 + pick (p, 2 * revolution_ns (d)));
}

int64_t
power_next_event (const struct drive *d)
{
  const struct power *p = &d->power;

  if (d->disk && p->while_destaging > 0 && !atomic_load (&p->off) &&
      disk_get_stats (d->disk)->dirty_sectors > 0 &&
      d->now_ns + LOOK_NS < p->cut_ns)
    return d->now_ns + LOOK_NS;
  return p->cut_ns;
}

/* The cut. */

void
power_saw_destage (struct drive *d, int64_t lba, int64_t sectors)
{
  if (!d->power.stopping)
    return;
  d->power.stopped_lba = lba;
  d->power.stopped_sectors = sectors;
}

/* Sector lba was under the head.  If it is written after all it belongs to
 * what the model has told of last, or else is the first of something.
 */
static void
tear (struct drive *d, int64_t lba)
{
  struct power *p = &d->power;
  enum torn torn = p->torn;

  p->torn_sectors++;
  if (torn == TORN_RANDOM)
    torn = (enum torn) pick (p, TORN_RANDOM);
  if (torn == TORN_UNREADABLE &&
      disk_add_fault (d->disk, lba, 1, DISK_FAULT_HARD, 0) == -1)
    nbdkit_debug ("power cut: sector %" PRIi64 " stays readable: %m", lba);
  if (torn != TORN_NEW)
    return;
  if (p->stopped_sectors > 0 && p->stopped_lba + p->stopped_sectors == lba)
    p->stopped_sectors++;
  else {
    p->stopped_lba = lba;
    p->stopped_sectors = 1;
  }
}

static int
ignore (void *opaque, int64_t lba, const void *old)
{
  (void) opaque;
  (void) lba;
  (void) old;
  return 0;
}

/* Returns 0, or -1 when the backing could not be put back. */
static int
restore (struct drive *d)
{
  int r = undo_restore (d->undo, drive_put_back, d);

  if (r == -1) {
    nbdkit_error ("power cut: %s has newer data than the drive would have",
                  d->backing.name);
    undo_restore (d->undo, ignore, NULL);
  }
  if (d->sync && backing_sync (&d->backing) == -1)
    r = -1;
  return r;
}

/* Stop the model; returns the sector that was being written, or -1. */
static int64_t
stop_model (struct drive *d, int64_t t_ns)
{
  struct power *p = &d->power;
  struct disk_cut stop;

  p->stopping = true;
  p->stopped_sectors = 0;
  disk_power_cut (d->disk, t_ns, &stop);
  p->stopping = false;
  if (stop.torn_lba >= 0)
    tear (d, stop.torn_lba);
  if (p->stopped_sectors > 0)
    undo_stopped (d->undo, p->stopped_lba, p->stopped_sectors);
  return stop.torn_lba;
}

static int
cut (struct drive *d, int64_t t_ns)
{
  struct power *p = &d->power;
  int64_t torn_lba = -1, lost = 0, failed;
  int r = 0;

  if (t_ns > d->now_ns)
    d->now_ns = t_ns;
  atomic_store (&p->off, true);
  p->cuts++;
  p->cut_ns = DISK_NEVER;
  if (p->at_ns <= t_ns)
    p->at_ns = 0;
  failed = drive_lose_waiting (d, ESHUTDOWN);
  p->failed_commands += failed;
  if (d->disk) {
    torn_lba = stop_model (d, t_ns);
    lost = undo_accepted_sectors (d->undo);
    p->lost_sectors += lost;
    r = restore (d);
  }
  if (d->trace)
    trace_power_cut (d->trace, t_ns, torn_lba, lost, failed);
  if (d->clock->power_changed)
    d->clock->power_changed (d);
  return r;
}

bool
power_is_due (const struct drive *d, int64_t t_ns)
{
  return !atomic_load (&d->power.off) && d->power.cut_ns <= t_ns;
}

bool
power_cut_if_due (struct drive *d, int64_t t_ns)
{
  if (!power_is_due (d, t_ns))
    return false;
  cut (d, d->power.cut_ns);
  return true;
}

/* By hand. */

static int
cut_now (struct drive *d)
{
  int r;

  pthread_mutex_lock (&d->write_lock);
  pthread_mutex_lock (&d->lock);
  if (atomic_load (&d->power.off)) {
    errno = EALREADY;
    r = -1;
  }
  else {
    int64_t now_ns = d->clock->now (d);

    r = power_cut_if_due (d, now_ns) ? 0 : cut (d, now_ns);
  }
  pthread_mutex_unlock (&d->lock);
  pthread_mutex_unlock (&d->write_lock);
  return r;
}

static int
turn_on (struct drive *d)
{
  int64_t now_ns;
  bool was_off;

  pthread_mutex_lock (&d->write_lock);
  pthread_mutex_lock (&d->lock);
  was_off = atomic_load (&d->power.off);
  if (was_off) {
    now_ns = d->clock->now (d);
    if (d->disk)
      disk_power_on (d->disk, now_ns);
    plan_known (d, now_ns);
    atomic_store (&d->power.off, false);
    if (d->trace)
      trace_power_on (d->trace, now_ns);
    if (d->clock->power_changed)
      d->clock->power_changed (d);
  }
  pthread_mutex_unlock (&d->lock);
  pthread_mutex_unlock (&d->write_lock);
  return was_off ? 0 : -1;
}

void
power_command (struct drive *d, const char *arg, FILE *reply)
{
  if (strcmp (arg, "cut") == 0)
    fputs (cut_now (d) == 0 ? "ok\n" :
           errno == EALREADY ? "error the power is off\n" :
           "error the old content could not be put back\n", reply);
  else if (strcmp (arg, "on") == 0)
    fputs (turn_on (d) == 0 ? "ok\n" : "error the power is on\n", reply);
  else
    fputs ("error power: cut or on\n", reply);
}

void
power_print (FILE *fp, const struct drive *d)
{
  const struct power *p = &d->power;

  fprintf (fp, ",\"power\":{\"on\":%s,\"cuts\":%" PRIi64
           ",\"lost_sectors\":%" PRIi64 ",\"torn_sectors\":%" PRIi64
           ",\"failed_commands\":%" PRIi64 "}",
           atomic_load (&p->off) ? "false" : "true", p->cuts,
           p->lost_sectors, p->torn_sectors, p->failed_commands);
}

/* Real time. */

static void *
watch (void *opaque)
{
  struct drive *d = opaque;
  const struct timespec ts = { .tv_nsec = LOOK_NS };

  while (!atomic_load (&quit)) {
    nanosleep (&ts, NULL);
    pthread_mutex_lock (&d->write_lock);
    pthread_mutex_lock (&d->lock);
    power_cut_if_due (d, d->clock->now (d));
    pthread_mutex_unlock (&d->lock);
    pthread_mutex_unlock (&d->write_lock);
  }
  return NULL;
}

int
power_start_thread (struct drive *d)
{
  sigset_t all, old;
  int err;

  if (!power_is_scheduled (&d->power))
    return 0;
  /* Signals are the business of nbdkit's own threads. */
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  err = pthread_create (&thread, NULL, watch, d);
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  if (err) {
    errno = err;
    nbdkit_error ("cannot start the thread that cuts the power: %m");
    return -1;
  }
  runs = true;
  return 0;
}

void
power_stop_thread (void)
{
  if (!runs)
    return;
  atomic_store (&quit, true);
  pthread_join (thread, NULL);
  runs = false;
}
