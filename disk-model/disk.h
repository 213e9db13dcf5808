/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The drive as an event machine.  It has no clock: the caller says what
 * time it is, in nanoseconds since power-on, and is told when commands
 * complete.  It does no I/O, starts no thread and knows no protocol.
 *
 * The same profile, seed and sequence of calls gives the same completions
 * on every machine and compiler.
 */
#ifndef SPINDLE_DISK_H
#define SPINDLE_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

#define DISK_NEVER INT64_MAX
#define DISK_SECTOR_SIZE 512

struct disk;

enum disk_op { DISK_READ, DISK_WRITE, DISK_FLUSH, DISK_TRIM };

/* Request flags. */
#define DISK_FUA 1u

struct disk_request {
  uint64_t tag;                 /* the caller's own, handed back */
  enum disk_op op;
  unsigned flags;
  int64_t lba;                  /* ignored for DISK_FLUSH */
  int64_t sectors;              /* > 0, except for DISK_FLUSH: 0 */
};

/* Where the data of a command came from or went to. */
enum disk_hit {
  DISK_HIT_NONE,                /* not applicable: flush, trim */
  DISK_HIT_MISS,                /* the media, after positioning */
  DISK_HIT_FULL,                /* all of it was in a segment */
  DISK_HIT_STREAM,              /* joined look-ahead that was under way */
  DISK_HIT_RESTART,             /* look-ahead had stopped short; it resumed */
  DISK_HIT_DIRTY,               /* data still waiting in the write cache */
  DISK_HIT_CACHED,              /* a write taken by the write cache */
  DISK_HIT_THROUGH,             /* a write that waited for the media */
};

/* Where the time went.  The parts add up to complete_ns - arrival_ns. */
struct disk_times {
  int64_t queue_ns;             /* waiting behind other commands */
  int64_t overhead_ns;          /* the drive's controller */
  int64_t actuator_ns;          /* waiting for background work to let go */
  int64_t seek_ns;              /* arm movement and head switch */
  int64_t settle_ns;            /* extra settling before a write */
  int64_t rotation_ns;          /* waiting for the sector to come round */
  int64_t media_ns;             /* sectors passing under the head, and
                                   switches inside the transfer */
  int64_t bus_ns;               /* interface time not hidden by the media */
};

/* Background work a command met (bits of disk_completion.background). */
#define DISK_MET_LOOKAHEAD 1u   /* look-ahead was running on its arrival */
#define DISK_MET_DESTAGE   2u   /* a destage was running on its arrival */
#define DISK_MET_FULL      4u   /* the write cache had no room */
#define DISK_MET_SCAN      8u   /* the media were being scanned */
#define DISK_MET_REST     16u   /* heads unloaded, or the platters slow or
                                   still */
#define DISK_MET_STALL    32u   /* the drive was finding its tracks again */
#define DISK_MET_RETRY    64u   /* a sector was read more than once */

struct disk_completion {
  struct disk_request request;
  int64_t arrival_ns;           /* when disk_submit was called */
  int64_t start_ns;             /* when the drive took it up */
  int64_t complete_ns;
  struct disk_times times;
  enum disk_hit hit;
  int segment;                  /* segment used, or -1 */
  unsigned background;
  int error;                    /* 0, or EIO: the media could not be read */
  int64_t error_lba;            /* the first sector that could not, or -1 */
  unsigned retries;             /* revolutions spent on sectors read badly */
};

struct disk_stats {
  int64_t reads, writes, flushes, trims;
  int64_t sectors_read, sectors_written;
  int64_t hits, stream_hits, misses, restarts;
  int64_t seeks;                /* arm movements, background included */
  int64_t seek_ns, rotation_ns, media_ns, bus_ns;
  int64_t destages, sectors_destaged;
  int64_t media_sectors_read;   /* look-ahead included */
  int64_t dirty_sectors;        /* now waiting in the write cache */
  int64_t max_queued;
  int64_t errors, retries;      /* reads that failed; revolutions on retries */
  int64_t healed_sectors;       /* bad ones that have been written */
  int64_t pending_sectors;      /* now known to be bad */
  int64_t reallocated_sectors;  /* of the healed ones: moved to a spare */
  int64_t unloads, slowdowns, standbys; /* that somebody came back from */
  int64_t stalls;
  int64_t scanned_sectors;
  int64_t power_cuts;
};

