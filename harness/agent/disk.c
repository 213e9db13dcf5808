// SPDX-License-Identifier: BSD-3-Clause

#include "disk.h"
#include "mount.h"
#include "report.h"
#include "sys.h"
#include "text.h"

enum { SECTOR = 512 };

/* Old kernels refuse a program with an empty data segment: this is in it. */
static struct disk disks[MAX_DISKS] = {
  { .fd = -1 }, { .fd = -1 }, { .fd = -1 }, { .fd = -1 },
  { .fd = -1 }, { .fd = -1 }, { .fd = -1 }, { .fd = -1 },
};
static struct disk *current;    /* of the last device step */

/* Numbers from the kernel's devices.txt: IDE and SCSI disks, then ttys. */
static const struct {
  const char *path;
  int mode, major, minor;
} nodes[] = {
  { "/dev/console", MODE_CHAR, 5, 1 }, { "/dev/null", MODE_CHAR, 1, 3 },
  { "/dev/ttyS0", MODE_CHAR, 4, 64 }, { "/dev/ttyS1", MODE_CHAR, 4, 65 },
  { "/dev/hda", MODE_BLOCK, 3, 0 }, { "/dev/hdb", MODE_BLOCK, 3, 64 },
  { "/dev/hdc", MODE_BLOCK, 22, 0 }, { "/dev/hdd", MODE_BLOCK, 22, 64 },
  { "/dev/sda", MODE_BLOCK, 8, 0 }, { "/dev/sdb", MODE_BLOCK, 8, 16 },
  { "/dev/sdc", MODE_BLOCK, 8, 32 }, { "/dev/sdd", MODE_BLOCK, 8, 48 },
  { "/dev/hda1", MODE_BLOCK, 3, 1 }, { "/dev/sda1", MODE_BLOCK, 8, 1 },
};

void
disk_make_nodes (void)
{
  for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
    sys3 (SYS_MKNOD, nodes[i].path, nodes[i].mode,
          nodes[i].major << 8 | nodes[i].minor);
}

static int64_t
size_of (int fd)
{
  int64_t bytes = 0;
  uint32_t sectors = 0;

  if (sys3 (SYS_IOCTL, fd, IOCTL_BLKGETSIZE64, &bytes) == 0)
    return bytes;
  if (sys3 (SYS_IOCTL, fd, IOCTL_BLKGETSIZE, &sectors) == 0)
    return (int64_t) sectors * SECTOR;
  return 0;
}

bool
disk_sysfs_path (const struct disk *disk, const char *name, char *path,
                 size_t size)
{
  text_copy (path, size, "/sys/block/");
  return text_starts (disk->path, "/dev/")
    && text_append (path, size, disk->path + 5)
    && text_append (path, size, "/") && text_append (path, size, name);
}

static long
read_sysfs (const struct disk *disk, const char *name, char *buf, size_t size)
{
  char path[128];

  if (!disk_sysfs_path (disk, name, path, sizeof path))
    return -SYS_ENOENT;
  return sys_read_file (path, buf, size);
}

/* Cut the blanks (and the line feed) an ATA string is padded with. */
static const char *
trimmed (char *s, size_t length)
{
  while (length > 0 && (s[length - 1] == ' ' || s[length - 1] == '\n'
                        || s[length - 1] == '\0'))
    length--;
  s[length] = '\0';
  while (*s == ' ')
    s++;
  return s;
}

/* A string of the IDENTIFY block; the kernel has put its bytes in order. */
static void
report_ata_string (const char *key, const uint16_t *id, int word, int words)
{
  char buf[41];

  for (int i = 0; i < words * 2; i++)
    buf[i] = ((const char *) (id + word))[i];
  report_text (key, trimmed (buf, words * 2));
}

static int
highest_bit (unsigned bits)
{
  int bit = -1;

  for (int i = 0; i < 8; i++)
    if (bits & 1U << i)
      bit = i;
  return bit;
}

/* What the guest believes to have: words as numbered in ATA/ATAPI-6, the
 * names of hdparm -i in the reported fields. */
