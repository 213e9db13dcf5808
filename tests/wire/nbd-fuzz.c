/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hostile NBD clients: wrong handshakes, wrong requests, giant lengths,
 * overlapping writes 16 deep, and good-byes of every kind in every state.
 * The server must live, answer others, stay small and keep what it was not
 * asked to change.  Then the control socket likewise.
 *
 * nbdkit 1.32.5 dies of an assertion of its own, whatever the plugin, when
 * a client hangs up at the moment when it sends a reply.  So most clients
 * wait for their replies; the others are told from that death, and it alone
 * is forgiven.
 *
 *   REQUESTS=N  how many requests (20000)
 *   SEED=N      another sequence (1)
 */
#include <endian.h>
#include <errno.h>
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
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <libnbd.h>

#include "fixed.h"
#include "server.h"

#define SIZE (64 << 20)
#define CANARY_AT (SIZE - (1 << 20)) /* nobody is allowed to write from here */
#define CANARY_BYTES 65536
#define PARKED 8                /* connections left alone for a while */
#define MAX_PAYLOAD 131072
#define SILENCE_MS 30000        /* of the server, that is a hang */
#define GROWTH_KIB (48 * 1024)

static struct server server;
static uint64_t random_state;
static int64_t sent;            /* whole requests */
static int parked[PARKED];
static bool rude;               /* clients leave while replies are due */
static char parameters[512];
static int nbdkit_died;
static char canary[CANARY_BYTES], read_back[CANARY_BYTES];

static uint64_t
pick (uint64_t n)
{
  return splitmix64 (&random_state) % n;
}

static bool
chance (uint64_t one_in)
{
  return pick (one_in) == 0;
}

/* What is to be sent. */
struct output {
  unsigned char bytes[512 * 1024];
  size_t n;
};

static void
put (struct output *o, uint64_t value, size_t bytes)
{
  value = htobe64 (value << (64 - 8 * bytes));
  memcpy (o->bytes + o->n, &value, bytes);
  o->n += bytes;
}

static void
put_random (struct output *o, size_t n)
{
  for (size_t i = 0; i < n; i++)
    o->bytes[o->n + i] = (unsigned char) random_state;
  if (n >= 8)
    memcpy (o->bytes + o->n, &random_state, 8);
  pick (2);
  o->n += n;
}

/* Sockets. */

static int
dial (const char *path)
{
  struct sockaddr_un sun = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  assert_true (fd >= 0);
  snprintf (sun.sun_path, sizeof sun.sun_path, "%s", path);
  if (connect (fd, (struct sockaddr *) &sun, sizeof sun) == -1) {
    close (fd);
    return -1;
  }
  return fd;
}

/* Replies.  Polite clients know which are due. */
static struct {
  int64_t due;
  uint32_t bytes[1 << 16];      /* of reads, by cookie */
  uint64_t skip;                /* data still to come */
  unsigned char head[16];
  size_t n;
} replies;

static void
count_replies (const unsigned char *bytes, size_t n)
{
  while (n > 0) {
    size_t part = replies.skip ? replies.skip : 16 - replies.n;
    uint32_t error;
    uint64_t cookie;

    if (part > n)
      part = n;
    if (replies.skip)
      replies.skip -= part;
    else {
      memcpy (replies.head + replies.n, bytes, part);
      replies.n += part;
    }
    bytes += part;
    n -= part;
    if (replies.n < 16)
      continue;
    memcpy (&error, replies.head + 4, 4);
    memcpy (&cookie, replies.head + 8, 8);
    replies.skip = error ? 0 : replies.bytes[be64toh (cookie) & 0xffff];
    replies.n = 0;
    replies.due--;
  }
}

