/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The durability oracle.  Random writes, FUA, flushes, trims and reads on
 * several connections at depth, in virtual time; the power is cut under
 * that load; then every sector must hold what the contract allows: what was
 * made durable last, or anything written later.
 *
 *   CUTS=N   how many cuts (100)
 *   SEED=N   only those of this seed
 *
 * A seed decides everything: drive, backing, load, and the moments of two
 * cuts, between which the power comes back.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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
#include "history.h"
#include "server.h"

#define DRIVE_SECTORS INT64_C (39102336) /* of the wd200bb */
#define REGIONS 32
#define REGION_SECTORS 128
#define SECTORS (REGIONS * REGION_SECTORS)
#define LONGEST 64              /* sectors */
#define CONNECTIONS 4
#define DEPTH 8                 /* per connection, at most */
#define SLOTS (CONNECTIONS * DEPTH)
#define MAX_OPERATIONS 4000
#define ROUNDS 2

enum kind { READ, WRITE, FLUSH, TRIM };

struct slot {
  struct rig *rig;
  bool busy;
  enum kind kind;
  bool fua;
  int first, sectors;           /* indices, not LBAs */
  uint32_t version;
  unsigned char data[LONGEST * SECTOR];
  uint32_t seen[SECTORS];       /* READ: last submitted, FLUSH: acknowledged */
};

struct rig {
  uint64_t seed, random;
  struct server server;
  struct nbd_handle *nbd[CONNECTIONS];
  struct clock_client *clock;
  int64_t now_ns;

  /* What the seed says. */
  int connections, depth;
  bool cached, flushes, trims, in_memory;
  int64_t stride;               /* sectors from region to region */
  int by_hand;                  /* operations until then, or 0 */

  struct history sectors[SECTORS];
  struct slot slots[SLOTS];
  int in_flight;
  uint32_t version;
  bool cut;
  bool unreadable_allowed;
  bool broken;                  /* the drive does nothing about a flush */
  int64_t violations;
  int64_t lost, told_lost;
};

static struct {
  int cuts, cached, cached_lossy, torn_unreadable;
  int64_t lost, operations;
} total;

static char *trace;             /* of the last session */

static uint64_t
pick (struct rig *r, uint64_t n)
{
  return splitmix64 (&r->random) % n;
}

/* Requests. */

static uint64_t
offset_of (const struct rig *r, int index)
{
  return ((uint64_t) (index / REGION_SECTORS) * (uint64_t) r->stride +
          (uint64_t) (index % REGION_SECTORS)) * SECTOR;
}

static void
choose (struct rig *r, struct slot *s)
{
  uint64_t what = pick (r, 100);
  int region = (int) pick (r, REGIONS), start;

  s->kind = what < 80 ? WRITE : what < 90 ? READ : what < 94 ? FLUSH : TRIM;
  if ((s->kind == FLUSH && !r->flushes) || (s->kind == TRIM && !r->trims))
    s->kind = WRITE;
  s->fua = (s->kind == WRITE || s->kind == TRIM) && pick (r, 12) == 0;
  s->sectors = 1 + (int) pick (r, pick (r, 4) ? 8 : LONGEST);
  start = (int) pick (r, (uint64_t) (REGION_SECTORS - s->sectors + 1));
  s->first = region * REGION_SECTORS + start;
}

/* It goes to the drive now. */
static void
note_submission (struct rig *r, struct slot *s)
{
  struct value v = { .version = ++r->version, .zero = s->kind == TRIM };

  s->version = v.version;
  if (s->kind == FLUSH) {
    for (int i = 0; i < SECTORS; i++)
      s->seen[i] =
        r->sectors[i].v[history_acknowledged (&r->sectors[i])].version;
    return;
  }
  for (int i = 0; i < s->sectors; i++) {
    struct history *h = &r->sectors[s->first + i];

    if (s->kind == READ)
      s->seen[i] = h->v[h->n - 1].version;
    else {
      history_append (h, v);
      value_fill (s->data + i * SECTOR, s->first + i, &v);
    }
  }
}

