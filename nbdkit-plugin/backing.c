/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "backing-nbd.h"
#include "backing.h"

/* A file without a name.  Not every file system has O_TMPFILE. */
static int
open_unnamed (const char *dir)
{
  char path[4096];
  int fd;

  fd = open (dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0)
    return fd;

  if (snprintf (path, sizeof path, "%s/spindleXXXXXX", dir)
      >= (int) sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  fd = mkostemp (path, O_CLOEXEC);
  if (fd >= 0)
    unlink (path);
  return fd;
}

static int
open_anonymous (struct backing *b, int64_t bytes)
{
  const char *dir = getenv ("TMPDIR");

  if (dir == NULL || dir[0] == '\0')
    dir = "/var/tmp";           /* may be as large as the drive */
  b->name = "temporary file";
  b->anonymous = true;
  b->fd = open_unnamed (dir);
  if (b->fd == -1) {
    nbdkit_error ("cannot make a temporary file in %s: %m", dir);
    return -1;
  }
  if (ftruncate (b->fd, bytes) == -1) {
    nbdkit_error ("cannot make a sparse file of %" PRIi64 " bytes in %s: %m",
                  bytes, dir);
    return -1;
  }
  return 0;
}

/* Two drives on one image would each undo what the other has done. */
static int
lock (struct backing *b, const char *path)
{
  struct flock l = {
    .l_type = b->readonly ? F_RDLCK : F_WRLCK, .l_whence = SEEK_SET,
    .l_len = 1,
  };

  if (fcntl (b->fd, F_OFD_SETLK, &l) == 0 ||
      (errno != EAGAIN && errno != EACCES))
    return 0;                   /* some file systems have no locks */
  nbdkit_error ("file=%s is in use by another drive", path);
  close (b->fd);
  b->fd = -1;
  return -1;
}

static int
open_named (struct backing *b, const char *path, int64_t bytes)
{
  struct stat st;
  off_t size;

  b->name = path;
  b->fd = open (path, O_RDWR | O_CLOEXEC);
  if (b->fd == -1 && (errno == EACCES || errno == EROFS || errno == EPERM)) {
    b->readonly = true;
    b->fd = open (path, O_RDONLY | O_CLOEXEC);
  }
  if (b->fd == -1) {
    if (errno == ENOENT)
      nbdkit_error ("file=%s does not exist; make it with: "
                    "truncate -s %" PRIi64 " %s", path, bytes, path);
    else
      nbdkit_error ("file=%s: %m", path);
    return -1;
  }

  if (fstat (b->fd, &st) == 0 && !S_ISREG (st.st_mode) &&
      !S_ISBLK (st.st_mode)) {
    nbdkit_error ("file=%s is neither a file nor a block device", path);
    errno = EINVAL;
    return -1;
  }
  if (lock (b, path) == -1)
    return -1;
  size = lseek (b->fd, 0, SEEK_END);
  if (size == -1) {
    nbdkit_error ("file=%s: %m", path);
    return -1;
  }
  if (size < bytes) {
    nbdkit_error ("file=%s has %jd bytes, the drive %" PRIi64 "; "
                  "enlarge it with: truncate -s %" PRIi64 " %s",
                  path, (intmax_t) size, bytes, bytes, path);
    errno = EINVAL;
    return -1;
  }
  return 0;
}

int
backing_open (struct backing *b, const char *path, int64_t bytes)
{
  int r;

  *b = (struct backing) { .fd = -1 };
  r = path ? open_named (b, path, bytes) : open_anonymous (b, bytes);
  if (r == -1)
    backing_close (b);
  return r;
}

/* Reading what was never written costs nothing: private pages are all the
 * page of zeroes until then, which those of a memfd are not.
 */
int
backing_open_memory (struct backing *b, int64_t bytes)
{
  void *p = mmap (NULL, (size_t) bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  *b = (struct backing) { .fd = -1, .name = "memory", .anonymous = true };
  if (p == MAP_FAILED) {
    nbdkit_error ("cannot have %" PRIi64 " bytes of memory: %m", bytes);
    return -1;
  }
  /* A sector would take 2 MiB. */
  madvise (p, (size_t) bytes, MADV_NOHUGEPAGE);
  b->memory = p;
  b->memory_bytes = (size_t) bytes;
  return 0;
}

void
backing_close (struct backing *b)
{
  if (b->fd >= 0)
    close (b->fd);
  if (b->memory)
    munmap (b->memory, b->memory_bytes);
  if (b->nbd)
    backing_nbd_close (b);
  b->fd = -1;
  b->memory = NULL;
}

/* The last read or write gave r: report what is wrong. */
static int
failed (const struct backing *b, const char *what, ssize_t r)
{
  int err = r == 0 ? EIO : errno;

  errno = err;
  if (r == 0)
    nbdkit_error ("%s: %s: the file has become shorter", b->name, what);
  else
    nbdkit_error ("%s: %s: %m", b->name, what);
  errno = err;
  return -1;
}

int
backing_read (const struct backing *b, void *buf, size_t count,
              uint64_t offset)
{
  if (b->memory) {
    memcpy (buf, b->memory + offset, count);
    return 0;
  }
  if (b->nbd)
    return backing_nbd_read (b, buf, count, offset);
  while (count > 0) {
    ssize_t r = pread (b->fd, buf, count, (off_t) offset);

    if (r == -1 && errno == EINTR)
      continue;
    if (r <= 0)
      return failed (b, "read", r);
    buf = (char *) buf + r;
    count -= (size_t) r;
    offset += (uint64_t) r;
  }
  return 0;
}

int
backing_write (const struct backing *b, const void *buf, size_t count,
               uint64_t offset)
{
  if (b->memory) {
    memcpy (b->memory + offset, buf, count);
    return 0;
  }
  if (b->nbd)
    return backing_nbd_write (b, buf, count, offset);
  while (count > 0) {
    ssize_t r = pwrite (b->fd, buf, count, (off_t) offset);

    if (r == -1 && errno == EINTR)
      continue;
    if (r <= 0)
      return failed (b, "write", r);
    buf = (const char *) buf + r;
    count -= (size_t) r;
    offset += (uint64_t) r;
  }
  return 0;
}

static int
write_zeroes (const struct backing *b, size_t count, uint64_t offset)
{
  static const char zeroes[64 * 1024];

  while (count > 0) {
    size_t n = count < sizeof zeroes ? count : sizeof zeroes;

    if (backing_write (b, zeroes, n, offset) == -1)
      return -1;
    count -= n;
    offset += n;
  }
  return 0;
}

/* Whole pages are given back; the rest becomes zero. */
static int
trim_memory (const struct backing *b, size_t count, uint64_t offset)
{
  const size_t page = (size_t) sysconf (_SC_PAGESIZE);
  const size_t end = offset + count;
  size_t first = (offset + page - 1) / page * page, last = end / page * page;

  if (first >= last || madvise (b->memory + first, last - first,
                                MADV_DONTNEED) == -1)
    first = last = end;
  memset (b->memory + offset, 0, first - offset);
  memset (b->memory + last, 0, end - last);
  return 0;
}

int
backing_trim (const struct backing *b, size_t count, uint64_t offset)
{
  int r;

  if (count == 0)
    return 0;
  if (b->memory)
    return trim_memory (b, count, offset);
  do
    r = b->nbd ? backing_nbd_trim (b, count, offset) :
      fallocate (b->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                 (off_t) offset, (off_t) count);
  while (r == -1 && errno == EINTR);
  if (r == 0)
    return 0;
  /* EINVAL: a block device wants larger units. */
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == ENODEV ||
      errno == EINVAL)
    return write_zeroes (b, count, offset);
  return failed (b, "trim", r);
}

int
backing_sync (const struct backing *b)
{
  if (b->nbd)
    return backing_nbd_sync (b);
  if (b->anonymous || fdatasync (b->fd) == 0)
    return 0;
  return failed (b, "fdatasync", -1);
}
