/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel a guest boots.
 */
#ifndef SPINDLE_KERNEL_H
#define SPINDLE_KERNEL_H

#include <stdbool.h>

#include "words.h"

/* What Debian's 6.1 needs to boot quickly and to keep exact time under
 * -icount; older kernels ignore what they do not know.
 * tsc_early_khz: under icount the time stamp counter counts virtual ns, so
 *   its rate need not be measured, and guest time is virtual time.
 * cryptomgr.notests: 7 s of virtual time (at shift 3).
 * rodata=off: 1 s, a search for writable code.
 * noreplace-smp: half a second of host time; patched code is translated anew.
 * nokaslr: the same addresses in every run.
 * panic=-1: with QEMU's -no-reboot a panic ends the machine.
 */
#define KERNEL_ARGUMENTS                                                \
  "console=ttyS0 loglevel=1 panic=-1 nokaslr noreplace-smp "              \
  "mitigations=off rodata=off cryptomgr.notests random.trust_cpu=on "     \
  "tsc=reliable tsc_early_khz=1000000"

/* What a kernel needs beyond the end of its image until init runs: page
 * tables, an entry per page, what is in the initramfs.
 */
#define KERNEL_ROOM_MIB 22

struct kernel {
  char *image;                  /* for QEMU's -kernel */
  char *release;                /* "6.1.0-57-amd64" */
  int end_mib;                  /* of its image in memory, 0: not known */
  char *module_dir;             /* "…/lib/modules/RELEASE", or NULL */
};

/* WANTED is a file (when it has a '/'), a name in the folder
 * $SPINDLE_KERNELS (NAME, vmlinux-NAME, vmlinuz-NAME or bzImage-NAME), or
 * NULL for Debian's current kernel, which is fetched with apt-get the first
 * time and kept in $XDG_CACHE_HOME/spindle/kernels; nothing is installed.
 * Modules are found in lib/modules/RELEASE beside the file, one folder
 * higher, or in the root.
 * Returns 0, or -1 with one line in *ERROR (to be freed).
 */
int kernel_find (const char *wanted, struct kernel *k, char **error);

/* Could it be found, without fetching anything? */
bool kernel_is_there (const char *wanted);

/* The names of all kernels in $SPINDLE_KERNELS, in order of version.
 * Returns -1 with one line in *ERROR.
 */
int kernel_names (struct words *names, char **error);
void kernel_free (struct kernel *k);

#endif /* SPINDLE_KERNEL_H */
