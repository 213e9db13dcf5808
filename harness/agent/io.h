// SPDX-License-Identifier: BSD-3-Clause

#ifndef AGENT_IO_H
#define AGENT_IO_H

#include "disk.h"
#include "job.h"

enum { IO_SECTOR = 512, IO_MAX_BLOCK = 4 << 20 };
enum io_op { IO_READ, IO_WRITE, IO_MIX, IO_TRIM };

/* Room for two transfers of IO_MAX_BLOCK, aligned for direct I/O, or NULL. */
char *io_buffer (void);

/* Do a read, write, mix or trim step on the disk and report its result.
 * Gives 0, or -errno of the transfer that ended it. */
long io_run (const struct disk *disk, struct step *step, enum io_op op);

/* splitmix64: 64 bits of state, one number a call. */
uint64_t io_random (uint64_t *state);

#endif
