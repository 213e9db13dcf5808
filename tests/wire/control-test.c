/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The control socket and the statistics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>
#include <libnbd.h>

#include "server.h"

static struct server server;

static void
start (const char *profile)
{
  char text[512];

  snprintf (text, sizeof text, "%s size=1G seed=7 control=%s stats=%s",
            profile, server_path (&server, "control"),
            server_path (&server, "stats"));
  server_start (&server, text);
}

static int
dial (void)
{
  struct sockaddr_un sun = { .sun_family = AF_UNIX };
  struct timeval limit = { .tv_sec = 30 };
  int fd = socket (AF_UNIX, SOCK_STREAM, 0);

  assert_true (fd >= 0);
  setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  snprintf (sun.sun_path, sizeof sun.sun_path, "%s",
            server_path (&server, "control"));
  assert_int_equal (connect (fd, (struct sockaddr *) &sun, sizeof sun), 0);
  return fd;
}

static void
tell (int fd, const char *text)
{
  assert_int_equal (send (fd, text, strlen (text), MSG_NOSIGNAL),
                    strlen (text));
}

/* The next line, without its end.  "" at the end of the connection. */
static const char *
hear (int fd)
{
  static char line[8192];
  size_t n = 0;

  while (n < sizeof line - 1 && recv (fd, line + n, 1, 0) == 1 &&
         line[n] != '\n')
    n++;
  line[n] = '\0';
  return line;
}