static void
report_identify (const struct disk *disk)
{
  uint16_t id[256];
  long error = sys3 (SYS_IOCTL, disk->fd, IOCTL_HDIO_GET_IDENTITY, id);
  static const uint8_t raw[] = { 47, 49, 53, 63, 75, 76, 80, 82, 83, 84, 85,
                                 86, 87, 88, 93, 106, 217 };
  char key[8] = "w";
  char digits[TEXT_DIGITS];

  report_begin ("identify");
  if (!text_equal (disk->name, disk->path))
    report_text ("name", disk->name);
  report_text ("path", disk->path);
  if (error < 0) {
    report_number ("errno", -error);
    report_end ();
    return;
  }
  report_ata_string ("model", id, 27, 20);
  report_ata_string ("firmware", id, 23, 4);
  report_ata_string ("serial", id, 10, 10);
  report_number ("cylinders", id[1]);
  report_number ("heads", id[3]);
  report_number ("sectors", id[6]);
  report_number ("track_size", id[4]);
  report_number ("sector_size", id[5]);
  report_number ("buffer_sectors", id[21]);
  report_number ("ecc_bytes", id[22]);
  report_number ("lba28_sectors", (int64_t) id[61] << 16 | id[60]);
  report_flag ("lba48", (id[83] & 0xc400) == 0x4400);
  report_number ("lba48_sectors", (int64_t) id[102] << 32
                 | (int64_t) id[101] << 16 | id[100]);
  report_number ("udma_max", highest_bit (id[88] & 0xff));
  report_number ("udma", highest_bit (id[88] >> 8));
  report_number ("mwdma", highest_bit (id[63] >> 8));
  report_flag ("write_cache", id[85] & 0x20);
  report_flag ("look_ahead", id[85] & 0x40);
  for (size_t i = 0; i < sizeof raw; i++) {
    text_copy (key + 1, sizeof key - 1, text_decimal (raw[i], digits));
    report_number (key, id[raw[i]]);
  }
  report_end ();
}

static void
report_device (const struct disk *disk)
{
  char buf[256], *model = buf;
  uint32_t ra = 0;
  long n = read_sysfs (disk, "device/model", buf, sizeof buf);

  report_begin ("device");
  if (!text_equal (disk->name, disk->path))
    report_text ("name", disk->name);
  report_text ("path", disk->path);
  report_number ("sectors", disk->size_bytes / SECTOR);
  if (n > 0)
    report_text ("model", trimmed (model, n));
  if (sys3 (SYS_IOCTL, disk->fd, IOCTL_BLKRAGET, &ra) == 0)
    report_number ("readahead", ra);
  n = read_sysfs (disk, "queue/max_sectors_kb", buf, sizeof buf);
  if (n > 0)
    report_text ("max_sectors_kb", trimmed (buf, n));
  n = read_sysfs (disk, "queue/scheduler", buf, sizeof buf);
  if (n > 0)
    report_text ("scheduler", trimmed (buf, n));
  n = read_sysfs (disk, "device/queue_depth", buf, sizeof buf);
  if (n > 0)
    report_text ("queue_depth", trimmed (buf, n));
  report_end ();
}

struct disk *
disk_current (void)
{
  return current;
}

struct disk *
disk_called (const char *name)
{
  for (int i = 0; i < MAX_DISKS; i++)
    if (disks[i].fd >= 0 && text_equal (disks[i].name, name))
      return &disks[i];
  return NULL;
}

static struct disk *
free_slot (void)
{
  for (int i = 0; i < MAX_DISKS; i++)
    if (disks[i].fd < 0)
      return &disks[i];
  return NULL;
}

/* Set the path of the disk with a SCSI address, host:channel:id:lun.  The
 * kernel gives letters to whichever disk answers first. */
static bool
find_scsi (struct disk *disk, const char *address)
{
  char path[128];
  int fd;

  for (char letter = 'a'; letter <= 'z'; letter++) {
    char device[] = "/dev/sda";

    device[7] = letter;
    text_copy (path, sizeof path, "/sys/bus/scsi/devices/");
    text_append (path, sizeof path, address);
    text_append (path, sizeof path, "/block/");
    text_append (path, sizeof path, device + 5);
    fd = sys_open (path, O_RDONLY);
    if (fd < 0)
      continue;
    sys_close (fd);
    text_copy (disk->path, sizeof disk->path, device);
    return true;
  }
  return false;
}

/* Wait for a disk with this path, or this SCSI address. */
static long
wait_for (struct disk *disk, const char *path, const char *address)
{
  const int64_t limit_ns = 30000000000LL;
  int64_t start_ns = sys_now_ns ();

  if (path != NULL)
    text_copy (disk->path, sizeof disk->path, path);
  for (;;) {
    disk->fd = -SYS_ENOENT;
    if (path != NULL || find_scsi (disk, address))
      disk->fd = sys_open (disk->path, O_RDONLY);
    if (disk->fd >= 0)
      return 0;
    if (sys_now_ns () - start_ns > limit_ns)
      return disk->fd;
    sys_sleep_ns (1000000);
  }
}

