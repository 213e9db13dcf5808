/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The read buffer: segments, each a ring that holds the last sectors of one
 * stream.
 */
#ifndef SPINDLE_SEGMENTS_H
#define SPINDLE_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

struct segment {
  int64_t start, end;           /* valid [start, end); empty if equal */
  int64_t origin;               /* where the stream began */
  bool stream;                  /* a second command has come for it */
  uint64_t used;                /* when last, for LRU */
};

struct segments {
  int n;
  int64_t capacity;             /* sectors of each */
  int64_t shared;               /* adaptive: sectors of all; else 0 */
  uint64_t clock;
  struct segment v[PROFILE_MAX_SEGMENTS];
};

/* The segment that holds sector lba, or would take it next (lba is its
 * end): one that holds all of [lba, end) if there is, else the one that
 * holds most; -1 if none.
 */
extern int segments_find (const struct segments *s, int64_t lba, int64_t end);

/* Take the least recently used of the first `usable` segments for a new
 * stream at lba.  The others have lost their room to the write cache.
 */
extern int segments_take (struct segments *s, int usable, int64_t lba);

extern void segments_touch (struct segments *s, int segment);

/* The media have been read up to `end`: drop what the ring overwrites. */
extern void segments_extend (struct segments *s, int segment, int64_t end);

/* Drop the segments that hold sectors being written. */
extern void segments_forget (struct segments *s, int64_t lba, int64_t end);

#endif /* SPINDLE_SEGMENTS_H */
