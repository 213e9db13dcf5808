/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files that the agent's `files` step changes (agent/README.md): which
 * generation each must have, and which it has.
 */
#ifndef SPINDLE_CRASH_FILES_H
#define SPINDLE_CRASH_FILES_H

#include <stdbool.h>
#include <stdint.h>

#define CRASH_MAX_FILES 64

struct crash_file {
  int64_t tried, acknowledged;
  int64_t found;                /* -1: something else is there */
};

struct crash_files {
  unsigned n;
  struct crash_file file[CRASH_MAX_FILES];
};

/* Read what the agent has said on the debug port.  Returns -1 after a
 * message.
 */
int crash_read_record (struct crash_files *f, const char *path);

/* Look at the files themselves, as copied into FOLDER. */
void crash_read_files (struct crash_files *f, const char *folder);

int64_t crash_acknowledged (const struct crash_files *f);

/* Changes that were acknowledged and are not there.  A file that is no
 * generation of itself has lost one at least.
 */
int64_t crash_lost (const struct crash_files *f);

/* "log0 lost 58-59, doc3 is broken".  Free it. */
char *crash_describe (const struct crash_files *f);

#endif /* SPINDLE_CRASH_FILES_H */
