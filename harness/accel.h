/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What QEMU runs the guest's code with, and the boot sector that finds out.
 */
#ifndef SPINDLE_ACCEL_H
#define SPINDLE_ACCEL_H

#include <stdint.h>

#include "machine.h"

/* "auto", "tcg" or "kvm".  Returns -1 after a message. */
int accel_parse (const char *text, enum accel *accel);

/* Decide what ACCEL_AUTO is: KVM if a guest really boots under it, within a
 * few seconds.  FOLDER is private, for files.  When it is not KVM, *WHY says
 * in a few words what is wrong with it.  ACCEL_KVM that does not boot is an
 * error: -1 after a message.
 */
int accel_choose (enum accel *accel, const struct pieces *pieces,
                  const char *folder, const char **why);

/* Boot the probe in that machine and let it read a sector N times from the
 * drive that BLOCKDEV describes (-blockdev, without its node-name); NULL and
 * 0 for none.  Returns the median of the times in ns, or -1, and what became
 * of it, "is too slow", in *WHY.  Nothing is printed.
 */
int64_t accel_probe (enum accel accel, int machine_kind,
                     const struct pieces *pieces, const char *folder,
                     const char *blockdev, unsigned n, const char **why);

#endif /* SPINDLE_ACCEL_H */
