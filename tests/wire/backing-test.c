/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file behind the drive is full, cut short, removed or read-only: the
 * client is told, and nothing else happens.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>
#include <libnbd.h>

#include "server.h"

#define SIZE (4 << 20)
#define FULL_AT (1 << 20)
#define BLOCK 65536

static struct server server;
static struct nbd_handle *nbd;
static char block[BLOCK], read_back[SIZE];

static int
setup (void **state)
{
  int fd;

  (void) state;
  server_dir (&server);
  fd = open (server_path (&server, "disk"), O_RDWR | O_CREAT | O_CLOEXEC,
             0600);
  assert_true (fd >= 0);
  assert_int_equal (ftruncate (fd, SIZE), 0);
  close (fd);
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
start (const char *profile)
{
  char text[512];

  snprintf (text, sizeof text, "%s size=%d file=%s control=%s", profile, SIZE,
            server_path (&server, "disk"), server_path (&server, "control"));
  server_start (&server, text);
  nbd = server_connect (&server);
}

static void
stop (void)
{
  server_disconnect (nbd);
  assert_int_equal (server_stop (&server), 0);
}

static int
write_block (char c, size_t n, uint64_t offset, uint32_t flags)
{
  memset (block, c, n);
  return nbd_pwrite (nbd, block, n, offset, flags) == 0 ? 0 : nbd_get_errno ();
}

/* All of [offset, offset+n) is c. */
static void
expect_bytes (char c, size_t n, uint64_t offset)
{
  assert_int_equal (nbd_pread (nbd, read_back, n, offset, 0), 0);
  for (size_t i = 0; i < n; i++)
    if (read_back[i] != c)
      fail_msg ("byte %zu is %d, not %d", (size_t) offset + i, read_back[i],
                c);
}

/* A limit on the size of files instead of a full disk. */
static void
full (const char *profile)
{
  struct rlimit old, limit;

  assert_int_equal (getrlimit (RLIMIT_FSIZE, &old), 0);
  limit = (struct rlimit) { .rlim_cur = FULL_AT, .rlim_max = old.rlim_max };
  assert_int_equal (setrlimit (RLIMIT_FSIZE, &limit), 0);
  start (profile);
  assert_int_equal (setrlimit (RLIMIT_FSIZE, &old), 0);

  assert_int_equal (write_block ('a', BLOCK, FULL_AT - BLOCK, 0), 0);
  assert_int_equal (write_block ('b', BLOCK, FULL_AT, 0), ENOSPC);
  assert_int_equal (write_block ('b', 512, SIZE - 512, LIBNBD_CMD_FLAG_FUA),
                    ENOSPC);
  expect_bytes ('a', BLOCK, FULL_AT - BLOCK);
  expect_bytes (0, SIZE - FULL_AT, FULL_AT);
  assert_int_equal (write_block ('c', 4096, 0, 0), 0);
  expect_bytes ('c', 4096, 0);
}

static void
full_disk_is_no_space (void **state)
{
  (void) state;
  full ("ideal");
  stop ();
}

/* Half of a write that fails is not there, and the cut puts nothing wrong
 * back.
 */
static void
full_disk_behind_a_write_cache (void **state)
{
  char *answer;

  (void) state;
  full ("wd200bb set=interface.flush=true");
  assert_int_equal (nbd_flush (nbd, 0), 0);
  assert_int_equal (write_block ('d', BLOCK, FULL_AT - BLOCK / 2, 0), ENOSPC);
  expect_bytes ('a', BLOCK / 2, FULL_AT - BLOCK / 2);
  expect_bytes (0, BLOCK / 2, FULL_AT);
  answer = server_control (&server, "power cut");
  assert_string_equal (answer, "ok");
  free (answer);
  answer = server_control (&server, "power on");
  free (answer);
  expect_bytes ('a', BLOCK, FULL_AT - BLOCK);
  expect_bytes (0, SIZE - FULL_AT, FULL_AT);
  expect_bytes ('c', 4096, 0);
  stop ();
}

static void
cut_short (const char *profile)
{
  start (profile);
  assert_int_equal (write_block ('a', BLOCK, 0, 0), 0);
  assert_int_equal (truncate (server_path (&server, "disk"), SIZE / 2), 0);
  expect_bytes ('a', BLOCK, 0);
  assert_int_equal (nbd_pread (nbd, read_back, 4096, SIZE - 4096, 0), -1);
  assert_int_equal (nbd_get_errno (), EIO);
  assert_int_equal (nbd_pread (nbd, read_back, 4096, SIZE / 2 - 512, 0), -1);
  write_block ('b', 4096, SIZE - 4096, 0);
  assert_int_equal (nbd_flush (nbd, 0), 0);
  assert_int_equal (truncate (server_path (&server, "disk"), SIZE), 0);
  expect_bytes (0, SIZE / 2 - 4096, SIZE / 2);
  stop ();
}

static void
file_that_became_shorter (void **state)
{
  (void) state;
  cut_short ("ideal");
}

static void
file_that_became_shorter_behind_a_write_cache (void **state)
{
  (void) state;
  cut_short ("wd200bb");
}

static void
file_that_was_removed (void **state)
{
  (void) state;
  start ("wd200bb");
  assert_int_equal (write_block ('a', BLOCK, 0, 0), 0);
  assert_int_equal (unlink (server_path (&server, "disk")), 0);
  assert_int_equal (write_block ('b', BLOCK, BLOCK, LIBNBD_CMD_FLAG_FUA), 0);
  expect_bytes ('a', BLOCK, 0);
  expect_bytes ('b', BLOCK, BLOCK);
  stop ();
}

static void
read_only (void **state)
{
  char command[512];
  const char *old = getenv ("NBDKIT");
  char *keep = old ? strdup (old) : NULL;

  (void) state;
  snprintf (command, sizeof command, "%s -r", old ? old : "nbdkit");
  setenv ("NBDKIT", command, 1);
  start ("wd200bb");
  if (keep)
    setenv ("NBDKIT", keep, 1);
  else
    unsetenv ("NBDKIT");
  free (keep);
  assert_int_equal (nbd_is_read_only (nbd), 1);
  nbd_set_strict_mode (nbd, 0);
  assert_int_equal (write_block ('a', 512, 0, 0), EPERM);
  assert_int_equal (nbd_trim (nbd, 512, 0, 0), -1);
  expect_bytes (0, BLOCK, 0);
  stop ();
}

int
main (void)
{
#define TEST(f) cmocka_unit_test_setup_teardown (f, setup, teardown)
  const struct CMUnitTest tests[] = {
    TEST (full_disk_is_no_space),
    TEST (full_disk_behind_a_write_cache),
    TEST (file_that_became_shorter),
    TEST (file_that_became_shorter_behind_a_write_cache),
    TEST (file_that_was_removed),
    TEST (read_only),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
