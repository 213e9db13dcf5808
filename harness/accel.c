/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accel.h"
#include "child.h"
#include "spindle.h"

#define BOOT_LIMIT_MS 5000
#define READ_LIMIT_MS 120000    /* for all of them, on the busiest host */

#define SECTOR 512
#define DISK_SIZE (1 << 20)     /* the BIOS wants a cylinder at least */
#define COUNT_AT 2              /* the number of reads, 16 bits */
#define ENDED_WELL 85

#define PIT_HZ INT64_C (1193182)

/* probe-sector.s, assembled. */
extern const unsigned char probe_sector[];
__asm__ (".pushsection .rodata\n"
         "probe_sector:\n"
         ".incbin \"probe-sector.bin\"\n"
         ".popsection\n");

int
accel_parse (const char *text, enum accel *accel)
{
  int i;

  for (i = 0; accel_names[i]; ++i)
    if (strcmp (text, accel_names[i]) == 0) {
      *accel = i;
      return 0;
    }
  complain ("--accel: %s: auto, tcg or kvm", text);
  return -1;
}

/* A disk with it.  Returns -1 without a message. */
static int
write_disk (const char *path, unsigned n)
{
  unsigned char sector[SECTOR];
  int fd = open (path, O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600), r = -1;

  memcpy (sector, probe_sector, SECTOR);
  sector[COUNT_AT] = n & 0xff;
  sector[COUNT_AT + 1] = n >> 8;
  if (fd != -1 && write (fd, sector, SECTOR) == SECTOR &&
      ftruncate (fd, DISK_SIZE) == 0)
    r = 0;
  if (fd != -1)
    close (fd);
  return r;
}

static void
probe_words (struct words *argv, enum accel accel, int machine_kind,
             const struct pieces *pieces, const char *disk,
             const char *times, const char *blockdev)
{
  const struct machine m = {
    .kind = machine_kind, .accel = accel, .memory_mib = 16,
  };

  machine_qemu (argv, pieces, &m, NULL, 0);
  words_add (argv, "-display");
  words_add (argv, "none");
  words_add (argv, "-device");
  words_add (argv, "isa-debug-exit,iobase=0x501");
  words_add (argv, "-debugcon");
  words_addf (argv, "file:%s", times);
  if (blockdev) {
    words_add (argv, "-blockdev");
    words_addf (argv, "%s,node-name=read", blockdev);
    words_add (argv, "-device");
    words_add (argv, "ide-hd,drive=read,bus=ide.0");
  }
  words_add (argv, "-blockdev");
  words_addf (argv, "driver=file,node-name=boot,filename=%s", disk);
  words_add (argv, "-device");
  words_add (argv, "ide-hd,drive=boot,bus=ide.1,bootindex=0");
}

/* Returns NULL, or why it did not do what it should. */
static const char *
run_qemu (const struct words *argv, const char *log, int limit_ms)
{
  const int64_t end_ms = monotonic_ms () + limit_ms;
  const char *r = "does not boot";
  struct child qemu;

  if (child_start (&qemu, "qemu", argv, NULL, log) == -1)
    return r;
  while (!child_ended (&qemu))
    if (signals_wait (20)) {
      r = "was interrupted";
      break;
    }
    else if (monotonic_ms () > end_ms) {
      r = "is too slow";
      break;
    }
  child_stop (&qemu, 0);
  return WIFEXITED (qemu.status) && WEXITSTATUS (qemu.status) == ENDED_WELL
    ? NULL : r;
}

static int
compare (const void *a, const void *b)
{
  const uint16_t *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

static int64_t
median_ns (const char *path)
{
  static uint16_t times[UINT16_MAX];
  FILE *fp = fopen (path, "r");
  size_t n = 0;
  int low, high;

  if (fp == NULL)
    return 0;
  while (n < UINT16_MAX && (low = getc (fp)) != EOF &&
         (high = getc (fp)) != EOF)
    times[n++] = low | high << 8;
  fclose (fp);
  if (n == 0)
    return 0;
  qsort (times, n, sizeof times[0], compare);
  return times[n / 2] * INT64_C (1000000000) / PIT_HZ;
}

int64_t
accel_probe (enum accel accel, int machine_kind, const struct pieces *pieces,
             const char *folder, const char *blockdev, unsigned n,
             const char **why)
{
  char *disk = format ("%s/probe.img", folder);
  char *times = format ("%s/probe.times", folder);
  char *log = format ("%s/probe.log", folder);
  struct words argv = { 0 };
  int64_t r = -1;

  probe_words (&argv, accel, machine_kind, pieces, disk, times, blockdev);
  *why = write_disk (disk, n) == -1 ? "has no disk"
    : run_qemu (&argv, log, n ? READ_LIMIT_MS : BOOT_LIMIT_MS);
  if (*why == NULL)
    r = median_ns (times);
  words_free (&argv);
  unlink (disk);
  unlink (times);
  unlink (log);
  free (disk);
  free (times);
  free (log);
  return r;
}

int
accel_choose (enum accel *accel, const struct pieces *pieces,
              const char *folder, const char **why)
{
  const enum accel wanted = *accel;
  const char *fate;

  *why = NULL;
  if (wanted == ACCEL_TCG)
    return 0;
  if (access ("/dev/kvm", R_OK|W_OK) == -1)
    *why = "no /dev/kvm that we may use";
  else if (accel_probe (ACCEL_KVM, MACHINE_IDE, pieces, folder, NULL, 0,
                        &fate) == -1)
    *why = "KVM does not boot a guest";
  *accel = *why ? ACCEL_TCG : ACCEL_KVM;
  if (*why == NULL || wanted == ACCEL_AUTO)
    return 0;
  complain ("--accel kvm: %s", *why);
  return -1;
}
