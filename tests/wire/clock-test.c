/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock page: requests over the wire complete at the times the model
 * says, and whoever loses the other end is told so.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <libnbd.h>

#include "clock-drive.h"
#include "disk.h"
#include "loader.h"
#include "server.h"

#define PROFILE "profiles/wd200bb.cfg"
#define SEED 7
#define REQUESTS 300
#define MAX_DEPTH 8
#define LONGEST 128             /* sectors */
#define SPAN 65536              /* sectors */
#define WITHIN_S 5              /* how soon a loss must be noticed */

/* What happened, in order. */
struct event {
  bool submitted;               /* or completed */
  struct disk_request request;  /* tag is the number of the request */
  int64_t ns;
};

struct run {
  struct server server;
  struct clock_drive *drive;
  int64_t cookies[REQUESTS];
  unsigned char *data;
  uint64_t random;
  struct event events[REQUESTS * 2];
  size_t n;
};

static uint64_t
pick (struct run *r, uint64_t n)
{
  r->random = r->random * UINT64_C (6364136223846793005) + 1;
  return (r->random >> 33) % n;
}

static const char *
page_path (const struct run *r)
{
  return server_path (&r->server, "page");
}

static void
start (struct run *r, const char *options)
{
  char parameters[1024];

  memset (r, 0, sizeof *r);
  server_dir (&r->server);
  snprintf (parameters, sizeof parameters,
            "profile=" PROFILE " seed=%d size=64M clock=virtual"
            " clock-page=%s trace=%s %s", SEED, page_path (r),
            server_path (&r->server, "trace"), options);
  server_start (&r->server, parameters);
}

static struct clock_drive *
connect_drive (struct run *r)
{
  char error[CLOCK_ERROR_SIZE];
  struct clock_drive *d;

  d = clock_drive_connect (r->server.socket, page_path (r), error);
  if (d == NULL)
    fail_msg ("%s", error);
  return d;
}

static void
finish (struct run *r)
{
  clock_drive_close (r->drive);
  server_stop (&r->server);
  server_remove (&r->server);
}

/* Request number i, at now_ns. */
static void
submit_one (struct run *r, size_t i, int64_t now_ns)
{
  const bool write = pick (r, 3) == 0;
  const struct disk_request request = {
    .tag = i, .op = write ? DISK_WRITE : DISK_READ,
    .flags = write && pick (r, 4) == 0 ? DISK_FUA : 0,
    .lba = pick (r, SPAN), .sectors = 1 + pick (r, LONGEST),
  };
  const struct clock_io io = {
    .op = write ? CLOCK_WRITE : CLOCK_READ, .fua = request.flags != 0,
    .offset = request.lba * DISK_SECTOR_SIZE,
    .length = request.sectors * DISK_SECTOR_SIZE,
    .data = r->data + i % MAX_DEPTH * LONGEST * DISK_SECTOR_SIZE,
    .now_ns = now_ns,
  };

  r->cookies[i] = clock_drive_submit (r->drive, &io);
  if (r->cookies[i] == -1)
    fail_msg ("%s", clock_drive_error (r->drive));
  r->events[r->n++] = (struct event) { true, request, now_ns };
}

/* The next completion, no later than until_ns.  False if there is none. */
static bool
complete_one (struct run *r, int64_t until_ns, int64_t *now_ns)
{
  struct clock_io_done done;
  struct event *e = &r->events[r->n];
  const int rc = clock_drive_run (r->drive, until_ns, &done);

  if (rc == -1)
    fail_msg ("%s", clock_drive_error (r->drive));
  if (rc == 0)
    return false;
  assert_int_equal (done.error, 0);
  for (e->request.tag = 0; r->cookies[e->request.tag] != done.cookie;
       e->request.tag++)
    assert_true (e->request.tag < REQUESTS - 1);
  e->submitted = false;
  e->ns = *now_ns = done.done_ns;
  r->n++;
  return true;
}

