/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/stat.h>
#include <sys/un.h>

#include "nbdkit-plugin/clock-client.h"
#include "qemu-configs/bridge/cure.h"
#include "qemu-configs/bridge/drive.h"
#include "qemu-configs/bridge/identify.h"
#include "qemu-configs/bridge/qemu.h"
#include "qemu-configs/bridge/real.h"
#include "qemu-configs/bridge/replies.h"
#include "qemu-configs/bridge/report.h"
#include "qemu-configs/bridge/stream.h"

/* QEMU keeps at most 16 requests in flight per connection. */
#define MAX_COMMANDS 64
#define MAX_IOV 1024
#define SEND_SLICE_MS 200
/* How long a reply may take from a server that is alive. */
#define REPLY_LIMIT_MS 30000

struct command {
  bool known;                   /* the cookie has been used */
  bool used;                    /* and is */
  struct nbd_request request;
  uint64_t ticket;              /* 0: untimed */
  int64_t arrival_ns, done_ns;
};

struct drive {
  struct drive *next;
  char *socket;
  struct clock_client *client;
  int fd;                       /* -1 when not connected */
  bool was_connected;
  struct request_stream out;
  struct replies in;
  struct iovec iov[MAX_IOV];    /* what is left to send */
  struct command commands[MAX_COMMANDS];
  unsigned in_flight;           /* commands used */
  unsigned timed;               /* the timed ones of them */
  struct command *released;     /* its reply is on its way */
  int64_t released_ms;
  bool timer_ready;
  union qemu_timer timer;
};

static struct drive *drives;
static int64_t tick_ns = 1;     /* one instruction */
/* Released early, and no request since: at the end of QEMU nobody sees it. */
static int64_t drained;

