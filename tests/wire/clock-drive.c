/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libnbd.h>

#include "clock-drive.h"

/* nbdkit starts 16 threads unless told otherwise. */
#define MAX_IN_FLIGHT 256
#define POLL_MS 200
#define MAX_POLLS 50

struct slot {
  int64_t cookie;               /* 0: free */
  uint64_t ticket;
};

struct clock_drive {
  struct nbd_handle *nbd;
  struct clock_client *client;
  struct slot slots[MAX_IN_FLIGHT];
  char error[CLOCK_ERROR_SIZE];
};

static int
nbd_failed (struct clock_drive *d)
{
  snprintf (d->error, sizeof d->error, "%s", nbd_get_error ());
  return -1;
}

static int
client_failed (struct clock_drive *d)
{
  snprintf (d->error, sizeof d->error, "%s", clock_client_error (d->client));
  return -1;
}

struct clock_drive *
clock_drive_connect (const char *socket, const char *page, char *error)
{
  struct clock_drive *d = calloc (1, sizeof *d);

  if (d == NULL) {
    snprintf (error, CLOCK_ERROR_SIZE, "out of memory");
    return NULL;
  }
  d->client = clock_client_attach (page, error);
  if (d->client == NULL)
    goto fail;
  d->nbd = nbd_create ();
  if (d->nbd == NULL || nbd_connect_unix (d->nbd, socket) == -1) {
    snprintf (error, CLOCK_ERROR_SIZE, "%s", nbd_get_error ());
    goto fail;
  }
  return d;

 fail:
  clock_drive_close (d);
  return NULL;
}

void
clock_drive_close (struct clock_drive *d)
{
  if (d == NULL)
    return;
  nbd_close (d->nbd);
  clock_client_detach (d->client);
  free (d);
}

struct clock_client *
clock_drive_client (struct clock_drive *d)
{
  return d->client;
}

const char *
clock_drive_error (const struct clock_drive *d)
{
  return d->error;
}

int64_t
clock_drive_next_event (const struct clock_drive *d)
{
  return clock_client_next_event (d->client);
}

/* Nothing is sent before it is polled for, except by chance. */
static int
send_all (struct clock_drive *d)
{
  int i;

  for (i = 0; i < MAX_POLLS; i++) {
    if (!(nbd_aio_get_direction (d->nbd) & LIBNBD_AIO_DIRECTION_WRITE))
      return 0;
    if (nbd_poll (d->nbd, POLL_MS) == -1)
      return nbd_failed (d);
  }
  snprintf (d->error, sizeof d->error, "the server does not read");
  return -1;
}

/* Stores the request's errno. */
static int
receive (struct clock_drive *d, int64_t cookie, int *error)
{
  int i, r;

  for (i = 0; i < MAX_POLLS; i++) {
    r = nbd_aio_command_completed (d->nbd, cookie);
    if (r != 0) {
      *error = r == 1 ? 0 : nbd_get_errno ();
      return 0;
    }
    if (nbd_poll (d->nbd, POLL_MS) == -1)
      return nbd_failed (d);
  }
  snprintf (d->error, sizeof d->error, "no reply to request %" PRIi64,
            cookie);
  return -1;
}

static int64_t
issue (struct clock_drive *d, const struct clock_io *io)
{
  const uint32_t flags = io->fua ? LIBNBD_CMD_FLAG_FUA : 0;

  switch (io->op) {
  case CLOCK_READ:
    return nbd_aio_pread (d->nbd, io->data, io->length, io->offset,
                          NBD_NULL_COMPLETION, 0);
  case CLOCK_WRITE:
    return nbd_aio_pwrite (d->nbd, io->data, io->length, io->offset,
                           NBD_NULL_COMPLETION, flags);
  case CLOCK_FLUSH:
    return nbd_aio_flush (d->nbd, NBD_NULL_COMPLETION, 0);
  case CLOCK_TRIM:
    return nbd_aio_trim (d->nbd, io->length, io->offset,
                         NBD_NULL_COMPLETION, flags);
  }
  abort ();
}

static struct slot *
slot_of (struct clock_drive *d, uint64_t ticket)
{
  struct slot *s;

  for (s = d->slots; s < d->slots + MAX_IN_FLIGHT; s++)
    if (s->ticket == ticket)
      return s;
  return NULL;
}

int64_t
clock_drive_submit (struct clock_drive *d, const struct clock_io *io)
{
  const struct clock_request request = { .op = io->op, .offset = io->offset,
                                         .length = io->length };
  struct slot *s = slot_of (d, 0);
  int64_t cookie;
  uint64_t ticket;
  int error;

  if (s == NULL) {
    snprintf (d->error, sizeof d->error, "more than %d requests in flight",
              MAX_IN_FLIGHT);
    return -1;
  }
  clock_client_prepare (d->client, io->now_ns, !io->untimed);
  cookie = issue (d, io);
  if (cookie == -1)
    return nbd_failed (d);
  if (send_all (d) == -1)
    return -1;
  if (clock_client_wait (d->client, &request, &ticket) == -1)
    return client_failed (d);
  if (ticket != 0)
    *s = (struct slot) { .cookie = cookie, .ticket = ticket };
  else if (receive (d, cookie, &error) == -1)
    return -1;
  else if (error != 0)
    return nbd_failed (d);
  return cookie;
}

int
clock_drive_run (struct clock_drive *d, int64_t until_ns,
                 struct clock_io_done *done)
{
  struct clock_done event;
  struct slot *s;
  int64_t next_ns;
  int r;

  for (;;) {
    next_ns = clock_drive_next_event (d);
    if (next_ns == CLOCK_NEVER || next_ns > until_ns)
      return 0;
    r = clock_client_advance (d->client, next_ns, &event);
    if (r == -1)
      return client_failed (d);
    if (r == 1)
      break;
  }
  s = slot_of (d, event.ticket);
  if (s == NULL) {
    snprintf (d->error, sizeof d->error, "unknown ticket %" PRIu64,
              event.ticket);
    return -1;
  }
  *done = (struct clock_io_done) { .cookie = s->cookie,
                                   .done_ns = event.done_ns };
  s->ticket = 0;
  return receive (d, done->cookie, &done->error) == -1 ? -1 : 1;
}
