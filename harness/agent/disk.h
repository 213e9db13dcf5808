// SPDX-License-Identifier: BSD-3-Clause
//
// The disk under test, and device nodes.

#ifndef AGENT_DISK_H
#define AGENT_DISK_H

#include <stdint.h>

#include "job.h"

struct disk {
  char path[64];
  /* Held open: at the last close of a device the kernel would write back
   * and forget its pages, inside or between the steps. */
  int fd;
  int64_t size_bytes;
};

/* Make /dev/console, null, ttyS0 and disk nodes where nothing else does. */
void disk_make_nodes (void);

/* The steps.  Each gives 0 or -errno, and reports what it found. */
long disk_open (struct disk *disk, struct step *step);
long disk_readahead (const struct disk *disk, struct step *step);
long disk_drop (const struct disk *disk);

#endif
