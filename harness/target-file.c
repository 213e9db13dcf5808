/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A block device or a file as a target, past the page cache.  The kernel's
 * own asynchronous requests, without a library.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spindle.h"
#include "target-impl.h"

#define MAX_DEPTH 32

struct file {
  struct target target;
  int fd;
  aio_context_t aio;
  struct iocb requests[TARGET_SLOTS];
  char *path;
};

static int
failed (const struct file *f, int error)
{
  complain ("%s: %s", f->path, strerror (error));
  return -1;
}

static int
submit (struct target *t, int slot)
{
  struct file *f = (struct file *) t;
  const struct target_slot *s = &t->slots[slot];
  struct iocb *r = &f->requests[slot];

  *r = (struct iocb) {
    .aio_data = (uint64_t) slot,
    .aio_lio_opcode = s->op == DISK_READ ? IOCB_CMD_PREAD
      : s->op == DISK_WRITE ? IOCB_CMD_PWRITE : IOCB_CMD_FDSYNC,
    .aio_fildes = (uint32_t) f->fd,
    .aio_rw_flags = s->op == DISK_WRITE && s->flags & DISK_FUA ? RWF_DSYNC
                                                                : 0,
  };
  if (s->op != DISK_FLUSH) {
    r->aio_buf = (uint64_t) (uintptr_t) s->data;
    r->aio_nbytes = (uint64_t) s->sectors * DISK_SECTOR_SIZE;
    r->aio_offset = s->lba * DISK_SECTOR_SIZE;
  }
  if (syscall (SYS_io_submit, f->aio, 1L, &r) == 1)
    return 0;
  return failed (f, errno);
}

static int
take (struct target *t, int64_t *done_ns)
{
  struct file *f = (struct file *) t;
  struct io_event event;
  int64_t expected;
  long r;

  do
    r = syscall (SYS_io_getevents, f->aio, 1L, 1L, &event, NULL);
  while (r == -1 && errno == EINTR);
  *done_ns = target_host_ns (t);
  if (r != 1)
    return failed (f, errno);
  expected = t->slots[event.data].sectors * DISK_SECTOR_SIZE;
  if (event.res != expected)
    return failed (f, event.res < 0 ? (int) -event.res : EIO);
  return (int) event.data;
}

static void
close_file (struct target *t)
{
  struct file *f = (struct file *) t;

  if (f->aio)
    syscall (SYS_io_destroy, f->aio);
  if (f->fd != -1)
    close (f->fd);
  free (f->path);
}

static const struct target_ops ops = {
  .submit = submit, .take = take, .now_ns = target_host_ns,
  .close = close_file,
};

/* The smallest request: what the device says, or what works. */
static int
find_unit (struct file *f, bool is_device)
{
  int bytes = DISK_SECTOR_SIZE;

  if (is_device && ioctl (f->fd, BLKSSZGET, &bytes) == -1)
    return failed (f, errno);
  f->target.info.unit = bytes / DISK_SECTOR_SIZE;
  if (!is_device) {
    void *data;
    ssize_t n = -1;

    if (posix_memalign (&data, 4096, 4096) == 0) {
      n = pread (f->fd, data, DISK_SECTOR_SIZE, 0);
      if (n == -1 && errno == EINVAL) {
        f->target.info.unit = 4096 / DISK_SECTOR_SIZE;
        n = pread (f->fd, data, 4096, 0);
      }
      free (data);
    }
    if (n == -1)
      return failed (f, errno);
  }
  return 0;
}

static int
fill_info (struct file *f, bool write)
{
  struct stat st;
  uint64_t bytes;
  bool is_device;

  if (fstat (f->fd, &st) == -1)
    return failed (f, errno);
  is_device = S_ISBLK (st.st_mode);
  bytes = (uint64_t) st.st_size;
  if (is_device && ioctl (f->fd, BLKGETSIZE64, &bytes) == -1)
    return failed (f, errno);
  f->target.info = (struct target_info) {
    .name = f->path,
    .sectors = (int64_t) (bytes / DISK_SECTOR_SIZE),
    .depth = MAX_DEPTH,
    .writable = write, .can_flush = write, .can_fua = write,
  };
  if (f->target.info.sectors > 0 && find_unit (f, is_device) == -1)
    return -1;
  if (syscall (SYS_io_setup, TARGET_SLOTS, &f->aio) == -1)
    return failed (f, errno);
  return 0;
}

static int
open_file (struct file *f, bool write)
{
  int flags = O_DIRECT | O_CLOEXEC | (write ? O_RDWR : O_RDONLY);
  struct stat st;

  if (stat (f->path, &st) == -1)
    return failed (f, errno);
  if (S_ISDIR (st.st_mode))
    return failed (f, EISDIR);
  if (!S_ISBLK (st.st_mode) && !S_ISREG (st.st_mode)) {
    complain ("%s: neither a block device nor a file", f->path);
    return -1;
  }
  if (write && S_ISBLK (st.st_mode))
    flags |= O_EXCL;            /* not while it is mounted */
  f->fd = open (f->path, flags);
  if (f->fd != -1)
    return 0;
  if (errno == EINVAL) {
    complain ("%s: on a file system that cannot go past the page cache",
              f->path);
    return -1;
  }
  return failed (f, errno);
}

struct target *
target_file (const char *path, bool write)
{
  struct file *f = allocate (1, sizeof *f);

  f->path = format ("%s", path);
  f->fd = -1;
  f->target.ops = &ops;
  if (open_file (f, write) == 0 && fill_info (f, write) == 0)
    return &f->target;
  target_close (&f->target);
  return NULL;
}
