/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Make the drive's IDENTIFY say what the real one said.
 *
 * QEMU builds the 512 bytes when the guest first asks (the BIOS does), and
 * answers from that copy ever after.  From then on it can be patched in
 * place.  It is looked for at every whole millisecond of virtual time, by
 * its 40-byte model string in QEMU's own heap, so that it changes at the
 * same instant in every run.
 */
#ifndef SPINDLE_IDENTIFY_H
#define SPINDLE_IDENTIFY_H

/* Read SPINDLE_IDENTIFY's value (see README.md); ends QEMU if it is wrong. */
extern void identify_configure (const char *config);

/* Begin to look.  QEMU's clocks must exist. */
extern void identify_start (void);

/* Patch again what QEMU may have set anew (it does on SET FEATURES). */
extern void identify_check (void);

#endif /* SPINDLE_IDENTIFY_H */
