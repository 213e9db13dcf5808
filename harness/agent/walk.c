// SPDX-License-Identifier: BSD-3-Clause
//
// Many files: a tree, and a film.

#include "io.h"
#include "mount.h"
#include "report.h"
#include "sys.h"
#include "text.h"
#include "walk.h"

enum { PATH_BYTES = 256, MAX_DEPTH = 16, LIST_BYTES = 4096 };

struct count {
  int64_t bytes, files;
};

static void
report_count (const char *name, const char *op, const struct count *c,
              int64_t ns, long error)
{
  report_begin ("result");
  report_text ("name", name);
  report_text ("op", op);
  report_number ("bytes", c->bytes);
  report_number ("requests", c->files);
  report_number ("ns", ns);
  report_text ("status", error == 0 ? "ok" : "error");
  if (error != 0)
    report_number ("errno", -error);
  report_end ();
}

/* Read what is left of a file, but no more than BYTES. */
static long
read_some (int fd, int64_t block_bytes, int64_t bytes, struct count *c)
{
  while (bytes > 0) {
    long n = sys3 (SYS_READ, fd, io_buffer (),
                   bytes < block_bytes ? bytes : block_bytes);

    if (n <= 0)
      return n;
    c->bytes += n;
    bytes -= n;
  }
  return 0;
}

static long
read_whole (const char *path, int64_t block_bytes, struct count *c)
{
  int fd = sys_open (path, O_RDONLY);
  long error;

  if (fd < 0)
    return fd;
  error = read_some (fd, block_bytes, INT64_MAX, c);
  sys_close (fd);
  c->files++;
  return error;
}

/* Kernels from 2.4 on have getdents64: 64 bits inode, 64 bits offset, 16 bits
 * length, 8 bits type, the name.  A type of 0 is not known. */
struct entry {
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[];
} __attribute__ ((packed));

enum { TYPE_UNKNOWN = 0, TYPE_FOLDER = 4, TYPE_FILE = 8 };

static bool
is_dots (const char *name)
{
  return text_equal (name, ".") || text_equal (name, "..");
}

static long walk (const char *folder, int depth, int64_t block_bytes,
                  struct count *c);

/* Where the kernel does not tell the type, a folder is what it lists. */
static long
visit (const struct entry *e, const char *folder, int depth,
       int64_t block_bytes, struct count *c)
{
  char path[PATH_BYTES];
  long error;

  if (is_dots (e->name))
    return 0;
  if (!text_copy (path, sizeof path, folder)
      || !text_append (path, sizeof path, "/")
      || !text_append (path, sizeof path, e->name))
    return -SYS_E2BIG;
  if (e->type == TYPE_FILE)
    return read_whole (path, block_bytes, c);
  if (e->type != TYPE_FOLDER && e->type != TYPE_UNKNOWN)
    return 0;
  error = walk (path, depth + 1, block_bytes, c);
  if (e->type == TYPE_UNKNOWN && error == -SYS_ENOTDIR)
    error = read_whole (path, block_bytes, c);
  return error;
}

static long
walk (const char *folder, int depth, int64_t block_bytes, struct count *c)
{
  static char lists[MAX_DEPTH][LIST_BYTES];
  long n = 0, error = 0;
  int fd;

  if (depth == MAX_DEPTH)
    return -SYS_E2BIG;
  fd = sys_open (folder, O_RDONLY);
  if (fd < 0)
    return fd;
  while (error == 0
         && (n = sys3 (SYS_GETDENTS64, fd, lists[depth], LIST_BYTES)) > 0)
    for (long at = 0; at < n && error == 0; ) {
      const struct entry *e = (const struct entry *) (lists[depth] + at);

      error = visit (e, folder, depth, block_bytes, c);
      at += e->bytes;
    }
  sys_close (fd);
  return error < 0 ? error : n;
}

