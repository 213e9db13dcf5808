/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "real-time.h"

/* At the highest speed 64 bits of ns last for 100 days. */
#define MAX_PERMILLE 1000000

/* Model time was base_ns at base_mono_ns, and has gone on since then. */
static int64_t base_ns, base_mono_ns;
static int64_t permille = 1000; /* model time per thousand of real time */
static bool paused;
static atomic_bool instant;

void
real_time_start (void)
{
  base_ns = 0;
  base_mono_ns = drive_mono_ns ();
}

int64_t
real_time_model_ns (int64_t mono_ns)
{
  int64_t ns = mono_ns - base_mono_ns;

  return paused ? base_ns
    : base_ns + ns / 1000 * permille + ns % 1000 * permille / 1000;
}

int64_t
real_time_mono_ns (int64_t model_ns)
{
  int64_t ns = model_ns - base_ns;

  if (paused || model_ns == DISK_NEVER)
    return INT64_MAX;
  return base_mono_ns + ns / permille * 1000 +
    (ns % permille * 1000 + permille - 1) / permille;
}

int64_t
real_time_due_ns (int64_t mono_ns, int64_t floor_ns)
{
  return real_time_model_ns (paused ? mono_ns : mono_ns + floor_ns);
}

bool
real_time_instant (void)
{
  return atomic_load_explicit (&instant, memory_order_relaxed);
}

void
real_time_catch_up (struct drive *d)
{
  struct drive_done done;
  int64_t now_ns = real_time_model_ns (drive_mono_ns ());

  if (d->clock != &clock_real || d->disk == NULL || d->waiting)
    return;
  while (drive_next_event (d) <= now_ns)
    if (!drive_advance (d, drive_next_event (d), &done))
      return;
  drive_advance (d, now_ns, &done);
}

/* Go on from here in another way. */
static void
change (struct drive *d, bool pause, int64_t new_permille)
{
  int64_t mono_ns = drive_mono_ns ();

  base_ns = real_time_model_ns (mono_ns);
  base_mono_ns = mono_ns;
  paused = pause;
  permille = new_permille;
  for (struct command *c = d->waiting; c; c = c->next)
    pthread_cond_signal (&c->cond);
}

/* Complete what is under way, and let that be now. */
static void
drain (struct drive *d)
{
  struct drive_done done;

  while (d->waiting && drive_next_event (d) != DISK_NEVER)
    drive_advance (d, drive_next_event (d), &done);
  change (d, false, 1000);
  if (base_ns < d->now_ns)
    base_ns = d->now_ns;
}

static bool
refused (const struct drive *d, FILE *reply)
{
  if (d->disk)
    return false;
  fputs ("error this drive takes no time\n", reply);
  return true;
}

void
real_time_pause (struct drive *d, const char *arg, FILE *reply)
{
  (void) arg;
  if (refused (d, reply))
    return;
  pthread_mutex_lock (&d->lock);
  if (instant)
    fputs ("error the speed is instant\n", reply);
  else {
    change (d, true, permille);
    fputs ("ok\n", reply);
  }
  pthread_mutex_unlock (&d->lock);
}

void
real_time_resume (struct drive *d, const char *arg, FILE *reply)
{
  (void) arg;
  if (refused (d, reply))
    return;
  pthread_mutex_lock (&d->lock);
  change (d, false, permille);
  pthread_mutex_unlock (&d->lock);
  fputs ("ok\n", reply);
}

/* "0.5" is 500.  Returns -1 if it is no such number, or out of range. */
static int64_t
parse_permille (const char *text)
{
  int64_t value = 0;
  int decimals = -1;            /* -1: no point yet */

  for (; *text; text++)
    if (*text == '.' && decimals == -1)
      decimals = 0;
    else if (*text >= '0' && *text <= '9' && value <= MAX_PERMILLE &&
             decimals < 3) {
      value = value * 10 + (*text - '0');
      decimals += decimals >= 0;
    }
    else
      return -1;
  for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
    value *= 10;
  return value >= 1 && value <= MAX_PERMILLE ? value : -1;
}

void
real_time_speed (struct drive *d, const char *arg, FILE *reply)
{
  bool at_once = strcmp (arg, "instant") == 0;
  int64_t value = at_once ? 1000 : parse_permille (arg);

  if (refused (d, reply))
    return;
  if (value == -1) {
    fprintf (reply, "error speed: %s: 0.001 to 1000, or instant\n", arg);
    return;
  }
  pthread_mutex_lock (&d->lock);
  atomic_store (&instant, at_once);
  if (at_once)
    drain (d);
  else
    change (d, paused, value);
  pthread_mutex_unlock (&d->lock);
  fputs ("ok\n", reply);
}

void
real_time_print (FILE *fp)
{
  fprintf (fp, ",\"speed\":%d.%03d,\"instant\":%s,\"paused\":%s",
           (int) (permille / 1000), (int) (permille % 1000),
           instant ? "true" : "false", paused ? "true" : "false");
}
