/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sectors the user wants to be bad.
 */
#ifndef SPINDLE_BAD_SECTORS_H
#define SPINDLE_BAD_SECTORS_H

#include <stddef.h>
#include <stdio.h>

struct drive;

/* Parameters bad=LBA[+N][:RETRIES], when the drive has been made.  Returns
 * -1 when one is wrong.
 */
extern int bad_sectors_add (struct drive *d, const char *const *texts,
                            size_t n);

/* The control socket likewise. */
extern void bad_sectors_command (struct drive *d, const char *arg,
                                 FILE *reply);

#endif /* SPINDLE_BAD_SECTORS_H */