static void
check_read (struct rig *r, const struct slot *s)
{
  unsigned char expected[SECTOR];

  for (int i = 0; i < s->sectors; i++) {
    const struct history *h = &r->sectors[s->first + i];
    int v = history_find (h, s->seen[i]);

    if (v == -1)
      continue;                 /* overwritten and durable meanwhile */
    value_fill (expected, s->first + i, &h->v[v]);
    if (memcmp (expected, s->data + i * SECTOR, SECTOR) != 0)
      fail_msg ("SEED=%" PRIu64 ": sector %d read back wrong", r->seed,
                s->first + i);
  }
}

static void
acknowledge (struct rig *r, const struct slot *s)
{
  if (s->kind == READ) {
    if (!r->broken)
      check_read (r, s);
  }
  else if (s->kind == FLUSH)
    for (int i = 0; i < SECTORS; i++)
      history_durable (&r->sectors[i], s->seen[i]);
  else
    for (int i = 0; i < s->sectors; i++) {
      struct history *h = &r->sectors[s->first + i];
      int v = history_find (h, s->version);

      if (v == -1)
        continue;               /* a later one is durable */
      h->v[v].acknowledged = true;
      if (s->fua || !r->cached)
        history_durable (h, s->version);
    }
}

static int
completed (void *opaque, int *error)
{
  struct slot *s = opaque;
  struct rig *r = s->rig;

  if (*error == 0)
    acknowledge (r, s);
  else if (*error == ESHUTDOWN && clock_client_power_off (r->clock))
    r->cut = true;
  else
    fail_msg ("SEED=%" PRIu64 ": request failed: %s", r->seed,
              strerror (*error));
  s->busy = false;
  r->in_flight--;
  return 1;
}

static void
issue (struct rig *r, struct nbd_handle *nbd, struct slot *s)
{
  nbd_completion_callback done = { .callback = completed, .user_data = s };
  uint32_t flags = s->fua ? LIBNBD_CMD_FLAG_FUA : 0;
  size_t bytes = (size_t) s->sectors * SECTOR;
  uint64_t offset = offset_of (r, s->first);
  int64_t id = -1;

  s->busy = true;
  r->in_flight++;
  switch (s->kind) {
  case READ:
    id = nbd_aio_pread (nbd, s->data, bytes, offset, done, 0);
    break;
  case WRITE:
    id = nbd_aio_pwrite (nbd, s->data, bytes, offset, done, flags);
    break;
  case FLUSH:
    id = nbd_aio_flush (nbd, done, 0);
    break;
  case TRIM:
    id = nbd_aio_trim (nbd, bytes, offset, done, flags);
    break;
  }
  if (id == -1)
    fail_msg ("SEED=%" PRIu64 ": %s", r->seed, nbd_get_error ());
}

/* The connections and the clock. */

static void
move_bytes (struct rig *r)
{
  struct pollfd fds[CONNECTIONS];

  for (int i = 0; i < r->connections; i++) {
    unsigned direction = nbd_aio_get_direction (r->nbd[i]);

    fds[i] = (struct pollfd) {
      .fd = nbd_aio_get_fd (r->nbd[i]),
      .events = (direction & LIBNBD_AIO_DIRECTION_READ ? POLLIN : 0) |
                (direction & LIBNBD_AIO_DIRECTION_WRITE ? POLLOUT : 0),
    };
  }
  if (poll (fds, (nfds_t) r->connections, 30000) <= 0)
    fail_msg ("SEED=%" PRIu64 ": no reply", r->seed);
  for (int i = 0; i < r->connections; i++) {
    int status = 0;

    if (fds[i].revents & (POLLIN | POLLHUP))
      status = nbd_aio_notify_read (r->nbd[i]);
    else if (fds[i].revents & POLLOUT)
      status = nbd_aio_notify_write (r->nbd[i]);
    if (status == -1)
      fail_msg ("SEED=%" PRIu64 ": %s", r->seed, nbd_get_error ());
  }
}

