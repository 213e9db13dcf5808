/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the bytes are: the user's raw file or block device, a sparse
 * temporary file that has no name, memory, or another NBD server.  No timing
 * here.
 *
 * Functions that fail say why with nbdkit_error and set errno.
 */
#ifndef SPINDLE_BACKING_H
#define SPINDLE_BACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nbd_handle;

struct backing {
  int fd;                       /* -1: another of these */
  char *memory;
  struct nbd_handle *nbd;
  size_t memory_bytes;
  const char *name;             /* for messages */
  bool readonly;                /* the file cannot be written */
  bool anonymous;               /* nothing to make durable */
};

/* Open `path`, or make an anonymous file when it is NULL.  At least
 * `bytes` must be there: a file that is smaller is refused.
 */
extern int backing_open (struct backing *b, const char *path, int64_t bytes);

/* Memory of this size, used up only as it is written. */
extern int backing_open_memory (struct backing *b, int64_t bytes);
extern void backing_close (struct backing *b);

/* All of [offset, offset+count), or -1. */
extern int backing_read (const struct backing *b, void *buf, size_t count,
                         uint64_t offset);
extern int backing_write (const struct backing *b, const void *buf,
                          size_t count, uint64_t offset);
extern int backing_trim (const struct backing *b, size_t count,
                         uint64_t offset);    /* reads as zeroes after */
extern int backing_sync (const struct backing *b);

#endif /* SPINDLE_BACKING_H */
