/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Real time.  The model's time follows CLOCK_MONOTONIC, and a command is
 * answered when that has reached its completion, or sooner by what the
 * transport takes (floor_ns), but never before it came.  The model is only
 * ever run to its own events, never to the moment somebody woke up: being
 * late shows in the statistics and nowhere else.
 *
 * One of the threads that wait is the leader: it sleeps until the model's
 * next event, runs the model and wakes those whose commands completed.  The
 * last spin_ns it does not sleep but look at the clock.
 */
#include <errno.h>
#include <sys/prctl.h>

#include "drive.h"
#include "real-time.h"

#define RETRY_NS 1000000

/* The drive's lock covers these. */
static struct command *leader;
static int64_t leader_wakes_ns; /* CLOCK_MONOTONIC */

static atomic_uint nudges;      /* there is something sooner */

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
  real_time_start ();
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
  c->timed = d->disk != NULL && !real_time_instant ();
  if (c->timed)
    c->came_ns = drive_mono_ns ();
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

/* Run the model to what is due. */
static void
run_due (struct drive *d)
{
  run (d, real_time_due_ns (drive_mono_ns (), d->floor_ns));
}

/* When to answer what completes then, or INT64_MAX. */
static int64_t
deadline_ns (const struct drive *d, int64_t complete_ns)
{
  int64_t mono_ns = real_time_mono_ns (complete_ns);

  return mono_ns == INT64_MAX ? mono_ns : mono_ns - d->floor_ns;
}

static void
real_before_submit (struct drive *d, struct command *c)
{
  c->arrival_ns = real_time_model_ns (c->came_ns);
  run (d, c->arrival_ns);
}

static int
real_queue_full (struct drive *d)
{
  if (drive_probe (d, RETRY_NS) == -1)
    return -1;
  run_due (d);
  if (!power_is_due (d, real_time_model_ns (drive_mono_ns ())))
    return 0;
  errno = ESHUTDOWN;            /* there will be no room before */
  return -1;
}

static void
real_submitted (struct drive *d, const struct command *c, uint64_t tag)
{
  (void) c;
  if (tag && leader &&
      deadline_ns (d, drive_next_event (d)) < leader_wakes_ns) {
    atomic_fetch_add (&nudges, 1);
    pthread_cond_signal (&leader->cond);
  }
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

/* Wait until mono_ns, or until there is something sooner. */
static void
spin (struct drive *d, int64_t mono_ns)
{
  const unsigned seen = atomic_load (&nudges);

  pthread_mutex_unlock (&d->lock);
  while (drive_mono_ns () < mono_ns && atomic_load (&nudges) == seen)
    ;
  pthread_mutex_lock (&d->lock);
}

/* Lead until mono_ns at the latest. */
static void
lead (struct drive *d, struct command *c, int64_t mono_ns)
{
  int64_t event_ns = deadline_ns (d, drive_next_event (d));

  leader_wakes_ns = event_ns < mono_ns ? event_ns : mono_ns;
  if (event_ns >= mono_ns)
    drive_sleep (d, c, mono_ns);
  else if (event_ns - drive_mono_ns () > d->spin_ns)
    drive_sleep (d, c, event_ns - d->spin_ns);
  else
    spin (d, event_ns);
}

/* Wait for c, as the leader when there is none. */
static int
wait_turn (struct drive *d, struct command *c)
{
  int64_t probe_ns = drive_mono_ns () + CLOCK_SLICE_NS;

  while (!c->done) {
    if (leader == NULL)
      leader = c;
    if (leader == c) {
      run_due (d);
      if (c->done)
        break;
    }
    if (drive_mono_ns () >= probe_ns) {
      probe_ns = drive_mono_ns () + CLOCK_SLICE_NS;
      if (drive_probe (d, 0) == -1)
        return -1;
    }
    else if (leader == c)
      lead (d, c, probe_ns);
    else
      drive_sleep (d, c, probe_ns);
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
  histogram_add (&d->stats.lateness,
                 drive_mono_ns () - deadline_ns (d, c->complete_ns));
  return 0;
}

static int64_t
real_now (struct drive *d)
{
  int64_t now = real_time_model_ns (drive_mono_ns ());

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
