/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "qemu-configs/bridge/replies.h"

/* Copy the rest of what is to be given to where QEMU wants it. */
static size_t
give (struct replies *r, const struct msghdr *msg)
{
  size_t i, n, total = 0;

  for (i = 0; i < msg->msg_iovlen && r->given < r->give_size; i++) {
    n = r->give_size - r->given;
    if (n > msg->msg_iov[i].iov_len)
      n = msg->msg_iov[i].iov_len;
    memcpy (msg->msg_iov[i].iov_base, r->give + r->given, n);
    r->given += n;
    total += n;
  }
  return total;
}

/* To be given next. */
static void
set_chunk (struct replies *r, const struct nbd_reply *chunk)
{
  reply_make_chunk (chunk, r->give);
  r->give_size = REPLY_MAX;
  r->given = 0;
}

/* A header has come: decide what QEMU gets. */
static void
begin (struct replies *r, const struct replies_ops *ops, void *opaque)
{
  const struct nbd_reply *reply = &r->reply;

  if (reply->structured)
    r->payload = reply->payload;
  else
    r->payload = reply->error == 0
      ? ops->simple_payload (opaque, reply->cookie) : 0;
  r->structured |= reply->structured;
  r->simple_data |= !reply->structured && r->payload > 0;
  r->busy = true;
  if (!r->structured || !reply->final || ops->alone (opaque))
    r->trailer = false;
  else if (reply->structured)
    r->trailer = reply->type == CHUNK_DATA || reply->type == CHUNK_HOLE;
  else
    r->trailer = reply->error == 0;

  if (r->trailer)
    set_chunk (r, &(struct nbd_reply) {
        .type = reply->structured ? reply->type : CHUNK_HOLE,
        .cookie = reply->cookie, .payload = r->payload });
  else {
    memcpy (r->give, r->header, r->have);
    r->give_size = r->have;
    r->given = 0;
  }
  r->have = 0;
}

/* The last byte that was set out has been taken: what is next? */
static void
go_on (struct replies *r, const struct replies_ops *ops, void *opaque)
{
  if (!r->busy || r->given < r->give_size || r->payload > 0)
    return;
  if (r->trailer) {
    r->trailer = false;
    set_chunk (r, &(struct nbd_reply) {
        .type = CHUNK_NONE, .final = true, .cookie = r->reply.cookie });
    return;
  }
  r->busy = false;
  if (r->reply.final)
    ops->consumed (opaque, r->reply.cookie);
}

/* Returns like recvmsg, 1 when the header is whole. */
static ssize_t
receive_header (struct replies *r, const struct replies_ops *ops, int fd,
                int flags)
{
  struct iovec iov;
  struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
  ssize_t n;
  int need;

  while ((need = reply_parse (r->header, r->have, &r->reply)) > 0) {
    iov = (struct iovec) { .iov_base = r->header + r->have,
                           .iov_len = need };
    n = ops->recvmsg (fd, &msg, flags);
    if (n <= 0)
      return n;
    r->have += n;
  }
  return need == 0 ? 1 : -2;
}

/* Receive no more than the payload that is left. */
static ssize_t
receive_payload (struct replies *r, const struct replies_ops *ops, int fd,
                 struct msghdr *msg, int flags)
{
  struct msghdr part = *msg;
  struct iovec *last = NULL;
  size_t i, cut = 0, size = 0;
  ssize_t n;

  for (i = 0; i < msg->msg_iovlen && size <= r->payload; i++)
    size += msg->msg_iov[i].iov_len;
  part.msg_iovlen = i;
  if (size > r->payload) {
    last = &msg->msg_iov[i - 1];
    cut = size - r->payload;
    last->iov_len -= cut;
  }
  n = ops->recvmsg (fd, &part, flags);
  if (last != NULL)
    last->iov_len += cut;
  if (n > 0)
    r->payload -= n;
  return n;
}

ssize_t
replies_receive (struct replies *r, const struct replies_ops *ops,
                 void *opaque, int fd, struct msghdr *msg, int flags)
{
  ssize_t n;

  if (!r->busy) {
    n = receive_header (r, ops, fd, flags);
    if (n <= 0)
      return n;
    begin (r, ops, opaque);
  }
  if (r->given < r->give_size)
    n = give (r, msg);
  else
    n = receive_payload (r, ops, fd, msg, flags);
  if (n > 0)
    go_on (r, ops, opaque);
  return n;
}
