/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One emulated drive: an NBD connection, its clock page, and a timer on
 * the guest's clock for the drive's next event.
 *
 * Everything but the handshake happens under QEMU's big lock.
 */
#ifndef SPINDLE_DRIVE_H
#define SPINDLE_DRIVE_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/socket.h>

struct drive;

/* Attach to the drives of "SOCKET=PAGE;SOCKET=PAGE".  Ends QEMU if one
 * cannot be had.
 */
extern void drives_attach (const char *config);

/* NULL if it is none of ours. */
extern struct drive *drive_by_fd (int fd);
extern struct drive *drive_by_address (const struct sockaddr *address);

extern void drive_connected (struct drive *drive, int fd);
extern void drive_disconnected (struct drive *drive);

/* Send all of a message, request by request; each is in the drive's queue
 * before the next goes out.  Returns like sendmsg, never short.
 */
extern ssize_t drive_send (struct drive *drive, const struct msghdr *msg,
                           int flags);

/* In place of recvmsg. */
extern ssize_t drive_receive (struct drive *drive, struct msghdr *msg,
                              int flags);

/* A reply is on its way to QEMU.  Ends QEMU if it is overdue. */
extern bool drives_reply_due (void);

/* Something in QEMU is about to sleep with the big lock held, so that
 * virtual time stands still, and may be waiting for a request: complete
 * the earliest one now.
 */
extern void drives_force (void);

/* Is there more than one? */
extern bool drives_several (void);

/* Is a timed request in flight? */
extern bool drives_busy (void);

#endif /* SPINDLE_DRIVE_H */