static int64_t
monotonic_ms (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void
attach_drive (char *item)
{
  char error[CLOCK_ERROR_SIZE];
  char *page = strchr (item, '=');
  struct drive *drive;

  if (page == NULL || page == item || page[1] == '\0')
    bridge_fatal ("SPINDLE_CLOCK: '%s': SOCKET=PAGE expected", item);
  *page++ = '\0';
  drive = calloc (1, sizeof *drive);
  if (drive == NULL || (drive->socket = strdup (item)) == NULL)
    bridge_fatal ("out of memory");
  drive->fd = -1;
  drive->client = clock_client_attach (page, error);
  if (drive->client == NULL)
    bridge_fatal ("%s", error);
  drive->next = drives;
  drives = drive;
}

void
drives_attach (const char *config)
{
  char *copy = strdup (config), *item, *save = NULL;

  if (copy == NULL)
    bridge_fatal ("out of memory");
  for (item = strtok_r (copy, ";", &save); item != NULL;
       item = strtok_r (NULL, ";", &save))
    attach_drive (item);
  free (copy);
}

struct drive *
drive_by_fd (int fd)
{
  struct drive *drive;

  for (drive = drives; drive != NULL; drive = drive->next)
    if (drive->fd == fd)
      return drive;
  return NULL;
}

static bool
same_file (const char *a, const char *b)
{
  struct stat sta, stb;

  return strcmp (a, b) == 0 ||
    (stat (a, &sta) == 0 && stat (b, &stb) == 0 &&
     sta.st_dev == stb.st_dev && sta.st_ino == stb.st_ino);
}

struct drive *
drive_by_address (const struct sockaddr *address)
{
  const struct sockaddr_un *un = (const struct sockaddr_un *) address;
  struct drive *drive;

  if (address->sa_family == AF_UNIX)
    for (drive = drives; drive != NULL; drive = drive->next)
      if (same_file (drive->socket, un->sun_path))
        return drive;
  return NULL;
}

void
drive_connected (struct drive *drive, int fd)
{
  if (drive->was_connected)
    report.reconnects++;
  drive->was_connected = true;
  memset (&drive->out, 0, sizeof drive->out);
  memset (&drive->in, 0, sizeof drive->in);
  drive->fd = fd;
}

void
drive_disconnected (struct drive *drive)
{
  if (drive->fd == -1)
    return;
  if (drive->timed > 0 && !clock_client_server_alive (drive->client))
    bridge_fatal ("%s: nbdkit is gone", drive->socket);
  report.lost += drive->timed;
  drive->fd = -1;
  drive->in_flight = 0;
  drive->timed = 0;
  drive->released = NULL;
  memset (drive->commands, 0, sizeof drive->commands);
}

static struct command *
command_by_cookie (struct drive *drive, uint64_t cookie)
{
  struct command *c;

  for (c = drive->commands; c < drive->commands + MAX_COMMANDS; c++)
    if (c->used && c->request.cookie == cookie)
      return c;
  return NULL;
}

static struct command *
command_by_ticket (struct drive *drive, uint64_t ticket)
{
  struct command *c;

  for (c = drive->commands; c < drive->commands + MAX_COMMANDS; c++)
    if (c->used && c->ticket == ticket)
      return c;
  return NULL;
}

/* QEMU takes the lowest of its cookies that is free.  If it takes a new one
 * although we know of one that should be free, it holds back a request
 * whose reply it has consumed: the guest has not seen it complete.
 */
static struct command *
new_command (struct drive *drive, uint64_t cookie)
{
  struct command *c;
  bool held_back = false;

  for (c = drive->commands; c < drive->commands + MAX_COMMANDS; c++) {
    if (!c->known) {
      if (held_back)
        report.late++;
      return c;
    }
    if (c->request.cookie == cookie && !c->used)
      return c;
    held_back |= !c->used;
  }
  bridge_fatal ("%s: more than %d requests in flight", drive->socket,
                MAX_COMMANDS);
}

/* Let QEMU's block layer run until it has taken the reply, and all that
 * follows from it has been done.  The guest executes nothing meanwhile.
 */
static void
pump (struct drive *drive)
{
  void *context = qemu.get_aio_context ();

#ifdef CLOCK_FAULT_LATE
  (void) drive;
  (void) context;
  return;
#endif
  while (drive->released != NULL)
    qemu.aio_poll (context, true);
  while (qemu.aio_poll (context, false))
    ;
}

/* A machine has one power supply: what has lost the drive's has no time left
 * to execute anything.
 */
static void
end_without_power (const struct drive *drive)
{
  if (clock_client_power_off (drive->client))
    bridge_power_off (qemu_now_ns ());
}

/* Run the drive to t_ns, at most to its next completion.  Returns false
 * if nothing completed.
 */
static bool
advance (struct drive *drive, int64_t t_ns)
{
  struct clock_done done;
  const int r = clock_client_advance (drive->client, t_ns, &done);

  if (r == -1)
    bridge_fatal ("%s", clock_client_error (drive->client));
  end_without_power (drive);
  if (r == 0)
    return false;
  /* There is none if it went with a connection that was lost. */
  drive->released = command_by_ticket (drive, done.ticket);
  drive->released_ms = monotonic_ms ();
  if (drive->released != NULL)
    drive->released->done_ns = done.done_ns;
  return true;
}

static void fire (void *opaque);

static void
arm (struct drive *drive)
{
  const int64_t next_ns = clock_client_next_event (drive->client);

  if (!drive->timer_ready) {
    qemu_timer_init (&drive->timer, fire, drive);
    drive->timer_ready = true;
  }
  if (next_ns == CLOCK_NEVER)
    qemu.timer_del (&drive->timer);
  else
    qemu.timer_mod (&drive->timer, next_ns);
}

/* Virtual time has reached the drive's next event. */
static void
fire (void *opaque)
{
  struct drive *drive = opaque;
  const int64_t now_ns = qemu_now_ns ();

  /* Setting a timer makes the clock jump if the vCPU is idle; it may be,
   * until the completion has raised its interrupt.
   */
  cure_hold_vcpu ();
  while (clock_client_next_event (drive->client) <= now_ns &&
         advance (drive, now_ns))
    pump (drive);
  arm (drive);
}

/* What can be wrong with the machine, looked at when QEMU first reads from a
 * drive, before the guest starts.
 */
static void
check_machine (void)
{
  static bool done;

  if (done)
    return;
  if (*qemu.use_icount == 0)
    bridge_fatal ("QEMU must be run with -icount shift=N,sleep=off");
  if (qemu.get_cpu (1) != NULL)
    bridge_fatal ("QEMU must be run with one vCPU (-smp 1)");
  tick_ns = qemu.icount_to_ns (1);
  done = true;
}

/* Only these reach the drive. */
static bool
is_modelled (const struct nbd_request *request)
{
  switch (request->op) {
  case NBD_READ:
  case NBD_WRITE:
  case NBD_FLUSH:
  case NBD_TRIM:
    return true;
  default:
    return false;
  }
}

/* The last bytes of a request are about to be sent. */
static void
before_request (struct drive *drive)
{
  const bool running = qemu.runstate_is_running ();

  check_machine ();
  if (running) {
    report.forced += drained;
    drained = 0;
  }
  identify_check ();
  clock_client_prepare (drive->client, qemu_now_ns (), running);
}

/* They have been sent. */
static void
after_request (struct drive *drive)
{
  const struct nbd_request *request = &drive->out.request;
  const bool flush = request->op == NBD_FLUSH;
  const struct clock_request on_wire = {
    .op = request->op, .offset = flush ? 0 : request->offset,
    .length = flush ? 0 : request->length,
  };
  struct command *c = new_command (drive, request->cookie);

  *c = (struct command) { .known = true, .used = true, .request = *request,
                          .arrival_ns = qemu_now_ns () };
  if (clock_client_wait (drive->client, &on_wire, &c->ticket) == -1)
    bridge_fatal ("%s", clock_client_error (drive->client));
  end_without_power (drive);
  drive->in_flight++;
  if (drive->in_flight > 1 && drive->in.simple_data)
    bridge_fatal ("%s: several requests in flight need structured replies"
                  " (nbdkit without --no-sr)", drive->socket);
  report.requests++;
  if (c->ticket == 0) {
    report.untimed++;
    return;
  }
  report.timed++;
  drive->timed++;
  if (!qemu.in_vcpu_thread ())
    cure_hold_vcpu ();
  arm (drive);
}

/* Send the first size bytes of iov[0..n-1], advancing it. */
static int
send_exactly (struct drive *drive, struct iovec **iov, size_t *n, size_t size,
              int flags)
{
  struct pollfd writable = { .fd = drive->fd, .events = POLLOUT };
  struct iovec part[MAX_IOV];
  size_t count, left, taken;
  ssize_t sent;

  while (size > 0) {
    for (count = 0, left = size; left > 0; count++) {
      part[count] = (*iov)[count];
      if (part[count].iov_len > left)
        part[count].iov_len = left;
      left -= part[count].iov_len;
    }
    sent = real_sendmsg (drive->fd, &(struct msghdr) {
        .msg_iov = part, .msg_iovlen = count }, flags | MSG_NOSIGNAL);
    if (sent == -1) {
      if (errno != EAGAIN && errno != EINTR)
        return -1;
      /* A server that dies closes the socket. */
      poll (&writable, 1, SEND_SLICE_MS);
      continue;
    }
    size -= sent;
    for (; sent > 0; sent -= taken) {
      taken = (*iov)->iov_len < (size_t) sent ? (*iov)->iov_len
        : (size_t) sent;
      (*iov)->iov_base = (char *) (*iov)->iov_base + taken;
      (*iov)->iov_len -= taken;
      if ((*iov)->iov_len == 0) {
        (*iov)++;
        (*n)--;
      }
    }
  }
  return 0;
}

/* How many bytes of iov belong to the request under way. */
static size_t
measure (struct drive *drive, const struct iovec *iov, size_t n,
         bool *complete)
{
  const char *base;
  size_t i, offset, total = 0;
  ssize_t used;

  *complete = false;
  for (i = 0; i < n && !*complete; i++) {
    base = iov[i].iov_base;
    for (offset = 0; offset < iov[i].iov_len && !*complete; offset += used) {
      used = request_stream_feed (&drive->out, base + offset,
                                  iov[i].iov_len - offset, complete);
      if (used == -1)
        bridge_fatal ("%s: QEMU speaks a dialect of NBD this bridge does not"
                      " know", drive->socket);
      total += used;
    }
  }
  return total;
}

ssize_t
drive_send (struct drive *drive, const struct msghdr *msg, int flags)
{
  struct iovec *iov = drive->iov;
  size_t n = msg->msg_iovlen, size;
  ssize_t total = 0;
  bool complete;

  if (n > MAX_IOV) {
    errno = EMSGSIZE;
    return -1;
  }
  memcpy (iov, msg->msg_iov, n * sizeof *iov);
  for (;;) {
    while (n > 0 && iov->iov_len == 0) {
      iov++;
      n--;
    }
    if (n == 0)
      return total;
    size = measure (drive, iov, n, &complete);
    complete = complete && is_modelled (&drive->out.request);
    if (complete)
      before_request (drive);
    if (send_exactly (drive, &iov, &n, size, flags) == -1)
      return -1;
    if (complete)
      after_request (drive);
    total += size;
  }
}

static uint64_t
simple_payload (void *opaque, uint64_t cookie)
{
  const struct command *c = command_by_cookie (opaque, cookie);

  return c != NULL && c->request.op == NBD_READ ? c->request.length : 0;
}

static bool
alone (void *opaque)
{
  const struct drive *drive = opaque;

  return drive->in_flight <= 1;
}

/* How late a timed command was. */
static int64_t
judge (const struct command *c)
{
  const int64_t late_ns = qemu_now_ns () - c->done_ns;

  if (late_ns >= tick_ns)
    report.late++;
  if (late_ns >= tick_ns && late_ns > report.max_late_ns)
    report.max_late_ns = late_ns;
  if (-late_ns > report.max_early_ns)
    report.max_early_ns = -late_ns;
  return late_ns;
}

static void
consumed (void *opaque, uint64_t cookie)
{
  struct drive *drive = opaque;
  struct command *c = command_by_cookie (drive, cookie);
  int64_t late_ns = 0;

  if (c == NULL)
    return;
  if (c->ticket != 0) {
    drive->timed--;
    late_ns = judge (c);
  }
  report_log ("%" PRIi64 " %" PRIi64 " op %d offset %" PRIu64 " length %"
              PRIu32 " ticket %" PRIu64 " late %" PRIi64 "\n", c->arrival_ns,
              c->done_ns, c->request.op, c->request.offset,
              c->request.length, c->ticket, late_ns);
  if (drive->released == c)
    drive->released = NULL;
  drive->in_flight--;
  c->used = false;
}

static const struct replies_ops ops = {
  .simple_payload = simple_payload,
  .alone = alone,
  .consumed = consumed,
  .recvmsg = real_recvmsg,
};

ssize_t
drive_receive (struct drive *drive, struct msghdr *msg, int flags)
{
  const int fd = drive->fd;
  ssize_t r;
  int err;

  /* Replies begin after the first request. */
  if (drive->out.state != STREAM_REQUESTS)
    return real_recvmsg (fd, msg, flags);
  r = replies_receive (&drive->in, &ops, drive, fd, msg, flags);
  if (r == -2)
    bridge_fatal ("%s: nbdkit speaks a dialect of NBD this bridge does not"
                  " know", drive->socket);
  err = errno;
  if (r == 0 || (r == -1 && err != EAGAIN && err != EINTR))
    drive_disconnected (drive);
  errno = err;
  return r;
}

bool
drives_reply_due (void)
{
  struct drive *drive;
  bool due = false;

  for (drive = drives; drive != NULL; drive = drive->next) {
    if (drive->released == NULL)
      continue;
    due = true;
    if (monotonic_ms () - drive->released_ms > REPLY_LIMIT_MS)
      bridge_fatal ("%s: nbdkit did not reply in %d ms", drive->socket,
                    REPLY_LIMIT_MS);
  }
  return due;
}

bool
drives_several (void)
{
  return drives != NULL && drives->next != NULL;
}

bool
drives_busy (void)
{
  struct drive *drive;

  for (drive = drives; drive != NULL; drive = drive->next)
    if (drive->timed > 0)
      return true;
  return false;
}

void
drives_force (void)
{
  struct drive *drive, *first = NULL;
  int64_t next_ns, first_ns = CLOCK_NEVER;

  for (drive = drives; drive != NULL; drive = drive->next) {
    next_ns = clock_client_next_event (drive->client);
    if (drive->timed > 0 && next_ns < first_ns) {
      first = drive;
      first_ns = next_ns;
    }
  }
  if (first == NULL)
    return;
  /* The next event need not be a completion. */
  while (!advance (first, clock_client_next_event (first->client)))
    if (clock_client_next_event (first->client) == CLOCK_NEVER)
      break;
  drained++;
  arm (first);
}
