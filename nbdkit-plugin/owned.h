/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that must not stay behind: removed when the process that owns them
 * exits, whichever way nbdkit takes to exit (a later error at start-up
 * calls exit() without unloading plugins).  When nbdkit forks into the
 * background the child inherits them.
 */
#ifndef SPINDLE_OWNED_H
#define SPINDLE_OWNED_H

/* The path must be absolute and stay valid.  fd is what makes others believe
 * that the file is in use, a lock or a listening socket: the parent closes
 * it, so that they notice if the child dies.
 */
extern int owned_add (const char *path, int fd);
extern void owned_remove_all (void);

#endif /* SPINDLE_OWNED_H */
