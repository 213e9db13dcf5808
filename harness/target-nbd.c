/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An NBD export as a target, in real time, or in virtual time through the
 * clock page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libnbd.h>

#include "clock-client.h"
#include "spindle.h"
#include "target-impl.h"

/* nbdkit starts 16 threads unless told otherwise. */
#define MAX_DEPTH 16
#define REPLY_LIMIT_MS 30000

/* NBD command numbers. */
enum { NBD_READ = 0, NBD_WRITE = 1, NBD_FLUSH = 3 };

struct nbd {
  struct target target;
  struct nbd_handle *nbd;
  struct clock_client *clock;   /* NULL: real time */
  int64_t cookies[TARGET_SLOTS];
  uint64_t tickets[TARGET_SLOTS];
  char *uri;
};

static int
failed (const struct nbd *n)
{
  complain ("%s: %s", n->uri, nbd_get_error ());
  return -1;
}

static int64_t
issue (struct nbd *n, const struct target_slot *s)
{
  const size_t bytes = (size_t) s->sectors * DISK_SECTOR_SIZE;
  const uint64_t offset = (uint64_t) s->lba * DISK_SECTOR_SIZE;

  switch (s->op) {
  case DISK_READ:
    return nbd_aio_pread (n->nbd, s->data, bytes, offset,
                          NBD_NULL_COMPLETION, 0);
  case DISK_WRITE:
    return nbd_aio_pwrite (n->nbd, s->data, bytes, offset,
                           NBD_NULL_COMPLETION,
                           s->flags & DISK_FUA ? LIBNBD_CMD_FLAG_FUA : 0);
  default:
    return nbd_aio_flush (n->nbd, NBD_NULL_COMPLETION, 0);
  }
}

/* The command stands in the socket: tell the clock page. */
static int
hand_over (struct nbd *n, int slot)
{
  const struct target_slot *s = &n->target.slots[slot];
  const struct clock_request request = {
    .op = s->op == DISK_READ ? NBD_READ
      : s->op == DISK_WRITE ? NBD_WRITE : NBD_FLUSH,
    .offset = (uint64_t) s->lba * DISK_SECTOR_SIZE,
    .length = (uint64_t) s->sectors * DISK_SECTOR_SIZE,
  };

  while (nbd_aio_get_direction (n->nbd) & LIBNBD_AIO_DIRECTION_WRITE)
    if (nbd_poll (n->nbd, REPLY_LIMIT_MS) != 1)
      return failed (n);
  if (clock_client_wait (n->clock, &request, &n->tickets[slot]) == 0 &&
      n->tickets[slot] != 0)
    return 0;
  complain ("%s: %s", n->uri, n->tickets[slot] == 0
            ? "the server keeps no time" : clock_client_error (n->clock));
  return -1;
}

static int
submit (struct target *t, int slot)
{
  struct nbd *n = (struct nbd *) t;

  if (n->clock)
    clock_client_prepare (n->clock, t->now_ns, true);
  n->cookies[slot] = issue (n, &t->slots[slot]);
  if (n->cookies[slot] == -1)
    return failed (n);
  return n->clock ? hand_over (n, slot) : 0;
}

/* Is the slot's reply there?  Otherwise 0, -1 after a message. */
static int
is_done (struct nbd *n, int slot)
{
  int r = nbd_aio_command_completed (n->nbd, (uint64_t) n->cookies[slot]);

  return r == -1 ? failed (n) : r;
}

static int
take_virtual (struct nbd *n, int64_t *done_ns)
{
  struct clock_done event;
  int64_t next_ns;
  int slot = 0, r;

  do {
    next_ns = clock_client_next_event (n->clock);
    if (next_ns == CLOCK_NEVER) {
      complain ("%s: nothing to wait for", n->uri);
      return -1;
    }
    r = clock_client_advance (n->clock, next_ns, &event);
  } while (r == 0);
  if (r == -1) {
    complain ("%s: %s", n->uri, clock_client_error (n->clock));
    return -1;
  }
  while (n->tickets[slot] != event.ticket)
    if (++slot == TARGET_SLOTS) {
      complain ("%s: a reply to nothing", n->uri);
      return -1;
    }
  while ((r = is_done (n, slot)) == 0)
    if (nbd_poll (n->nbd, REPLY_LIMIT_MS) != 1)
      return failed (n);
  if (r == -1)
    return -1;
  n->tickets[slot] = 0;
  if (event.done_ns > n->target.now_ns)
    n->target.now_ns = event.done_ns;
  *done_ns = event.done_ns;
  return slot;
}

static int
take_real (struct nbd *n, int64_t *done_ns)
{
  for (;;) {
    int64_t now_ns = target_host_ns (&n->target);

    for (int slot = 0; slot < TARGET_SLOTS; slot++)
      if (n->target.slots[slot].busy) {
        int r = is_done (n, slot);

        if (r == -1)
          return -1;
        *done_ns = now_ns;
        if (r == 1)
          return slot;
      }
    if (nbd_poll (n->nbd, REPLY_LIMIT_MS) != 1) {
      complain ("%s: no reply", n->uri);
      return -1;
    }
  }
}

static int
take (struct target *t, int64_t *done_ns)
{
  struct nbd *n = (struct nbd *) t;

  return n->clock ? take_virtual (n, done_ns) : take_real (n, done_ns);
}

static void
close_nbd (struct target *t)
{
  struct nbd *n = (struct nbd *) t;

  if (n->nbd && nbd_aio_is_ready (n->nbd) && nbd_aio_in_flight (n->nbd) == 0)
    nbd_shutdown (n->nbd, 0);
  nbd_close (n->nbd);
  clock_client_detach (n->clock);
  free (n->uri);
}

static const struct target_ops virtual_ops = {
  .submit = submit, .take = take, .close = close_nbd,
};
static const struct target_ops real_ops = {
  .submit = submit, .take = take, .now_ns = target_host_ns,
  .close = close_nbd,
};

static int
fill_info (struct nbd *n, bool write)
{
  int64_t bytes = nbd_get_size (n->nbd), smallest;

  if (bytes == -1)
    return failed (n);
  smallest = nbd_get_block_size (n->nbd, LIBNBD_SIZE_MINIMUM);
  n->target.info = (struct target_info) {
    .name = n->uri,
    .sectors = bytes / DISK_SECTOR_SIZE,
    .unit = smallest > DISK_SECTOR_SIZE ? smallest / DISK_SECTOR_SIZE : 1,
    .depth = MAX_DEPTH,
    .virtual_time = n->clock != NULL,
    .writable = write && nbd_is_read_only (n->nbd) == 0,
    .can_flush = nbd_can_flush (n->nbd) == 1,
    .can_fua = nbd_can_fua (n->nbd) == 1,
  };
  if (write && !n->target.info.writable) {
    complain ("%s: the export is read-only", n->uri);
    return -1;
  }
  return 0;
}

struct target *
target_nbd (const char *uri, const char *clock_page, bool write)
{
  struct nbd *n = allocate (1, sizeof *n);
  char error[CLOCK_ERROR_SIZE];

  n->uri = format ("%s", uri);
  n->target.ops = clock_page ? &virtual_ops : &real_ops;
  if (clock_page &&
      (n->clock = clock_client_attach (clock_page, error)) == NULL)
    complain ("%s: %s", clock_page, error);
  else if ((n->nbd = nbd_create ()) == NULL ||
           nbd_connect_uri (n->nbd, uri) == -1)
    failed (n);
  else if (fill_info (n, write) == 0)
    return &n->target;
  target_close (&n->target);
  return NULL;
}
