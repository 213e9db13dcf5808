// SPDX-License-Identifier: BSD-3-Clause
//
// The disk under test, and device nodes.

#ifndef AGENT_DISK_H
#define AGENT_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job.h"

enum { MAX_DISKS = 8 };

struct disk {
  char name[64];                /* what the job calls it; "" = none */
  char path[64];
  /* Held open: at the last close of a device the kernel would write back
   * and forget its pages, inside or between the steps. */
  int fd;
  int64_t size_bytes;
};

/* "queue/x" of a disk: "/sys/block/sda/queue/x".  Gives false for a device
 * that cannot have such. */
bool disk_sysfs_path (const struct disk *disk, const char *name, char *path,
                      size_t size);

/* Make /dev/console, null, ttyS0 and disk nodes where nothing else does. */
void disk_make_nodes (void);

/* The disk of the last device step, or NULL. */
struct disk *disk_current (void);
/* The disk that was opened under this name, or NULL. */
struct disk *disk_called (const char *name);

/* The steps.  Each gives 0 or -errno, and reports what it found. */
long disk_open (struct step *step);
long disk_readahead (const struct disk *disk, struct step *step);
/* -EINVAL without a problem in the step: there is no such elevator. */
long disk_elevator (const struct disk *disk, struct step *step);
/* disk may be NULL. */
long disk_drop (const struct disk *disk);

#endif
