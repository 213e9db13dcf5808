/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drive-managed shingled recording, as far as it shows from outside.
 *
 * The media are bands that can only be rewritten whole.  What the write
 * cache destages is appended to a log, the persistent cache, at the outer
 * edge; a map says which sectors are there.  When the drive has been idle
 * for a while, or the log or the map is full, it cleans: it takes the band
 * of the oldest run, reads it, and writes it back with what the log has for
 * it.  What is written in order from the start of a band on goes straight
 * to it.
 *
 * What is left out: the map's own writes (a time per destage stands for
 * them), merging bands, and moving data between bands.  After Aghayev and
 * Desnoyers, "Skylight: a window on shingled disk operation", FAST 2015.
 */
#ifndef SPINDLE_SMR_H
#define SPINDLE_SMR_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

/* A run of sectors whose newest copy is in the log, at `log`. */
struct shingled {
  int64_t lba, end, log;
  uint64_t order;
};

struct smr {
  bool enabled;
  int64_t capacity;             /* of the drive, in sectors */
  int64_t band;                 /* sectors of a band */
  int64_t log_size, log_head, log_used;
  int64_t in_order;             /* where writing in order goes on */
  struct shingled *map;         /* sorted by LBA, not overlapping */
  int n, max;
  uint64_t next_order;
};

extern int smr_init (struct smr *s, const struct profile_smr *profile,
                     int64_t capacity);
extern void smr_free (struct smr *s);

/* Does a run that begins at lba go to the log, and is there room for it? */
extern bool smr_logs (const struct smr *s, int64_t lba);
extern bool smr_has_room (const struct smr *s, int64_t sectors);

/* Where in the log a run of so many sectors goes, `skip` sectors from the
 * last one on: the head is past those by now.
 */
extern int64_t smr_place (struct smr *s, int64_t sectors, int64_t skip);

/* [lba, end) has been written at `log`. */
extern void smr_note (struct smr *s, int64_t lba, int64_t end, int64_t log);

/* The part of [lba, end) that is in the log and comes first; NULL if none. */
extern const struct shingled *smr_find (const struct smr *s, int64_t lba,
                                        int64_t end);

/* The band to clean next, as [*lba, *end); false when the log is empty. */
extern bool smr_oldest_band (const struct smr *s, int64_t *lba,
                             int64_t *end);

/* [lba, end) has been written where it belongs. */
extern void smr_settle (struct smr *s, int64_t lba, int64_t end);

#endif /* SPINDLE_SMR_H */
