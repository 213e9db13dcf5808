/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who tidies up when we are killed: a process of ours that waits for
 * nothing but our end.
 */
#ifndef SPINDLE_GUARDIAN_H
#define SPINDLE_GUARDIAN_H

#include <sys/types.h>

struct guardian {
  pid_t pid;                    /* 0 = none */
  int fd;                       /* open as long as we live */
};

/* From here on FN is called in the other process when we have died without
 * guardian_stop.  Start it before any child.  Returns -1, with errno set,
 * if there can be none.
 */
int guardian_start (struct guardian *g, void (*fn) (const void *opaque),
                    const void *opaque);

void guardian_stop (struct guardian *g);

#endif /* SPINDLE_GUARDIAN_H */
