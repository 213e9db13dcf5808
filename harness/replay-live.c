/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libnbd.h>

#include "replay-schedule.h"
#include "spindle.h"

/* The most that one request may carry, as servers commonly allow. */
#define MAX_BYTES (32 << 20)

struct live {
  struct nbd_handle *nbd;
  const struct trace_file *trace;
  struct schedule schedule;
  struct replay *replay;
  int64_t start_ns;             /* on the host's clock */
  char *sink;                   /* what is read goes here */
  int error;
};

/* A request on its way. */
struct flight {
  struct live *live;
  int64_t sent_ns;
  size_t index;
  char *data;                   /* of a write */
};

static int64_t
now_ns (const struct live *l)
{
  return monotonic_ns () - l->start_ns;
}

static void
fill (char *data, int64_t lba, int64_t sectors)
{
  for (int64_t i = 0; i < sectors * (DISK_SECTOR_SIZE / 8); ++i)
    for (int byte = 0; byte < 8; ++byte)
      *data++ = (char)
        ((uint64_t) (lba + i / (DISK_SECTOR_SIZE / 8)) >> byte * 8);
}

static int
on_done (void *opaque, int *error)
{
  struct flight *f = opaque;
  struct live *l = f->live;
  int64_t t_ns = now_ns (l);

  if (*error && l->error == 0) {
    l->error = *error;
    complain ("%s:%" PRIu32 ": %s: %s", l->trace->path,
              l->trace->request[f->index].line,
              disk_op_name (l->trace->request[f->index].op),
              strerror (*error));
  }
  l->replay->done[l->replay->n++] = (struct replay_done) {
    .arrival_ns = f->sent_ns, .start_ns = f->sent_ns, .complete_ns = t_ns,
    .index = (uint32_t) f->index, .segment = -1,
  };
  schedule_done (&l->schedule, f->index, t_ns);
  return 1;
}

static void
free_flight (void *opaque)
{
  struct flight *f = opaque;

  free (f->data);
  free (f);
}

static int64_t
start_request (struct live *l, struct flight *f)
{
  const struct trace_request *q = &l->trace->request[f->index];
  uint64_t offset = (uint64_t) q->lba * DISK_SECTOR_SIZE;
  size_t n = (size_t) q->sectors * DISK_SECTOR_SIZE;
  uint32_t flags = q->flags & DISK_FUA ? LIBNBD_CMD_FLAG_FUA : 0;
  nbd_completion_callback done = {
    .callback = on_done, .free = free_flight, .user_data = f
  };

  switch ((enum disk_op) q->op) {
  case DISK_READ:
    return nbd_aio_pread (l->nbd, l->sink, n, offset, done, 0);
  case DISK_WRITE:
    f->data = allocate (n, 1);
    fill (f->data, q->lba, q->sectors);
    f->sent_ns = now_ns (l);
    return nbd_aio_pwrite (l->nbd, f->data, n, offset, done, flags);
  case DISK_TRIM:
    return nbd_aio_trim (l->nbd, n, offset, done, 0);
  case DISK_FLUSH:
    break;
  }
  return nbd_aio_flush (l->nbd, done, 0);
}

static int
send_next (struct live *l)
{
  struct flight *f = allocate (1, sizeof *f);
  size_t i = schedule_take (&l->schedule);

  *f = (struct flight) { .live = l, .index = i, .sent_ns = now_ns (l) };
  if (start_request (l, f) != -1)
    return 0;
  complain ("%s:%" PRIu32 ": %s", l->trace->path, l->trace->request[i].line,
            nbd_get_error ());
  return -1;                    /* libnbd has freed f */
}

/* Wait until the server says something, we can go on sending, or time has
 * come.
 */
