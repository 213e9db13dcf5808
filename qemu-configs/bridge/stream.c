/* SPDX-License-Identifier: BSD-3-Clause */

#include <endian.h>
#include <string.h>

#include "qemu-configs/bridge/stream.h"

#define CLIENT_FLAGS_SIZE 4
#define OPTION_MAGIC UINT64_C (0x49484156454f5054)
#define OPTION_SIZE 16
#define REQUEST_MAGIC UINT32_C (0x25609513)
#define REQUEST_SIZE 28
#define SIMPLE_MAGIC UINT32_C (0x67446698)
#define SIMPLE_SIZE 16
#define STRUCTURED_MAGIC UINT32_C (0x668e33ef)
#define STRUCTURED_DONE 1
#define MAGIC_SIZE 4

static uint16_t
be16 (const unsigned char *p)
{
  uint16_t v;

  memcpy (&v, p, sizeof v);
  return be16toh (v);
}

static uint32_t
be32 (const unsigned char *p)
{
  uint32_t v;

  memcpy (&v, p, sizeof v);
  return be32toh (v);
}

/* A cookie is opaque, but one byte order is as good as another. */
static uint64_t
be64 (const unsigned char *p)
{
  uint64_t v;

  memcpy (&v, p, sizeof v);
  return be64toh (v);
}

/* Fill header up to need bytes.  Returns the bytes taken. */
static size_t
fill (unsigned char *header, size_t *have, size_t need, const void *data,
      size_t size)
{
  const size_t n = need - *have < size ? need - *have : size;

  memcpy (header + *have, data, n);
  *have += n;
  return n;
}

static size_t
skip (uint64_t *payload, size_t size)
{
  const size_t n = *payload < size ? *payload : size;

  *payload -= n;
  return n;
}

/* The length of the header under way, 0 if it cannot be one. */
static size_t
request_header_size (const struct request_stream *stream)
{
  const uint32_t magic = be32 (stream->header);

  if (stream->have < MAGIC_SIZE)
    return MAGIC_SIZE;
  if (magic == REQUEST_MAGIC)
    return REQUEST_SIZE;
  switch (stream->state) {
  case STREAM_START:
    return CLIENT_FLAGS_SIZE;
  case STREAM_OPTIONS:
    return magic == OPTION_MAGIC >> 32 ? OPTION_SIZE : 0;
  default:
    return 0;
  }
}

/* The header is whole.  Returns true if it is that of a request. */
static bool
parse_request_header (struct request_stream *stream)
{
  const unsigned char *h = stream->header;

  if (be32 (h) != REQUEST_MAGIC) {
    if (stream->state == STREAM_OPTIONS)
      stream->payload = be32 (h + 12);
    stream->state = STREAM_OPTIONS;
    return false;
  }
  stream->state = STREAM_REQUESTS;
  stream->request = (struct nbd_request) {
    .op = be16 (h + 6), .cookie = be64 (h + 8), .offset = be64 (h + 16),
    .length = be32 (h + 24),
  };
  if (stream->request.op == NBD_WRITE)
    stream->payload = stream->request.length;
  return true;
}

ssize_t
request_stream_feed (struct request_stream *stream, const void *data,
                     size_t size, bool *complete)
{
  const unsigned char *p = data;
  size_t used, need;

  *complete = false;
  used = skip (&stream->payload, size);
  if (stream->have == REQUEST_SIZE) {
    *complete = stream->payload == 0;
    if (*complete)
      stream->have = 0;
    return used;
  }
  while (used < size && stream->payload == 0) {
    need = request_header_size (stream);
    if (need == 0)
      return -1;
    used += fill (stream->header, &stream->have, need, p + used,
                  size - used);
    if (stream->have < need || need != request_header_size (stream))
      continue;
    if (parse_request_header (stream)) {
      used += skip (&stream->payload, size - used);
      *complete = stream->payload == 0;
      if (*complete)
        stream->have = 0;
      return used;
    }
    stream->have = 0;
    used += skip (&stream->payload, size - used);
  }
  return used;
}

int
reply_parse (const unsigned char *header, size_t have,
             struct nbd_reply *reply)
{
  uint16_t flags;

  if (have < MAGIC_SIZE)
    return MAGIC_SIZE - have;
  switch (be32 (header)) {
  case SIMPLE_MAGIC:
    if (have < SIMPLE_SIZE)
      return SIMPLE_SIZE - have;
    *reply = (struct nbd_reply) {
      .final = true, .error = be32 (header + 4), .cookie = be64 (header + 8),
    };
    return 0;
  case STRUCTURED_MAGIC:
    if (have < REPLY_MAX)
      return REPLY_MAX - have;
    flags = be16 (header + 4);
    *reply = (struct nbd_reply) {
      .structured = true, .final = (flags & STRUCTURED_DONE) != 0,
      .type = be16 (header + 6), .cookie = be64 (header + 8),
      .payload = be32 (header + 16),
    };
    return 0;
  default:
    return -1;
  }
}

void
reply_make_chunk (const struct nbd_reply *reply, unsigned char *header)
{
  const uint32_t magic = htobe32 (STRUCTURED_MAGIC);
  const uint16_t flags = htobe16 (reply->final ? STRUCTURED_DONE : 0);
  const uint16_t type = htobe16 (reply->type);
  const uint64_t cookie = htobe64 (reply->cookie);
  const uint32_t payload = htobe32 (reply->payload);

  memcpy (header, &magic, sizeof magic);
  memcpy (header + 4, &flags, sizeof flags);
  memcpy (header + 6, &type, sizeof type);
  memcpy (header + 8, &cookie, sizeof cookie);
  memcpy (header + 16, &payload, sizeof payload);
}