/* The keys both have; gives false if the step is wrong. */
static bool
parse (struct step *step, const char **name, const char **file,
       int64_t *block_bytes)
{
  *name = step_text (step, "name");
  *file = step_text (step, "file");
  *block_bytes = step_number (step, "block", -1, 1, IO_MAX_BLOCK);
  if (*name == NULL || *file == NULL)
    step->problem = "name or file is missing";
  else if (!mount_is_done ())
    step->problem = "there was no mount step";
  return step->problem == NULL && io_buffer () != NULL;
}

long
walk_run (struct step *step)
{
  struct count count = { .bytes = 0 };
  const char *name, *file;
  char path[PATH_BYTES];
  int64_t block_bytes, start_ns;
  long error;

  if (!parse (step, &name, &file, &block_bytes)
      || !mount_path (file, 0, path, sizeof path))
    return -SYS_EINVAL;
  step_check_unknown (step);
  if (step->problem != NULL)
    return -SYS_EINVAL;
  io_buffer ()[0] = 0;
  start_ns = sys_now_ns ();
  error = walk (path, 0, block_bytes, &count);
  report_count (name, "walk", &count, sys_now_ns () - start_ns, error);
  return error;
}

struct film {
  const char *name, *frame, *sound, *output;
  int64_t block_bytes, frames, output_bytes;
  int sound_fd, output_fd;
};

static void
parse_film (struct film *f, struct step *step)
{
  if (!parse (step, &f->name, &f->frame, &f->block_bytes))
    return;
  f->sound = step_text (step, "sound");
  f->output = step_text (step, "output");
  f->frames = step_number (step, "count", -1, 1, 1000000);
  f->output_bytes = step_number (step, "output-bytes", -1, 1, INT64_MAX);
  if (f->sound == NULL || f->output == NULL)
    step->problem = "sound or output is missing";
  step_check_unknown (step);
}

/* Each frame brings its part of the sound and of the output. */
static long
frame (const struct film *f, int i, int64_t sound_bytes, struct count *c)
{
  char path[PATH_BYTES];
  uint32_t rest;
  int64_t bytes = text_divide (f->output_bytes, f->frames, &rest);
  long error;

  if (!mount_path (f->frame, i, path, sizeof path))
    return -SYS_E2BIG;
  error = read_whole (path, f->block_bytes, c);
  if (error == 0)
    error = read_some (f->sound_fd, f->block_bytes,
                       text_divide (sound_bytes, f->frames, &rest), c);
  while (error == 0 && bytes > 0) {
    long n = sys3 (SYS_WRITE, f->output_fd, io_buffer (),
                   bytes < f->block_bytes ? bytes : f->block_bytes);

    if (n <= 0)
      return n == 0 ? -SYS_EIO : n;
    bytes -= n;
  }
  return error;
}

static int
open_on_mount (const char *name, int flags)
{
  char path[PATH_BYTES];

  return mount_path (name, 0, path, sizeof path)
    ? sys_open (path, flags) : -SYS_E2BIG;
}

long
frames_run (struct step *step)
{
  struct film f = { .name = NULL };
  struct count count = { .bytes = 0 };
  int64_t start_ns, sound_bytes;
  long error = 0;

  parse_film (&f, step);
  if (step->problem != NULL)
    return -SYS_EINVAL;
  f.sound_fd = open_on_mount (f.sound, O_RDONLY);
  f.output_fd = open_on_mount (f.output, O_WRONLY | O_CREAT | O_TRUNC);
  if (f.sound_fd < 0 || f.output_fd < 0)
    error = f.sound_fd < 0 ? f.sound_fd : f.output_fd;
  else {
    io_buffer ()[0] = 0;
    sound_bytes = sys_file_size (f.sound_fd);
    start_ns = sys_now_ns ();
    for (int i = 0; i < f.frames && error == 0; i++)
      error = frame (&f, i, sound_bytes, &count);
    report_count (f.name, "frames", &count, sys_now_ns () - start_ns, error);
  }
  if (f.sound_fd >= 0)
    sys_close (f.sound_fd);
  if (f.output_fd >= 0)
    sys_close (f.output_fd);
  return error;
}
