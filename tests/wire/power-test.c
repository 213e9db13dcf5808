/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Power and bad sectors over the wire, one thing at a time.
 */
#include <errno.h>
#include <inttypes.h>
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

#include "clock-drive.h"
#include "server.h"

#define MS(x) ((int64_t) (x) * 1000000)
#define REVOLUTION_NS 8333333
#define TEXT "set=interface.flush=true size=64M seed=3"

static struct server server;
static struct clock_drive *drive;
static char block[65536];

static int
setup (void **state)
{
  FILE *fp;

  (void) state;
  server_dir (&server);
  fp = fopen (server_path (&server, "disk"), "w");
  assert_non_null (fp);
  assert_int_equal (ftruncate (fileno (fp), 64 << 20), 0);
  fclose (fp);
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
start (const char *parameters, const char *clock)
{
  char text[1024];

  snprintf (text, sizeof text, "wd200bb " TEXT " %s file=%s control=%s "
            "trace=%s %s", parameters, server_path (&server, "disk"),
            server_path (&server, "control"), server_path (&server, "trace"),
            clock);
  server_start (&server, text);
}

static void
start_virtual (const char *parameters)
{
  char clock[256], error[CLOCK_ERROR_SIZE];

  snprintf (clock, sizeof clock, "clock=virtual clock-page=%s",
            server_path (&server, "clock"));
  start (parameters, clock);
  drive = clock_drive_connect (server.socket, server_path (&server, "clock"),
                               error);
  if (drive == NULL)
    fail_msg ("%s", error);
}

static void
stop_virtual (void)
{
  clock_drive_close (drive);
  assert_int_equal (server_stop (&server), 0);
}

static void
expect_answer (const char *line, const char *answer)
{
  char *got = server_control (&server, line);

  assert_string_equal (got, answer);
  free (got);
}

static int64_t
statistic (const char *key)
{
  char *stats = server_control (&server, "stats");
  int64_t n = json_number (stats, key);

  free (stats);
  return n;
}

static void
expect_trace (const char *line)
{
  size_t n;
  char *trace = slurp (server_path (&server, "trace"), &n);

  if (strstr (trace, line) == NULL)
    fail_msg ("no %s in %s", line, trace);
  free (trace);
}

static int64_t
submit (enum clock_op op, bool fua, int64_t now_ns, uint64_t offset)
{
  struct clock_io io = {
    .op = op, .fua = fua, .offset = op == CLOCK_FLUSH ? 0 : offset,
    .length = op == CLOCK_FLUSH ? 0 : 4096, .data = block, .now_ns = now_ns,
  };

  return clock_drive_submit (drive, &io);
}

static struct clock_io_done
next (void)
{
  struct clock_io_done done;

  if (clock_drive_run (drive, CLOCK_NEVER, &done) != 1)
    fail_msg ("nothing completes: %s", clock_drive_error (drive));
  return done;
}

static struct clock_io_done
whole (enum clock_op op, bool fua, int64_t now_ns, uint64_t offset)
{
  if (submit (op, fua, now_ns, offset) == -1)
    fail_msg ("%s", clock_drive_error (drive));
  return next ();
}

static char
byte_in_file (long offset)
{
  FILE *fp = fopen (server_path (&server, "disk"), "r");
  int c;

  assert_non_null (fp);
  fseek (fp, offset, SEEK_SET);
  c = getc (fp);
  fclose (fp);
  return (char) c;
}

/* The last write is still in the cache, those before are flushed or written
 * through.
 */
static void
what_the_cache_held_is_lost (void **state)
{
  struct clock_io_done done;

  (void) state;
  start_virtual ("set=power.spin-up-ms=4000 cut-at=100ms");
  memset (block, 'a', sizeof block);
  whole (CLOCK_WRITE, false, 0, 0);
  done = whole (CLOCK_FLUSH, false, MS (1), 0);
  whole (CLOCK_WRITE, true, done.done_ns, 1 << 20);
  memset (block, 'b', sizeof block);
  done = whole (CLOCK_WRITE, false, MS (100) - 400000, 0);
  assert_true (done.done_ns < MS (100));
  assert_int_equal (byte_in_file (0), 'b');

  assert_int_equal (clock_drive_next_event (drive), MS (100));
  submit (CLOCK_READ, false, MS (100) - 10000, 40 << 20);
  done = next ();
  assert_int_equal (done.error, ESHUTDOWN);
  assert_int_equal (done.done_ns, MS (100));
  assert_true (clock_client_power_off (clock_drive_client (drive)));
  assert_int_equal (byte_in_file (0), 'a');
  assert_int_equal (byte_in_file (1 << 20), 'a');
  assert_int_equal (statistic ("lost_sectors"), 8);
  assert_int_equal (statistic ("failed_commands"), 1);
  assert_int_equal (submit (CLOCK_READ, false, MS (200), 0), -1);
  expect_answer ("power cut", "error the power is off");
  expect_answer ("power on", "ok");
  expect_answer ("power on", "error the power is on");
  done = whole (CLOCK_READ, false, MS (300), 0);
  assert_int_equal (block[0], 'a');
  assert_in_range (done.done_ns, MS (4100), MS (4130));
  stop_virtual ();
  expect_trace ("# power=off at_ns=100000000 torn_lba=-1 lost_sectors=8 "
                "failed_commands=1\n");
  expect_trace ("# power=on at_ns=100000000\n");
}

/* A client that does nothing until then finds it cut. */
static void
idle_drive_is_cut (void **state)
{
  struct clock_io_done done;

  (void) state;
  start_virtual ("cut-at=0.05s");
  assert_int_equal (clock_drive_next_event (drive), MS (50));
  assert_int_equal (submit (CLOCK_READ, false, MS (60), 0), -1);
  assert_true (clock_client_power_off (clock_drive_client (drive)));
  assert_int_equal (clock_drive_run (drive, MS (70), &done), 0);
  assert_int_equal (statistic ("cuts"), 1);
  stop_virtual ();
  expect_trace ("# power=off at_ns=50000000 ");
}

/* Five writes through, and the cut comes later_ns after the third. */
static void
cut_after_three (const char *parameters, int64_t later_ns)
{
  struct clock_io_done third, lost;

  start_virtual (parameters);
  memset (block, 'x', sizeof block);
  for (int i = 0; i < 5; i++)
    submit (CLOCK_WRITE, false, 0, (uint64_t) i << 20);
  next ();
  next ();
  third = next ();
  assert_int_equal (third.error, 0);
  for (int i = 3; i < 5; i++) {
    lost = next ();
    assert_int_equal (lost.error, ESHUTDOWN);
    assert_int_equal (lost.done_ns, third.done_ns + later_ns);
  }
  for (int i = 0; i < 5; i++)
    assert_int_equal (byte_in_file ((long) i << 20), i < 3 ? 'x' : 0);
  assert_int_equal (statistic ("lost_sectors"), 0);
  stop_virtual ();
}

static void
cut_after_the_third_write (void **state)
{
  (void) state;
  cut_after_three ("cut-after-writes=3 set=write-cache.enabled=false", 0);
}

static void
cut_later_than_the_third_write (void **state)
{
  (void) state;
  cut_after_three ("cut-after-writes=3+17us set=write-cache.enabled=false",
                   17000);
}

/* One long write to the media.  Returns when it completes. */
static struct clock_io_done
long_write (const char *parameters)
{
  struct clock_io_done done;
  struct clock_io io = { .op = CLOCK_WRITE, .length = sizeof block,
                         .data = block };

  start_virtual (parameters);
  assert_true (clock_drive_submit (drive, &io) > 0);
  done = next ();
  stop_virtual ();
  return done;
}

/* Its first sectors are there, and then no more. */
static void
half_a_write (void **state)
{
  static const char off[] = "set=write-cache.enabled=false";
  int64_t end_ns = long_write (off).done_ns;
  char text[128];
  int new = 0;

  (void) state;
  for (int i = 1; i <= 4; i++) {
    memset (block, 'a' + i, sizeof block);
    snprintf (text, sizeof text, "%s torn=old cut-at=%" PRIi64 "ns", off,
              end_ns - i * 300000);
    assert_int_equal (long_write (text).error, ESHUTDOWN);
    for (new = 0; new < 128 && byte_in_file (new * 512) == 'a' + i; new++)
      ;
    for (int j = new; j < 128; j++)
      assert_int_not_equal (byte_in_file (j * 512), 'a' + i);
    /* 0.3 ms are 23 sectors of 650 in a revolution. */
    assert_in_range (new, 128 - 23 * i - 3, 128 - 23 * i + 3);
    expect_trace ("lost_sectors=0 failed_commands=1\n");
    snprintf (text, sizeof text, " torn_lba=%d ", new);
    expect_trace (text);
  }
}

static void
cut_in_real_time (void **state)
{
  struct nbd_handle *nbd;

  (void) state;
  memset (block, 'r', sizeof block);
  start ("cut-after-writes=5", "");
  nbd = server_connect (&server);
  for (uint64_t i = 0; i < 5; i++)
    assert_int_equal (nbd_pwrite (nbd, block, 4096, i << 20, 0), 0);
  assert_int_equal (nbd_pwrite (nbd, block, 4096, 0, 0), -1);
  assert_int_equal (nbd_get_errno (), ESHUTDOWN);
  assert_int_equal (nbd_flush (nbd, 0), -1);
  assert_true (statistic ("lost_sectors") > 0);
  expect_answer ("power on", "ok");
  assert_int_equal (nbd_pwrite (nbd, block, 4096, 0, 0), 0);
  assert_int_equal (nbd_flush (nbd, 0), 0);
  expect_answer ("power cut", "ok");
  assert_int_equal (nbd_pread (nbd, block, 4096, 0, 0), -1);
  assert_int_equal (byte_in_file (0), 'r');
  expect_answer ("power maybe", "error power: cut or on");
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

static void
instant_drive_without_power (void **state)
{
  char text[256];
  struct nbd_handle *nbd;

  (void) state;
  snprintf (text, sizeof text, "ideal size=1M control=%s",
            server_path (&server, "control"));
  server_start (&server, text);
  nbd = server_connect (&server);
  expect_answer ("power cut", "ok");
  assert_int_equal (nbd_pwrite (nbd, block, 512, 0, 0), -1);
  assert_int_equal (nbd_pread (nbd, block, 512, 0, 0), -1);
  assert_int_equal (nbd_flush (nbd, 0), -1);
  expect_answer ("power on", "ok");
  assert_int_equal (nbd_pwrite (nbd, block, 512, 0, 0), 0);
  expect_answer ("bad 7", "error bad=7: a drive that takes no time has no "
                 "bad sectors");
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

/* The time of one read of a drive whose buffer knows nothing. */
static struct clock_io_done
read_with (const char *parameters)
{
  struct clock_io_done done;

  start_virtual (parameters);
  done = whole (CLOCK_READ, false, 0, 4096 * 1000);
  clock_drive_close (drive);
  assert_int_equal (server_stop (&server), 0);
  return done;
}

static void
weak_sectors_take_their_revolutions (void **state)
{
  struct clock_io_done good = read_with (""), weak;

  (void) state;
  weak = read_with ("bad=8003:3");
  assert_int_equal (weak.error, 0);
  assert_in_range (weak.done_ns - good.done_ns, 3 * REVOLUTION_NS - 10,
                   3 * REVOLUTION_NS + 10);
}

static void
hard_sectors_fail_and_heal (void **state)
{
  struct clock_io_done good = read_with (""), bad;

  (void) state;
  bad = read_with ("bad=8003 set=media.retries=5");
  assert_int_equal (bad.error, EIO);
  expect_trace (",5\n");
  assert_in_range (bad.done_ns - good.done_ns, 4 * REVOLUTION_NS,
                   6 * REVOLUTION_NS);

  start_virtual ("set=media.retries=5");
  expect_answer ("bad 8003+2", "ok");
  expect_answer ("bad 1:",
                 "error bad=1:: must be LBA[+SECTORS][:RETRIES][@COMMAND]");
  expect_answer ("bad 1@x",
                 "error bad=1@x: must be LBA[+SECTORS][:RETRIES][@COMMAND]");
  expect_answer ("bad 1+0",
                 "error bad=1+0: must be LBA[+SECTORS][:RETRIES][@COMMAND]");
  expect_answer ("bad 1000+1:3@99", "ok");
  expect_answer ("bad 39102336", "error bad=39102336: is not on the drive");
  bad = whole (CLOCK_READ, false, 0, 4096 * 1000);
  assert_int_equal (bad.error, EIO);
  assert_int_equal (statistic ("errors"), 1);
  assert_true (statistic ("retries") >= 5);
  assert_int_equal (statistic ("pending_sectors"), 1);
  bad = whole (CLOCK_WRITE, true, bad.done_ns, 4096 * 1000);
  assert_int_equal (bad.error, 0);
  assert_int_equal (statistic ("healed_sectors"), 2);
  assert_int_equal (statistic ("reallocated_sectors"), 2);
  assert_int_equal (statistic ("pending_sectors"), 0);
  bad = whole (CLOCK_READ, false, bad.done_ns, 4096 * 1000);
  assert_int_equal (bad.error, 0);
  stop_virtual ();
}

int
main (void)
{
#define TEST(f) cmocka_unit_test_setup_teardown (f, setup, teardown)
  const struct CMUnitTest tests[] = {
    TEST (what_the_cache_held_is_lost),
    TEST (idle_drive_is_cut),
    TEST (cut_after_the_third_write),
    TEST (cut_later_than_the_third_write),
    TEST (half_a_write),
    TEST (cut_in_real_time),
    TEST (instant_drive_without_power),
    TEST (weak_sectors_take_their_revolutions),
    TEST (hard_sectors_fail_and_heal),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
