/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replies on their way into QEMU.
 *
 * They pass unchanged, with one exception.  QEMU's NBD client (seen in
 * 7.2 and 10.0) has a flaw when several requests are in flight: whoever has
 * received the last chunk of its reply must take the receive mutex once
 * more, to wake others, and that has already gone to a coroutine that waits
 * for the next header.  The request completes only when other replies have
 * come, to a guest milliseconds too late.  A further chunk for the same
 * request, there at once, lets the mutex come round.  So with others in
 * flight
 *
 *   a last chunk with data      goes in as the same chunk, not the last,
 *                               and an empty last one;
 *   a simple reply, no data     as an empty chunk of a type that such
 *                               requests ignore, and an empty last one.
 *
 * Only a connection with structured replies can take this.
 */
#ifndef SPINDLE_REPLIES_H
#define SPINDLE_REPLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/socket.h>

#include "qemu-configs/bridge/stream.h"

/* What it asks its owner. */
struct replies_ops {
  /* How much data follows a simple reply without error. */
  uint64_t (*simple_payload) (void *opaque, uint64_t cookie);
  /* Is no other request in flight? */
  bool (*alone) (void *opaque);
  /* QEMU has taken the last byte of what answers cookie. */
  void (*consumed) (void *opaque, uint64_t cookie);
  ssize_t (*recvmsg) (int fd, struct msghdr *msg, int flags);
};

/* Zero-initialise, begin with the first reply after the handshake. */
struct replies {
  bool structured;              /* there was a chunk: both sides know them */
  bool simple_data;             /* there was data without */
  unsigned char header[REPLY_MAX];      /* as received */
  size_t have;
  struct nbd_reply reply;       /* once all of it is there */
  unsigned char give[REPLY_MAX];        /* QEMU takes this, then */
  size_t given, give_size;
  uint64_t payload;             /* this much from the socket, then */
  bool trailer;                 /* an empty last chunk */
  bool busy;                    /* some of that is left */
};

/* In place of recvmsg.  Returns like that; -2: this is not NBD as we know
 * it.
 */
extern ssize_t replies_receive (struct replies *replies,
                                const struct replies_ops *ops, void *opaque,
                                int fd, struct msghdr *msg, int flags);

#endif /* SPINDLE_REPLIES_H */
