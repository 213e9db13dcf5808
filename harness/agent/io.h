// SPDX-License-Identifier: BSD-3-Clause

#ifndef AGENT_IO_H
#define AGENT_IO_H

#include <stdbool.h>

#include "disk.h"
#include "job.h"

/* Do a read or a write step on the disk and report its result.  Gives 0, or
 * -errno of the transfer that ended it. */
long io_run (const struct disk *disk, struct step *step, bool write);

#endif
