// SPDX-License-Identifier: BSD-3-Clause
//
// Init: prepare the root, do the job's steps, power off.

#include "copy.h"
#include "disk.h"
#include "files.h"
#include "io.h"
#include "job.h"
#include "modules.h"
#include "mount.h"
#include "report.h"
#include "sys.h"
#include "text.h"
#include "walk.h"

void agent_main (void);

/* Where the number of restarts is kept: a byte of CMOS memory that neither
 * QEMU nor its firmware uses.  0 when the power comes on. */
enum { CMOS_RESTARTS = 0x78 };

enum { RESTART = 0x01234567, POWER_OFF = 0x4321fedc };

static void
mount_all (void)
{
  static const char *const mounts[][2] = {
    { "proc", "/proc" }, { "sysfs", "/sys" }, { "devtmpfs", "/dev" },
  };

  for (int i = 0; i < 3; i++) {
    sys2 (SYS_MKDIR, mounts[i][1], 0755);
    sys5 (SYS_MOUNT, (long) mounts[i][0], (long) mounts[i][1],
          (long) mounts[i][0], 0, 0);
  }
  disk_make_nodes ();
}

static void
report_clock (const char *event)
{
  char source[64] = "";
  char *next = source, *word;
  int64_t ns = sys_now_ns (), tsc = sys_tsc ();

  sys_read_file ("/sys/devices/system/clocksource/clocksource0/"
                 "current_clocksource", source, sizeof source);
  word = text_word (&next);
  report_begin (event);
  report_number ("ns", ns);
  report_number ("tsc", tsc);
  if (word != NULL)
    report_text ("clocksource", word);
}

static void
report_start (void)
{
  struct sys_utsname uts;

  report_clock ("start");
  if (sys1 (SYS_UNAME, &uts) == 0)
    report_text ("kernel", uts.release);
  report_number ("agent", 1);
  report_end ();
}

/* Does not return. */
static void
reboot (int how)
{
  sys4 (SYS_REBOOT, 0xfee1dead, 672274793, how, 0);
  for (;;)
    sys_sleep_ns (999999999);
}

static void
power_off (void)
{
  int fd;

  report_clock ("end");
  report_text ("status", report_failed () ? "failed" : "ok");
  report_end ();
  report_drain ();
  sys0 (SYS_SYNC);
  /* A kernel that runs without ACPI halts instead of powering off; QEMU's
   * isa-debug-exit or, with -no-reboot, a restart ends the machine then. */
  fd = sys_open ("/proc/acpi", O_RDONLY);
  if (fd < 0)
    fd = sys_open ("/sys/firmware/acpi/tables", O_RDONLY);
  if (fd >= 0)
    sys4 (SYS_REBOOT, 0xfee1dead, 672274793, POWER_OFF, 0);
  sys_outb (0x501, 0);
  reboot (RESTART);
}

/* Restart the machine, with whatever has not been written. */
static void
restart (int restarts)
{
  sys_cmos_write (CMOS_RESTARTS, restarts);
  report_begin ("reboot");
  report_end ();
  report_drain ();
  reboot (RESTART);
}

static long
console_step (struct step *step)
{
  const char *device = step_text (step, "device");

  step_check_unknown (step);
  if (step->problem != NULL || device == NULL)
    return -SYS_EINVAL;
  return report_open (device);
}

static long
sysfs_step (struct step *step)
{
  const char *path = step_text (step, "path");
  const char *value = step_text (step, "value");
  const struct disk *disk = disk_current ();
  char full[128];
  long error;

  step_check_unknown (step);
  if (step->problem != NULL || path == NULL || value == NULL)
    return -SYS_EINVAL;
  if (path[0] != '/') {
    if (disk == NULL)
      return -SYS_ENODEV;
    if (!disk_sysfs_path (disk, path, full, sizeof full))
      return -SYS_ENOENT;
    path = full;
  }
  /* What a kernel does not have need not be set. */
  error = sys_write_file (path, value);
  if (error < 0)
    report_warning (step->text, -error, NULL);
  return 0;
}

