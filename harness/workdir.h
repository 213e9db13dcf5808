/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A private directory for sockets, the clock page and whatever nobody
 * asked to keep.
 */
#ifndef SPINDLE_WORKDIR_H
#define SPINDLE_WORKDIR_H

#include "guardian.h"

struct workdir {
  char *path;
  int fd;                       /* locked as long as we live */
  struct guardian guardian;     /* removes it if we are killed */
};

/* Make one, mode 0700, under $XDG_RUNTIME_DIR, $TMPDIR or /tmp: the first
 * where a socket's name fits.  Should its guardian be killed too, whoever
 * comes next removes what nobody has locked.  Call it before children are
 * started.  Returns -1 after a message.
 */
int workdir_create (struct workdir *w);

/* The same for what may be as large as a drive: under $TMPDIR or /var/tmp. */
int workdir_create_large (struct workdir *w);

/* Remove it with everything in it. */
void workdir_remove (struct workdir *w);

/* mkdir -p.  Returns -1 after a message. */
int make_directories (const char *path);

#endif /* SPINDLE_WORKDIR_H */
