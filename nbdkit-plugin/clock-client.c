/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "clock-client.h"
#include "clock-page.h"

#define SLICE_MS 200
#define DEFAULT_LIMIT_MS 10000

struct clock_client {
  int fd;                       /* holds the lock */
  struct clock_page *page;
  char *path;
  int64_t limit_ms;
  int64_t last_ns;              /* the latest time given to the server */
  uint32_t submit_seq;          /* before the submission under way */
  uint64_t in_flight;           /* timed requests not completed */
  char error[CLOCK_ERROR_SIZE];
};

static void
say (char *error, const char *fmt, ...)
{
  va_list args;

  va_start (args, fmt);
  vsnprintf (error, CLOCK_ERROR_SIZE, fmt, args);
  va_end (args);
}

static int64_t
monotonic_ms (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct flock
byte_lock (int byte)
{
  return (struct flock) { .l_type = F_WRLCK, .l_whence = SEEK_SET,
                          .l_start = byte, .l_len = 1 };
}

static bool
server_holds_lock (int fd)
{
  struct flock lock = byte_lock (CLOCK_PAGE_LOCK_SERVER);

  return fcntl (fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Everything that can be wrong with the file, before it is mapped. */
static int
check_file (int fd, const char *path, char *error)
{
  struct flock lock = byte_lock (CLOCK_PAGE_LOCK_CLIENT);
  struct stat st;

  if (fstat (fd, &st) == -1 ||
      st.st_size < (off_t) sizeof (struct clock_page)) {
    say (error, "%s: too small to be a clock page", path);
    return -1;
  }
  if (!server_holds_lock (fd)) {
    say (error, "%s: no server has this clock page open", path);
    return -1;
  }
  if (fcntl (fd, F_OFD_SETLK, &lock) == -1) {
    if (errno == EAGAIN || errno == EACCES)
      say (error, "%s: this clock page already has a client", path);
    else
      say (error, "%s: lock: %s", path, strerror (errno));
    return -1;
  }
  return 0;
}

static int
check_page (const struct clock_page *page, const char *path, char *error)
{
  if (page->magic != CLOCK_PAGE_MAGIC) {
    say (error, "%s: not a clock page", path);
    return -1;
  }
  if (page->version != CLOCK_PAGE_VERSION ||
      page->size != sizeof (struct clock_page)) {
    say (error, "%s: clock page version %" PRIu32 ", size %" PRIu32
         "; this program knows version %d, size %zu", path, page->version,
         page->size, CLOCK_PAGE_VERSION, sizeof (struct clock_page));
    return -1;
  }
  return 0;
}

static struct clock_client *
attach_fd (int fd, const char *path, char *error)
{
  struct clock_client *client;
  void *page;

  if (check_file (fd, path, error) == -1)
    return NULL;
  page = mmap (NULL, sizeof (struct clock_page), PROT_READ | PROT_WRITE,
               MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) {
    say (error, "%s: mmap: %s", path, strerror (errno));
    return NULL;
  }
  client = NULL;
  if (check_page (page, path, error) == -1)
    goto fail;
  client = calloc (1, sizeof *client);
  if (client == NULL || (client->path = strdup (path)) == NULL) {
    say (error, "%s: out of memory", path);
    goto fail;
  }
  client->fd = fd;
  client->page = page;
  client->limit_ms = DEFAULT_LIMIT_MS;
  return client;

 fail:
  free (client);
  munmap (page, sizeof (struct clock_page));
  return NULL;
}

struct clock_client *
clock_client_attach (const char *path, char *error)
{
  struct clock_client *client;
  int fd;

  fd = open (path, O_RDWR | O_CLOEXEC);
  if (fd == -1) {
    say (error, "%s: %s", path, strerror (errno));
    return NULL;
  }
  client = attach_fd (fd, path, error);
  if (client == NULL)
    close (fd);
  return client;
}

void
clock_client_detach (struct clock_client *client)
{
  if (client == NULL)
    return;
  munmap (client->page, sizeof (struct clock_page));
  close (client->fd);
  free (client->path);
  free (client);
}

void
clock_client_set_limit (struct clock_client *client, int64_t limit_ms)
{
  client->limit_ms = limit_ms;
}

bool
clock_client_server_alive (const struct clock_client *client)
{
  return server_holds_lock (client->fd);
}

const char *
clock_client_error (const struct clock_client *client)
{
  return client->error;
}

/* Wait until *seq is no longer old. */
static int
wait_change (struct clock_client *client, _Atomic uint32_t *seq,
             uint32_t old, const char *what)
{
  const struct timespec slice = { .tv_nsec = SLICE_MS * 1000000L };
  const int64_t end_ms = monotonic_ms () + client->limit_ms;

  while (atomic_load_explicit (seq, memory_order_acquire) == old) {
    if (syscall (SYS_futex, seq, FUTEX_WAIT, old, &slice, NULL, 0) == 0 ||
        errno != ETIMEDOUT)
      continue;
    if (!clock_client_server_alive (client)) {
      say (client->error, "%s: the server is gone", client->path);
      return -1;
    }
    if (monotonic_ms () >= end_ms) {
      say (client->error, "%s: the server did not %s in %" PRIi64 " ms"
           " (%" PRIu64 " requests are in flight; nbdkit needs a thread for"
           " each and one more, see nbdkit -t)", client->path, what,
           client->limit_ms, client->in_flight);
      return -1;
    }
  }
  return 0;
}

void
clock_client_prepare (struct clock_client *client, int64_t now_ns,
                      bool timed)
{
  struct clock_page *page = client->page;

  if (timed && now_ns > client->last_ns)
    client->last_ns = now_ns;
  page->now_ns = client->last_ns;
  page->timed = timed;
  client->submit_seq = atomic_load_explicit (&page->submit_seq,
                                             memory_order_acquire);
  atomic_thread_fence (memory_order_release);
}

int
clock_client_wait (struct clock_client *client,
                   const struct clock_request *request, uint64_t *ticket)
{
  struct clock_page *page = client->page;

  if (wait_change (client, &page->submit_seq, client->submit_seq,
                   "take a request") == -1)
    return -1;
  page->timed = 0;
  if (page->op != request->op || page->offset != request->offset ||
      page->length != request->length) {
    say (client->error, "%s: the server took request %" PRIu32 " at %" PRIu64
         "+%" PRIu64 " for %" PRIu32 " at %" PRIu64 "+%" PRIu64
         ": is somebody else using this export?", client->path, page->op,
         page->offset, page->length, request->op, request->offset,
         request->length);
    return -1;
  }
  *ticket = page->ticket;
  if (*ticket != 0)
    client->in_flight++;
  return 0;
}

int64_t
clock_client_next_event (const struct clock_client *client)
{
  return client->page->next_event_ns;
}

bool
clock_client_power_off (const struct clock_client *client)
{
  return client->page->power_off != 0;
}

int
clock_client_advance (struct clock_client *client, int64_t t_ns,
                      struct clock_done *done)
{
  struct clock_page *page = client->page;
  const uint32_t old = atomic_load_explicit (&page->answer_seq,
                                             memory_order_acquire);

  if (t_ns > client->last_ns)
    client->last_ns = t_ns;
  page->advance_ns = client->last_ns;
  atomic_fetch_add_explicit (&page->call_seq, 1, memory_order_release);
  syscall (SYS_futex, &page->call_seq, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
  if (wait_change (client, &page->answer_seq, old, "advance") == -1)
    return -1;
  if (page->done_ticket == 0)
    return 0;
  client->in_flight--;
  done->ticket = page->done_ticket;
  done->done_ns = page->done_ns;
  return 1;
}
