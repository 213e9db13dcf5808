// SPDX-License-Identifier: BSD-3-Clause
//
// The workloads: sequential, random and interleaved transfers.

#include "io.h"
#include "jobs.h"
#include "mount.h"
#include "report.h"
#include "sys.h"
#include "text.h"

enum { ALIGN = 1 << 20, MAX_STREAMS = 64 };

/* What a file that does not exist yet may grow to. */
#define NO_END (INT64_MAX / 4)

enum fsync_when { FSYNC_NEVER, FSYNC_END, FSYNC_EACH };

struct workload {
  const char *name;
  const struct disk *disk;
  const char *file;             /* on the mounted file system, or NULL */
  enum io_op op;
  bool direct, random;
  bool own_files;               /* each job has one */
  bool whole;                   /* bytes is not given: to the file's end */
  bool create, close;
  int64_t block_bytes, total_bytes, offset, span_bytes, limit_ns;
  int64_t slow_ns;              /* count transfers that take longer, or 0 */
  uint64_t seed;
  int streams, jobs;
  int writes_percent;           /* of the transfers */
  enum fsync_when fsync;
};

/* One job's; in memory that the processes share. */
struct progress {
  int64_t bytes, requests;
  long error;                   /* -errno of the last transfer, or 0 */
  int64_t began_ns, ended_ns;
  int64_t slow, slow_ns;        /* how many, and what they took together */
};

/* What a process works with. */
struct job {
  struct workload work;         /* its part */
  int fds[MAX_STREAMS];
};

static const char *const op_names[] = { "read", "write", "mix", "trim" };

char *
io_buffer (void)
{
  static char *aligned;

  if (aligned == NULL) {
    char *raw = sys_map (2 * IO_MAX_BLOCK + ALIGN);

    if (raw != NULL)
      aligned = raw + (-(uintptr_t) raw & (ALIGN - 1));
  }
  return aligned;
}

static bool
has_percent (const char *s)
{
  while (*s != '\0' && *s != '%')
    s++;
  return *s == '%';
}

/* Where a job works. */
static const char *
path_of (const struct workload *w, int job, char *buf, size_t size)
{
  if (w->file == NULL)
    return w->disk->path;
  return mount_path (w->file, job, buf, size) ? buf : "";
}

static int64_t
size_of (const struct workload *w, int job)
{
  char buf[128];
  int64_t size;
  int fd;

  if (w->file == NULL)
    return w->disk->size_bytes;
  if (w->create)
    return NO_END;
  fd = sys_open (path_of (w, job, buf, sizeof buf), O_RDONLY);
  if (fd < 0)
    return fd;
  size = sys_file_size (fd);
  sys_close (fd);
  return size;
}

static void
parse_file (struct workload *w, struct step *step)
{
  static const char *const no_yes[] = { "0", "1", NULL };

  w->file = step_text (step, "file");
  if (w->op == IO_WRITE)
    w->create = step_choice (step, "create", no_yes, 0);
  w->close = step_choice (step, "close", no_yes, 0);
  w->own_files = w->file != NULL && has_percent (w->file);
  if (w->file == NULL && (w->create || w->close))
    step->problem = "create and close need a file";
  else if (w->file != NULL && w->op == IO_TRIM)
    step->problem = "files are not trimmed";
  else if (w->file != NULL && !mount_is_done ())
    step->problem = "there was no mount step";
}

/* Where transfers may go: SIZE is that of the disk or file. */
static void
parse_place (struct workload *w, struct step *step, int64_t size)
{
  int64_t rest;

  w->offset = step_number (step, "offset", 0, 0, size - 1);
  rest = size - w->offset;
  w->total_bytes = step_number (step, "bytes", w->file && !w->create
                                ? rest : -1, 1, INT64_MAX);
  w->whole = w->file != NULL && step_text (step, "bytes") == NULL;
  w->span_bytes = step_number (step, "span", w->create ? w->total_bytes
                               : rest, 1, rest);
}

