/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugin's side of the clock page when things do not go smoothly.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <libnbd.h>

#include "clock-client.h"
#include "server.h"

#define MS(x) ((int64_t) (x) * 1000000)

static struct server server;
static char buffer[4096];
static int pending_error;       /* of the last request: 0, errno, or -1 */

static void
start (const char *profile)
{
  char text[256];

  snprintf (text, sizeof text, "%s clock=virtual clock-page=%s", profile,
            server_path (&server, "clock"));
  server_start (&server, text);
}

static struct clock_client *
attach (void)
{
  char error[CLOCK_ERROR_SIZE];
  struct clock_client *clock;

  clock = clock_client_attach (server_path (&server, "clock"), error);
  if (clock == NULL)
    fail_msg ("%s", error);
  return clock;
}

static int64_t
host_ms (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_MONOTONIC, &ts);
  return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int
completed (void *opaque, int *error)
{
  (void) opaque;
  pending_error = *error;
  return 1;
}

/* Send a read at virtual time now_ns.  Returns its ticket. */
static uint64_t
send_read (struct clock_client *clock, struct nbd_handle *nbd,
           int64_t now_ns, bool timed, uint64_t offset)
{
  nbd_completion_callback done = { .callback = completed };
  struct clock_request request = { 0, offset, sizeof buffer };
  uint64_t ticket;

  pending_error = -1;
  clock_client_prepare (clock, now_ns, timed);
  assert_true (nbd_aio_pread (nbd, buffer, sizeof buffer, offset, done, 0)
               != -1);
  if (clock_client_wait (clock, &request, &ticket) == -1)
    fail_msg ("%s", clock_client_error (clock));
  return ticket;
}

/* Wait for the reply of the one request in flight. */
static void
receive (struct nbd_handle *nbd)
{
  int64_t end = host_ms () + 20000;

  while (pending_error == -1) {
    assert_true (host_ms () < end);
    if (nbd_poll (nbd, 1000) == -1)
      break;                    /* the connection is down */
  }
}

/* A whole timed read.  Returns when it completes. */
static int64_t
timed_read (struct clock_client *clock, struct nbd_handle *nbd,
            int64_t now_ns, uint64_t offset)
{
  struct clock_done done;
  uint64_t ticket = send_read (clock, nbd, now_ns, true, offset);
  int64_t next = clock_client_next_event (clock);

  assert_true (ticket != 0);
  assert_true (next > now_ns && next < now_ns + MS (60));
  assert_int_equal (clock_client_advance (clock, next - 1, &done), 0);
  assert_int_equal (clock_client_advance (clock, next, &done), 1);
  assert_int_equal (done.ticket, ticket);
  assert_int_equal (done.done_ns, next);
  receive (nbd);
  assert_int_equal (pending_error, 0);
  assert_true (clock_client_next_event (clock) == CLOCK_NEVER);
  return next;
}

static int
setup (void **state)
{
  (void) state;
  server_dir (&server);
  return 0;
}

static int
teardown (void **state)
{
  (void) state;
  server_remove (&server);
  return 0;
}

static void
page_is_private_and_goes_away (void **state)
{
  const char *path = server_path (&server, "clock");
  struct stat st;

  (void) state;
  start ("wd200bb");
  assert_int_equal (stat (path, &st), 0);
  assert_int_equal (st.st_mode & 07777, 0600);
  assert_int_equal (server_stop (&server), 0);
  assert_int_equal (access (path, F_OK), -1);
}

static void
stale_page_is_replaced (void **state)
{
  (void) state;
  start ("wd200bb");
  kill (server.pid, SIGKILL);
  waitpid (server.pid, NULL, 0);
  unlink (server.socket);
  assert_int_equal (access (server_path (&server, "clock"), F_OK), 0);
  start ("wd200bb");
  clock_client_detach (attach ());
  assert_int_equal (server_stop (&server), 0);
}

