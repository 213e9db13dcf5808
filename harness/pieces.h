/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where our own files are: next to the program in a build tree, else where
 * `make install' puts them.
 */
#ifndef SPINDLE_PIECES_H
#define SPINDLE_PIECES_H

struct pieces {
  char *plugin;                 /* nbdkit-spindle-plugin.so */
  char *bridge;                 /* spindle-clock.so */
  char *agent;                  /* the guest's init */
  char *configs;                /* folder of the QEMU machines */
  char *scenarios;              /* folder of the scenarios */
};

/* Returns -1 after a message. */
int pieces_find (struct pieces *p);
void pieces_free (struct pieces *p);

/* The programs to run: $SPINDLE_QEMU and $SPINDLE_NBDKIT override. */
const char *qemu_program (void);
const char *nbdkit_program (void);

/* Can PROGRAM be found in PATH?  Returns -1 after a message that says what
 * to install.
 */
int program_check (const char *program, const char *debian_package);

#endif /* SPINDLE_PIECES_H */
