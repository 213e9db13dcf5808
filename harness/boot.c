/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "initramfs.h"
#include "job.h"
#include "kernel.h"
#include "spindle.h"

/* Kernels that want a file system, not an archive, to start from: the ones
 * before 2.6.10.  They cut their command line at 256 bytes, and polling
 * IDE ports that are not there takes them minutes of guest time.
 */
#define OLD_ARGUMENTS \
  "console=ttyS0 loglevel=1 panic=1 root=/dev/ram0 rw init=/init " \
  "ramdisk_size=%d ide1=noprobe hdb=none ide2=noprobe ide3=noprobe " \
  "ide4=noprobe ide5=noprobe"

static bool
is_before (const char *release, unsigned major, unsigned minor,
           unsigned patch)
{
  unsigned a = 0, b = 0, c = 0;

  if (sscanf (release, "%u.%u.%u", &a, &b, &c) < 2)
    return false;
  return a != major ? a < major : b != minor ? b < minor : c < patch;
}

static bool
is_old (const char *release)
{
  return is_before (release, 2, 6, 10);
}

/* Modules for the drive, its file system and the elevator.  An elevator's
 * own name or its successor's may be a module.
 */
static void
needed_modules (struct words *r, const struct scenario *sc,
                const char *release)
{
  const char *fs = sc->disk.file_system, *elevator = sc->elevator;
  int i;

  for (i = 0; initramfs_default_modules[i]; ++i)
    words_add (r, initramfs_default_modules[i]);
  if (fs) {
    words_add (r, is_before (release, 3, 0, 0) ? fs : "ext4");
    if (!is_before (release, 3, 0, 0))
      words_add (r, "crc32c_generic");
  }
  if (elevator && (strcmp (elevator, "bfq") == 0 ||
                   (strcmp (elevator, "cfq") == 0 &&
                    !is_before (release, 5, 0, 0))))
    words_add (r, "bfq");
  if (elevator && strcmp (elevator, "kyber") == 0)
    words_add (r, "kyber-iosched");
}

/* Without -icount the time stamp counter is the host's: measure it. */
static char *
arguments (const struct scenario *sc, bool old, int size_kib)
{
  char *base = old ? format (OLD_ARGUMENTS, size_kib)
    : format ("%s%s", KERNEL_ARGUMENTS,
              sc->machine.virtual_clock ? "" : " tsc_early_khz=0");
  const char *elevator = old ? sc->elevator : NULL;
  char *r = format ("%s%s%s%s%s", base, elevator ? " elevator=" : "",
                    elevator ? elevator : "", sc->append ? " " : "",
                    sc->append ? sc->append : "");

  free (base);
  return r;
}

static int
fail (char *error)
{
  complain ("%s", error ? error : "out of memory");
  free (error);
  return -1;
}

/* A kernel for which there is not enough ends without a word.  Old ones were
 * made for computers with little, and get what is asked for.
 */
static int64_t
memory_mib (const struct scenario *sc, const struct kernel *kernel, bool old)
{
  const int64_t asked = sc->machine.memory_mib;
  const int64_t needs = kernel->end_mib + KERNEL_ROOM_MIB;

  return kernel->end_mib == 0 || old || asked >= needs ? asked : needs;
}

int
boot_prepare (struct boot *b, const struct scenario *sc,
              const struct machine_drive *drives, unsigned n,
              const struct pieces *pieces, const char *folder)
{
  struct initramfs_options options = {
    .agent_path = pieces->agent, .modules = sc->modules,
  };
  const char *wanted = strcmp (sc->kernel, "debian") == 0
    ? NULL : sc->kernel;
  struct kernel kernel;
  struct words modules = { 0 };
  char *error = NULL, *job;
  int size_kib = 0, r;
  bool old;

  if (kernel_find (wanted, &kernel, &error) == -1)
    return fail (error);
  old = is_old (kernel.release);
  job = job_text (sc, drives, n);
  options.job = job;
  options.module_dir = kernel.module_dir;
  needed_modules (&modules, sc, kernel.release);
  if (options.modules == NULL)
    options.modules = (const char *const *) modules.word;
  b->kernel = format ("%s", kernel.image);
  b->initrd = format ("%s/initrd", folder);
  b->memory_mib = memory_mib (sc, &kernel, old);
  r = old ? ext2_initrd_build (b->initrd, &options, &size_kib, &error)
    : initramfs_build (b->initrd, &options, &error);
  if (r == -1)
    fail (error);
  b->append = arguments (sc, old, size_kib);
  free (job);
  words_free (&modules);
  kernel_free (&kernel);
  return r;
}

void
boot_free (struct boot *b)
{
  free (b->kernel);
  free (b->initrd);
  free (b->append);
}
