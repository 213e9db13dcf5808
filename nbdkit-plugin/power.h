/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The drive's power, and when it is cut.
 *
 * A cut takes what the medium does not have: the undo store puts the old
 * content back, of what waits in the write cache and of what commands under
 * way have not written yet.  Commands that wait fail, and so does whatever
 * comes until the power is on again.
 *
 * A cut happens at one moment of model time, in virtual and in real time:
 * the model is never run past it (power.cut_ns).
 */
#ifndef SPINDLE_POWER_H
#define SPINDLE_POWER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct drive;

/* What becomes of the sector under the head. */
enum torn { TORN_NEW, TORN_OLD, TORN_UNREADABLE, TORN_RANDOM };

struct power {
  /* As asked for; 0: not at all. */
  int64_t at_ns;
  int64_t after_writes;
  int64_t after_writes_ns;      /* so much later than that */
  int64_t while_destaging;
  int64_t mean_ns;              /* cut-random */
  enum torn torn;

  atomic_bool off;              /* changes with write_lock and lock held */

  /* The drive's lock covers the rest. */
  int64_t cut_ns;               /* the next cut, DISK_NEVER if not known */
  int64_t writes;               /* completed */
  uint64_t random;
  bool stopping;                /* the model tells what it got done */
  int64_t stopped_lba, stopped_sectors; /* the last run it told of, or 0 */
  int64_t cuts, lost_sectors, torn_sectors, failed_commands;
};

/* A parameter.  Returns 1, 0 if it is none of ours, -1 if it is wrong. */
extern int power_config (struct power *p, const char *key,
                         const char *value);

/* Are there cuts that need a drive which takes time? */
extern bool power_is_scheduled (const struct power *p);

/* The model has been made.  In real time a thread cuts when it is due. */
extern void power_init (struct drive *d);
extern int power_start_thread (struct drive *d);
extern void power_stop_thread (void);

/* With the drive's lock held: a write completed; sectors have reached the
 * medium; the model has moved.
 */
extern void power_saw_write (struct drive *d, int64_t complete_ns);
extern void power_saw_destage (struct drive *d, int64_t lba,
                               int64_t sectors);
extern void power_look (struct drive *d);

/* When, at the latest, somebody must ask again whether a cut is due. */
extern int64_t power_next_event (const struct drive *d);

/* Is a cut due at t_ns?  Commands of that time are not taken any more. */
extern bool power_is_due (const struct drive *d, int64_t t_ns);

/* Cut if that is due at t_ns.  With write_lock and lock held, and after
 * everything that completes before has been taken from the model.
 */
extern bool power_cut_if_due (struct drive *d, int64_t t_ns);

/* The control socket: "cut" or "on". */
extern void power_command (struct drive *d, const char *arg, FILE *reply);

/* Part of the statistics. */
extern void power_print (FILE *fp, const struct drive *d);

#endif /* SPINDLE_POWER_H */