static void
catch_up (struct rig *r)
{
  struct clock_done done;

  while (clock_client_next_event (r->clock) <= r->now_ns) {
    int before = r->in_flight;
    int status = clock_client_advance (r->clock, r->now_ns, &done);

    if (status == -1)
      fail_msg ("SEED=%" PRIu64 ": %s", r->seed,
                clock_client_error (r->clock));
    while (status == 1 && r->in_flight == before)
      move_bytes (r);
  }
}

static void
submit (struct rig *r, struct nbd_handle *nbd, struct slot *s)
{
  static const uint32_t ops[] = { 0, 1, 3, 4 };
  struct clock_request request = {
    ops[s->kind], s->kind == FLUSH ? 0 : offset_of (r, s->first),
    s->kind == FLUSH ? 0 : (uint64_t) s->sectors * SECTOR,
  };
  uint64_t ticket;
  int before;

  note_submission (r, s);
  clock_client_prepare (r->clock, r->now_ns, true);
  issue (r, nbd, s);
  before = r->in_flight;
  while (nbd_aio_get_direction (nbd) & LIBNBD_AIO_DIRECTION_WRITE)
    move_bytes (r);
  if (clock_client_wait (r->clock, &request, &ticket) == -1)
    fail_msg ("SEED=%" PRIu64 ": %s", r->seed, clock_client_error (r->clock));
  while (ticket == 0 && r->in_flight == before)
    move_bytes (r);
}

static void
to_next_event (struct rig *r)
{
  int64_t next_ns = clock_client_next_event (r->clock);

  if (next_ns == CLOCK_NEVER)
    fail_msg ("SEED=%" PRIu64 ": %d requests wait for ever", r->seed,
              r->in_flight);
  if (next_ns > r->now_ns)
    r->now_ns = next_ns;
  catch_up (r);
}

static void
control (struct rig *r, const char *line)
{
  char *answer = server_control (&r->server, line);

  if (strcmp (answer, "ok") != 0)
    fail_msg ("SEED=%" PRIu64 ": %s: %s", r->seed, line, answer);
  free (answer);
}

/* Keep the drive busy until the power is gone. */
static void
load (struct rig *r)
{
  uint64_t pause = 1 + pick (r, 4000000);

  r->cut = false;
  for (int n = 1; !r->cut && !clock_client_power_off (r->clock); n++) {
    int i = (int) pick (r, (uint64_t) r->connections) * DEPTH +
      (int) pick (r, (uint64_t) r->depth);
    struct slot *s = &r->slots[i];

    if (n == r->by_hand || n == MAX_OPERATIONS) {
      control (r, "power cut");
      break;
    }
    r->now_ns += (int64_t) pick (r, pause);
    catch_up (r);
    while (s->busy)
      to_next_event (r);
    if (clock_client_power_off (r->clock))
      break;
    choose (r, s);
    submit (r, r->nbd[i / DEPTH], s);
    total.operations++;
  }
  while (r->in_flight > 0)
    to_next_event (r);
  assert_true (clock_client_power_off (r->clock));
}

/* After the cut. */

static void
read_file (struct rig *r, unsigned char *bytes)
{
  int fd = open (server_path (&r->server, "disk"), O_RDONLY | O_CLOEXEC);

  assert_true (fd >= 0);
  for (int i = 0; i < SECTORS; i += REGION_SECTORS)
    assert_int_equal (pread (fd, bytes + i * SECTOR, REGION_SECTORS * SECTOR,
                             (off_t) offset_of (r, i)),
                      REGION_SECTORS * SECTOR);
  close (fd);
}

static int
once (struct rig *r, bool write, int first, int sectors,
      unsigned char *bytes)
{
  struct clock_request request = { write, offset_of (r, first),
                                   (uint64_t) sectors * SECTOR };
  struct clock_done done;
  uint64_t ticket;
  int64_t cookie;
  int status;

  clock_client_prepare (r->clock, r->now_ns, true);
  cookie = write ? nbd_aio_pwrite (r->nbd[0], bytes, request.length,
                                   request.offset, NBD_NULL_COMPLETION,
                                   LIBNBD_CMD_FLAG_FUA)
                 : nbd_aio_pread (r->nbd[0], bytes, request.length,
                                  request.offset, NBD_NULL_COMPLETION, 0);
  assert_true (cookie != -1);
  while (nbd_aio_get_direction (r->nbd[0]) & LIBNBD_AIO_DIRECTION_WRITE)
    move_bytes (r);
  assert_int_equal (clock_client_wait (r->clock, &request, &ticket), 0);
  for (status = ticket == 0; status == 0; ) {
    r->now_ns = clock_client_next_event (r->clock);
    status = clock_client_advance (r->clock, r->now_ns, &done);
    assert_true (status != -1);
  }
  while ((status = nbd_aio_command_completed (r->nbd[0],
                                              (uint64_t) cookie)) == 0)
    move_bytes (r);
  return status == 1 ? 0 : nbd_get_errno ();
}