static int64_t
number (const char *json, const char *key)
{
  char pattern[64];
  const char *at;

  snprintf (pattern, sizeof pattern, "\"%s\":", key);
  at = strstr (json, pattern);
  if (at == NULL)
    fail_msg ("no %s in %s", key, json);
  return strtoll (at + strlen (pattern), NULL, 10);
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
answers_lines (void **state)
{
  const char *path = server_path (&server, "control");
  struct stat st;
  int fd;

  (void) state;
  start ("ideal");
  assert_int_equal (stat (path, &st), 0);
  assert_int_equal (st.st_mode & 07777, 0600);
  fd = dial ();
  tell (fd, "ping\n");
  assert_string_equal (hear (fd), "ok");
  tell (fd, "pi");
  usleep (100000);
  tell (fd, "ng\nhello\nping\n");
  assert_string_equal (hear (fd), "ok");
  assert_string_equal (hear (fd), "error hello: unknown command");
  assert_string_equal (hear (fd), "ok");
  tell (fd, "\n");
  assert_string_equal (hear (fd), "error : unknown command");
  close (fd);
  assert_int_equal (server_stop (&server), 0);
  assert_int_equal (access (path, F_OK), -1);
}

static void
endless_line_is_cut_off (void **state)
{
  char text[1025];
  int fd;

  (void) state;
  memset (text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  start ("ideal");
  fd = dial ();
  tell (fd, text);
  assert_string_equal (hear (fd), "");
  close (fd);
  fd = dial ();
  tell (fd, "ping\n");
  assert_string_equal (hear (fd), "ok");
  close (fd);
  assert_int_equal (server_stop (&server), 0);
}

/* One that does not read, and many that do not talk, disturb nobody. */
static void
bad_company (void **state)
{
  int deaf, idle[6], fd;

  (void) state;
  start ("wd200bb");
  deaf = dial ();
  for (int i = 0; i < 2000; i++)
    if (send (deaf, "stats\n", 6, MSG_NOSIGNAL | MSG_DONTWAIT) != 6)
      break;
  for (int i = 0; i < 6; i++)
    idle[i] = dial ();
  fd = dial ();
  tell (fd, "ping\n");
  assert_string_equal (hear (fd), "ok");
  close (fd);
  for (int i = 0; i < 6; i++)
    close (idle[i]);
  close (deaf);
  assert_int_equal (server_stop (&server), 0);
}

static void
counts (void **state)
{
  static char block[65536];
  struct nbd_handle *nbd;
  const char *json;
  char *text;
  size_t n;
  int fd;

  (void) state;
  start ("wd200bb");
  nbd = server_connect (&server);
  fd = dial ();
  for (int i = 0; i < 5; i++)
    assert_int_equal (nbd_pread (nbd, block, 4096, (uint64_t) i << 24, 0), 0);
  for (int i = 0; i < 3; i++)
    assert_int_equal (nbd_pwrite (nbd, block, 65536, (uint64_t) i << 24, 0),
                      0);
  tell (fd, "stats\n");
  json = hear (fd);
  assert_non_null (strstr (json, "\"profile\":\"wd200bb\""));
  assert_non_null (strstr (json, "\"clock\":\"real\""));
  assert_int_equal (number (json, "seed"), 7);
  assert_int_equal (number (json, "read"), 5);
  assert_int_equal (number (json, "write"), 3);
  assert_int_equal (number (json, "failed"), 0);
  assert_int_equal (number (json, "reads"), 5);
  assert_int_equal (number (json, "writes"), 3);
  assert_int_equal (number (json, "sectors_written"), 3 * 128);
  assert_int_equal (number (json, "undo_bytes"),
                    number (json, "dirty_sectors") * 512);
  assert_int_equal (number (json, "count"), 8);
  assert_true (number (json, "p50") <= number (json, "p99"));
  assert_true (number (json, "p99") <= number (json, "max"));
  close (fd);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);

  text = slurp (server_path (&server, "stats"), &n);
  assert_int_equal (number (text, "read"), 5);
  assert_int_equal (text[n - 1], '\n');
  free (text);
}

/* Ask, and expect that answer. */
static void
ask (int fd, const char *line, const char *answer)
{
  char text[128];

  snprintf (text, sizeof text, "%s\n", line);
  tell (fd, text);
  assert_string_equal (hear (fd), answer);
}

static void
one_too_many (void **state)
{
  int fd[8], last;

  (void) state;
  start ("wd200bb");
  for (int i = 0; i < 8; i++)
    fd[i] = dial ();
  last = dial ();
  assert_string_equal (hear (last), "error too many others are connected");
  close (last);
  ask (fd[7], "ping", "ok");
  for (int i = 0; i < 8; i++)
    close (fd[i]);
  assert_int_equal (server_stop (&server), 0);
}

static int
arrived (void *opaque, int *error)
{
  int *done = opaque;

  assert_int_equal (*error, 0);
  *done = 1;
  return 1;
}

/* Poll for so long, or until it is done. */
static int
comes_in (struct nbd_handle *nbd, const int *done, int ms)
{
  for (; !*done && ms > 0; ms -= 10)
    assert_true (nbd_poll (nbd, 10) >= 0);
  return *done;
}

static void
send_read (struct nbd_handle *nbd, uint64_t offset, int *done)
{
  static char block[4096];
  nbd_completion_callback callback = {
    .callback = arrived, .user_data = done,
  };

  *done = 0;
  assert_true (nbd_aio_pread (nbd, block, sizeof block, offset, callback, 0)
               != -1);
}

static void
time_can_be_stopped (void **state)
{
  struct nbd_handle *nbd;
  int fd, done;

  (void) state;
  start ("wd200bb");
  nbd = server_connect (&server);
  fd = dial ();
  ask (fd, "pause", "ok");
  send_read (nbd, 1 << 28, &done);
  assert_false (comes_in (nbd, &done, 300));
  tell (fd, "stats\n");
  assert_int_equal (number (hear (fd), "queued"), 1);
  ask (fd, "resume", "ok");
  assert_true (comes_in (nbd, &done, 30000));

  /* A seek takes some ms: now seconds. */
  ask (fd, "speed 0.001", "ok");
  send_read (nbd, 1 << 20, &done);
  assert_false (comes_in (nbd, &done, 300));
  ask (fd, "speed 1000", "ok");
  assert_true (comes_in (nbd, &done, 30000));
  close (fd);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

static void
drive_can_be_instant (void **state)
{
  static char block[4096];
  struct nbd_handle *nbd;
  int fd, done;

  (void) state;
  start ("wd200bb");
  nbd = server_connect (&server);
  fd = dial ();
  ask (fd, "speed 0.001", "ok");
  send_read (nbd, 1 << 28, &done);
  assert_false (comes_in (nbd, &done, 100));
  ask (fd, "speed instant", "ok");
  assert_true (comes_in (nbd, &done, 30000));
  ask (fd, "pause", "error the speed is instant");
  for (int i = 0; i < 10; i++)
    assert_int_equal (nbd_pread (nbd, block, 4096, (uint64_t) i << 26, 0), 0);
  ask (fd, "speed 1", "ok");
  assert_int_equal (nbd_pread (nbd, block, 4096, 0, 0), 0);
  tell (fd, "stats\n");
  assert_int_equal (number (hear (fd), "untimed"), 10);
  tell (fd, "stats\n");
  assert_int_equal (number (hear (fd), "reads"), 2);
  ask (fd, "speed 0", "error speed: 0: 0.001 to 1000, or instant");
  ask (fd, "speed 1001", "error speed: 1001: 0.001 to 1000, or instant");
  ask (fd, "speed 1.0001", "error speed: 1.0001: 0.001 to 1000, or instant");
  ask (fd, "speed", "error speed: needs something more");
  close (fd);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

static void
statistics_start_again (void **state)
{
  static char block[4096];
  struct nbd_handle *nbd;
  const char *json;
  int fd;

  (void) state;
  start ("wd200bb late-limit=1 floor=5 spin=20");
  nbd = server_connect (&server);
  fd = dial ();
  assert_int_equal (nbd_pread (nbd, block, 4096, 1 << 24, 0), 0);
  tell (fd, "stats\n");
  json = hear (fd);
  assert_int_equal (number (json, "late_limit_ns"), 1000);
  assert_int_equal (number (json, "floor_ns"), 5000);
  /* A microsecond is never enough to answer in. */
  assert_non_null (strstr (json, "\"valid\":false"));
  ask (fd, "reset-stats", "ok");
  tell (fd, "stats\n");
  json = hear (fd);
  assert_non_null (strstr (json, "\"valid\":true"));
  assert_int_equal (number (json, "read"), 0);
  assert_int_equal (number (json, "reads"), 0);
  assert_int_equal (number (json, "count"), 0);
  assert_true (number (json, "since_ns") > 0);
  assert_int_equal (nbd_pread (nbd, block, 4096, 1 << 25, 0), 0);
  tell (fd, "stats\n");
  assert_int_equal (number (hear (fd), "reads"), 1);
  close (fd);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

static void
some_values_can_be_set (void **state)
{
  static char block[4096];
  struct nbd_handle *nbd;
  int fd, done;

  (void) state;
  start ("wd200bb");
  nbd = server_connect (&server);
  fd = dial ();
  ask (fd, "set lookahead.enabled=false", "ok");
  for (int i = 0; i < 4; i++)
    assert_int_equal (nbd_pread (nbd, block, 4096, (uint64_t) i << 12, 0), 0);
  tell (fd, "stats\n");
  assert_int_equal (number (hear (fd), "misses"), 4);
  ask (fd, "set overhead.read-hit-ms=5", "ok");
  ask (fd, "set geometry.rpm=5400",
       "error set: overhead.*, lookahead.enabled or write-cache.enabled");
  tell (fd, "set overhead.none-ms=1\n");
  assert_non_null (strstr (hear (fd), "error set=overhead.none-ms=1: "));
  tell (fd, "set overhead.read-hit-ms=x\n");
  assert_non_null (strstr (hear (fd), "error set=overhead.read-hit-ms=x: "));
  ask (fd, "pause", "ok");
  send_read (nbd, 1 << 28, &done);
  assert_false (comes_in (nbd, &done, 100));
  ask (fd, "set overhead.write-ms=1", "error the drive is busy");
  assert_int_equal (nbd_aio_in_flight (nbd), 1);
  ask (fd, "resume", "ok");
  assert_true (comes_in (nbd, &done, 30000));
  assert_int_equal (nbd_pwrite (nbd, block, 4096, 1 << 29, 0), 0);
  assert_int_equal (nbd_flush (nbd, 0), 0);
  usleep (200000);              /* to destage */
  ask (fd, "set write-cache.enabled=false", "ok");
  assert_int_equal (nbd_pwrite (nbd, block, 4096, 1 << 28, 0), 0);
  tell (fd, "stats\n");
  assert_int_equal (number (hear (fd), "dirty_sectors"), 0);
  ask (fd, "set write-cache.enabled=true", "ok");
  close (fd);
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

static void
ideal_has_no_time (void **state)
{
  int fd;

  (void) state;
  start ("ideal");
  fd = dial ();
  ask (fd, "pause", "error this drive takes no time");
  ask (fd, "speed 2", "error this drive takes no time");
  ask (fd, "set lookahead.enabled=true", "error this drive takes no time");
  ask (fd, "reset-stats", "ok");
  close (fd);
  assert_int_equal (server_stop (&server), 0);
}

/* What is asked comes at no moment of the guest's. */
static void
virtual_time_is_the_guests (void **state)
{
  static const char *const words[] = {
    "pause", "resume", "set overhead.write-ms=1", "speed 2"
  };
  char drive[256];
  int fd;

  (void) state;
  snprintf (drive, sizeof drive, "wd200bb clock=virtual clock-page=%s",
            server_path (&server, "clock"));
  start (drive);
  fd = dial ();
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    ask (fd, words[i],
         "error real time only: this drive's time is that of its guest");
  ask (fd, "ping", "ok");
  ask (fd, "reset-stats", "ok");
  close (fd);
  assert_int_equal (server_stop (&server), 0);
}

int
main (void)
{
#define TEST(f) cmocka_unit_test_setup_teardown (f, setup, teardown)
  const struct CMUnitTest tests[] = {
    TEST (answers_lines),
    TEST (endless_line_is_cut_off),
    TEST (bad_company),
    TEST (one_too_many),
    TEST (counts),
    TEST (time_can_be_stopped),
    TEST (drive_can_be_instant),
    TEST (statistics_start_again),
    TEST (some_values_can_be_set),
    TEST (ideal_has_no_time),
    TEST (virtual_time_is_the_guests),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