/* Create a drive.  The profile is copied.  seed decides the angle of the
 * platter at time 0 and everything else the profile calls random.
 * Returns NULL with errno set when memory is short.
 */
extern struct disk *disk_new (const struct profile *profile, uint64_t seed);
extern void disk_free (struct disk *disk);

/* Put a command in the drive's queue at time now_ns, which may not be
 * earlier than any time given before; completions due before now_ns must
 * have been taken with disk_advance.  Returns 0, or -1 with errno: EINVAL
 * (unknown op, LBA range outside the drive, time going backwards), EAGAIN
 * (DISK_MAX_QUEUE commands waiting).
 */
#define DISK_MAX_QUEUE 256
extern int disk_submit (struct disk *disk, int64_t now_ns,
                        const struct disk_request *request);

/* The earliest time at which disk_advance would have a completion, if
 * nothing else is submitted; DISK_NEVER when the drive has no command.
 * A later submission may move it either way.
 */
extern int64_t disk_next_event (const struct disk *disk);

/* Run the drive to time t_ns.  If a command completes at or before t_ns,
 * fill *completion with the earliest one and return true: call again until
 * it returns false, then the drive stands at t_ns.
 */
extern bool disk_advance (struct disk *disk, int64_t t_ns,
                          struct disk_completion *completion);

/* Called from disk_submit and disk_advance, in order of when_ns, for every
 * run of sectors of completed *cached* writes that has reached the media.
 * It always comes after the completion of the write it belongs to.
 */
typedef void disk_destaged_fn (void *opaque, int64_t lba, int64_t sectors,
                               int64_t when_ns);
extern void disk_on_destaged (struct disk *disk, disk_destaged_fn *fn,
                              void *opaque);

/* Power.  A cut at now_ns loses what is only in the write cache and every
 * command that has not completed; the runs that had reached the media by
 * then, parts of commands under way included, are told through
 * disk_on_destaged first.  torn_lba: the sector that was being written, or
 * -1.  Without power nothing can be submitted (ENODEV).  After
 * disk_power_on the drive takes power.spin_up_ns before it serves the first
 * command.
 */
struct disk_cut {
  int64_t torn_lba;
};
extern void disk_power_cut (struct disk *disk, int64_t now_ns,
                            struct disk_cut *cut);
extern void disk_power_on (struct disk *disk, int64_t now_ns);

/* Sectors that do not read well, from the from_command-th command of the
 * drive on (0: at once).  A weak one takes `retries` more revolutions each
 * time; a hard one is tried until media.retries or media.timeout_ns of the
 * profile are used up, and then is an error, and pending.  Writing heals: a
 * weak sector where it is; a hard one is moved to a spare at the end of the
 * drive, where the head goes from then on.  At most DISK_MAX_FAULTS runs;
 * when so many sectors have been moved there are no spares left, and writing
 * heals in place.  Returns -1 with errno: EINVAL (range), ENOSPC.
 */
#define DISK_MAX_FAULTS 1024
#define DISK_FAULT_HARD UINT32_MAX
extern int disk_add_fault (struct disk *disk, int64_t lba, int64_t sectors,
                           uint32_t retries, int64_t from_command);

/* Take the overheads and whether there are look-ahead and a write cache
 * from another profile of this drive.  Returns -1 with errno: EBUSY (it has
 * commands), ENOTEMPTY (the write cache to turn off holds something).
 */
extern int disk_change (struct disk *disk, const struct profile *profile);

/* Where the arm is, or is on its way to. */
extern int64_t disk_cylinder (const struct disk *disk);

extern const struct disk_stats *disk_get_stats (struct disk *disk);

extern const char *disk_op_name (enum disk_op op);
extern const char *disk_hit_name (enum disk_hit hit);

#endif /* SPINDLE_DISK_H */
