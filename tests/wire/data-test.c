/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes: random reads, writes, flushes and trims on several connections at
 * once, against a copy in memory; in real time, and in virtual time with
 * this program as the owner of the clock.  Requests in flight never
 * overlap, so every byte read is known.
 */
#include <inttypes.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <libnbd.h>

#include "clock-client.h"
#include "server.h"

#define SIZE (4 * 1024 * 1024)
#define LONGEST (64 * 1024)
#define CONNECTIONS 3
#define DEPTH 5                 /* per connection */
#define SLOTS (CONNECTIONS * DEPTH)

enum kind { READ, WRITE, FLUSH, TRIM };

struct slot {
  struct rig *rig;
  bool busy;
  enum kind kind;
  uint64_t offset;
  size_t length;
  unsigned char *buffer;
};

struct rig {
  struct server server;
  struct nbd_handle *nbd[CONNECTIONS];
  bool flush, trim;             /* the drive has them */
  unsigned char *shadow;
  struct slot slots[SLOTS];
  int in_flight;
  uint64_t random;
  struct clock_client *clock;   /* NULL: real time */
  int64_t now_ns;
};

static uint64_t
pick (struct rig *r, uint64_t n)
{
  r->random ^= r->random << 13;
  r->random ^= r->random >> 7;
  r->random ^= r->random << 17;
  return (r->random >> 11) % n;
}

static bool
overlaps (const struct rig *r, const struct slot *one)
{
  for (int i = 0; i < SLOTS; i++) {
    const struct slot *s = &r->slots[i];

    if (s != one && s->busy && s->kind != FLUSH &&
        s->offset < one->offset + one->length &&
        one->offset < s->offset + s->length)
      return true;
  }
  return false;
}

/* Most requests are of whole sectors; the plugin takes any. */
static void
choose (struct rig *r, struct slot *s)
{
  uint64_t unit = pick (r, 8) == 0 ? 1 : 512;
  uint64_t what = pick (r, 100);

  s->kind = what < 45 ? READ : what < 90 ? WRITE : what < 95 ? FLUSH : TRIM;
  if ((s->kind == FLUSH && !r->flush) || (s->kind == TRIM && !r->trim))
    s->kind = READ;
  do {
    s->length = (1 + pick (r, pick (r, 4) ? 16 : LONGEST / 512)) * unit;
    s->offset = pick (r, (SIZE - s->length) / unit + 1) * unit;
  } while (overlaps (r, s));
}

/* What the bytes must be afterwards. */
static void
expect (struct rig *r, struct slot *s)
{
  if (s->kind == WRITE) {
    for (size_t i = 0; i < s->length; i++)
      s->buffer[i] = (unsigned char) pick (r, 256);
    memcpy (r->shadow + s->offset, s->buffer, s->length);
  }
  else if (s->kind == TRIM)
    memset (r->shadow + s->offset, 0, s->length);
}

static int
completed (void *opaque, int *error)
{
  struct slot *s = opaque;

  if (*error)
    fail_msg ("request failed: %s", strerror (*error));
  if (s->kind == READ &&
      memcmp (s->buffer, s->rig->shadow + s->offset, s->length) != 0)
    fail_msg ("wrong data at %" PRIu64 "+%zu", s->offset, s->length);
  s->busy = false;
  s->rig->in_flight--;
  return 1;
}

static void
issue (struct rig *r, struct nbd_handle *nbd, struct slot *s)
{
  nbd_completion_callback done = { .callback = completed, .user_data = s };
  uint32_t fua = pick (r, 6) == 0 ? LIBNBD_CMD_FLAG_FUA : 0;
  int64_t id = -1;

  s->busy = true;
  r->in_flight++;
  switch (s->kind) {
  case READ:
    id = nbd_aio_pread (nbd, s->buffer, s->length, s->offset, done, 0);
    break;
  case WRITE:
    id = nbd_aio_pwrite (nbd, s->buffer, s->length, s->offset, done, fua);
    break;
  case FLUSH:
    id = nbd_aio_flush (nbd, done, 0);
    break;
  case TRIM:
    id = nbd_aio_trim (nbd, s->length, s->offset, done, fua);
    break;
  }
  if (id == -1)
    fail_msg ("%s", nbd_get_error ());
}

/* Let the connections make progress. */
static void
move_bytes (struct rig *r)
{
  struct pollfd fds[CONNECTIONS];

  for (int i = 0; i < CONNECTIONS; i++) {
    unsigned direction = nbd_aio_get_direction (r->nbd[i]);

    fds[i] = (struct pollfd) {
      .fd = nbd_aio_get_fd (r->nbd[i]),
      .events = (direction & LIBNBD_AIO_DIRECTION_READ ? POLLIN : 0) |
                (direction & LIBNBD_AIO_DIRECTION_WRITE ? POLLOUT : 0),
    };
  }
  assert_true (poll (fds, CONNECTIONS, 30000) > 0);
  for (int i = 0; i < CONNECTIONS; i++) {
    int status = 0;

    if (fds[i].revents & (POLLIN | POLLHUP))
      status = nbd_aio_notify_read (r->nbd[i]);
    else if (fds[i].revents & POLLOUT)
      status = nbd_aio_notify_write (r->nbd[i]);
    if (status == -1)
      fail_msg ("%s", nbd_get_error ());
  }
}

