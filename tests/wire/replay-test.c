/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the plugin recorded in virtual time comes again in a replay, to the
 * nanosecond; and a replay over NBD, in real time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <libnbd.h>

#include "clock-client.h"
#include "fixed.h"
#include "harness/replay.h"
#include "loader.h"
#include "server.h"

#define REQUESTS 400
#define MAX_SECTORS 256
#define DEPTH 4
#define PROFILE "wd200bb"
#define SEED 17
#define SET "interface.flush=true"

static struct server server;
static char buffer[MAX_SECTORS * 512];
static int done_requests;

static int
completed (void *opaque, int *error)
{
  (void) opaque;
  assert_int_equal (*error, 0);
  done_requests++;
  return 1;
}

/* Send a random request at now_ns. */
static void
send_request (struct nbd_handle *nbd, struct clock_client *clock,
              int64_t now_ns, uint64_t *rng)
{
  nbd_completion_callback done = { .callback = completed };
  uint64_t lba = splitmix64 (rng) % 39000000;
  size_t n = (1 + splitmix64 (rng) % MAX_SECTORS) * 512;
  struct clock_request request = { 0, lba * 512, n };
  unsigned kind = splitmix64 (rng) % 8;
  uint64_t ticket;
  int64_t cookie;

  clock_client_prepare (clock, now_ns, true);
  if (kind == 0) {
    request = (struct clock_request) { 3, 0, 0 };
    cookie = nbd_aio_flush (nbd, done, 0);
  }
  else if (kind < 4) {
    request.op = 1;
    cookie = nbd_aio_pwrite (nbd, buffer, n, lba * 512, done,
                             kind == 1 ? LIBNBD_CMD_FLAG_FUA : 0);
  }
  else
    cookie = nbd_aio_pread (nbd, buffer, n, lba * 512, done, 0);
  if (cookie == -1)
    fail_msg ("%s", nbd_get_error ());
  while (nbd_aio_get_direction (nbd) & LIBNBD_AIO_DIRECTION_WRITE)
    assert_true (nbd_poll (nbd, 1000) != -1);
  if (clock_client_wait (clock, &request, &ticket) == -1)
    fail_msg ("%s", clock_client_error (clock));
  assert_true (ticket != 0);
}

/* Run the drive up to t_ns.  Returns how many commands completed. */
static int
run_until (struct nbd_handle *nbd, struct clock_client *clock, int64_t t_ns)
{
  struct clock_done done;
  int r, n = 0;

  while ((r = clock_client_advance (clock, t_ns, &done)) == 1) {
    int before = done_requests;

    while (done_requests == before)
      assert_true (nbd_poll (nbd, 1000) != -1);
    n++;
  }
  assert_int_equal (r, 0);
  return n;
}

