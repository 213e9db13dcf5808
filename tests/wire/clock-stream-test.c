/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bridge's view of an NBD connection, in pieces of every size.
 */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "qemu-configs/bridge/replies.h"
#include "qemu-configs/bridge/stream.h"

static unsigned char wire[4096];
static size_t wire_size;

static void
put (uint64_t value, size_t size)
{
  const uint64_t be = htobe64 (value << (64 - 8 * size));

  memcpy (wire + wire_size, &be, size);
  wire_size += size;
}

/* Payload full of things that look like headers. */
static void
put_payload (size_t size)
{
  size_t i;

  for (i = 0; i < size; i += 4)
    put (i % 8 == 0 ? 0x25609513 : 0x67446698, size - i < 4 ? size - i : 4);
}

static void
put_option (uint32_t option, size_t size)
{
  put (UINT64_C (0x49484156454f5054), 8);
  put (option, 4);
  put (size, 4);
  put_payload (size);
}

static void
put_request (uint16_t op, uint64_t cookie, uint64_t offset, uint32_t length)
{
  put (0x25609513, 4);
  put (0, 2);
  put (op, 2);
  put (cookie, 8);
  put (offset, 8);
  put (length, 4);
  if (op == NBD_WRITE)
    put_payload (length);
}

static void
put_simple (uint64_t cookie, uint32_t error, size_t payload)
{
  put (0x67446698, 4);
  put (error, 4);
  put (cookie, 8);
  put_payload (payload);
}

static void
put_chunk (uint64_t cookie, bool last, size_t payload)
{
  put (0x668e33ef, 4);
  put (last, 2);
  put (1, 2);
  put (cookie, 8);
  put (payload, 4);
  put_payload (payload);
}

/* Cookies seen, in order, and where on the wire each ended. */
static uint64_t seen[16];
static size_t ends[16], n_seen;

static void
note (uint64_t cookie, size_t end)
{
  seen[n_seen] = cookie;
  ends[n_seen++] = end;
}

static void
feed_requests (size_t piece)
{
  struct request_stream stream = { 0 };
  size_t i, n;
  ssize_t used;
  bool complete;

  n_seen = 0;
  for (i = 0; i < wire_size; i += used) {
    n = piece - i % piece;
    if (n > wire_size - i)
      n = wire_size - i;
    used = request_stream_feed (&stream, wire + i, n, &complete);
    assert_true (used > 0 && used <= (ssize_t) n);
    if (complete)
      note (stream.request.cookie, i + used);
  }
}

static void
test_requests (void **state)
{
  size_t expected[4], piece;

  (void) state;
  wire_size = 0;
  put (3, 4);
  put_option (8, 0);
  put_option (10, 33);
  put_option (7, 6);
  put_request (NBD_READ, 1, 1 << 20, 65536);
  expected[0] = wire_size;
  put_request (NBD_WRITE, 2, 0, 100);
  expected[1] = wire_size;
  put_request (NBD_WRITE, 3, 0, 0);
  expected[2] = wire_size;
  put_request (NBD_FLUSH, 4, 0, 0);
  expected[3] = wire_size;
  for (piece = 1; piece <= wire_size; piece++) {
    feed_requests (piece);
    assert_int_equal (n_seen, 4);
    assert_memory_equal (ends, expected, sizeof expected);
    assert_int_equal (seen[0] + seen[1] * 10 + seen[2] * 100
                      + seen[3] * 1000, 4321);
  }
}

static void
test_wrong_request (void **state)
{
  struct request_stream stream = { 0 };
  bool complete;

  (void) state;
  wire_size = 0;
  put (3, 4);
  put_request (NBD_READ, 1, 0, 512);
  put (0x21e41c71, 4);
  put (0, 4);
  assert_int_equal (request_stream_feed (&stream, wire, 4 + 28, &complete),
                    4 + 28);
  assert_true (complete);
  assert_int_equal (request_stream_feed (&stream, wire + 32, 8, &complete),
                    -1);
}

/* A socket that has the wire's bytes, no more than piece at a time, with
 * "come again" in between.
 */
static size_t piece_size, sent;
static bool again;

static ssize_t
receive_piece (int fd, struct msghdr *msg, int flags)
{
  size_t i, n, left = piece_size, total = 0;

  (void) fd;
  (void) flags;
  again = !again;
  if (again || sent == wire_size) {
    errno = EAGAIN;
    return -1;
  }
  for (i = 0; i < msg->msg_iovlen && left > 0; i++) {
    n = msg->msg_iov[i].iov_len < left ? msg->msg_iov[i].iov_len : left;
    if (n > wire_size - sent)
      n = wire_size - sent;
    memcpy (msg->msg_iov[i].iov_base, wire + sent, n);
    sent += n;
    left -= n;
    total += n;
  }
  return total;
}