/* Take what has come.  Returns false when the other side has hung up. */
static bool
drain (int fd)
{
  static unsigned char bytes[65536];
  ssize_t n;

  while ((n = recv (fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
    if (!rude)
      count_replies (bytes, (size_t) n);
  return n == -1 && errno == EAGAIN;
}

/* Until nothing is due any more. */
static void
hear_out (int fd)
{
  while (replies.due > 0 || replies.skip > 0) {
    struct pollfd p = { .fd = fd, .events = POLLIN };

    if (poll (&p, 1, SILENCE_MS) == 0)
      fail_msg ("%" PRIi64 " replies do not come", replies.due);
    if (!drain (fd))
      fail_msg ("the server hangs up and owes %" PRIi64 " replies",
                replies.due);
  }
}

/* Send all, and take the replies meanwhile.  false: it has hung up. */
static bool
exchange (int fd, const struct output *o)
{
  size_t at = 0;

  while (at < o->n) {
    struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };
    ssize_t n;

    if (poll (&p, 1, SILENCE_MS) == 0)
      fail_msg ("the server neither reads nor writes");
    if (p.revents & (POLLIN | POLLHUP | POLLERR) && !drain (fd))
      return false;
    if (!(p.revents & POLLOUT))
      continue;
    n = send (fd, o->bytes + at, o->n - at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n == -1 && errno != EAGAIN)
      return false;
    if (n > 0)
      at += (size_t) n;
  }
  return true;
}

/* Exactly n bytes, or false. */
static bool
receive (int fd, void *bytes, size_t n)
{
  for (size_t at = 0; at < n; ) {
    struct pollfd p = { .fd = fd, .events = POLLIN };
    ssize_t r;

    if (poll (&p, 1, SILENCE_MS) == 0)
      fail_msg ("the server does not answer a handshake");
    r = recv (fd, (char *) bytes + at, n - at, MSG_DONTWAIT);
    if (r == 0 || (r == -1 && errno != EAGAIN))
      return false;
    if (r > 0)
      at += (size_t) r;
  }
  return true;
}

/* Leave, somehow. */
static void
leave (int fd)
{
  struct linger reset = { .l_onoff = 1 };
  uint64_t i = pick (PARKED);

  switch (pick (4)) {
  case 0:
    setsockopt (fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    break;
  case 1:
    shutdown (fd, SHUT_WR);
    break;
  case 2:                       /* later */
    if (parked[i] >= 0)
      close (parked[i]);
    parked[i] = fd;
    return;
  }
  close (fd);
}

/* The handshake. */

#define OPTION_MAGIC UINT64_C (0x49484156454f5054)
#define OPT_EXPORT_NAME 1
#define OPT_GO 7
#define OPT_STRUCTURED 8

static void
put_option (struct output *o, uint32_t option, uint32_t bytes)
{
  put (o, chance (40) ? random_state : OPTION_MAGIC, 8);
  put (o, option, 4);
  put (o, bytes, 4);
}

/* Returns false when the server may wait for more of it. */
static bool
put_strange_option (struct output *o)
{
  uint32_t option = (uint32_t) (chance (8) ? pick (UINT32_MAX) : pick (12));
  uint32_t bytes = (uint32_t) (chance (8) ? pick (UINT32_MAX) : pick (64));

  if (!rude && option == OPT_STRUCTURED)
    option++;
  put_option (o, option, bytes);
  put_random (o, bytes < 4096 ? bytes : pick (4096));
  return bytes < 4096 && option != OPT_EXPORT_NAME;
}

/* Replies to options, until the one to GO.  false: no. */
static bool
wait_for_go (int fd)
{
  struct { uint64_t magic; uint32_t option, type, bytes; }
    __attribute__ ((packed)) reply;
  char data[4096];

  for (;;) {
    if (!receive (fd, &reply, sizeof reply) ||
        be32toh (reply.bytes) > sizeof data ||
        !receive (fd, data, be32toh (reply.bytes)))
      return false;
    if (be32toh (reply.option) == OPT_GO && be32toh (reply.type) != 3)
      return be32toh (reply.type) == 1;
  }
}

/* The replies are left where they are. */
static bool
send_all (int fd, const struct output *o)
{
  return send (fd, o->bytes, o->n, MSG_NOSIGNAL) == (ssize_t) o->n;
}

/* Returns true when the server will take requests. */
static bool
shake_hands (int fd)
{
  static struct output o;
  char greeting[18];
  bool honest = true;

  o.n = 0;
  if (chance (50))
    return false;
  if (!receive (fd, greeting, sizeof greeting))
    return false;
  put (&o, chance (20) ? pick (UINT32_MAX) : 3, 4);
  if (chance (30)) {
    put_random (&o, pick (200));
    honest = false;
  }
  while (chance (4))
    honest &= put_strange_option (&o);
  if (rude && chance (8))       /* structured replies, which nobody counts */
    put_option (&o, OPT_STRUCTURED, 0);
  put_option (&o, OPT_GO, 6);
  put (&o, 0, 6);
  if (chance (30)) {            /* the rest never comes */
    o.n -= 1 + pick (o.n - 1);
    honest = false;
  }
  if (!send_all (fd, &o))
    return false;
  if (honest)
    return wait_for_go (fd);
  usleep ((useconds_t) pick (2000));
  return false;
}

/* Requests. */

enum { READ, WRITE, DISCONNECT, FLUSH, TRIM, CACHE, ZEROES, STATUS };

/* Something out of the drive: it ends behind it, or wraps around. */
static void
choose_outside (uint64_t *offset, uint32_t *bytes)
{
  *bytes = (uint32_t) (chance (3) ? UINT32_MAX - pick (3) : 1 + pick (SIZE));
  *offset = chance (3) ? UINT64_MAX - pick (70000) :
    chance (2) ? pick (UINT64_MAX) | UINT64_C (1) << 62 :
    SIZE - pick (*bytes < SIZE ? *bytes : SIZE);
}

static void
choose_inside (uint64_t *offset, uint32_t *bytes)
{
  *bytes = (uint32_t) (chance (500) ? pick (32 << 20) :
                       chance (20) ? pick (65536) : pick (16) * 512);
  /* Mostly the same few sectors: requests in flight overlap. */
  *offset = chance (2) ? pick (64) * 512 : pick (CANARY_AT - *bytes);
  if (*offset + *bytes > CANARY_AT)
    *offset = 0;
}

/* Returns false when what comes next is out of step. */
static bool
put_request (struct output *o)
{
  uint32_t type = (uint32_t) (chance (60) ? pick (65536) : pick (2) ? WRITE :
                              pick (STATUS + 1));
  uint32_t flags = (uint32_t) (chance (15) ? pick (65536) : pick (2)), bytes;
  bool outside = chance (12), in_step = true;
  uint64_t offset, cookie;
  size_t payload = 0;

  if (type == DISCONNECT && !(rude && chance (50)))
    type = READ;
  if (outside)
    choose_outside (&offset, &bytes);
  else
    choose_inside (&offset, &bytes);
  if (type == FLUSH && !chance (10))
    offset = bytes = 0;
  if (type == WRITE) {
    if (!rude && bytes > MAX_PAYLOAD) {
      bytes = MAX_PAYLOAD;
      offset = outside ? SIZE - 1 : 0;
    }
    payload = bytes;
    if (payload > MAX_PAYLOAD) {
      payload = pick (4096);
      in_step = false;
    }
  }
  cookie = pick (UINT64_MAX) << 16 | (uint64_t) (sent & 0xffff);
  replies.bytes[cookie & 0xffff] = type == READ ? bytes : 0;
  replies.due++;
  put (o, rude && chance (2000) ? random_state : 0x25609513, 4);
  put (o, flags, 2);
  put (o, type, 2);
  put (o, cookie, 8);
  put (o, offset, 8);
  put (o, bytes, 4);
  put_random (o, payload);
  sent++;
  return in_step && type != DISCONNECT;
}

static bool
put_requests (struct output *o, int n)
{
  o->n = 0;
  while (n-- > 0 && o->n < sizeof o->bytes / 2)
    if (!put_request (o))
      return false;
  return true;
}

static void
converse (int fd)
{
  static struct output o;
  int bursts = 1 + (int) pick (15);
  bool in_step = true;

  replies.due = 0;
  replies.skip = replies.n = 0;
  while (in_step && bursts-- > 0) {
    in_step = put_requests (&o, 1 + (int) pick (40));
    if (rude && chance (100))
      o.n -= pick (o.n);
    if (!exchange (fd, &o)) {
      if (!rude)
        fail_msg ("the server hangs up and owes %" PRIi64 " replies",
                  replies.due);
      return;
    }
  }
  if (!rude)
    hear_out (fd);
  else if (chance (2)) {
    struct pollfd p = { .fd = fd, .events = POLLIN };

    poll (&p, 1, 20);
    drain (fd);
  }
}

/* The server. */

static int64_t
resident_kib (void)
{
  char path[64];
  long pages = 0, ignored;
  FILE *fp;

  snprintf (path, sizeof path, "/proc/%d/statm", (int) server.pid);
  fp = fopen (path, "r");
  assert_non_null (fp);
  assert_int_equal (fscanf (fp, "%ld %ld", &ignored, &pages), 2);
  fclose (fp);
  return pages * (sysconf (_SC_PAGESIZE) / 1024);
}

static void
start (void)
{
  struct nbd_handle *nbd;

  server_start (&server, parameters);
  nbd = server_connect (&server);
  assert_int_equal (nbd_pwrite (nbd, canary, CANARY_BYTES, CANARY_AT, 0), 0);
  server_disconnect (nbd);
}

/* The drive has %s where the private directory goes. */
static void
begin (const char *drive)
{
  const char *seed = getenv ("SEED");
  size_t n;

  random_state = seed ? strtoull (seed, NULL, 10) : 1;
  for (int i = 0; i < PARKED; i++)
    parked[i] = -1;
  for (size_t i = 0; i < CANARY_BYTES; i++)
    canary[i] = (char) (i * 7 + i / 512);
  server_dir (&server);
  n = (size_t) snprintf (parameters, sizeof parameters, drive, server.dir);
  snprintf (parameters + n, sizeof parameters - n,
            " size=64M control=%s 2>%s", server_path (&server, "control"),
            server_path (&server, "log"));
  start ();
}

/* May be asked again: the status stays. */
static bool
is_dead (void)
{
  siginfo_t info = { .si_pid = 0 };

  waitid (P_PID, (id_t) server.pid, &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == server.pid;
}

/* The server is dead, or does not talk.  Was it nbdkit's own fault? */
static void
revive (void)
{
  size_t n;
  char *log;

  for (int i = 0; !is_dead (); i++) {
    if (i == 500)
      fail_msg ("the server does not talk");
    usleep (20000);
  }
  log = slurp (server_path (&server, "log"), &n);
  if (!rude || strstr (log, "raw_send_socket: Assertion") == NULL)
    fail_msg ("the server died: %s", n > 1000 ? log + n - 1000 : log);
  free (log);
  waitpid (server.pid, NULL, 0);
  unlink (server.socket);
  nbdkit_died++;
  start ();
}

/* The last of the clients that left may still be its death. */
static struct nbd_handle *
connect_or_revive (void)
{
  for (;;) {
    struct nbd_handle *nbd = nbd_create ();

    assert_non_null (nbd);
    if (nbd_connect_unix (nbd, server.socket) == 0)
      return nbd;
    nbd_close (nbd);
    revive ();
  }
}

static void
check_canary (void)
{
  struct nbd_handle *nbd = connect_or_revive ();

  assert_int_equal (nbd_pread (nbd, read_back, CANARY_BYTES, CANARY_AT, 0),
                    0);
  assert_memory_equal (canary, read_back, CANARY_BYTES);
  server_disconnect (nbd);
}

/* Close what is still open, and see what that does. */
static void
end_parked (void)
{
  for (int i = 0; i < PARKED; i++)
    if (parked[i] >= 0) {
      close (parked[i]);
      parked[i] = -1;
    }
  usleep (getenv ("TEST_SLOW") ? 3000000 : 300000);
  if (is_dead ())
    revive ();
}

static void
one_client (void)
{
  int fd = dial (server.socket);

  if (fd == -1) {
    revive ();
    return;
  }
  if (shake_hands (fd))
    converse (fd);
  leave (fd);
}

static void
end (void)
{
  assert_int_equal (server_stop (&server), 0);
  server_remove (&server);
}

/* share: percent of all requests. */
static void
fuzz (const char *drive, bool leave_early, int64_t share)
{
  const char *text = getenv ("REQUESTS");
  int64_t n = text ? strtoll (text, NULL, 10) :
    getenv ("TEST_SLOW") ? 5000 : 20000;
  int64_t early_kib = 0, late_kib, clients = 0;

  sent = 0;
  nbdkit_died = 0;
  rude = leave_early;
  n = n * share / 100;
  begin (drive);
  while (sent < n) {
    one_client ();
    clients++;
    if (early_kib == 0 && sent > n / 5)
      early_kib = resident_kib ();
  }
  end_parked ();
  check_canary ();
  late_kib = resident_kib ();
  printf ("# %" PRIi64 " requests by %" PRIi64 " clients; memory %" PRIi64
          " KiB, then %" PRIi64 "; nbdkit's own assertion: %d\n", sent,
          clients, early_kib, late_kib, nbdkit_died);
  if (!getenv ("TEST_SLOW"))
    assert_true (late_kib < early_kib + GROWTH_KIB);
  end ();
}

static const char untimed[] =
  "wd200bb set=interface.trim=true clock=virtual clock-page=%s/clock";
static const char timed[] =
  "wd200bb set=interface.trim=true set=interface.flush=true "
  "set=overhead.write-ms=0 cut-random=3600s";

static void
instant_drive (void **state)
{
  (void) state;
  fuzz ("ideal", false, 55);
}

static void
drive_without_a_clock (void **state)
{
  (void) state;
  fuzz (untimed, false, 33);
}

static void
drive_in_real_time (void **state)
{
  (void) state;
  fuzz (timed, false, 2);
}

static void
clients_leave_an_instant_drive (void **state)
{
  (void) state;
  fuzz ("ideal", true, 5);
}

static void
clients_leave_a_drive_without_a_clock (void **state)
{
  (void) state;
  fuzz (untimed, true, 3);
}

static void
clients_leave_a_drive_in_real_time (void **state)
{
  (void) state;
  fuzz (timed, true, 2);
}

/* The control socket. */

static void
put_text (struct output *o, const char *text)
{
  size_t n = strlen (text);

  memcpy (o->bytes + o->n, text, n);
  o->n += n;
}

static void
put_line (struct output *o)
{
  static const char *const words[] = {
    "ping", "stats", "power", "cut", "on", "bad", " ", "  ", "-1", "7",
    "39102336", "+", ":", "99999999999999999999", "%s%n", "\t", "\r",
  };

  for (uint64_t i = pick (6); i > 0; i--)
    put_text (o, words[pick (sizeof words / sizeof words[0])]);
  if (chance (10))
    put_random (o, pick (400));
  if (!chance (20))
    put_text (o, "\n");
}

static void
control_socket (void **state)
{
  int lines = getenv ("TEST_SLOW") ? 2000 : 20000;
  static struct output o;
  char *answer;

  (void) state;
  rude = true;                  /* its answers are of no interest */
  begin ("wd200bb");
  while (lines > 0) {
    int fd = dial (server_path (&server, "control"));
    int n = 1 + (int) pick (100);

    assert_true (fd >= 0);
    lines -= n;
    for (o.n = 0; n > 0; n--)
      put_line (&o);
    exchange (fd, &o);
    leave (fd);
  }
  end_parked ();
  answer = server_control (&server, "ping");
  assert_string_equal (answer, "ok");
  free (answer);
  free (server_control (&server, "power on"));
  check_canary ();
  end ();
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (instant_drive),
    cmocka_unit_test (drive_without_a_clock),
    cmocka_unit_test (drive_in_real_time),
    cmocka_unit_test (clients_leave_an_instant_drive),
    cmocka_unit_test (clients_leave_a_drive_without_a_clock),
    cmocka_unit_test (clients_leave_a_drive_in_real_time),
    cmocka_unit_test (control_socket),
  };

  /* For nbdkit: what is freed is the system's again at once, so that what
   * it holds can be seen.  Else it is what malloc keeps, 500 MiB at times.
   */
  setenv ("MALLOC_MMAP_THRESHOLD_", "65536", 1);
  return cmocka_run_group_tests (tests, NULL, NULL);
}
