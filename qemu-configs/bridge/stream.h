/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What NBD looks like on the wire.
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

/* What a client sends, in pieces of any size.  Zero-initialise at the start
 * of a connection.
 */
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

/* One message from server to client. */
struct nbd_reply {
  bool structured;              /* a chunk; or a simple reply */
  bool final;                   /* nothing more for this cookie */
  uint16_t type;                /* of a chunk */
  uint32_t error;               /* of a simple reply */
  uint64_t cookie;
  uint32_t payload;             /* bytes after a chunk's header */
};

enum { CHUNK_NONE, CHUNK_DATA, CHUNK_HOLE };

#define REPLY_MAX 20            /* longest header, and that of a chunk */

/* Parse a header of which there are have bytes.  Returns how many more are
 * needed, 0 when *reply has been filled in, -1 if it is not one.
 */
extern int reply_parse (const unsigned char *header, size_t have,
                        struct nbd_reply *reply);

/* Make the header of a chunk, REPLY_MAX bytes. */
extern void reply_make_chunk (const struct nbd_reply *reply,
                              unsigned char *header);

#endif /* SPINDLE_STREAM_H */
