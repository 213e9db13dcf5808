/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bridge's NBD parsers, fed in pieces of every size.
 */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

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

static uint64_t
simple_payload (void *opaque, uint64_t cookie)
{
  (void) opaque;
  return cookie == 1 ? 100 : 0;
}

static void
test_replies (void **state)
{
  struct reply_stream stream;
  size_t expected[5], piece, i, n;
  ssize_t used;
  bool complete;

  (void) state;
  wire_size = 0;
  put_simple (1, 0, 100);
  expected[0] = wire_size;
  put_simple (1, 5, 0);
  expected[1] = wire_size;
  put_simple (2, 0, 0);
  expected[2] = wire_size;
  put_chunk (4, false, 40);
  put_chunk (3, true, 77);
  expected[3] = wire_size;
  put_chunk (4, false, 9);
  put_chunk (4, true, 0);
  expected[4] = wire_size;
  for (piece = 1; piece <= wire_size; piece++) {
    memset (&stream, 0, sizeof stream);
    n_seen = 0;
    for (i = 0; i < wire_size; i += used) {
      n = piece - i % piece;
      if (n > wire_size - i)
        n = wire_size - i;
      used = reply_stream_feed (&stream, wire + i, n, simple_payload, NULL,
                                &complete);
      assert_true (used > 0 && used <= (ssize_t) n);
      if (complete)
        note (stream.cookie, i + used);
    }
    assert_int_equal (n_seen, 5);
    assert_memory_equal (ends, expected, sizeof expected);
    assert_int_equal (seen[4], 4);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_requests),
    cmocka_unit_test (test_wrong_request),
    cmocka_unit_test (test_replies),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
