/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The drive that all connections share: the model and the data behind a
 * lock, and the clock that moves them.
 *
 * A command goes through three steps.  It is stamped with its arrival, its
 * data move between the caller and the backing, and then it is put into
 * the model, where the caller waits for it to complete.  A read thus sees
 * what was there when it was submitted, and a write is in the backing from
 * then on.  write_lock makes the order of writes in the backing that of
 * the model.
 *
 * Lock order: write_lock, lock.
 */
#ifndef SPINDLE_DRIVE_H
#define SPINDLE_DRIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "backing.h"
#include "disk.h"
#include "power.h"
#include "stats.h"
#include "trace.h"
#include "undo.h"

/* A request from the wire, on the stack of the thread that serves it. */
struct command {
  struct disk_request request;
  uint64_t offset, count;       /* in bytes, as asked for */
  int64_t arrival_ns;           /* in model time */
  int64_t came_ns;              /* CLOCK_MONOTONIC: real time only */
  bool timed;                   /* goes through the model */
  bool done;
  int error;                    /* errno, if it failed in the drive */
  int64_t complete_ns;          /* in model time */
  bool sleeping;                /* on cond */
  pthread_cond_t cond;          /* done has become true, or look again */
  struct command *next;
};

struct clock;

struct drive {
  const struct profile *profile;
  uint64_t seed;
  bool sync;                    /* flush and FUA reach the host's disk */
  struct backing backing;
  const struct clock *clock;
  int64_t floor_ns;             /* real time only: what the transport takes */
  int64_t spin_ns;              /* likewise: do not sleep so shortly before */
  struct trace *trace;          /* or NULL */
  struct stats stats;

  pthread_mutex_t write_lock;
  pthread_mutex_t lock;         /* covers the rest */
  struct disk *disk;            /* NULL: an instant drive */
  struct undo *undo;            /* NULL likewise */
  int64_t now_ns;               /* the latest time given to the model */
  uint64_t last_tag;
  struct command *waiting;      /* submitted, not done, not given up */
  struct power power;
};

/* What moves a drive in time.  -1 comes with errno. */
struct clock {
  const char *name;

  /* Before and after nbdkit forks; when all connections are closed. */
  int (*prepare) (struct drive *d, const char *page);
  int (*start) (struct drive *d);
  void (*stop) (struct drive *d);

  /* A command comes in: say when, and whether it is timed at all. */
  void (*stamp) (struct drive *d, struct command *c);

  /* The model is about to get c.  NULL: nothing to do.  The lock is held,
   * as in the rest.
   */
  void (*before_submit) (struct drive *d, struct command *c);

  /* The model has no room for a command.  Returns 0 to try again. */
  int (*queue_full) (struct drive *d);

  /* The command is in the model (tag not 0), or never will be (tag 0).
   * NULL: no need to tell.
   */
  void (*submitted) (struct drive *d, const struct command *c, uint64_t tag);

  /* Wait until c is done, releasing the lock meanwhile. */
  int (*wait) (struct drive *d, struct command *c);

  /* Model time.  What has completed before has been handed out. */
  int64_t (*now) (struct drive *d);

  /* The power was cut, or is on again. */
  void (*power_changed) (struct drive *d);
};

extern const struct clock clock_real, clock_virtual;

/* Waiting threads look this often whether anybody still wants them. */
#define CLOCK_SLICE_NS INT64_C (100000000)

/* The caller has filled in the fields up to trace, and what power is asked
 * for.  disk and undo are made here.
 */
extern int drive_init (struct drive *d);
extern void drive_free (struct drive *d);

/* Serve one request.  The range has been checked. */
extern int drive_read (struct drive *d, void *buf, uint32_t count,
                       uint64_t offset);
extern int drive_write (struct drive *d, const void *buf, uint32_t count,
                        uint64_t offset, bool fua);
extern int drive_trim (struct drive *d, uint32_t count, uint64_t offset,
                       bool fua);
extern int drive_flush (struct drive *d);

/* For the clocks, with the lock held. */

/* When drive_advance has something next, DISK_NEVER if that needs another
 * command or the power.
 */
extern int64_t drive_next_event (const struct drive *d);

/* Run the model to t_ns, or to the first completion before that: then
 * fill *done and return true.  A cut of the power is in the way until
 * somebody has made it.
 */
struct drive_done {
  uint64_t tag;
  int64_t complete_ns;
  bool awaited;                 /* somebody is waiting for it */
};
extern bool drive_advance (struct drive *d, int64_t t_ns,
                           struct drive_done *done);

/* Sleep, without the lock, until c is signalled or CLOCK_MONOTONIC is at
 * mono_ns.
 */
extern void drive_sleep (struct drive *d, struct command *c,
                         int64_t mono_ns);
extern int64_t drive_mono_ns (void);

/* Let nbdkit see, without the lock, whether the client has gone or the
 * server must stop: then -1, errno ESHUTDOWN, and nbdkit has said so.
 */
extern int drive_probe (struct drive *d, int64_t sleep_ns);

/* For undo_restore: the sector's old content goes back to the backing. */
extern int drive_put_back (void *drive, int64_t lba, const void *old);

/* The power is off: what is waited for will come out of drive_advance,
 * failed.  Returns how many.
 */
extern int64_t drive_lose_waiting (struct drive *d, int error);

/* Fail everything that is waited for.  The model keeps the commands. */
extern void drive_fail_waiting (struct drive *d, int error);

#endif /* SPINDLE_DRIVE_H */