/* Request 1 reads. */
static uint64_t
simple_payload (void *opaque, uint64_t cookie)
{
  (void) opaque;
  return cookie == 1 ? 100 : 0;
}

static bool
alone (void *opaque)
{
  return *(bool *) opaque;
}

static unsigned char taken[4096];
static size_t taken_size;

static void
consumed (void *opaque, uint64_t cookie)
{
  (void) opaque;
  note (cookie, taken_size);
}

static const struct replies_ops ops = {
  .simple_payload = simple_payload, .alone = alone, .consumed = consumed,
  .recvmsg = receive_piece,
};

/* As QEMU does: exactly as much as it wants, in two buffers. */
static void
take (struct replies *replies, bool is_alone, size_t size)
{
  struct iovec iov[2];
  struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
  ssize_t n;

  while (size > 0) {
    iov[0] = (struct iovec) { taken + taken_size, size / 2 };
    iov[1] = (struct iovec) { taken + taken_size + size / 2,
                              size - size / 2 };
    /* What consumed() notes is where this ends. */
    taken_size += size;
    n = replies_receive (replies, &ops, &is_alone, 3, &msg, 0);
    taken_size -= size;
    if (n == -1)
      assert_int_equal (errno, EAGAIN);
    else {
      assert_true (n > 0 && n <= (ssize_t) size);
      taken_size += n;
      size -= n;
    }
  }
}

static void
start_taking (size_t piece)
{
  piece_size = piece;
  sent = taken_size = n_seen = 0;
  again = false;
}

/* With nothing else in flight, or without chunks, replies pass unchanged. */
static void
test_replies_unchanged (void **state)
{
  struct replies replies;
  size_t piece, i, sizes[] = { 4, 12, 100, 4, 12, 16, 20, 40, 4, 16, 77, 20 };

  (void) state;
  wire_size = 0;
  put_simple (1, 0, 100);
  put_simple (1, 5, 0);
  put_simple (2, 0, 0);
  put_chunk (4, false, 40);
  put_chunk (3, true, 77);
  put_chunk (4, true, 0);
  for (piece = 1; piece <= wire_size; piece++) {
    memset (&replies, 0, sizeof replies);
    start_taking (piece);
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
      take (&replies, i >= 6, sizes[i]);
    assert_int_equal (taken_size, wire_size);
    assert_memory_equal (taken, wire, wire_size);
    assert_int_equal (n_seen, 5);
    assert_int_equal (seen[2], 2);
    assert_int_equal (seen[3], 3);
    assert_int_equal (seen[4], 4);
    assert_true (replies.simple_data && replies.structured);
  }
}

/* The same bytes as taken[from..]. */
static void
assert_chunk (size_t from, uint64_t cookie, bool final, uint16_t type,
              uint32_t payload)
{
  struct nbd_reply reply;

  assert_int_equal (reply_parse (taken + from, REPLY_MAX, &reply), 0);
  assert_true (reply.structured);
  assert_int_equal (reply.cookie, cookie);
  assert_int_equal (reply.final, final);
  assert_int_equal (reply.type, type);
  assert_int_equal (reply.payload, payload);
}

/* With others in flight an empty chunk comes last. */
static void
test_replies_split (void **state)
{
  struct replies replies;
  size_t piece, i, sizes[] = { 20, 77, 4, 16, 20, 20 };

  (void) state;
  wire_size = 0;
  put_chunk (3, true, 77);
  put_simple (2, 0, 0);
  for (piece = 1; piece <= wire_size; piece++) {
    memset (&replies, 0, sizeof replies);
    start_taking (piece);
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
      take (&replies, false, sizes[i]);
    assert_chunk (0, 3, false, CHUNK_DATA, 77);
    assert_memory_equal (taken + 20, wire + 20, 77);
    assert_chunk (97, 3, true, CHUNK_NONE, 0);
    assert_chunk (117, 2, false, CHUNK_HOLE, 0);
    assert_chunk (137, 2, true, CHUNK_NONE, 0);
    assert_int_equal (n_seen, 2);
    assert_int_equal (ends[0], 117);
    assert_int_equal (ends[1], 157);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_requests),
    cmocka_unit_test (test_wrong_request),
    cmocka_unit_test (test_replies_unchanged),
    cmocka_unit_test (test_replies_split),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
