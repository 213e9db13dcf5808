// SPDX-License-Identifier: BSD-3-Clause

#include "disk.h"
#include "mount.h"
#include "report.h"
#include "sys.h"
#include "text.h"

static const char where[] = "/mnt";

static struct {
  bool done;
  char device[72], type[16], data[256];
  unsigned long flags;
} mounted;

/* Words that are flags of mount(2), not options of a file system. */
static const struct {
  const char *word;
  unsigned long flag;
} flags[] = {
  { "ro", 1 }, { "nosuid", 2 }, { "nodev", 4 }, { "sync", 16 },
  { "noatime", 1024 }, { "nodiratime", 2048 }, { "relatime", 1 << 21 },
};

static unsigned long
flag_called (const char *word)
{
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (text_equal (flags[i].word, word))
      return flags[i].flag;
  return 0;
}

/* Sort "a,b,c" into flags and what the file system has to understand. */
static void
sort_options (const char *options)
{
  char copy[256], *next = copy, *word;

  text_copy (copy, sizeof copy, options);
  for (char *p = copy; *p != '\0'; p++)
    if (*p == ',')
      *p = ' ';
  while ((word = text_word (&next)) != NULL) {
    unsigned long flag = flag_called (word);

    mounted.flags |= flag;
    if (flag != 0)
      continue;
    if (mounted.data[0] != '\0')
      text_append (mounted.data, sizeof mounted.data, ",");
    text_append (mounted.data, sizeof mounted.data, word);
  }
}

static long
mount_now (void)
{
  return sys5 (SYS_MOUNT, (long) mounted.device, (long) where,
               (long) mounted.type, mounted.flags, (long) mounted.data);
}

/* The partition appears a little later than its disk. */
static long
mount_patiently (void)
{
  const int64_t limit_ns = 10000000000LL;
  const int64_t start_ns = sys_now_ns ();
  long error;

  while ((error = mount_now ()) == -SYS_ENOENT || error == -SYS_ENXIO) {
    if (sys_now_ns () - start_ns > limit_ns)
      break;
    sys_sleep_ns (1000000);
  }
  return error;
}

long
mount_run (struct step *step)
{
  const struct disk *disk = disk_current ();
  const char *type = step_text (step, "type");
  const char *options = step_text (step, "options");
  int64_t partition = step_number (step, "partition", 0, 0, 4);
  char digits[TEXT_DIGITS];
  long error;

  step_check_unknown (step);
  if (type == NULL)
    step->problem = "type is missing";
  if (step->problem != NULL)
    return -SYS_EINVAL;
  if (disk == NULL)
    return -SYS_ENODEV;
  text_copy (mounted.device, sizeof mounted.device, disk->path);
  if (partition != 0)
    text_append (mounted.device, sizeof mounted.device,
                 text_decimal (partition, digits));
  text_copy (mounted.type, sizeof mounted.type, type);
  mounted.flags = 0;
  mounted.data[0] = '\0';
  if (options != NULL)
    sort_options (options);
  sys2 (SYS_MKDIR, where, 0755);
  error = mount_patiently ();
  mounted.done = error == 0;
  if (error < 0)
    return error;
  report_begin ("mount");
  report_end ();
  return 0;
}

long
mount_end (struct step *step)
{
  step_check_unknown (step);
  if (step->problem != NULL)
    return -SYS_EINVAL;
  mounted.done = false;
  return sys2 (SYS_UMOUNT2, where, 0);
}

bool
mount_is_done (void)
{
  return mounted.done;
}

long
mount_again (void)
{
  long error = sys2 (SYS_UMOUNT2, where, 0);

  return error < 0 ? error : mount_now ();
}

bool
mount_path (const char *name, int job, char *path, size_t size)
{
  char digits[TEXT_DIGITS], piece[2] = "";
  bool fits = text_copy (path, size, where) && text_append (path, size, "/");

  for (; *name != '\0' && fits; name++) {
    piece[0] = *name;
    fits = text_append (path, size, *name == '%' ? text_decimal (job, digits)
                        : piece);
  }
  return fits;
}

/* Before fadvise there was (2.4), the whole file system is forgotten. */
static long
forget (int fd)
{
  enum { DONTNEED = 4 };
  const uint32_t most = 0xfffff000;
  int64_t bytes = sys_file_size (fd);
  long error = sys1 (SYS_FSYNC, fd);

  if (error < 0)
    return error;
  return sys5 (SYS_FADVISE64, fd, 0, 0,
               bytes > most ? (long) most : (long) bytes, DONTNEED);
}

long
mount_forget (struct step *step)
{
  const char *name = step_text (step, "file");
  char path[128];
  long error;
  int fd;

  step_check_unknown (step);
  if (name == NULL || !mount_path (name, 0, path, sizeof path))
    step->problem = "file is missing or too long";
  if (step->problem != NULL)
    return -SYS_EINVAL;
  fd = sys_open (path, O_RDONLY);
  if (fd < 0)
    return fd;
  error = forget (fd);
  sys_close (fd);
  return error == -SYS_ENOSYS ? mount_again () : error;
}
