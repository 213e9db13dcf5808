/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The drive's state, shared by the files of this folder.
 */
#ifndef SPINDLE_INTERNAL_H
#define SPINDLE_INTERNAL_H

#include "dirty.h"
#include "disk.h"
#include "faults.h"
#include "geometry.h"
#include "seek.h"
#include "segments.h"
#include "smr.h"

/* What the arm is doing.  Sectors pass one after another from `lba` on,
 * the first beginning at from_ns, until `limit` is reached at end_ns.
 * Where it is in between is worked out only when somebody asks.
 *
 * Access on arrival: the part of the command on its first track, [lba,
 * anchor), is taken out of order from from_ns to anchored_ns.  Sector lba
 * itself begins at order_ns, and the sectors from anchor on pass in order
 * from anchor_ns on.  Otherwise anchor is lba.
 */
enum work {
  WORK_NONE,                    /* resting since end_ns after sector limit - 1 */
  WORK_READ,                    /* a read, going on as look-ahead */
  WORK_WRITE,                   /* a write that waits for the media */
  WORK_DESTAGE,
  WORK_CLEAN,                   /* a shingled band: read until from_ns, then
                                   written back */
  WORK_SCAN,                    /* reading the media for nobody */
  WORK_PREREAD,                 /* before a destage that rewrites only a part
                                   of its physical sectors */
};

struct arm {
  enum work work;
  int64_t lba, limit;
  int64_t shift;                /* what a sector is called less where it is:
                                   not 0 in the log of a shingled drive */
  int64_t start_ns;             /* the arm began to move */
  int64_t seek_end_ns;          /* it has arrived, not yet settled to write */
  int64_t settle_end_ns;
  int64_t from_ns;              /* the first sector has come round */
  int64_t order_ns, anchored_ns, anchor, anchor_ns;
  int64_t end_ns;
  int64_t rest;                 /* the sector on whose track it ends */
  int64_t cylinder, head;       /* of `lba`; when it rests, where it is */
};

/* A destaged run that the caller has not been told of yet.  Sector `place`
 * on the media begins to be written at from_ns; from_ns = when_ns: all of it
 * counts at once.
 */
struct report {
  int64_t lba, end, when_ns;
  int64_t place, from_ns;
};

/* A command that waits, and where its first sector is. */
struct waiting {
  struct disk_request request;
  int64_t arrival_ns;
  struct place place;
};

struct disk {
  struct profile profile;
  struct geometry geometry;
  struct seek seek;
  struct segments segments;
  struct dirty dirty;
  struct smr smr;
  struct faults faults;
  struct arm arm;

  int current;                  /* segment of the stream the head reads, -1 */
  int64_t wanted;               /* look-ahead of `current` put off: its limit */
  bool after_write;             /* the command before was one */
  uint64_t random;              /* for what the profile calls random */
  int64_t dirty_since_ns;       /* when the write cache last became busy */
  int64_t commands;             /* taken up so far */
  bool serving;                 /* one of them, beyond what it found */
  int64_t idle_since_ns;        /* when the last completed */
  int rest;                     /* it found: 1 heads unloaded, 2 slow, 3
                                   standby; 0 none, or the arm is back */
  int64_t stall_ns;             /* when the next stop is due */
  int64_t scanned;              /* where the next scan begins */

  struct disk_completion service; /* the command in service */
  bool busy;
  struct waiting queue[DISK_MAX_QUEUE]; /* oldest first */
  int queued;
  int64_t now_ns;               /* latest time given */
  bool off;                     /* no power */
  int64_t ready_ns;             /* spun up */

  struct report *reports;       /* oldest first */
  int n_reports, max_reports;
  disk_destaged_fn *destaged;
  void *destaged_opaque;

  struct disk_stats stats;
};

static inline int64_t
read_bus_ns (const struct disk *d, int64_t sectors)
{
  return sectors * DISK_SECTOR_SIZE * d->profile.interface.bus_ps_per_byte /
    1000;
}

static inline int64_t
write_bus_ns (const struct disk *d, int64_t sectors)
{
  return sectors * DISK_SECTOR_SIZE *
    d->profile.interface.write_bus_ps_per_byte / 1000;
}

/* disk.c: give a value of its own to every field whose 0 means "as
 * another".
 */
extern void profile_fill_in (struct profile *p);

/* queue.c */

/* Which of the commands in d->queue is served next, at t_ns. */
extern int queue_pick (const struct disk *d, int64_t t_ns);

/* What is left of a command's overhead when it is taken up at start_ns: a
 * drive with a queue decodes a command while others are served.
 */
extern int64_t queue_overhead_ns (const struct disk *d, int64_t arrival_ns,
                                  int64_t start_ns, int64_t overhead_ns);

/* arm.c */

/* Where the head is at t_ns, or is on its way to. */
extern void arm_place (const struct disk *d, int64_t t_ns,
                       struct place *place);

/* Time from t_ns until the head, then at `from`, begins at `to`.  What the
 * firmware does not know of the angle (1000 - awareness permille) it takes
 * to be half a revolution.
 */