/* Read or write with FUA, in the model's time.  Returns errno.  There may
 * be another cut, which has nothing else to take.
 */
static int
timed (struct rig *r, bool write, int first, int sectors,
       unsigned char *bytes)
{
  int error;

  while ((error = once (r, write, first, sectors, bytes)) == ESHUTDOWN)
    control (r, "power on");
  return error;
}

/* Everything, sector by sector where it must be.  bad[] says which cannot
 * be read.
 */
static void
read_drive (struct rig *r, unsigned char *bytes, bool *bad)
{
  memset (bad, 0, SECTORS * sizeof bad[0]);
  for (int i = 0; i < SECTORS; i += REGION_SECTORS)
    if (timed (r, false, i, REGION_SECTORS, bytes + i * SECTOR) != 0)
      for (int j = i; j < i + REGION_SECTORS; j++) {
        int error = timed (r, false, j, 1, bytes + j * SECTOR);

        if (error != 0 && error != EIO)
          fail_msg ("SEED=%" PRIu64 ": sector %d: %s", r->seed, j,
                    strerror (error));
        bad[j] = error != 0;
      }
}

/* Returns how many sectors have lost something that was acknowledged. */
static int64_t
judge (struct rig *r, const unsigned char *bytes, const bool *bad)
{
  int64_t lost = 0;
  int n_bad = 0;

  for (int i = 0; i < SECTORS; i++) {
    struct history *h = &r->sectors[i];
    int v = bad[i] ? 0 : history_match (h, i, bytes + i * SECTOR);

    if (v == -1 && r->broken) {
      r->violations++;
      v = 0;
    }
    if (v == -1)
      fail_msg ("SEED=%" PRIu64 ": sector %d holds %08x %08x, which is none "
                "of %d values", r->seed, i,
                ((const unsigned *) (const void *) (bytes + i * SECTOR))[1],
                ((const unsigned *) (const void *) (bytes + i * SECTOR))[0],
                h->n);
    n_bad += bad[i];
    if (bad[i] && h->n == 1)
      fail_msg ("SEED=%" PRIu64 ": sector %d cannot be read, but nobody "
                "was writing it", r->seed, i);
    lost += v < history_acknowledged (h);
    h->v[0] = h->v[v];
    h->n = 1;
  }
  if (n_bad > (r->unreadable_allowed ? 1 : 0))
    fail_msg ("SEED=%" PRIu64 ": %d sectors cannot be read", r->seed, n_bad);
  total.torn_unreadable += n_bad;
  return lost;
}

/* Writing makes them good. */
static void
heal (struct rig *r, const bool *bad)
{
  unsigned char sector[SECTOR], again[SECTOR];

  for (int i = 0; i < SECTORS; i++)
    if (bad[i]) {
      struct value v = { .version = ++r->version, .acknowledged = true };

      value_fill (sector, i, &v);
      assert_int_equal (timed (r, true, i, 1, sector), 0);
      assert_int_equal (timed (r, false, i, 1, again), 0);
      assert_memory_equal (sector, again, SECTOR);
      r->sectors[i].v[0] = v;
    }
}

/* Does the drive say the same?  Zeroes over zeroes are no loss to us. */
static void
compare_losses (struct rig *r, int64_t lost, bool unknown)
{
  char *stats = server_control (&r->server, "stats");
  int64_t told = json_number (stats, "lost_sectors") - r->told_lost;

  free (stats);
  r->told_lost += told;
  if (!r->trims && !r->broken && !unknown && told != lost)
    fail_msg ("SEED=%" PRIu64 ": %" PRIi64 " sectors are lost, the drive "
              "says %" PRIi64, r->seed, lost, told);
}

