/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A disk seen from outside: commands go in, and come back after a while.
 * It is the model itself, an NBD export, or a block device or file.
 *
 * Commands are in slots, 0 to TARGET_SLOTS - 1, each with a buffer of its
 * own.  A write puts back what the slot's last read has brought: nothing
 * else can be written, so that the data on the disk stay what they are.
 * (The model has no data.)
 */
#ifndef SPINDLE_TARGET_H
#define SPINDLE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "disk.h"

#define TARGET_SLOTS 64

struct target;

struct target_info {
  const char *name;
  int64_t sectors;              /* of 512 bytes */
  int64_t unit;                 /* requests are multiples of so many */
  int depth;                    /* outstanding at most */
  bool virtual_time;            /* waiting costs nothing */
  bool writable, can_flush, can_fua;
  bool no_data;                 /* anything may be written */
};

/* The three kinds.  NULL after a message. */
struct target *target_model (const struct profile *profile, uint64_t seed);

/* clock_page: the plugin's, for virtual time; or NULL.  Without `write' the
 * target is not writable, whatever the server says.
 */
struct target *target_nbd (const char *uri, const char *clock_page,
                           bool write);

/* Past the page cache.  A block device that is in use, mounted for example,
 * is not opened for writing.
 */
struct target *target_file (const char *path, bool write);

void target_close (struct target *t);

const struct target_info *target_info (const struct target *t);

/* Nanoseconds on the target's clock. */
int64_t target_now_ns (const struct target *t);

/* Do nothing for a while. */
void target_wait (struct target *t, int64_t ns);

/* Send a command from a free slot now.  lba and sectors are ignored by a
 * flush.  Returns -1 after a message.
 */
int target_submit (struct target *t, int slot, enum disk_op op,
                   unsigned flags, int64_t lba, int64_t sectors);

/* Wait for the next command to come back.  Returns its slot, or -1 after a
 * message; *done_ns is the time.
 */
int target_take (struct target *t, int64_t *done_ns);

/* Send one and wait for it: how long it took in ns, or -1. */
int64_t target_do (struct target *t, int slot, enum disk_op op,
                   unsigned flags, int64_t lba, int64_t sectors);
int64_t target_read (struct target *t, int64_t lba, int64_t sectors);

/* The model's own account of the command last taken; NULL if the target is
 * not the model.
 */
const struct disk_completion *target_completion (const struct target *t);

#endif /* SPINDLE_TARGET_H */