/* A file need not end with a whole block. */
static void
round_span (struct workload *w)
{
  uint32_t rest;

  text_divide (w->span_bytes, w->block_bytes, &rest);
  if (w->file != NULL && !w->random && w->streams == 1 && rest != 0)
    w->span_bytes += w->block_bytes - rest;
}

static void
check (const struct workload *w, struct step *step)
{
  if ((w->op != IO_READ || w->direct)
      && (w->block_bytes | w->offset) % IO_SECTOR != 0)
    step->problem = "block and offset must be whole sectors";
  else if (w->random && w->streams > 1)
    step->problem = "streams are sequential";
  else if (text_divide (w->span_bytes, w->streams
                        * (w->own_files ? 1 : w->jobs), &(uint32_t) { 0 })
           < (uint64_t) w->block_bytes)
    step->problem = "span is smaller than a block of every stream and job";
}

static void
parse (struct workload *w, struct step *step)
{
  static const char *const modes[] = { "buffered", "direct", NULL };
  static const char *const patterns[] = { "seq", "random", NULL };
  static const char *const fsyncs[] = { "0", "1", "each", NULL };
  const bool writes = w->op == IO_WRITE || w->op == IO_MIX;
  int64_t size;

  parse_file (w, step);
  if (step->problem != NULL)
    return;
  size = size_of (w, 0);
  if (size < 0) {
    step->problem = "there is no such file";
    return;
  }
  w->name = step_text (step, "name");
  if (w->name == NULL)
    step->problem = "name is missing";
  w->direct = step_choice (step, "mode", modes, -1) == 1;
  w->random = step_choice (step, "pattern", patterns, -1) == 1;
  w->block_bytes = step_number (step, "block", -1, 1, IO_MAX_BLOCK);
  parse_place (w, step, size);
  w->seed = step_number (step, "seed", 1, 0, INT64_MAX);
  w->limit_ns = step_number (step, "ms", 0, 0, 1000000000) * 1000000;
  w->slow_ns = step_number (step, "slow-us", 0, 0, 1000000) * 1000;
  w->streams = step_number (step, "streams", 1, 1, MAX_STREAMS);
  w->jobs = step_number (step, "jobs", 1, 1, MAX_JOBS);
  w->writes_percent = w->op == IO_MIX
    ? step_number (step, "writes", -1, 0, 100) : writes * 100;
  if (writes)
    w->fsync = step_choice (step, "fsync", fsyncs, FSYNC_NEVER);
  step_check_unknown (step);
  if (step->problem != NULL)
    return;
  round_span (w);
  check (w, step);
}

