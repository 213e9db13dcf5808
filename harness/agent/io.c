// SPDX-License-Identifier: BSD-3-Clause
//
// The workloads: sequential, random and interleaved transfers.

#include "io.h"
#include "report.h"
#include "sys.h"
#include "text.h"

enum {
  SECTOR = 512, MAX_BLOCK = 4 << 20, ALIGN = 1 << 20, MAX_STREAMS = 64,
};

enum fsync_when { FSYNC_NEVER, FSYNC_END, FSYNC_EACH };

struct workload {
  const char *name;
  bool write, direct, random;
  int64_t block_bytes, total_bytes, offset, span_bytes, limit_ns;
  uint64_t seed;
  int streams;
  enum fsync_when fsync;
};

struct progress {
  int64_t bytes, requests, ns;
  long error;                   /* -errno of the last transfer, or 0 */
};

static char *
buffer (void)
{
  static char *aligned;

  if (aligned == NULL) {
    char *raw = sys_map (MAX_BLOCK + ALIGN);

    if (raw != NULL)
      aligned = raw + (-(uintptr_t) raw & (ALIGN - 1));
  }
  return aligned;
}

static void
parse (struct workload *w, const struct disk *disk, struct step *step)
{
  static const char *const modes[] = { "buffered", "direct", NULL };
  static const char *const patterns[] = { "seq", "random", NULL };
  static const char *const fsyncs[] = { "0", "1", "each", NULL };
  const int64_t size = disk->size_bytes;
  int64_t rest;

  w->name = step_text (step, "name");
  if (w->name == NULL)
    step->problem = "name is missing";
  w->direct = step_choice (step, "mode", modes, -1) == 1;
  w->random = step_choice (step, "pattern", patterns, -1) == 1;
  w->block_bytes = step_number (step, "block", -1, 1, MAX_BLOCK);
  w->total_bytes = step_number (step, "bytes", -1, 1, INT64_MAX);
  w->offset = step_number (step, "offset", 0, 0, size - 1);
  rest = size - w->offset;
  w->span_bytes = step_number (step, "span", rest, 1, rest);
  w->seed = step_number (step, "seed", 1, 0, INT64_MAX);
  w->limit_ns = step_number (step, "ms", 0, 0, 1000000000) * 1000000;
  w->streams = step_number (step, "streams", 1, 1, MAX_STREAMS);
  if (w->write)
    w->fsync = step_choice (step, "fsync", fsyncs, FSYNC_NEVER);
  step_check_unknown (step);
  if (step->problem != NULL)
    return;
  if ((w->write || w->direct) && (w->block_bytes | w->offset) % SECTOR != 0)
    step->problem = "block and offset must be whole sectors";
  else if (w->random && w->streams > 1)
    step->problem = "streams are sequential";
  else if (text_divide (w->span_bytes, w->streams, &(uint32_t) { 0 })
           < (uint64_t) w->block_bytes)
    step->problem = "span is smaller than a block of every stream";
}

