/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Real time.  The model's time is CLOCK_MONOTONIC since start-up, and a
 * command is answered when that has reached its completion.  The model is
 * only ever run to its own events, never to the moment somebody woke up:
 * being late shows in the statistics and nowhere else.
 *
 * One of the threads that wait is the leader: it sleeps until the model's
 * next event, runs the model and wakes those whose commands completed.
 */
#include <errno.h>
#include <sys/prctl.h>

#include "drive.h"

#define RETRY_NS 1000000

static int64_t start_ns;        /* model time 0 */

/* The drive's lock covers these. */
static struct command *leader;
static int64_t leader_wakes_ns;

static int64_t
now_ns (void)
{
  return drive_mono_ns () - start_ns;
}

static int
real_prepare (struct drive *d, const char *page)
{
  (void) d;
  (void) page;
  return 0;
}

static int
real_start (struct drive *d)
{
  start_ns = drive_mono_ns ();
  return power_start_thread (d);
}

static void
real_stop (struct drive *d)
{
  (void) d;
  power_stop_thread ();
}

static void
real_stamp (struct drive *d, struct command *c)
{
  c->timed = d->disk != NULL;
  if (c->timed)
    c->arrival_ns = now_ns ();
}

/* Hand out what has completed by t_ns. */
static void
run (struct drive *d, int64_t t_ns)
{
  struct drive_done done;

  while (drive_next_event (d) <= t_ns)
    if (!drive_advance (d, drive_next_event (d), &done))
      break;
}

static void
real_before_submit (struct drive *d, struct command *c)
{
  run (d, c->arrival_ns);
}

static int
real_queue_full (struct drive *d)
{
  int64_t now;

  if (drive_probe (d, RETRY_NS) == -1)
    return -1;
  now = now_ns ();
  run (d, now);
  if (!power_is_due (d, now))
    return 0;
  errno = ESHUTDOWN;            /* there will be no room before */
  return -1;
}

static void
real_submitted (struct drive *d, const struct command *c, uint64_t tag)
{
  (void) c;
  if (tag && leader && drive_next_event (d) < leader_wakes_ns)
    pthread_cond_signal (&leader->cond);
}

/* The kernel may delay a sleep by the thread's timer slack, 50 us unless
 * told otherwise.
 */
static void
want_exact_sleep (void)
{
  static _Thread_local bool told;

  if (!told)
    prctl (PR_SET_TIMERSLACK, 1UL);
  told = true;
}

/* Wait for c, as the leader when there is none. */
static int
wait_turn (struct drive *d, struct command *c)
{
  int64_t probe_ns = now_ns () + CLOCK_SLICE_NS;

  while (!c->done) {
    int64_t now = now_ns ();
    int64_t wake_ns = probe_ns;

    if (leader == NULL)
      leader = c;
    if (leader == c) {
      run (d, now);
      if (c->done)
        break;
      if (drive_next_event (d) < wake_ns)
        wake_ns = drive_next_event (d);
      leader_wakes_ns = wake_ns;
    }
    if (now >= probe_ns) {
      probe_ns = now + CLOCK_SLICE_NS;
      if (drive_probe (d, 0) == -1)
        return -1;
    }
    else
      drive_sleep (d, c, wake_ns + start_ns);
  }
  return 0;
}

/* c need not lead any more: somebody who sleeps must. */
static void
pass_lead (struct drive *d, const struct command *c)
{
  if (leader != c)
    return;
  leader = d->waiting;
  while (leader && !leader->sleeping)
    leader = leader->next;
  if (leader)
    pthread_cond_signal (&leader->cond);
}

static int
real_wait (struct drive *d, struct command *c)
{
  int r;

  want_exact_sleep ();
  c->sleeping = true;
  r = wait_turn (d, c);
  c->sleeping = false;
  pass_lead (d, c);
  if (!c->done)
    return r;
  histogram_add (&d->stats.lateness, now_ns () - c->complete_ns);
  return 0;
}

static int64_t
real_now (struct drive *d)
{
  int64_t now = now_ns ();

  if (d->disk)
    run (d, now);
  return now > d->now_ns ? now : d->now_ns;
}

/* What the cut took has failed now, not when somebody would wake up. */
static void
real_power_changed (struct drive *d)
{
  if (d->disk)
    run (d, d->now_ns);
}

const struct clock clock_real = {
  .name = "real",
  .prepare = real_prepare,
  .start = real_start,
  .stop = real_stop,
  .stamp = real_stamp,
  .before_submit = real_before_submit,
  .queue_full = real_queue_full,
  .submitted = real_submitted,
  .wait = real_wait,
  .now = real_now,
  .power_changed = real_power_changed,
};
