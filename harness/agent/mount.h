// SPDX-License-Identifier: BSD-3-Clause
//
// The one file system under test, mounted at /mnt.

#ifndef AGENT_MOUNT_H
#define AGENT_MOUNT_H

#include <stddef.h>

#include "job.h"

/* The mount step: of the current disk, or of one of its partitions. */
long mount_run (struct step *step);

/* The umount step. */
long mount_end (struct step *step);

bool mount_is_done (void);

/* Make the kernel forget all pages of its files: unmount, and mount it
 * again.  No file may be open. */
long mount_again (void);

/* Where the file of this name is; each % in it becomes the number of the
 * job.  Gives false if that is too long. */
bool mount_path (const char *name, int job, char *path, size_t size);

/* The forget step: one file's pages. */
long mount_forget (struct step *step);

#endif