/* Nobody owns the time: nobody waits for it. */
static void
without_client_no_time_passes (void **state)
{
  struct nbd_handle *nbd;

  (void) state;
  start ("wd200bb");
  nbd = server_connect (&server);
  for (int i = 0; i < 100; i++)
    assert_int_equal (nbd_pread (nbd, buffer, sizeof buffer,
                                 (uint64_t) i * 150000000 / 512 * 512, 0),
                      0);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

static void
untimed_requests_have_no_ticket (void **state)
{
  struct clock_client *clock;
  struct nbd_handle *nbd;

  (void) state;
  start ("wd200bb");
  nbd = server_connect (&server);
  clock = attach ();
  for (int i = 0; i < 3; i++) {
    assert_int_equal (send_read (clock, nbd, 0, false, 4096), 0);
    receive (nbd);
    assert_int_equal (pending_error, 0);
    timed_read (clock, nbd, MS (100) * (i + 1), 8192);
  }
  clock_client_detach (clock);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

static void
instant_drive_has_no_tickets (void **state)
{
  struct clock_client *clock;
  struct nbd_handle *nbd;

  (void) state;
  start ("ideal");
  nbd = server_connect (&server);
  clock = attach ();
  assert_int_equal (send_read (clock, nbd, 0, true, 4096), 0);
  receive (nbd);
  assert_int_equal (pending_error, 0);
  assert_true (clock_client_next_event (clock) == CLOCK_NEVER);
  clock_client_detach (clock);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

/* What waits for a client that is gone fails; the next client finds a
 * drive that is idle and whose time goes on.
 */
static void
client_may_go_and_another_come (void **state)
{
  struct clock_client *clock;
  struct nbd_handle *nbd;

  (void) state;
  start ("wd200bb");
  nbd = server_connect (&server);
  clock = attach ();
  timed_read (clock, nbd, MS (5000), 1 << 30);
  send_read (clock, nbd, MS (6000), true, 0);
  clock_client_detach (clock);
  receive (nbd);
  assert_int_equal (pending_error, ESHUTDOWN);

  clock = attach ();
  timed_read (clock, nbd, 0, 1 << 30);
  timed_read (clock, nbd, MS (100), 0);
  clock_client_detach (clock);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

/* The connection breaks, the owner of the clock stays. */
static void
lost_connection_leaves_no_reply (void **state)
{
  struct clock_client *clock;
  struct clock_done done;
  struct nbd_handle *nbd;
  int64_t next;

  (void) state;
  start ("wd200bb");
  nbd = server_connect (&server);
  clock = attach ();
  assert_true (send_read (clock, nbd, 0, true, 1 << 30) != 0);
  nbd_close (nbd);
  usleep (500000);
  next = clock_client_next_event (clock);
  assert_int_equal (clock_client_advance (clock, next, &done), 0);
  nbd = server_connect (&server);
  timed_read (clock, nbd, next + MS (1), 0);
  clock_client_detach (clock);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

/* nbdkit itself stays as long as somebody is connected. */
static void
server_stops_with_requests_waiting (void **state)
{
  struct clock_client *clock;
  struct nbd_handle *nbd;

  (void) state;
  start ("wd200bb");
  nbd = server_connect (&server);
  clock = attach ();
  send_read (clock, nbd, 0, true, 1 << 30);
  kill (server.pid, SIGTERM);
  receive (nbd);
  assert_int_equal (pending_error, ESHUTDOWN);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
  assert_false (clock_client_server_alive (clock));
  clock_client_detach (clock);
}

int
main (void)
{
#define TEST(f) cmocka_unit_test_setup_teardown (f, setup, teardown)
  const struct CMUnitTest tests[] = {
    TEST (page_is_private_and_goes_away),
    TEST (stale_page_is_replaced),
    TEST (without_client_no_time_passes),
    TEST (untimed_requests_have_no_ticket),
    TEST (instant_drive_has_no_tickets),
    TEST (client_may_go_and_another_come),
    TEST (lost_connection_leaves_no_reply),
    TEST (server_stops_with_requests_waiting),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
