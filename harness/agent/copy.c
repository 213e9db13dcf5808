// SPDX-License-Identifier: BSD-3-Clause
//
// From disk to disk.

#include "copy.h"
#include "io.h"
#include "jobs.h"
#include "report.h"
#include "sys.h"
#include "text.h"

struct copy {
  const char *name;
  const struct disk *from, *to;
  int64_t block_bytes, total_bytes, from_offset, to_offset;
  int jobs;
};

/* One job's; in memory that the processes share. */
struct progress {
  int64_t bytes, requests;
  long error;
};

struct shared {
  const struct copy *copy;
  struct progress *progress;
};

static int from_fd, to_fd;      /* this process's */

static const struct disk *
disk_in (struct step *step, const char *key)
{
  const char *name = step_text (step, key);
  const struct disk *disk = name != NULL ? disk_called (name) : NULL;

  if (disk == NULL)
    step->problem = "from and to are names of device steps";
  return disk;
}

static void
parse (struct copy *c, struct step *step)
{
  c->name = step_text (step, "name");
  if (c->name == NULL)
    step->problem = "name is missing";
  c->from = disk_in (step, "from");
  c->to = disk_in (step, "to");
  c->block_bytes = step_number (step, "block", -1, IO_SECTOR, IO_MAX_BLOCK);
  c->total_bytes = step_number (step, "bytes", -1, 1, INT64_MAX);
  c->from_offset = step_number (step, "offset", 0, 0, INT64_MAX);
  c->to_offset = step_number (step, "to-offset", c->from_offset, 0,
                              INT64_MAX);
  c->jobs = step_number (step, "jobs", 1, 1, MAX_JOBS);
  step_check_unknown (step);
  if (step->problem != NULL)
    return;
  if ((c->block_bytes | c->from_offset | c->to_offset | c->total_bytes)
      % IO_SECTOR != 0)
    step->problem = "bytes, block and offsets must be whole sectors";
  else if (c->from_offset > c->from->size_bytes - c->total_bytes
           || c->to_offset > c->to->size_bytes - c->total_bytes)
    step->problem = "the end of a disk is in the way";
}

static void
prepare (void *opaque, int job)
{
  const struct shared *shared = opaque;
  const struct copy *c = shared->copy;
  char *buf = io_buffer ();

  for (int64_t i = 0; i < c->block_bytes; i += IO_SECTOR)
    buf[i] = 0;
  from_fd = sys_open (c->from->path, O_RDONLY | O_DIRECT);
  to_fd = sys_open (c->to->path, O_WRONLY | O_DIRECT);
  if (from_fd < 0 || to_fd < 0)
    shared->progress[job].error = from_fd < 0 ? from_fd : to_fd;
}

/* Jobs take turns: with N each does every Nth block. */
static void
run (void *opaque, int job)
{
  const struct shared *shared = opaque;
  const struct copy *c = shared->copy;
  struct progress *p = &shared->progress[job];
  char *buf = io_buffer ();

  for (int64_t at = job * c->block_bytes;
       at < c->total_bytes && p->error == 0;
       at += c->jobs * c->block_bytes) {
    int64_t left = c->total_bytes - at;
    int64_t bytes = left < c->block_bytes ? left : c->block_bytes;
    long n = sys_pread (from_fd, buf, bytes, c->from_offset + at);

    if (n == bytes)
      n = sys_pwrite (to_fd, buf, bytes, c->to_offset + at);
    if (n != bytes)
      p->error = n < 0 ? n : -SYS_EIO;
    else
      p->bytes += bytes;
    p->requests++;
  }
}

static long
report_result (const struct copy *c, const struct progress *p, int64_t ns)
{
  int64_t bytes = 0, requests = 0;
  long error = 0;

  for (int i = 0; i < c->jobs; i++) {
    bytes += p[i].bytes;
    requests += p[i].requests;
    if (error == 0)
      error = p[i].error;
  }
  report_begin ("result");
  report_text ("name", c->name);
  report_text ("op", "copy");
  report_number ("bytes", bytes);
  report_number ("requests", requests);
  report_number ("ns", ns);
  report_text ("status", error == 0 ? "ok" : "error");
  if (error != 0)
    report_number ("errno", -error);
  report_end ();
  return error;
}

long
copy_run (struct step *step)
{
  static struct progress *progress;
  struct copy c;
  struct shared shared = { .copy = &c };
  const struct job_work work = { prepare, run, &shared };
  int64_t ns;

  if (progress == NULL)
    progress = sys_map_shared (MAX_JOBS * sizeof *progress);
  parse (&c, step);
  if (step->problem != NULL)
    return -SYS_EINVAL;
  if (io_buffer () == NULL || progress == NULL)
    return -SYS_E2BIG;
  for (int i = 0; i < c.jobs; i++)
    progress[i] = (struct progress) { .bytes = 0 };
  shared.progress = progress;
  ns = jobs_run (&work, c.jobs);
  if (c.jobs == 1) {
    if (from_fd >= 0)
      sys_close (from_fd);
    if (to_fd >= 0)
      sys_close (to_fd);
  }
  return ns < 0 ? ns : report_result (&c, progress, ns);
}