/* depth requests in flight, a new one some time after each completion. */
static void
play (struct run *r, unsigned depth)
{
  int64_t now_ns = 0, then_ns;
  unsigned in_flight = 0;
  size_t i = 0;

  r->random = 42;
  r->data = calloc (MAX_DEPTH, LONGEST * DISK_SECTOR_SIZE);
  assert_non_null (r->data);
  r->drive = connect_drive (r);
  while (i < REQUESTS || in_flight > 0) {
    then_ns = now_ns + pick (r, 3000000);
    if (i == REQUESTS || in_flight == depth)
      then_ns = CLOCK_NEVER;
    if (complete_one (r, then_ns, &now_ns)) {
      in_flight--;
      continue;
    }
    assert_true (then_ns != CLOCK_NEVER);
    now_ns = then_ns;
    submit_one (r, i++, now_ns);
    in_flight++;
  }
  free (r->data);
}

/* The same calls of the model in this process. */
static void
check_against_model (const struct run *r)
{
  struct disk_completion c;
  struct profile profile;
  struct disk *disk;
  char *error;
  size_t i;

  if (profile_load (PROFILE, NULL, 0, &profile, &error) == -1)
    fail_msg ("%s", error);
  disk = disk_new (&profile, SEED);
  assert_non_null (disk);
  for (i = 0; i < r->n; i++)
    if (r->events[i].submitted)
      assert_int_equal (disk_submit (disk, r->events[i].ns,
                                     &r->events[i].request), 0);
    else {
      assert_true (disk_advance (disk, r->events[i].ns, &c));
      assert_int_equal (c.request.tag, r->events[i].request.tag);
      assert_int_equal (c.complete_ns, r->events[i].ns);
    }
  disk_free (disk);
}

static void
test_times_of_the_model (void **state)
{
  static const unsigned depths[] = { 1, 4, MAX_DEPTH };
  static struct run r;
  size_t i;

  (void) state;
  for (i = 0; i < 3; i++) {
    start (&r, "");
    play (&r, depths[i]);
    check_against_model (&r);
    finish (&r);
  }
}

/* The trace of one run. */
static char *
trace_of (const char *options, unsigned depth)
{
  static struct run r;
  char *trace;
  size_t n;

  start (&r, options);
  play (&r, depth);
  clock_drive_close (r.drive);
  server_stop (&r.server);
  trace = slurp (server_path (&r.server, "trace"), &n);
  server_remove (&r.server);
  return trace;
}

static void
test_traces_identical (void **state)
{
  char *once = trace_of ("", 4), *again = trace_of ("", 4);
  char *simple = trace_of ("--no-sr", 4);

  (void) state;
  assert_true (strlen (once) > REQUESTS);
  assert_string_equal (once, again);
  assert_string_equal (once, simple);
  free (once);
  free (again);
  free (simple);
}

static int64_t
read_at (struct clock_drive *d, void *buf, int64_t now_ns, bool untimed)
{
  return clock_drive_submit (d, &(struct clock_io) {
      .op = CLOCK_READ, .offset = 1 << 20, .length = 4096, .data = buf,
      .now_ns = now_ns, .untimed = untimed });
}

static void
test_untimed (void **state)
{
  static struct run r;
  char buf[4096];

  (void) state;
  start (&r, "");
  r.drive = connect_drive (&r);
  assert_true (read_at (r.drive, buf, 0, true) > 0);
  assert_true (clock_drive_next_event (r.drive) == CLOCK_NEVER);
  assert_true (read_at (r.drive, buf, 0, false) > 0);
  assert_true (clock_drive_next_event (r.drive) != CLOCK_NEVER);
  finish (&r);
}

static void
test_second_client (void **state)
{
  static struct run r;
  char error[CLOCK_ERROR_SIZE];

  (void) state;
  start (&r, "");
  r.drive = connect_drive (&r);
  assert_null (clock_client_attach (page_path (&r), error));
  assert_non_null (strstr (error, "already has a client"));
  finish (&r);
}

