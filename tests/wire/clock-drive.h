/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drive the plugin in virtual time over libnbd, with no guest: what the
 * bridge does, for programs that make up their own times.
 *
 *   d = clock_drive_connect (socket, page, error);
 *   cookie = clock_drive_submit (d, &(struct clock_io) { ... });
 *   while (clock_drive_run (d, CLOCK_NEVER, &done) == 1)
 *     printf ("%d took %d ns\n", done.cookie, done.done_ns);
 *   clock_drive_close (d);
 */
#ifndef SPINDLE_CLOCK_DRIVE_H
#define SPINDLE_CLOCK_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock-client.h"

struct clock_drive;

enum clock_op { CLOCK_READ = 0, CLOCK_WRITE = 1, CLOCK_FLUSH = 3,
                CLOCK_TRIM = 4 };

struct clock_io {
  enum clock_op op;
  bool fua;
  uint64_t offset, length;      /* bytes */
  void *data;                   /* lives until completion; read, write */
  int64_t now_ns;
  bool untimed;                 /* the drive takes no notice */
};

struct clock_io_done {
  int64_t cookie;
  int64_t done_ns;
  int error;                    /* errno, 0 if it went well */
};

/* Connect to nbdkit's Unix socket and attach to its clock page.  NULL with
 * one line in error (CLOCK_ERROR_SIZE bytes).
 */
extern struct clock_drive *clock_drive_connect (const char *socket,
                                                const char *page,
                                                char *error);
extern void clock_drive_close (struct clock_drive *drive);
extern struct clock_client *clock_drive_client (struct clock_drive *drive);

/* Hand over a request at io->now_ns.  Returns its cookie, > 0, or -1.  An
 * untimed request is also completed when this returns.
 */
extern int64_t clock_drive_submit (struct clock_drive *drive,
                                   const struct clock_io *io);

/* When the drive next does something. */
extern int64_t clock_drive_next_event (const struct clock_drive *drive);

/* Run to the next completion at or before until_ns: returns 1, and the data
 * are there.  0: nothing completes until then.  -1: see the error.
 */
extern int clock_drive_run (struct clock_drive *drive, int64_t until_ns,
                            struct clock_io_done *done);

extern const char *clock_drive_error (const struct clock_drive *drive);

#endif /* SPINDLE_CLOCK_DRIVE_H */