extern int64_t arm_reach_ns (const struct disk *d, int64_t t_ns,
                             const struct place *from,
                             const struct place *to, bool write,
                             int64_t awareness_permille);

/* Does [lba, end) begin or end inside a physical sector? */
extern bool arm_unaligned (const struct disk *d, int64_t lba, int64_t end);

/* The first sector the arm has not passed at t_ns. */
extern int64_t arm_position (const struct disk *d, int64_t t_ns);

/* Is the arm at work at t_ns? */
extern bool arm_busy (const struct disk *d, int64_t t_ns);

/* Send the arm, free since t_ns, to lba.  Data to write are there at
 * data_ns (0 for reads).  `any` > lba: a command ends there, so that the
 * sectors below it may be taken in any order if the profile says so.
 */
extern void arm_start (struct disk *d, enum work work, int64_t t_ns,
                       int64_t lba, int64_t limit, int64_t any,
                       int64_t data_ns);

/* Send it, free since t_ns, to read a band [lba, limit) and write it. */
extern void arm_start_clean (struct disk *d, int64_t t_ns, int64_t lba,
                             int64_t limit);

/* Let the work under way go on to a farther limit. */
extern void arm_extend (struct disk *d, int64_t limit);

/* Let it end sooner: at limit, or at the sector under the head if that is
 * farther.
 */
extern void arm_shorten (struct disk *d, int64_t t_ns, int64_t limit);

/* Let it end at limit, which is not behind the head. */
extern void arm_end_at (struct disk *d, int64_t limit);

/* When sector lba - 1 of the work under way has passed. */
extern int64_t arm_passed_ns (const struct disk *d, int64_t lba);

/* When the arm is free for a command that wants it at t_ns for sector lba;
 * background work is cut short as the profile says.
 */
extern int64_t arm_claim (struct disk *d, int64_t t_ns, int64_t lba);

/* A command of another stream has come at t_ns: look-ahead stops if the
 * profile says so, whether or not the command needs the arm.
 */
extern void arm_interrupt (struct disk *d, int64_t t_ns, int64_t lba);

/* Cut a destage short at the next unit after t_ns. */
extern void arm_cut_destage (struct disk *d, int64_t t_ns);

/* Take note of work that has ended. */
extern void arm_finish (struct disk *d);

/* Sectors [lba, end) are on the media, and read well. */
extern void arm_heal (struct disk *d, int64_t lba, int64_t end);

/* idle.c */

/* Somebody comes at t_ns: what rest does he find? */
extern void idle_note (struct disk *d, int64_t t_ns);

/* When the arm, wanted at t_ns and free, can begin to move. */
extern int64_t idle_ready_ns (struct disk *d, int64_t t_ns);

/* Start to scan the media if that is due before t_ns, the arm being free. */
extern bool idle_scan (struct disk *d, int64_t t_ns);

/* background.c */

/* Run look-ahead and destage to t_ns. */
extern void background_run (struct disk *d, int64_t t_ns);

/* Start the next destage now, the arm being free.  false: nothing dirty. */
extern bool background_destage (struct disk *d, int64_t t_ns);

/* Everything in the write cache goes to the media from t_ns on; returns
 * when the last sector is there.
 */
extern int64_t background_drain (struct disk *d, int64_t t_ns);

/* When, from t_ns on, the write cache takes [lba, end). */
extern int64_t background_room (struct disk *d, int64_t t_ns, int64_t lba,
                                int64_t end);

/* Note a run that is on the media since when_ns. */
extern void background_report (struct disk *d, const struct report *report);

/* Tell the caller what has reached the media by t_ns. */
extern void background_deliver (struct disk *d, int64_t t_ns);

/* read.c, write.c: serve the command in d->service from service.start_ns
 * and fill in the rest of it.
 */
extern void serve_read (struct disk *d);
extern void serve_write (struct disk *d);
extern void serve_flush (struct disk *d);
extern void serve_trim (struct disk *d);

/* What a write or trim leaves behind, at its completion. */
extern void finish_write (struct disk *d);
extern void finish_trim (struct disk *d);

/* Charge the arm's way to the data of the command in service, from
 * *cursor on, and move *cursor to the end of the transfer at media_end_ns.
 */
extern void charge_media (struct disk *d, int64_t *cursor,
                          int64_t media_end_ns);

/* The command in service: what is left of its overhead, one of a pair. */
static inline int64_t
overhead_left (const struct disk *d, int64_t after_read_ns,
               int64_t after_write_ns)
{
  return queue_overhead_ns (d, d->service.arrival_ns, d->service.start_ns,
                            d->after_write ? after_write_ns : after_read_ns);
}

/* Charge the time from *cursor to until_ns, if any, to *part. */
static inline void
charge (int64_t *cursor, int64_t until_ns, int64_t *part)
{
  if (until_ns > *cursor) {
    *part += until_ns - *cursor;
    *cursor = until_ns;
  }
}

#endif /* SPINDLE_INTERNAL_H */