static void
test_not_a_page (void **state)
{
  static struct run r;
  char error[CLOCK_ERROR_SIZE];

  (void) state;
  start (&r, "");
  assert_null (clock_client_attach (server_path (&r.server, "none"), error));
  assert_non_null (strstr (error, "No such file"));
  assert_null (clock_client_attach (PROFILE, error));
  assert_non_null (strstr (error, "no server"));
  assert_null (clock_client_attach ("/dev/null", error));
  assert_non_null (strstr (error, "too small"));
  finish (&r);
}

static void
test_server_killed (void **state)
{
  static struct run r;
  struct clock_io_done done;
  char buf[4096];
  time_t before;

  (void) state;
  start (&r, "");
  r.drive = connect_drive (&r);
  assert_true (read_at (r.drive, buf, 0, false) > 0);
  kill (r.server.pid, SIGKILL);
  before = time (NULL);
  assert_int_equal (clock_drive_run (r.drive, CLOCK_NEVER - 1, &done), -1);
  assert_true (time (NULL) - before <= WITHIN_S);
  assert_non_null (strstr (clock_drive_error (r.drive), "server is gone"));
  finish (&r);
}

/* A client that leaves without a word, its connection still open. */
static void
test_client_gone (void **state)
{
  const struct clock_request request = { .op = CLOCK_READ, .length = 4096 };
  static struct run r;
  char error[CLOCK_ERROR_SIZE], buf[4096];
  struct clock_client *client;
  struct nbd_handle *nbd;
  struct clock_io_done done;
  uint64_t ticket;
  int64_t cookie;
  time_t before;
  int rc;

  (void) state;
  start (&r, "");
  client = clock_client_attach (page_path (&r), error);
  assert_non_null (client);
  nbd = server_connect (&r.server);
  clock_client_prepare (client, 0, true);
  cookie = nbd_aio_pread (nbd, buf, sizeof buf, 0, NBD_NULL_COMPLETION, 0);
  assert_int_equal (clock_client_wait (client, &request, &ticket), 0);
  assert_true (ticket != 0);
  clock_client_detach (client);

  before = time (NULL);
  while ((rc = nbd_aio_command_completed (nbd, cookie)) == 0)
    assert_true (nbd_poll (nbd, WITHIN_S * 1000) == 1);
  assert_int_equal (rc, -1);
  assert_int_equal (nbd_get_errno (), ESHUTDOWN);
  assert_true (time (NULL) - before <= WITHIN_S);
  nbd_close (nbd);

  r.drive = connect_drive (&r);
  assert_true (read_at (r.drive, buf, 0, false) > 0);
  assert_int_equal (clock_drive_run (r.drive, CLOCK_NEVER - 1, &done), 1);
  finish (&r);
}

static void
test_too_few_threads (void **state)
{
  static struct run r;
  static char buf[3][4096];

  (void) state;
  start (&r, "-t 2");
  r.drive = connect_drive (&r);
  clock_client_set_limit (clock_drive_client (r.drive), 2000);
  assert_true (read_at (r.drive, buf[0], 0, false) > 0);
  assert_true (read_at (r.drive, buf[1], 0, false) > 0);
  assert_int_equal (read_at (r.drive, buf[2], 0, false), -1);
  assert_non_null (strstr (clock_drive_error (r.drive), "nbdkit -t"));
  finish (&r);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_times_of_the_model),
    cmocka_unit_test (test_traces_identical),
    cmocka_unit_test (test_untimed),
    cmocka_unit_test (test_second_client),
    cmocka_unit_test (test_not_a_page),
    cmocka_unit_test (test_server_killed),
    cmocka_unit_test (test_client_gone),
    cmocka_unit_test (test_too_few_threads),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
