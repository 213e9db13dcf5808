// SPDX-License-Identifier: BSD-3-Clause
//
// A file system on the disk, and files in it that are made durable one
// change at a time.

#ifndef AGENT_FILES_H
#define AGENT_FILES_H

#include "disk.h"
#include "job.h"

/* The steps of these names; each gives 0 or -errno. */
long files_mount (const struct disk *disk, struct step *step);
long files_umount (struct step *step);
long files_change (struct step *step);
long files_verify (struct step *step);

#endif
