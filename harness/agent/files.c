// SPDX-License-Identifier: BSD-3-Clause

#include "files.h"
#include "io.h"
#include "pattern.h"
#include "report.h"
#include "sys.h"
#include "text.h"

#define FOLDER "/mnt"

enum { MAX_FILES = 64, PATH_SIZE = 32, NOISE_BLOCKS = 512 };

static uint32_t block[PATTERN_WORDS] = { 1 };

/* One line of the record: a letter, the file, its generation. */
static void
record (const char *what, int file, int64_t generation)
{
  char line[64], digits[TEXT_DIGITS];

  text_copy (line, sizeof line, what);
  text_append (line, sizeof line, " ");
  text_append (line, sizeof line, text_decimal (file, digits));
  if (generation >= 0) {
    text_append (line, sizeof line, " ");
    text_append (line, sizeof line, text_decimal (generation, digits));
  }
  text_append (line, sizeof line, "\n");
  sys_debug (line);
}

static void
path_of (char path[PATH_SIZE], int file, const char *suffix)
{
  char digits[TEXT_DIGITS];

  text_copy (path, PATH_SIZE, FOLDER "/");
  text_append (path, PATH_SIZE, pattern_is_log (file) ? "log" : "doc");
  text_append (path, PATH_SIZE, text_decimal (file, digits));
  text_append (path, PATH_SIZE, suffix);
}

/* What became of an open file that something was done to. */
static long
closed (int fd, long error, bool sync)
{
  if (error >= 0 && sync)
    error = sys1 (SYS_FSYNC, fd);
  sys_close (fd);
  return error < 0 ? error : 0;
}

static long
sync_folder (void)
{
  int fd = sys_open (FOLDER, O_RDONLY);

  return fd < 0 ? fd : closed (fd, 0, true);
}

static long
write_block (int fd, int file, uint32_t generation, uint32_t index)
{
  long n;

  pattern_fill (block, file, generation, index);
  n = sys_pwrite (fd, block, PATTERN_BLOCK, (int64_t) index * PATTERN_BLOCK);
  return n < 0 || n == PATTERN_BLOCK ? n : -SYS_EIO;
}

static long
append (int file, uint32_t generation)
{
  char path[PATH_SIZE];
  long error;
  int fd;

  path_of (path, file, "");
  fd = sys_open (path, O_WRONLY | O_CREAT);
  if (fd < 0)
    return fd;
  error = closed (fd, write_block (fd, file, generation, generation - 1),
                  true);
  return error < 0 || generation > 1 ? error : sync_folder ();
}

static long
replace (int file, uint32_t generation)
{
  char path[PATH_SIZE], new[PATH_SIZE];
  long error = 0;
  int fd;

  path_of (path, file, "");
  path_of (new, file, ".new");
  fd = sys_open (new, O_WRONLY | O_CREAT | O_TRUNC);
  if (fd < 0)
    return fd;
  for (uint32_t i = 0; i < pattern_blocks (generation) && error >= 0; i++)
    error = write_block (fd, file, generation, i);
  error = closed (fd, error, true);
  if (error == 0)
    error = sys2 (SYS_RENAME, new, path);
  return error < 0 ? error : sync_folder ();
}

/* Something that nobody waits for. */
static long
make_noise (uint64_t random)
{
  int fd = sys_open (FOLDER "/noise", O_WRONLY | O_CREAT);

  if (fd < 0)
    return fd;
  return closed (fd, write_block (fd, MAX_FILES, 0, random % NOISE_BLOCKS),
                 false);
}

long
files_change (struct step *step)
{
  static uint32_t generations[MAX_FILES];
  int count = step_number (step, "count", -1, 1, MAX_FILES);
  int64_t changes = step_number (step, "changes", -1, 1, INT64_MAX);
  uint64_t state = step_number (step, "seed", -1, 0, INT64_MAX);
  long error = 0;

  step_check_unknown (step);
  if (step->problem != NULL)
    return -SYS_EINVAL;
  while (changes-- > 0 && error == 0) {
    uint64_t random = io_random (&state);
    int file = (random >> 32) * count >> 32;
    uint32_t generation = ++generations[file];

    if (random % 4 == 0)
      error = make_noise (random >> 2);
    record ("t", file, generation);
    if (error == 0)
      error = pattern_is_log (file) ? append (file, generation)
                                    : replace (file, generation);
    if (error == 0)
      record ("a", file, generation);
  }
  return error;
}

static void
verify (int file)
{
  struct pattern_reading reading = { .file = file };
  char path[PATH_SIZE];
  long n;
  int fd;

  path_of (path, file, "");
  fd = sys_open (path, O_RDONLY);
  if (fd < 0) {
    if (fd != -SYS_ENOENT)
      record ("x", file, -1);
    return;
  }
  while ((n = sys_pread (fd, block, PATTERN_BLOCK,
                         (int64_t) reading.blocks * PATTERN_BLOCK))
         == PATTERN_BLOCK)
    pattern_take (&reading, block);
  sys_close (fd);
  if (n != 0)
    reading.broken = true;
  if (pattern_found (&reading) < 0)
    record ("x", file, -1);
  else
    record ("f", file, pattern_found (&reading));
}

long
files_verify (struct step *step)
{
  int count = step_number (step, "count", -1, 1, MAX_FILES);

  step_check_unknown (step);
  if (step->problem != NULL)
    return -SYS_EINVAL;
  for (int file = 0; file < count; file++)
    verify (file);
  return 0;
}