long
disk_open (struct step *step)
{
  const char *path = step_text (step, "path");
  const char *address = step_text (step, "scsi");
  const char *name = step_text (step, "name");
  struct disk *disk;
  long error;

  step_check_unknown (step);
  if (step->problem != NULL || (path != NULL && address != NULL))
    return -SYS_EINVAL;
  if (name == NULL)
    name = path != NULL ? path : address;
  if (name == NULL)
    return -SYS_EINVAL;
  disk = disk_called (name);
  if (path == NULL && address == NULL) {
    if (disk == NULL)
      return -SYS_ENODEV;
    current = disk;
    return 0;
  }
  if (disk != NULL)
    sys_close (disk->fd);
  else if ((disk = free_slot ()) == NULL)
    return -SYS_E2BIG;
  current = NULL;
  text_copy (disk->name, sizeof disk->name, name);
  error = wait_for (disk, path, address);
  if (error < 0)
    return error;
  current = disk;
  disk->size_bytes = size_of (disk->fd);
  report_device (disk);
  report_identify (disk);
  return 0;
}

/* Linux 2.4 reads files with a setting of its own, in KiB; BLKRASET takes
 * 255 sectors at most there. */
static bool
readahead_2_4 (const struct disk *disk, int64_t sectors)
{
  char path[128], text[64], digits[TEXT_DIGITS];

  text_copy (path, sizeof path, "/proc/ide/");
  text_append (path, sizeof path, disk->path + 5);
  text_append (path, sizeof path, "/settings");
  text_copy (text, sizeof text, "file_readahead:");
  text_append (text, sizeof text, text_decimal (sectors / 2, digits));
  return text_starts (disk->path, "/dev/")
    && sys_write_file (path, text) == 0;
}

long
disk_readahead (const struct disk *disk, struct step *step)
{
  int64_t sectors = step_number (step, "sectors", -1, 0, 1 << 24);
  uint32_t now = 0;
  long error;

  step_check_unknown (step);
  if (step->problem != NULL)
    return -SYS_EINVAL;
  error = sys3 (SYS_IOCTL, disk->fd, IOCTL_BLKRASET, (long) sectors);
  if (readahead_2_4 (disk, sectors) && error == -SYS_EINVAL)
    error = sys3 (SYS_IOCTL, disk->fd, IOCTL_BLKRASET, 255);
  if (error < 0)
    return error;
  error = sys3 (SYS_IOCTL, disk->fd, IOCTL_BLKRAGET, &now);
  if (error < 0)
    return error;
  report_begin ("readahead");
  report_number ("sectors", now);
  report_end ();
  return 0;
}

/* Before 2.6.16 pages of files are only forgotten with their file system. */
long
disk_drop (const struct disk *disk)
{
  long error = sys_write_file ("/proc/sys/vm/drop_caches", "3\n");

  if (error != -SYS_ENOENT)
    return error;
  if (mount_is_done ()) {
    error = mount_again ();
    if (error < 0)
      return error;
  }
  return disk == NULL ? error
    : sys3 (SYS_IOCTL, disk->fd, IOCTL_BLKFLSBUF, 0);
}

/* What an elevator is called in /sys, before and since Linux 5. */
static const struct {
  const char *name, *file, *successor;
} elevators[] = {
  { "as", "anticipatory", NULL }, { "noop", "noop", "none" },
  { "deadline", "deadline", "mq-deadline" }, { "cfq", "cfq", "bfq" },
};

static long
set_elevator (const struct disk *disk, const char *name)
{
  char path[128];

  return disk_sysfs_path (disk, "queue/scheduler", path, sizeof path)
    ? sys_write_file (path, name) : -SYS_ENOENT;
}

long
disk_elevator (const struct disk *disk, struct step *step)
{
  const char *name = step_text (step, "name");
  const char *file = name, *successor = NULL;
  long error;

  step_check_unknown (step);
  if (step->problem != NULL || name == NULL)
    return -SYS_EINVAL;
  for (size_t i = 0; i < sizeof elevators / sizeof elevators[0]; i++)
    if (text_equal (elevators[i].name, name)) {
      file = elevators[i].file;
      successor = elevators[i].successor;
    }
  error = set_elevator (disk, file);
  if (error == -SYS_EINVAL && successor != NULL) {
    file = successor;
    error = set_elevator (disk, file);
  }
  if (error == -SYS_EINVAL)
    return error;
  /* Before 2.6.10 only the kernel's command line can choose. */
  if (error < 0)
    report_warning (step->text, -error,
                    "the kernel does not tell which elevator it has");
  report_begin ("elevator");
  report_text ("name", file);
  report_end ();
  return 0;
}