uint64_t
io_random (uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

/* Where transfers go: each stream has its part of the span, whole blocks. */
struct cursor {
  uint64_t state;
  uint64_t mix_state;           /* read or write? */
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
  c->mix_state = ~w->seed;
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
    block = (io_random (&c->state) >> 32) * c->blocks >> 32;
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
  for (int64_t i = 0; i < w->block_bytes; i += IO_SECTOR)
    *(uint64_t *) (buf + i + 8) = w->seed;
}

static void
stamp (char *buf, int64_t bytes, int64_t offset)
{
  int64_t lba = offset / IO_SECTOR;

  for (int64_t i = 0; i < bytes; i += IO_SECTOR)
    *(int64_t *) (buf + i) = lba++;
}

static long
trim (int fd, int64_t bytes, int64_t offset)
{
  uint64_t range[2] = { offset, bytes };
  long error = sys3 (SYS_IOCTL, fd, IOCTL_BLKDISCARD, range);

  return error < 0 ? error : (long) bytes;
}

static bool
write_is_next (struct cursor *c, const struct workload *w)
{
  if (w->op != IO_MIX)
    return w->op == IO_WRITE;
  return (int) ((io_random (&c->mix_state) >> 32) * 100 >> 32)
    < w->writes_percent;
}

/* Gives the bytes moved or -errno. */
static long
transfer (const struct workload *w, bool write, int fd, char *buf,
          int64_t bytes, int64_t offset)
{
  long n, error;

  if (w->op == IO_TRIM)
    return trim (fd, bytes, offset);
  /* A mix must not lose its pattern. */
  if (!write)
    return sys_pread (fd, w->op == IO_MIX ? buf + IO_MAX_BLOCK : buf, bytes,
                      offset);
  stamp (buf, bytes, offset);
  n = sys_pwrite (fd, buf, bytes, offset);
  if (n >= 0 && w->fsync == FSYNC_EACH) {
    error = sys1 (SYS_FSYNC, fd);
    if (error < 0)
      return error;
  }
  return n;
}

static long
timed_transfer (const struct workload *w, struct progress *p, bool write,
                int fd, char *buf, int64_t bytes, int64_t offset)
{
  int64_t start_ns, ns;
  long n;

  if (w->slow_ns == 0)
    return transfer (w, write, fd, buf, bytes, offset);
  start_ns = sys_now_ns ();
  n = transfer (w, write, fd, buf, bytes, offset);
  ns = sys_now_ns () - start_ns;
  if (ns > w->slow_ns) {
    p->slow++;
    p->slow_ns += ns;
  }
  return n;
}

static void
loop (const struct workload *w, int *fds, struct progress *p)
{
  struct cursor cursor;
  char *buf = io_buffer ();
  const int64_t start_ns = sys_now_ns ();

  cursor_start (&cursor, w);
  while (p->bytes < w->total_bytes) {
    int64_t left = w->total_bytes - p->bytes;
    int64_t bytes = left < w->block_bytes ? left : w->block_bytes;
    int stream;
    int64_t offset = cursor_next (&cursor, w, &stream);
    long n = timed_transfer (w, p, write_is_next (&cursor, w), fds[stream],
                             buf, bytes, offset);

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
  for (int i = 0; w->close && i < w->streams; i++) {
    sys_close (fds[i]);
    fds[i] = -1;
  }
}

static void
close_streams (const struct workload *w, const int *fds)
{
  for (int i = 0; i < w->streams; i++)
    if (fds[i] >= 0)
      sys_close (fds[i]);
}

/* Each stream has its own descriptor: readahead state is kept there. */
static long
open_streams (const struct workload *w, int job, int *fds)
{
  int flags = (w->op == IO_READ ? O_RDONLY : O_RDWR)
    | (w->direct ? O_DIRECT : 0) | (w->create ? O_CREAT : 0);
  char buf[128];
  const char *path = path_of (w, job, buf, sizeof buf);

  if (w->create)
    sys1 (SYS_UNLINK, path);
  for (int i = 0; i < w->streams; i++)
    fds[i] = -1;
  for (int i = 0; i < w->streams; i++) {
    fds[i] = sys_open (path, flags);
    if (fds[i] < 0) {
      long error = fds[i];

      close_streams (w, fds);
      return error;
    }
  }
  return 0;
}

/* What one of the jobs does: its share of the bytes, in whole blocks, and,
 * if that is not random, in its own part of the span. */
static struct workload
share_of (const struct workload *w, int job)
{
  struct workload part = *w;
  uint32_t rest;
  int64_t blocks = text_divide (w->total_bytes, w->block_bytes, &rest);

  if (w->own_files && w->whole) {
    part.total_bytes = part.span_bytes = size_of (w, job) - w->offset;
    round_span (&part);
  }
  part.seed = w->seed + job;
  if (w->jobs == 1 || w->own_files)
    return part;
  part.total_bytes = text_divide (blocks, w->jobs, &rest) * w->block_bytes;
  if ((uint32_t) job < rest)
    part.total_bytes += w->block_bytes;
  if (!w->random) {
    blocks = text_divide (w->span_bytes, w->block_bytes, &rest);
    part.span_bytes = text_divide (blocks, w->jobs, &rest) * w->block_bytes;
    part.offset += job * part.span_bytes;
  }
  return part;
}

struct shared {
  const struct workload *work;
  struct progress *progress;    /* of each job */
};

static struct job this_job;

static void
prepare (void *opaque, int job)
{
  const struct shared *shared = opaque;

  this_job.work = share_of (shared->work, job);
  /* Also makes the kernel give the pages now and not while measuring. */
  fill_pattern (io_buffer (), &this_job.work);
  shared->progress[job].error = open_streams (&this_job.work, job,
                                               this_job.fds);
}

static void
run (void *opaque, int job)
{
  struct progress *p = &((const struct shared *) opaque)->progress[job];

  p->began_ns = sys_now_ns ();
  if (p->error == 0)
    loop (&this_job.work, this_job.fds, p);
  p->ended_ns = sys_now_ns ();
}

/* When each of the jobs was done: ns from the first one's start. */
static void
report_finishers (const struct progress *p, int jobs)
{
  static char text[MAX_JOBS * TEXT_DIGITS];
  char digits[TEXT_DIGITS];
  int64_t start_ns = INT64_MAX;

  for (int i = 0; i < jobs; i++)
    if (p[i].began_ns < start_ns)
      start_ns = p[i].began_ns;
  text[0] = '\0';
  for (int i = 0; i < jobs; i++) {
    if (i > 0)
      text_append (text, sizeof text, " ");
    text_append (text, sizeof text,
                 text_decimal (p[i].ended_ns - start_ns, digits));
  }
  report_text ("finished_ns", text);
}

static void
report_result (const struct workload *w, const struct progress *p,
               const struct progress *jobs, int64_t ns)
{
  report_begin ("result");
  report_text ("name", w->name);
  report_text ("op", op_names[w->op]);
  report_number ("bytes", p->bytes);
  report_number ("requests", p->requests);
  report_number ("ns", ns);
  if (w->jobs > 1)
    report_finishers (jobs, w->jobs);
  if (w->slow_ns != 0) {
    report_number ("slow", p->slow);
    report_number ("slow_ns", p->slow_ns);
  }
  report_text ("status", p->error == 0 ? "ok" : "error");
  if (p->error != 0)
    report_number ("errno", -p->error);
  report_end ();
}

/* All jobs' progress together. */
static struct progress
sum (const struct progress *p, int jobs)
{
  struct progress total = { .bytes = 0 };

  for (int i = 0; i < jobs; i++) {
    total.bytes += p[i].bytes;
    total.requests += p[i].requests;
    total.slow += p[i].slow;
    total.slow_ns += p[i].slow_ns;
    if (total.error == 0)
      total.error = p[i].error;
  }
  return total;
}

long
io_run (const struct disk *disk, struct step *step, enum io_op op)
{
  static struct progress *progress;
  struct workload w = { .disk = disk, .op = op };
  struct shared shared = { .work = &w };
  const struct job_work work = { prepare, run, &shared };
  struct progress total;
  int64_t ns;

  if (progress == NULL)
    progress = sys_map_shared (MAX_JOBS * sizeof *progress);
  parse (&w, step);
  if (step->problem != NULL)
    return -SYS_EINVAL;
  if (io_buffer () == NULL || progress == NULL)
    return -SYS_E2BIG;
  for (int i = 0; i < w.jobs; i++)
    progress[i] = (struct progress) { .bytes = 0 };
  shared.progress = progress;
  ns = jobs_run (&work, w.jobs);
  if (w.jobs == 1)
    close_streams (&w, this_job.fds);
  if (ns < 0)
    return ns;
  total = sum (progress, w.jobs);
  if (total.requests == 0)
    return total.error;
  report_result (&w, &total, progress, ns);
  return total.error;
}