/* splitmix64: 64 bits of state, one number a call. */
static uint64_t
random_next (uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

/* Where transfers go: each stream has its part of the span, whole blocks. */
struct cursor {
  uint64_t state;
  uint32_t blocks;              /* in a stream's part */
  int64_t part_bytes;
  uint32_t next[MAX_STREAMS];
  int stream;
};

static void
cursor_start (struct cursor *c, const struct workload *w)
{
  uint32_t rest;
  uint64_t part = text_divide (w->span_bytes, w->streams, &rest);
  uint64_t blocks = text_divide (part, w->block_bytes, &rest);

  c->state = w->seed;
  c->blocks = blocks > UINT32_MAX ? UINT32_MAX : blocks;
  c->part_bytes = (int64_t) c->blocks * w->block_bytes;
  c->stream = 0;
  for (int i = 0; i < w->streams; i++)
    c->next[i] = 0;
}

/* The next offset; *stream tells which descriptor to use. */
static int64_t
cursor_next (struct cursor *c, const struct workload *w, int *stream)
{
  uint32_t block;

  *stream = c->stream;
  if (w->random)
    block = (random_next (&c->state) >> 32) * c->blocks >> 32;
  else {
    block = c->next[c->stream];
    c->next[c->stream] = block + 1 == c->blocks ? 0 : block + 1;
    c->stream = c->stream + 1 == w->streams ? 0 : c->stream + 1;
  }
  return w->offset + *stream * c->part_bytes + block * w->block_bytes;
}

/* A written sector is its LBA and the seed (8 bytes each, little endian),
 * then 32-bit words that depend on the seed alone: only the LBA has to be
 * stamped while time is measured. */
static void
fill_pattern (char *buf, const struct workload *w)
{
  uint32_t *word = (uint32_t *) buf;

  for (int64_t i = 0; i < w->block_bytes / 4; i++)
    word[i] = ((uint32_t) (i % 128) + (uint32_t) w->seed) * 2654435761U;
  for (int64_t i = 0; i < w->block_bytes; i += SECTOR)
    *(uint64_t *) (buf + i + 8) = w->seed;
}

static void
stamp (char *buf, int64_t bytes, int64_t offset)
{
  int64_t lba = offset / SECTOR;

  for (int64_t i = 0; i < bytes; i += SECTOR)
    *(int64_t *) (buf + i) = lba++;
}

/* Gives the bytes moved or -errno. */
static long
transfer (const struct workload *w, int fd, char *buf, int64_t bytes,
          int64_t offset)
{
  long n, error;

  if (!w->write)
    return sys_pread (fd, buf, bytes, offset);
  stamp (buf, bytes, offset);
  n = sys_pwrite (fd, buf, bytes, offset);
  if (n >= 0 && w->fsync == FSYNC_EACH) {
    error = sys1 (SYS_FSYNC, fd);
    if (error < 0)
      return error;
  }
  return n;
}

static void
loop (const struct workload *w, const int *fds, char *buf,
      struct progress *p)
{
  struct cursor cursor;
  const int64_t start_ns = sys_now_ns ();

  cursor_start (&cursor, w);
  while (p->bytes < w->total_bytes) {
    int64_t left = w->total_bytes - p->bytes;
    int64_t bytes = left < w->block_bytes ? left : w->block_bytes;
    int stream;
    int64_t offset = cursor_next (&cursor, w, &stream);
    long n = transfer (w, fds[stream], buf, bytes, offset);

    p->requests++;
    if (n <= 0) {
      p->error = n == 0 ? -SYS_EIO : n;
      break;
    }
    p->bytes += n;
    if (w->limit_ns != 0 && sys_now_ns () - start_ns >= w->limit_ns)
      break;
  }
  if (w->fsync == FSYNC_END && p->error == 0)
    p->error = sys1 (SYS_FSYNC, fds[0]);
  p->ns = sys_now_ns () - start_ns;
}

/* Each stream has its own descriptor: readahead state is kept there. */
static long
open_streams (const struct workload *w, const struct disk *disk, int *fds)
{
  int flags = (w->write ? O_RDWR : O_RDONLY) | (w->direct ? O_DIRECT : 0);

  for (int i = 0; i < w->streams; i++) {
    fds[i] = sys_open (disk->path, flags);
    if (fds[i] < 0) {
      long error = fds[i];

      while (i-- > 0)
        sys_close (fds[i]);
      return error;
    }
  }
  return 0;
}

static void
report_result (const struct workload *w, const struct progress *p)
{
  report_begin ("result");
  report_text ("name", w->name);
  report_text ("op", w->write ? "write" : "read");
  report_number ("bytes", p->bytes);
  report_number ("requests", p->requests);
  report_number ("ns", p->ns);
  report_text ("status", p->error == 0 ? "ok" : "error");
  if (p->error != 0)
    report_number ("errno", -p->error);
  report_end ();
}

long
io_run (const struct disk *disk, struct step *step, bool write)
{
  struct workload w = { .write = write };
  struct progress p = { .bytes = 0 };
  int fds[MAX_STREAMS];
  char *buf = buffer ();
  long error;

  parse (&w, disk, step);
  if (step->problem != NULL)
    return -SYS_EINVAL;
  if (buf == NULL)
    return -SYS_E2BIG;
  error = open_streams (&w, disk, fds);
  if (error < 0)
    return error;
  /* Also makes the kernel give the pages now and not while measuring. */
  fill_pattern (buf, &w);
  loop (&w, fds, buf, &p);
  for (int i = 0; i < w.streams; i++)
    sys_close (fds[i]);
  report_result (&w, &p);
  return p.error;
}