/* Virtual time: run the drive to now_ns. */
static void
catch_up (struct rig *r)
{
  struct clock_done done;
  int status;

  while (clock_client_next_event (r->clock) <= r->now_ns) {
    int before = r->in_flight;

    status = clock_client_advance (r->clock, r->now_ns, &done);
    if (status == -1)
      fail_msg ("%s", clock_client_error (r->clock));
    if (status == 1)
      while (r->in_flight == before)
        move_bytes (r);
  }
}

static void
submit_timed (struct rig *r, struct nbd_handle *nbd, struct slot *s)
{
  static const uint32_t ops[] = { 0, 1, 3, 4 };
  struct clock_request request = {
    ops[s->kind], s->kind == FLUSH ? 0 : s->offset,
    s->kind == FLUSH ? 0 : s->length,
  };
  uint64_t ticket;

  r->now_ns += (int64_t) pick (r, 2000000);
  catch_up (r);
  clock_client_prepare (r->clock, r->now_ns, true);
  issue (r, nbd, s);
  while (nbd_aio_get_direction (nbd) & LIBNBD_AIO_DIRECTION_WRITE)
    move_bytes (r);
  if (clock_client_wait (r->clock, &request, &ticket) == -1)
    fail_msg ("%s", clock_client_error (r->clock));
  assert_true (ticket != 0);
}

/* Wait for at least one of the requests in flight. */
static void
make_room (struct rig *r)
{
  int before = r->in_flight;

  if (r->clock) {
    r->now_ns = clock_client_next_event (r->clock);
    catch_up (r);
  }
  while (r->in_flight == before)
    move_bytes (r);
}

static void
run (struct rig *r, int count)
{
  while (count-- > 0) {
    int i = (int) pick (r, SLOTS);
    struct slot *s = &r->slots[i];

    while (s->busy)
      make_room (r);
    choose (r, s);
    expect (r, s);
    if (r->clock)
      submit_timed (r, r->nbd[i / DEPTH], s);
    else
      issue (r, r->nbd[i / DEPTH], s);
  }
  while (r->in_flight > 0)
    make_room (r);
}

static void
attach_clock (struct rig *r)
{
  char error[CLOCK_ERROR_SIZE];

  r->clock = clock_client_attach (server_path (&r->server, "clock"), error);
  if (r->clock == NULL)
    fail_msg ("%s", error);
  clock_client_set_limit (r->clock, 60000);
}

/* Parameters have %s where the private directory goes. */
static void
begin (struct rig *r, const char *parameters, bool virtual_time)
{
  char text[512];

  *r = (struct rig) { .random = 88172645463325252 };
  server_dir (&r->server);
  r->shadow = calloc (1, SIZE);
  assert_non_null (r->shadow);
  for (int i = 0; i < SLOTS; i++) {
    r->slots[i] = (struct slot) { .rig = r, .buffer = malloc (LONGEST) };
    assert_non_null (r->slots[i].buffer);
  }
  if (strstr (parameters, "file=")) {
    FILE *fp = fopen (server_path (&r->server, "disk"), "w");

    assert_non_null (fp);
    assert_int_equal (ftruncate (fileno (fp), SIZE), 0);
    fclose (fp);
  }
  snprintf (text, sizeof text, parameters, r->server.dir, r->server.dir,
            r->server.dir, r->server.dir);
  server_start (&r->server, text);
  for (int i = 0; i < CONNECTIONS; i++) {
    r->nbd[i] = server_connect (&r->server);
    nbd_set_strict_mode (r->nbd[i], 0);
  }
  r->flush = nbd_can_flush (r->nbd[0]) == 1;
  r->trim = nbd_can_trim (r->nbd[0]) == 1;
  assert_int_equal (nbd_can_fua (r->nbd[0]), 1);
  assert_int_equal (nbd_can_multi_conn (r->nbd[0]), 1);
  assert_int_equal (nbd_is_rotational (r->nbd[0]), 1);
  assert_int_equal (nbd_get_size (r->nbd[0]), SIZE);
  assert_int_equal (nbd_get_block_size (r->nbd[0], LIBNBD_SIZE_MINIMUM),
                    512);
  if (virtual_time)
    attach_clock (r);
}

static void
check_file (const struct rig *r)
{
  const char *path = server_path (&r->server, "disk");
  size_t n;
  char *bytes;

  if (access (path, F_OK) == -1)
    return;
  bytes = slurp (path, &n);
  assert_int_equal (n, SIZE);
  assert_memory_equal (bytes, r->shadow, SIZE);
  free (bytes);
}

