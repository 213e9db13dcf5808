/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <libnbd.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "backing-nbd.h"

/* More than that need not be taken by a server. */
#define MAX_REQUEST (32 * 1024 * 1024)

static int
failed (const struct backing *b, const char *what)
{
  int err = nbd_get_errno ();

  /* The rest is between us and that server. */
  if (err != ENOSPC && err != EPERM && err != ENOMEM)
    err = EIO;
  nbdkit_error ("%s: %s: %s", b->name, what, nbd_get_error ());
  errno = err;
  return -1;
}

static int
refused (struct backing *b)
{
  nbdkit_error ("uri=%s: %s", b->name, nbd_get_error ());
  errno = EINVAL;
  return -1;
}

int
backing_nbd_open (struct backing *b, const char *uri, int64_t bytes)
{
  int64_t there;

  *b = (struct backing) { .fd = -1, .name = uri };
  b->nbd = nbd_create ();
  if (b->nbd == NULL || nbd_connect_uri (b->nbd, uri) == -1 ||
      (there = nbd_get_size (b->nbd)) == -1)
    return refused (b);
  if (there < bytes) {
    nbdkit_error ("uri=%s has %" PRIi64 " bytes, the drive %" PRIi64, uri,
                  there, bytes);
    errno = EINVAL;
    return -1;
  }
  b->readonly = nbd_is_read_only (b->nbd) == 1;
  return 0;
}

void
backing_nbd_close (struct backing *b)
{
  nbd_shutdown (b->nbd, 0);
  nbd_close (b->nbd);
  b->nbd = NULL;
}

static size_t
part (size_t count)
{
  return count < MAX_REQUEST ? count : MAX_REQUEST;
}

int
backing_nbd_read (const struct backing *b, void *buf, size_t count,
                  uint64_t offset)
{
  for (size_t n; count > 0; count -= n, offset += n, buf = (char *) buf + n) {
    n = part (count);
    if (nbd_pread (b->nbd, buf, n, offset, 0) == -1)
      return failed (b, "read");
  }
  return 0;
}

int
backing_nbd_write (const struct backing *b, const void *buf, size_t count,
                   uint64_t offset)
{
  for (size_t n; count > 0;
       count -= n, offset += n, buf = (const char *) buf + n) {
    n = part (count);
    if (nbd_pwrite (b->nbd, buf, n, offset, 0) == -1)
      return failed (b, "write");
  }
  return 0;
}

int
backing_nbd_trim (const struct backing *b, size_t count, uint64_t offset)
{
  if (nbd_can_zero (b->nbd) != 1) {
    errno = EOPNOTSUPP;
    return -1;
  }
  for (size_t n; count > 0; count -= n, offset += n) {
    n = part (count);
    if (nbd_zero (b->nbd, n, offset, 0) == -1)
      return failed (b, "trim");
  }
  return 0;
}

int
backing_nbd_sync (const struct backing *b)
{
  if (nbd_can_flush (b->nbd) != 1 || nbd_flush (b->nbd, 0) == 0)
    return 0;
  return failed (b, "flush");
}
