// SPDX-License-Identifier: BSD-3-Clause

#include "disk.h"
#include "report.h"
#include "sys.h"
#include "text.h"

enum { SECTOR = 512 };

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

/* "/dev/sda" and "queue/x" make "/sys/block/sda/queue/x". */
static long
read_sysfs (const char *device, const char *name, char *buf, size_t size)
{
  char path[128];

  if (!text_starts (device, "/dev/"))
    return -SYS_ENOENT;
  text_copy (path, sizeof path, "/sys/block/");
  text_append (path, sizeof path, device + 5);
  text_append (path, sizeof path, "/");
  text_append (path, sizeof path, name);
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
  long n = read_sysfs (disk->path, "device/model", buf, sizeof buf);

  report_begin ("device");
  report_text ("path", disk->path);
  report_number ("sectors", disk->size_bytes / SECTOR);
  if (n > 0)
    report_text ("model", trimmed (model, n));
  if (sys3 (SYS_IOCTL, disk->fd, IOCTL_BLKRAGET, &ra) == 0)
    report_number ("readahead", ra);
  n = read_sysfs (disk->path, "queue/max_sectors_kb", buf, sizeof buf);
  if (n > 0)
    report_text ("max_sectors_kb", trimmed (buf, n));
  n = read_sysfs (disk->path, "queue/scheduler", buf, sizeof buf);
  if (n > 0)
    report_text ("scheduler", trimmed (buf, n));
  n = read_sysfs (disk->path, "device/queue_depth", buf, sizeof buf);
  if (n > 0)
    report_text ("queue_depth", trimmed (buf, n));
  report_end ();
}

long
disk_open (struct disk *disk, struct step *step)
{
  const int64_t limit_ns = 30000000000LL;
  const char *path = step_text (step, "path");
  int64_t start_ns = sys_now_ns ();

  step_check_unknown (step);
  if (step->problem != NULL || path == NULL)
    return -SYS_EINVAL;
  if (disk->fd >= 0)
    sys_close (disk->fd);
  text_copy (disk->path, sizeof disk->path, path);
  while ((disk->fd = sys_open (path, O_RDONLY)) < 0) {
    if (sys_now_ns () - start_ns > limit_ns)
      return disk->fd;
    sys_sleep_ns (1000000);
  }
  disk->size_bytes = size_of (disk->fd);
  report_device (disk);
  report_identify (disk);
  return 0;
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

long
disk_drop (const struct disk *disk)
{
  long error = sys_write_file ("/proc/sys/vm/drop_caches", "3\n");

  if (error != -SYS_ENOENT || disk->fd < 0)
    return error;
  return sys3 (SYS_IOCTL, disk->fd, IOCTL_BLKFLSBUF, 0);
}
