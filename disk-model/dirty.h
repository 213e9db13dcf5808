/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the write cache holds: runs of sectors not yet on the media, sorted
 * by LBA, never touching each other.
 */
#ifndef SPINDLE_DIRTY_H
#define SPINDLE_DIRTY_H

#include <stdbool.h>
#include <stdint.h>

struct extent {
  int64_t lba, end;             /* [lba, end) */
  uint64_t order;               /* of arrival; the oldest part counts */
  bool edges_read;              /* the rest of its physical sectors is known */
};

struct dirty {
  struct extent *extents;
  int n, max;                   /* max: without the spare entry a split needs */
  int64_t sectors;
  uint64_t next_order;
};

extern int dirty_init (struct dirty *d, int max);
extern void dirty_free (struct dirty *d);

/* Index of the first extent that ends after lba; d->n if none. */
extern int dirty_find (const struct dirty *d, int64_t lba);

extern bool dirty_contains (const struct dirty *d, int64_t lba, int64_t end);
extern bool dirty_overlaps (const struct dirty *d, int64_t lba, int64_t end);

/* Is there an entry for [lba, end), new or to be joined? */
extern bool dirty_has_entry (const struct dirty *d, int64_t lba, int64_t end);

/* Add sectors, joining what they touch.  Needs dirty_has_entry. */
extern void dirty_add (struct dirty *d, int64_t lba, int64_t end);

/* Take sectors out; a run in the middle of an extent splits it. */
extern void dirty_remove (struct dirty *d, int64_t lba, int64_t end);

#endif /* SPINDLE_DIRTY_H */
