/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Changing the profile of a drive that runs: those of its values that a
 * drive could change, with SET FEATURES or another firmware.
 */
#ifndef SPINDLE_CHANGE_H
#define SPINDLE_CHANGE_H

#include <stddef.h>
#include <stdio.h>

struct drive;
struct profile;

/* What the profile was loaded from, to load it again.  The arguments stay
 * in use; profile is the drive's and is what changes.  Returns -1 after
 * nbdkit_error.
 */
extern int change_prepare (struct profile *profile, const char *name,
                           const char *const *overrides, size_t n_overrides);
extern void change_end (void);

/* The control socket: arg is "KEY=VALUE". */
extern void change_command (struct drive *d, const char *arg, FILE *reply);

#endif /* SPINDLE_CHANGE_H */
