/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugin is killed while it is busy.  That is no cut of the emulated
 * power: no write that was acknowledged is missing in the file, whatever
 * the drive's cache held.
 *
 *   N=N      how many times (20)
 */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <libnbd.h>

#include "history.h"
#include "server.h"

#define SECTORS 2048
#define LONGEST 32
#define SLOTS 8
#define LONGEST_LIFE_US 200000

struct rig;

struct slot {
  struct rig *rig;
  bool busy;
  int first, sectors;
  uint32_t version;
  unsigned char data[LONGEST * SECTOR];
};

struct rig {
  struct server server;
  struct nbd_handle *nbd;
  struct history sectors[SECTORS];
  struct slot slots[SLOTS];
  uint32_t version;
};

static uint64_t random_state = 1;
static int64_t acknowledged;

static uint64_t
pick (uint64_t n)
{
  random_state = random_state * UINT64_C (6364136223846793005) + 1;
  return (random_state >> 33) % n;
}

static int
completed (void *opaque, int *error)
{
  struct slot *s = opaque;

  s->busy = false;
  if (*error)
    return 1;
  acknowledged++;
  for (int i = 0; i < s->sectors; i++)
    history_durable (&s->rig->sectors[s->first + i], s->version);
  return 1;
}

/* Requests in flight do not overlap: nothing says in which order they
 * would be written.
 */
static bool
overlaps (const struct rig *r, const struct slot *one)
{
  for (int i = 0; i < SLOTS; i++) {
    const struct slot *s = &r->slots[i];

    if (s != one && s->busy && s->first < one->first + one->sectors &&
        one->first < s->first + s->sectors)
      return true;
  }
  return false;
}

static int
write_some (struct rig *r, struct slot *s)
{
  nbd_completion_callback done = { .callback = completed, .user_data = s };
  struct value v = { .version = ++r->version };

  do {
    s->sectors = 1 + (int) pick (LONGEST);
    s->first = (int) pick ((uint64_t) (SECTORS - s->sectors + 1));
  } while (overlaps (r, s));
  s->version = v.version;
  for (int i = 0; i < s->sectors; i++) {
    history_append (&r->sectors[s->first + i], v);
    value_fill (s->data + i * SECTOR, s->first + i, &v);
  }
  s->busy = true;
  return nbd_aio_pwrite (r->nbd, s->data, (size_t) s->sectors * SECTOR,
                         (uint64_t) s->first * SECTOR, done,
                         pick (6) ? 0 : LIBNBD_CMD_FLAG_FUA) == -1 ? -1 : 0;
}

static int64_t
now_us (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_MONOTONIC, &ts);
  return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Until the connection breaks. */
static void
load (struct rig *r, int64_t kill_us)
{
  for (;;) {
    for (int i = 0; i < SLOTS; i++)
      if (!r->slots[i].busy && write_some (r, &r->slots[i]) == -1)
        return;
    for (int i = 0; i < 16; i++)
      if (nbd_poll (r->nbd, i == 0) == -1 || nbd_aio_is_dead (r->nbd) == 1)
        return;
    if (kill_us && now_us () >= kill_us) {
      kill (r->server.pid, SIGKILL);
      kill_us = 0;
    }
  }
}

static void
make_file (const struct rig *r)
{
  int fd = open (server_path (&r->server, "disk"),
                 O_RDWR | O_CREAT | O_CLOEXEC, 0600);

  assert_true (fd >= 0);
  assert_int_equal (ftruncate (fd, SECTORS * SECTOR), 0);
  close (fd);
}

static void
check_file (struct rig *r)
{
  size_t n;
  char *bytes = slurp (server_path (&r->server, "disk"), &n);

  assert_int_equal (n, SECTORS * SECTOR);
  for (int i = 0; i < SECTORS; i++) {
    if (history_match (&r->sectors[i], i,
                       (unsigned char *) bytes + i * SECTOR) == -1)
      fail_msg ("sector %d holds none of %d values", i, r->sectors[i].n);
    free (r->sectors[i].v);
  }
  free (bytes);
}

static void
once (const char *profile)
{
  struct rig *r = calloc (1, sizeof *r);
  char parameters[512];

  assert_non_null (r);
  server_dir (&r->server);
  make_file (r);
  for (int i = 0; i < SECTORS; i++)
    history_append (&r->sectors[i], (struct value) { .zero = true });
  for (int i = 0; i < SLOTS; i++)
    r->slots[i].rig = r;
  snprintf (parameters, sizeof parameters, "%s size=1M file=%s", profile,
            server_path (&r->server, "disk"));
  server_start (&r->server, parameters);
  r->nbd = server_connect (&r->server);
  load (r, now_us () + 1000 + (int64_t) pick (LONGEST_LIFE_US));
  assert_int_equal (waitpid (r->server.pid, NULL, 0), r->server.pid);
  nbd_close (r->nbd);
  check_file (r);
  server_remove (&r->server);
  free (r);
}

static void
nothing_acknowledged_is_lost (void **state)
{
  static const char *const profiles[] = {
    "ideal", "wd200bb", "wd200bb set=write-cache.enabled=false",
    "wd200bb set=queue.depth=32 set=queue.order=sptf",
  };
  const char *text = getenv ("N");
  int n = text ? atoi (text) : 20;

  (void) state;
  for (int i = 0; i < n; i++)
    once (profiles[i % 4]);
  printf ("# killed %d times, %" PRIi64 " writes had been acknowledged\n", n,
          acknowledged);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nothing_acknowledged_is_lost),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