/* Steps that need a disk are refused without one. */
static long
disk_step (struct step *step)
{
  static const char *const verbs[] = {
    [IO_READ] = "read", [IO_WRITE] = "write", [IO_MIX] = "mix",
    [IO_TRIM] = "trim", "readahead", "elevator", NULL
  };
  const struct disk *disk = disk_current ();
  int verb = 0;

  while (verbs[verb] != NULL && !text_equal (step->verb, verbs[verb]))
    verb++;
  if (verbs[verb] == NULL) {
    step->problem = "the step is unknown";
    return -SYS_EINVAL;
  }
  if (disk == NULL) {
    step->problem = "there was no device step";
    return -SYS_ENODEV;
  }
  if (verb <= IO_TRIM)
    return io_run (disk, step, verb);
  return text_equal (step->verb, "elevator") ? disk_elevator (disk, step)
    : disk_readahead (disk, step);
}

/* Steps that make the machine ready are done again after a restart. */
static bool
is_preparation (const struct step *step)
{
  static const char *const verbs[] = {
    "modules", "console", "device", "sysfs", "readahead", "elevator", "mount",
    NULL
  };

  for (int i = 0; verbs[i] != NULL; i++)
    if (text_equal (step->verb, verbs[i]))
      return true;
  return false;
}

static long
do_step (struct step *step)
{
  const char *verb = step->verb;

  if (step->problem != NULL)
    return -SYS_EINVAL;
  if (text_equal (verb, "modules"))
    return modules_load ();
  if (text_equal (verb, "console"))
    return console_step (step);
  if (text_equal (verb, "device"))
    return disk_open (step);
  if (text_equal (verb, "sysfs"))
    return sysfs_step (step);
  if (text_equal (verb, "sync"))
    return sys0 (SYS_SYNC);
  if (text_equal (verb, "drop"))
    return disk_drop (disk_current ());
  if (text_equal (verb, "mount"))
    return mount_run (step);
  if (text_equal (verb, "forget"))
    return mount_forget (step);
  if (text_equal (verb, "walk"))
    return walk_run (step);
  if (text_equal (verb, "frames"))
    return frames_run (step);
  if (text_equal (verb, "copy"))
    return copy_run (step);
  if (text_equal (verb, "umount"))
    return mount_end (step);
  if (text_equal (verb, "files"))
    return files_change (step);
  if (text_equal (verb, "verify"))
    return files_verify (step);
  return disk_step (step);
}

/* An elevator that is not there is no mistake: nothing can be said about
 * this kernel then. */
static bool
is_skipped (struct step *step, long error)
{
  if (!text_equal (step->verb, "elevator") || error != -SYS_EINVAL
      || step->problem != NULL)
    return false;
  report_begin ("skip");
  report_text ("elevator", step_text (step, "name"));
  report_end ();
  return true;
}

/* Without these nothing that follows means anything. */
static bool
is_vital (const struct step *step)
{
  return text_equal (step->verb, "device") || text_equal (step->verb, "mount");
}

static void
do_job (char *job)
{
  static struct step step;
  const int restarts = sys_cmos_read (CMOS_RESTARTS);
  int seen = 0;                 /* reboot steps */
  char *line;

  while ((line = text_line (&job)) != NULL) {
    long error;

    if (!step_parse (&step, line))
      continue;
    if (text_equal (step.verb, "reboot")) {
      if (++seen > restarts)
        restart (seen);
      continue;
    }
    if (seen < restarts && !is_preparation (&step))
      continue;
    if (text_equal (step.verb, "poweroff"))
      return;
    error = do_step (&step);
    if (error < 0 && is_skipped (&step, error))
      return;
    if (error < 0)
      report_error (step.text, -error, step.problem);
    if (error < 0 && is_vital (&step))
      return;
  }
}

void
agent_main (void)
{
  static char job[65536];
  long n;

  mount_all ();
  report_open ("/dev/ttyS0");
  report_start ();
  n = sys_read_file ("/job", job, sizeof job);
  if (n < 0)
    report_error ("/job", -n, "the job cannot be read");
  else
    do_job (job);
  power_off ();
}