static int
wait_until (struct live *l, int64_t due_ns)
{
  unsigned direction = nbd_aio_get_direction (l->nbd);
  struct pollfd p = { .fd = nbd_aio_get_fd (l->nbd) };
  struct timespec timeout = { 0 };
  int64_t wait_ns = due_ns - now_ns (l);
  int r = 0;

  if (wait_ns > 0) {
    timeout.tv_sec = wait_ns / 1000000000;
    timeout.tv_nsec = wait_ns % 1000000000;
  }
  if (direction & LIBNBD_AIO_DIRECTION_READ)
    p.events |= POLLIN;
  if (direction & LIBNBD_AIO_DIRECTION_WRITE)
    p.events |= POLLOUT;
  if (ppoll (&p, 1, due_ns == DISK_NEVER ? NULL : &timeout, NULL) == -1 &&
      errno != EINTR) {
    complain ("poll: %s", strerror (errno));
    return -1;
  }
  if (p.revents & (POLLIN | POLLHUP | POLLERR) && p.events & POLLIN)
    r = nbd_aio_notify_read (l->nbd);
  else if (p.revents & POLLOUT)
    r = nbd_aio_notify_write (l->nbd);
  if (r == -1 || nbd_aio_is_dead (l->nbd) || nbd_aio_is_closed (l->nbd)) {
    complain ("%s", nbd_get_error () ? nbd_get_error ()
                                     : "the server has gone");
    return -1;
  }
  return 0;
}

static int
run (struct live *l)
{
  while (l->replay->n < l->trace->n) {
    int64_t due = schedule_due_ns (&l->schedule);

    if (due <= now_ns (l)) {
      if (send_next (l) == -1)
        return -1;
      due = now_ns (l);         /* only look what has come meanwhile */
    }
    if (wait_until (l, due) == -1 || l->error)
      return -1;
  }
  return 0;
}

static int
refuse (const struct trace_file *trace, const struct trace_request *q,
        const char *why)
{
  complain ("%s:%" PRIu32 ": %s: %" PRIi64 " + %" PRIi64 ": %s",
            trace->path, q->line, disk_op_name (q->op), q->lba, q->sectors,
            why);
  return -1;
}

/* Can the server do all that is in the trace? */
static int
check (struct nbd_handle *nbd, const struct trace_file *trace)
{
  bool flush = nbd_can_flush (nbd) == 1, fua = nbd_can_fua (nbd) == 1;
  bool trim = nbd_can_trim (nbd) == 1, read_only = nbd_is_read_only (nbd);

  for (size_t i = 0; i < trace->n; ++i) {
    const struct trace_request *q = &trace->request[i];

    if (q->op == DISK_FLUSH && !flush)
      return refuse (trace, q, "the server cannot flush");
    if (q->op == DISK_TRIM && !trim)
      return refuse (trace, q, "the server cannot trim");
    if (q->flags & DISK_FUA && !fua)
      return refuse (trace, q, "the server knows no FUA");
    if ((q->op == DISK_WRITE || q->op == DISK_TRIM) && read_only)
      return refuse (trace, q, "the server is read-only");
    if (q->sectors > MAX_BYTES / DISK_SECTOR_SIZE)
      return refuse (trace, q, "at most 32 MiB through NBD");
  }
  return 0;
}

struct nbd_handle *
replay_connect (const char *uri)
{
  struct nbd_handle *nbd = nbd_create ();

  if (nbd && nbd_connect_uri (nbd, uri) == 0)
    return nbd;
  complain ("%s: %s", uri, nbd_get_error ());
  nbd_close (nbd);
  return NULL;
}

void
replay_disconnect (struct nbd_handle *nbd)
{
  if (nbd_aio_in_flight (nbd) == 0)
    nbd_shutdown (nbd, 0);
  nbd_close (nbd);
}

int
replay_live (struct nbd_handle *nbd, const struct trace_file *trace,
             const struct replay_options *options, struct replay *r)
{
  struct live l = { .nbd = nbd, .trace = trace, .replay = r };
  int result = check (nbd, trace);
  int64_t first_ns;

  *r = (struct replay) { 0 };
  if (result == 0) {
    r->done = allocate (trace->n, sizeof *r->done);
    l.sink = allocate (MAX_BYTES, 1);
    schedule_init (&l.schedule, trace, options, INT64_MAX);
    first_ns = schedule_due_ns (&l.schedule);
    l.start_ns = now_ns (&l) - first_ns; /* do not wait for the first */
    result = run (&l);
    r->host_ns = now_ns (&l) - first_ns;
  }
  replay_disconnect (nbd);      /* frees what is in flight */
  schedule_free (&l.schedule);
  free (l.sink);
  if (result == -1)
    replay_free (r);
  return result;
}
