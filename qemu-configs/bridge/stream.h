/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two directions of an NBD connection, seen by somebody who only
 * listens.  Bytes come in pieces of any size.
 */
#ifndef SPINDLE_STREAM_H
#define SPINDLE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

enum { NBD_READ, NBD_WRITE, NBD_DISCONNECT, NBD_FLUSH, NBD_TRIM };

struct nbd_request {
  uint16_t op;
  uint64_t cookie;
  uint64_t offset;
  uint32_t length;
};

/* From client to server.  Zero-initialise at the start of a connection. */
struct request_stream {
  enum { STREAM_START, STREAM_OPTIONS, STREAM_REQUESTS } state;
  unsigned char header[28];
  size_t have;                  /* bytes of header */
  uint64_t payload;             /* bytes still to come after it */
  struct nbd_request request;   /* valid when complete */
};

/* Take bytes up to the end of the request under way.  Returns how many
 * were taken (> 0 if size > 0) and sets *complete if the request ended with
 * them.  -1: this is not NBD as we know it.
 */
extern ssize_t request_stream_feed (struct request_stream *stream,
                                    const void *data, size_t size,
                                    bool *complete);

/* From server to client, beginning with the first reply after the
 * handshake.  Zero-initialise.
 */
struct reply_stream {
  unsigned char header[20];
  size_t have;
  uint64_t payload;
  bool final;                   /* the chunk under way is the last one */
  uint64_t cookie;              /* valid when complete */
};

/* How much data follows a simple reply without error. */
typedef uint64_t simple_payload_fn (void *opaque, uint64_t cookie);

/* Likewise; *complete when the last byte of all that answers cookie has
 * been taken.
 */
extern ssize_t reply_stream_feed (struct reply_stream *stream,
                                  const void *data, size_t size,
                                  simple_payload_fn *simple_payload,
                                  void *opaque, bool *complete);

#endif /* SPINDLE_STREAM_H */
