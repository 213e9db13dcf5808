/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the medium holds where the write cache has something newer.
 *
 * Every write goes to the backing at once, so that nothing is lost when
 * the plugin dies.  But a cached write is not on the emulated medium until
 * the drive has destaged it, and until then the old content is kept here.
 * Putting it back is what a cut of the emulated power does.
 *
 * A write is pending until it completes.  One that goes through the cache
 * is forgotten then, a cached one is accepted.  Accepted content is kept
 * per sector, the oldest only: that is what the medium still has.  Two
 * writes of the same sector complete in the order of undo_pending.
 *
 * The caller locks.
 */
#ifndef SPINDLE_UNDO_H
#define SPINDLE_UNDO_H

#include <stdbool.h>
#include <stdint.h>

struct undo;
struct undo_write;

/* cache_sectors: how many sectors the write cache holds.  NULL: no memory. */
extern struct undo *undo_new (int64_t cache_sectors);
extern void undo_free (struct undo *u);

/* A write command; the caller puts what it is about to overwrite into
 * undo_write_old.  through: it goes to the medium, past the cache.  Returns
 * NULL when memory is short.  Needs no lock.
 */
extern struct undo_write *undo_write_new (int64_t lba, int64_t sectors,
                                          bool through);
extern void *undo_write_old (struct undo_write *w);
extern void undo_write_free (struct undo_write *w);

/* The write is in the drive's queue under the name `tag`; w is ours now. */
extern void undo_pending (struct undo *u, uint64_t tag,
                          struct undo_write *w);

/* It completed from the cache. */
extern void undo_accepted (struct undo *u, uint64_t tag);

/* A command, pending here or not, has put these sectors on the medium and
 * completed.
 */
extern void undo_passed (struct undo *u, uint64_t tag,
                         int64_t lba, int64_t sectors);

/* The newest accepted content of these sectors has reached the medium. */
extern void undo_destaged (struct undo *u, int64_t lba, int64_t sectors);

/* These sectors were written behind the drive's back: whatever is in
 * flight, nothing older is ever put back there.
 */
extern void undo_forget (struct undo *u, int64_t lba, int64_t sectors);

/* The drive stops half-way: these sectors, the last that reached the medium,
 * were the newest accepted content or, if a pending write that goes through
 * begins there, the first sectors of that one.
 */
extern void undo_stopped (struct undo *u, int64_t lba, int64_t sectors);

/* Give fn every sector (512 bytes) to put back; where one comes twice, the
 * later call counts.  Afterwards nothing is kept any more.  Returns -1 as
 * soon as fn does; calling it again is harmless.
 */
typedef int undo_restore_fn (void *opaque, int64_t lba, const void *old);
extern int undo_restore (struct undo *u, undo_restore_fn *fn, void *opaque);

/* The same for a write that has not been handed over, in order of LBA. */
extern int undo_write_restore (const struct undo_write *w,
                               undo_restore_fn *fn, void *opaque);

/* Memory held, in bytes of sector content; how many sectors have been
 * accepted, and are not on the medium.
 */
extern int64_t undo_bytes (const struct undo *u);
extern int64_t undo_accepted_sectors (const struct undo *u);

#endif /* SPINDLE_UNDO_H */
