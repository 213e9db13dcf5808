/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The C library's own functions behind the ones we stand in for.
 */
#ifndef SPINDLE_REAL_H
#define SPINDLE_REAL_H

#include <sys/socket.h>

extern ssize_t real_sendmsg (int fd, const struct msghdr *msg, int flags);
extern ssize_t real_recvmsg (int fd, struct msghdr *msg, int flags);

#endif /* SPINDLE_REAL_H */