/* Some with a pause between them, some on top of each other. */
static void
make_trace (const char *path)
{
  struct nbd_handle *nbd;
  struct clock_client *clock;
  char text[512], error[CLOCK_ERROR_SIZE];
  int64_t now_ns = 12345;
  uint64_t rng = 8;
  int in_flight = 0;

  snprintf (text, sizeof text, "%s seed=%d set=%s clock=virtual "
            "clock-page=%s trace=%s", PROFILE, SEED, SET,
            server_path (&server, "clock"), path);
  server_start (&server, text);
  nbd = server_connect (&server);
  clock = clock_client_attach (server_path (&server, "clock"), error);
  if (clock == NULL)
    fail_msg ("%s", error);
  for (int i = 0; i < REQUESTS; i++) {
    in_flight -= run_until (nbd, clock, now_ns);
    while (in_flight >= DEPTH) {
      now_ns = clock_client_next_event (clock);
      in_flight -= run_until (nbd, clock, now_ns);
    }
    send_request (nbd, clock, now_ns, &rng);
    in_flight++;
    now_ns += (int64_t) (splitmix64 (&rng) % 20000000);
  }
  while (in_flight > 0)
    in_flight -= run_until (nbd, clock, clock_client_next_event (clock));
  clock_client_detach (clock);
  nbd_shutdown (nbd, 0);
  nbd_close (nbd);
  assert_int_equal (server_stop (&server), 0);
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
recorded_comes_again (void **state)
{
  static const char *const sets[] = { SET };
  static const struct replay_options options = {
    .depth = 1, .speed_permille = 1000
  };
  const char *path = server_path (&server, "trace.csv");
  struct profile *p = malloc (sizeof *p);
  struct trace_file t;
  struct replay r;
  char *error = NULL;

  (void) state;
  assert_non_null (p);
  make_trace (path);
  if (trace_file_read (path, NULL, NULL, &t, &error) == -1 ||
      profile_load (PROFILE, sets, 1, p, &error) == -1)
    fail_msg ("%s", error);
  assert_int_equal (t.n, REQUESTS);
  assert_int_equal (t.n_measured, REQUESTS);
  assert_true (t.n_overlapping > 0);
  assert_int_equal (replay_model (p, SEED, &t, &options, &r), 0);
  for (size_t i = 0; i < r.n; i++) {
    const struct trace_request *q = &t.request[r.done[i].index];

    assert_int_equal (r.done[i].arrival_ns, q->arrival_ns);
    assert_int_equal (r.done[i].complete_ns - r.done[i].arrival_ns,
                      q->response_ns);
  }
  replay_free (&r);
  trace_file_free (&t);
  free (p);
}

static void
write_file (const char *path, const char *text)
{
  FILE *fp = fopen (path, "we");

  assert_non_null (fp);
  fputs (text, fp);
  assert_int_equal (fclose (fp), 0);
}

/* Run spindle replay --live with these arguments: its exit status. */
static int
run_live (const char *arguments)
{
  const char *build = getenv ("BUILD");
  char command[1024];

  snprintf (command, sizeof command,
            "%s/spindle replay --live 'nbd+unix:///?socket=%s' %s "
            ">%s 2>%s", build ? build : "build", server.socket, arguments,
            server_path (&server, "out"), server_path (&server, "err"));
  return system (command) >> 8;
}

static void
live (void **state)
{
  char *trace = strdup (server_path (&server, "t.csv"));
  char *csv = strdup (server_path (&server, "o.csv"));
  char arguments[512], *error = NULL;
  struct nbd_handle *nbd;
  struct trace_file t;
  uint64_t number;

  (void) state;
  assert_non_null (trace);
  assert_non_null (csv);
  write_file (trace, "arrival_ms,lba,sectors,op,flags\n"
              "50000,1000,3,w,\n50040,1,8,r,\n50041,7,1,w,fua\n"
              "50041,0,0,f,\n50050,39102328,8,r,\n");
  server_start (&server, PROFILE " set=" SET);
  snprintf (arguments, sizeof arguments, "--json %s", trace);
  assert_int_equal (run_live (arguments), 3);
  for (int closed = 0; closed < 2; closed++) {
    snprintf (arguments, sizeof arguments,
              "--allow-writes --json --csv %s %s %s", csv,
              closed ? "--depth 2" : "--open", trace);
    assert_int_equal (run_live (arguments), 0);
    if (trace_file_read (csv, NULL, NULL, &t, &error) == -1)
      fail_msg ("%s", error);
    assert_int_equal (t.n, 5);
    assert_int_equal (t.n_measured, 5);
    /* Read from the media, or so the drive says; the host may be slow. */
    assert_true (t.request[1].response_ns > 300000);
    if (!closed)
      assert_true (t.request[1].arrival_ns - t.request[0].arrival_ns >=
                   39000000);
    trace_file_free (&t);
  }

  nbd = server_connect (&server);
  assert_int_equal (nbd_pread (nbd, buffer, 4 * 512, 999 * 512, 0), 0);
  for (unsigned i = 0; i < 4 * 512 / 8; i++) {
    memcpy (&number, buffer + i * 8, 8);
    assert_int_equal (number, i < 64 ? 0 : 999 + i / 64);
  }
  nbd_close (nbd);

  write_file (trace, "lba,sectors,op\n1,1,r\n39102336,1,r\n");
  assert_int_equal (run_live (trace), 3);
  snprintf (arguments, sizeof arguments, "--wrap %s", trace);
  assert_int_equal (run_live (arguments), 0);
  write_file (trace, "lba,sectors,op\n1,1,r\n1,1,t\n");
  snprintf (arguments, sizeof arguments, "--allow-writes %s", trace);
  assert_int_equal (run_live (arguments), 3); /* it cannot trim */
  assert_int_equal (server_stop (&server), 0);
  assert_int_equal (run_live (trace), 3);
  free (trace);
  free (csv);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (recorded_comes_again, setup, teardown),
    cmocka_unit_test_setup_teardown (live, setup, teardown),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
