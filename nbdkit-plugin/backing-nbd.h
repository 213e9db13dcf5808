/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A backing that another NBD server has: qemu-nbd for a qcow2 image, say.
 * As in backing.h, functions that fail say why and set errno.
 */
#ifndef SPINDLE_BACKING_NBD_H
#define SPINDLE_BACKING_NBD_H

#include <stdint.h>

#include "backing.h"

/* Connect to the server at `uri`, which must have at least `bytes`. */
extern int backing_nbd_open (struct backing *b, const char *uri,
                             int64_t bytes);
extern void backing_nbd_close (struct backing *b);
extern int backing_nbd_read (const struct backing *b, void *buf, size_t count,
                             uint64_t offset);
extern int backing_nbd_write (const struct backing *b, const void *buf,
                              size_t count, uint64_t offset);

/* Returns -1 with errno = EOPNOTSUPP when the server has no such request. */
extern int backing_nbd_trim (const struct backing *b, size_t count,
                             uint64_t offset);
extern int backing_nbd_sync (const struct backing *b);

#endif /* SPINDLE_BACKING_NBD_H */
