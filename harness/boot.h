/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a guest boots: a kernel, the agent and its job.
 */
#ifndef SPINDLE_BOOT_H
#define SPINDLE_BOOT_H

#include "pieces.h"
#include "scenario.h"

struct boot {
  char *kernel, *initrd, *append;
  int64_t memory_mib;           /* the scenario's, or more: see below */
};

/* Find the scenario's kernel and write the initrd for a guest with these
 * drives into FOLDER.  A scenario asks for the memory of the computer that was
 * reported; a kernel that is larger than that gets as much as it needs to
 * boot.  Returns -1 after a message.
 */
int boot_prepare (struct boot *b, const struct scenario *sc,
                  const struct machine_drive *drives, unsigned n,
                  const struct pieces *pieces, const char *folder);
void boot_free (struct boot *b);

#endif /* SPINDLE_BOOT_H */