static void
release (struct rig *r)
{
  free (r->shadow);
  for (int i = 0; i < SLOTS; i++)
    free (r->slots[i].buffer);
  server_remove (&r->server);
}

/* A new connection, untimed in virtual time, sees everything; so does who
 * looks at the file afterwards.
 */
static void
end (struct rig *r)
{
  struct nbd_handle *nbd;
  unsigned char *bytes = malloc (SIZE);

  assert_non_null (bytes);
  clock_client_detach (r->clock);
  for (int i = 0; i < CONNECTIONS; i++)
    server_disconnect (r->nbd[i]);
  nbd = server_connect (&r->server);
  assert_int_equal (nbd_pread (nbd, bytes, SIZE, 0, 0), 0);
  assert_memory_equal (bytes, r->shadow, SIZE);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&r->server), 0);
  check_file (r);
  free (bytes);
}

/* Fewer when something slow watches. */
static int
operations (int n)
{
  return getenv ("TEST_SLOW") ? n / 20 : n;
}

static void
instant_with_file (void **state)
{
  struct rig r;

  (void) state;
  begin (&r, "ideal set=interface.trim=true size=4M file=%s/disk", false);
  assert_true (r.trim);
  run (&r, operations (120000));
  end (&r);
  release (&r);
}

static void
instant_with_temporary_file (void **state)
{
  struct rig r;

  (void) state;
  begin (&r, "ideal size=4M", false);
  run (&r, operations (120000));
  end (&r);
  release (&r);
}

static void
instant_with_memory (void **state)
{
  struct rig r;

  (void) state;
  begin (&r, "ideal size=4M memory=true", false);
  run (&r, operations (120000));
  end (&r);
  release (&r);
}

/* The drive turns at 7200/min: this is slow by design. */
static void
real_time (void **state)
{
  struct rig r;

  (void) state;
  begin (&r, "wd200bb set=interface.flush=true set=interface.trim=true "
         "size=4M file=%s/disk", false);
  assert_true (r.flush);
  run (&r, operations (1000));
  end (&r);
  release (&r);
}

static const char virtual_parameters[] =
  "wd200bb set=interface.flush=true set=interface.trim=true size=4M "
  "sync=false file=%s/disk clock=virtual clock-page=%s/clock trace=%s/trace "
  "stats=%s/stats";

static int64_t
statistic (const struct rig *r, const char *key)
{
  size_t n;
  char *json = slurp (server_path (&r->server, "stats"), &n);
  const char *at = strstr (json, key);
  int64_t value;

  assert_non_null (at);
  value = strtoll (at + strlen (key), NULL, 10);
  free (json);
  return value;
}

/* In the end the old content kept is that of what the cache still has. */
static void
virtual_time (void **state)
{
  struct rig r;

  (void) state;
  begin (&r, virtual_parameters, true);
  run (&r, operations (40000));
  end (&r);
  assert_int_equal (access (server_path (&r.server, "clock"), F_OK), -1);
  assert_int_equal (statistic (&r, "\"undo_bytes\":"),
                    statistic (&r, "\"dirty_sectors\":") * 512);
  assert_int_equal (statistic (&r, "\"failed\":"), 0);
  release (&r);
}

static void
virtual_time_repeats (void **state)
{
  struct rig r;
  char *traces[2];
  size_t n[2];

  (void) state;
  for (int i = 0; i < 2; i++) {
    begin (&r, virtual_parameters, true);
    run (&r, operations (10000));
    end (&r);
    traces[i] = slurp (server_path (&r.server, "trace"), &n[i]);
    release (&r);
  }
  assert_true (n[0] > 1000);
  assert_int_equal (n[0], n[1]);
  assert_memory_equal (traces[0], traces[1], n[0]);
  free (traces[0]);
  free (traces[1]);
}

/* Data in the emulated write cache are in the file all the same. */
static void
crash_loses_nothing (void **state)
{
  struct rig r;
  struct server *s = &r.server;

  (void) state;
  begin (&r, virtual_parameters, true);
  run (&r, operations (2000));
  assert_int_equal (kill (s->pid, SIGKILL), 0);
  assert_int_equal (waitpid (s->pid, NULL, 0), s->pid);
  check_file (&r);
  clock_client_detach (r.clock);
  for (int i = 0; i < CONNECTIONS; i++)
    nbd_close (r.nbd[i]);
  release (&r);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (instant_with_file),
    cmocka_unit_test (instant_with_temporary_file),
    cmocka_unit_test (instant_with_memory),
    cmocka_unit_test (real_time),
    cmocka_unit_test (virtual_time),
    cmocka_unit_test (virtual_time_repeats),
    cmocka_unit_test (crash_loses_nothing),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