static void
examine (struct rig *r)
{
  static unsigned char in_file[SECTORS * SECTOR], bytes[SECTORS * SECTOR];
  static bool bad[SECTORS];
  bool any_bad = false;
  int64_t lost;

  if (!r->in_memory)
    read_file (r, in_file);
  control (r, "power on");
  read_drive (r, bytes, bad);
  for (int i = 0; i < SECTORS; i++) {
    any_bad |= bad[i];
    if (!r->in_memory && !bad[i] &&
        memcmp (in_file + i * SECTOR, bytes + i * SECTOR, SECTOR) != 0)
      fail_msg ("SEED=%" PRIu64 ": sector %d is not what is in the file",
                r->seed, i);
  }
  lost = judge (r, bytes, bad);
  compare_losses (r, lost, any_bad);
  heal (r, bad);
  total.cuts++;
  total.lost += lost;
  total.cached += r->cached;
  total.cached_lossy += r->cached && lost > 0;
}

/* A session. */

static void
make_file (struct rig *r, bool filled)
{
  int fd = open (server_path (&r->server, "disk"),
                 O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  unsigned char sector[SECTOR];

  assert_true (fd >= 0);
  assert_int_equal (ftruncate (fd, DRIVE_SECTORS * SECTOR), 0);
  for (int i = 0; filled && i < SECTORS; i++) {
    value_fill (sector, i, &r->sectors[i].v[0]);
    assert_int_equal (pwrite (fd, sector, SECTOR, (off_t) offset_of (r, i)),
                      SECTOR);
  }
  close (fd);
}

/* Parameters that say when. */
static void
choose_cut (struct rig *r, char *text, size_t n)
{
  text[0] = '\0';
  switch (pick (r, 5)) {
  case 0:
    snprintf (text, n, "cut-at=%" PRIu64 "us", 1 + pick (r, 500000));
    break;
  case 1:
    snprintf (text, n, "cut-after-writes=%" PRIu64, 1 + pick (r, 300));
    break;
  case 2:
    snprintf (text, n, "cut-while-destaging=%" PRIu64, 1 + pick (r, 40));
    break;
  case 3:
    /* Long enough that a read is sometimes done before the next cut. */
    snprintf (text, n, "cut-random=%" PRIu64 "us",
              20000 + pick (r, 300000));
    break;
  case 4:
    r->by_hand = 1 + (int) pick (r, 300);
    break;
  }
}

static void
choose_all (struct rig *r, char *text, size_t n)
{
  static const char *const torn[] = { "new", "old", "unreadable", "random" };
  static const char *const drives[] = {
    "", "set=write-cache.order=arrival", "set=write-cache.order=sptf",
    "set=queue.depth=32 set=queue.order=sptf",
    "set=buffer.write-on-arrival=true", "set=write-cache.size-kib=64",
  };
  uint64_t which = pick (r, 4);
  const char *drive = drives[pick (r, sizeof drives / sizeof drives[0])];
  uint64_t backing = pick (r, 5);
  char cut[64], file[128] = "memory=true";

  r->connections = 1 + (int) pick (r, CONNECTIONS);
  r->depth = 2 + (int) pick (r, DEPTH - 1);
  r->cached = pick (r, 3) > 0;
  r->flushes = pick (r, 4) > 0;
  r->trims = pick (r, 4) == 0;
  r->in_memory = backing == 0;
  r->stride = pick (r, 3) ? DRIVE_SECTORS / REGIONS : REGION_SECTORS;
  r->unreadable_allowed = which >= 2;
  choose_cut (r, cut, sizeof cut);
  for (int i = 0; i < SECTORS; i++)
    history_append (&r->sectors[i], (struct value) { .zero = backing < 3,
                                             .acknowledged = true });
  if (!r->in_memory) {
    make_file (r, backing >= 3);
    snprintf (file, sizeof file, "file=%s", server_path (&r->server, "disk"));
  }
  snprintf (text, n, "wd200bb set=interface.flush=%s "
            "set=interface.trim=true set=write-cache.enabled=%s %s %s torn=%s "
            "seed=%" PRIu64 " %s sync=%s clock=virtual clock-page=%s "
            "control=%s trace=%s",
            r->broken ? "false" : "true", r->cached ? "true" : "false",
            drive, cut, torn[which],
            pick (r, 1000000), file, pick (r, 8) ? "false" : "true",
            server_path (&r->server, "clock"),
            server_path (&r->server, "control"),
            server_path (&r->server, "trace"));
}

static void
begin (struct rig *r, const char *parameters)
{
  char error[CLOCK_ERROR_SIZE];

  server_start (&r->server, parameters);
  for (int i = 0; i < r->connections; i++)
    r->nbd[i] = server_connect (&r->server);
  r->clock = clock_client_attach (server_path (&r->server, "clock"), error);
  if (r->clock == NULL)
    fail_msg ("%s", error);
  clock_client_set_limit (r->clock, 60000);
}

static void
end (struct rig *r)
{
  size_t n;

  clock_client_detach (r->clock);
  for (int i = 0; i < r->connections; i++)
    server_disconnect (r->nbd[i]);
  assert_int_equal (server_stop (&r->server), 0);
  for (int i = 0; i < SECTORS; i++)
    free (r->sectors[i].v);
  free (trace);
  trace = slurp (server_path (&r->server, "trace"), &n);
  server_remove (&r->server);
}

static struct rig *
new_rig (uint64_t seed)
{
  struct rig *r = calloc (1, sizeof *r);

  assert_non_null (r);
  r->seed = r->random = seed;
  server_dir (&r->server);
  for (int i = 0; i < SLOTS; i++)
    r->slots[i].rig = r;
  return r;
}

static int64_t
session (uint64_t seed, bool broken)
{
  struct rig *r = new_rig (seed);
  char parameters[1024];
  int64_t violations;

  r->broken = broken;
  choose_all (r, parameters, sizeof parameters);
  begin (r, parameters);
  for (int round = 0; round < ROUNDS; round++) {
    load (r);
    examine (r);
    r->by_hand = 1 + (int) pick (r, 200);
  }
  end (r);
  violations = r->violations;
  free (r);
  return violations;
}

static void
only_what_is_allowed_is_lost (void **state)
{
  const char *cuts = getenv ("CUTS"), *seed = getenv ("SEED");
  uint64_t n = cuts ? strtoull (cuts, NULL, 10) :
    getenv ("TEST_SLOW") ? 20 : 100;

  (void) state;
  if (seed)
    session (strtoull (seed, NULL, 10), false);
  else
    for (uint64_t i = 1; i <= n / ROUNDS; i++)
      session (i, false);
  printf ("# %d cuts in %" PRIi64 " requests: %" PRIi64 " acknowledged "
          "sectors lost before a flush, none after; %d torn sectors did not "
          "read\n", total.cuts, total.operations, total.lost,
          total.torn_unreadable);
}

static void
a_write_cache_loses (void **state)
{
  (void) state;
  printf ("# with write cache on, %d of %d cuts lost something\n",
          total.cached_lossy, total.cached);
  if (total.cached >= 10)
    assert_true (total.cached_lossy * 10 > total.cached * 9);
}

/* Would we notice? */
static void
a_drive_without_flush_loses_more (void **state)
{
  int64_t violations = 0;

  (void) state;
  for (uint64_t seed = 1; seed <= 20 && violations == 0; seed++)
    violations = session (seed, true);
  assert_true (violations > 0);
}

static void
a_seed_repeats (void **state)
{
  char *first;

  (void) state;
  session (3, false);
  first = trace;
  trace = NULL;
  session (3, false);
  assert_non_null (strstr (first, "# power=off "));
  assert_string_equal (first, trace);
  free (first);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (only_what_is_allowed_is_lost),
    cmocka_unit_test (a_write_cache_loses),
    cmocka_unit_test (a_drive_without_flush_loses_more),
    cmocka_unit_test (a_seed_repeats),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
