/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Virtual time: the client of the clock page says what time it is, and a
 * thread of ours answers.  clock-page.h has the protocol.
 *
 * A client's time may start anywhere.  base_ns is what to add to get model
 * time, which never goes back: a second client finds the platter turning
 * on from where the first has left it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "clock-page.h"
#include "drive.h"
#include "owned.h"

/* Times beyond this, 146 years, are nonsense. */
#define LAST_NS (INT64_MAX / 2)

static int page_fd = -1;
static struct clock_page *page;
static pthread_t server;
static bool server_runs;
static atomic_bool quit;

static int64_t base_ns;         /* the drive's lock covers it */

static void
futex_wake (_Atomic uint32_t *word)
{
  syscall (SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void
futex_wait (_Atomic uint32_t *word, uint32_t value)
{
  struct timespec ts = { .tv_nsec = CLOCK_SLICE_NS };

  syscall (SYS_futex, word, FUTEX_WAIT, value, &ts, NULL, 0);
}

static struct flock
lock_byte (off_t byte)
{
  return (struct flock) {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1,
  };
}

static bool
client_attached (void)
{
  struct flock l = lock_byte (CLOCK_PAGE_LOCK_CLIENT);

  return fcntl (page_fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

/* Time. */

static int64_t
clamp_time (int64_t ns)
{
  return ns < 0 ? 0 : ns > LAST_NS ? LAST_NS : ns;
}

static int64_t
earlier (int64_t a_ns, int64_t b_ns)
{
  return a_ns < b_ns ? a_ns : b_ns;
}

/* The client's time of the drive's next event. */
static int64_t
next_event (const struct drive *d)
{
  int64_t ns = d->disk ? earlier (drive_next_event (d), power_next_event (d))
                       : DISK_NEVER;

  return ns == DISK_NEVER ? INT64_MAX : ns - base_ns;
}

/* Creating the page. */

/* Something is at path.  Remove it if it is the page of a plugin that has
 * died.
 */
static int
remove_stale (const char *path)
{
  struct flock l = lock_byte (CLOCK_PAGE_LOCK_SERVER);
  uint64_t magic = 0;
  int fd = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

  if (fd == -1) {
    nbdkit_error ("clock-page=%s: %m", path);
    return -1;
  }
  if (pread (fd, &magic, sizeof magic, 0) != sizeof magic ||
      magic != CLOCK_PAGE_MAGIC) {
    nbdkit_error ("clock-page=%s exists and is not a clock page", path);
    goto refused;
  }
  if (fcntl (fd, F_OFD_SETLK, &l) == -1) {
    nbdkit_error ("clock-page=%s is in use by another nbdkit", path);
    goto refused;
  }
  unlink (path);
  close (fd);
  return 0;

 refused:
  close (fd);
  return -1;
}

static int
create_page (const char *path)
{
  struct flock l = lock_byte (CLOCK_PAGE_LOCK_SERVER);
  int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;

  page_fd = open (path, flags, 0600);
  if (page_fd == -1 && errno == EEXIST) {
    if (remove_stale (path) == -1)
      return -1;
    page_fd = open (path, flags, 0600);
  }
  if (page_fd == -1) {
    nbdkit_error ("clock-page=%s: %m", path);
    return -1;
  }
  if (owned_add (path, page_fd) == -1 ||
      fcntl (page_fd, F_OFD_SETLK, &l) == -1 ||
      ftruncate (page_fd, sizeof *page) == -1) {
    nbdkit_error ("clock-page=%s: %m", path);
    return -1;
  }
  return 0;
}

/* The mapping keeps what it was made from open, locks included, also in
 * nbdkit's process that waits for the command of --run.  So it is not made
 * from page_fd.
 */
static int
map_page (const char *path)
{
  void *p = MAP_FAILED;
  int fd = open (path, O_RDWR | O_CLOEXEC);

  if (fd >= 0) {
    p = mmap (NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close (fd);
  }
  if (p == MAP_FAILED) {
    nbdkit_error ("clock-page=%s: %m", path);
    return -1;
  }
  page = p;
  return 0;
}

static int
virtual_prepare (struct drive *d, const char *path)
{
  if (create_page (path) == -1 || map_page (path) == -1)
    return -1;
  page->version = CLOCK_PAGE_VERSION;
  page->size = sizeof *page;
  page->next_event_ns = next_event (d);
  atomic_thread_fence (memory_order_release);
  page->magic = CLOCK_PAGE_MAGIC;
  return 0;
}

/* Answering the client.  The drive's locks are held. */

/* Run the drive to t_ns, or to something that is waited for. */
static bool
run (struct drive *d, int64_t t_ns, struct drive_done *done)
{
  do
    while (drive_advance (d, t_ns, done))
      if (done->awaited)
        return true;
  while (power_cut_if_due (d, t_ns));
  return false;
}

static void
answer (struct drive *d)
{
  struct drive_done done;
  int64_t t_ns = base_ns + clamp_time (page->advance_ns);

  page->done_ticket = 0;
  page->done_ns = 0;
  if (d->disk && run (d, t_ns, &done)) {
    page->done_ticket = done.tag;
    page->done_ns = done.complete_ns - base_ns;
  }
  page->next_event_ns = next_event (d);
}

/* The client has left requests behind.  The drive finishes them on its
 * own, so that the next client finds it idle.
 */
static void
client_left (struct drive *d)
{
  struct drive_done done;

  nbdkit_error ("the client of the clock page has gone; "
                "failing the requests that wait for it");
  drive_fail_waiting (d, ESHUTDOWN);
  while (drive_next_event (d) != DISK_NEVER &&
         drive_advance (d, drive_next_event (d), &done))
    ;
  page->next_event_ns = next_event (d);
}

static void *
serve (void *opaque)
{
  struct drive *d = opaque;
  uint32_t seen = 0;

  while (!atomic_load (&quit)) {
    uint32_t call = atomic_load (&page->call_seq);

    if (call == seen) {
      futex_wait (&page->call_seq, seen);
      call = atomic_load (&page->call_seq);
    }
    pthread_mutex_lock (&d->write_lock);
    pthread_mutex_lock (&d->lock);
    if (call != seen)
      answer (d);
    else if (d->waiting && !client_attached ())
      client_left (d);
    pthread_mutex_unlock (&d->lock);
    pthread_mutex_unlock (&d->write_lock);
    if (call != seen) {
      seen = call;
      atomic_store (&page->answer_seq, call);
      futex_wake (&page->answer_seq);
    }
  }
  return NULL;
}

/* Signals are the business of nbdkit's own threads. */
static int
virtual_start (struct drive *d)
{
  sigset_t all, old;
  int err;

  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  err = pthread_create (&server, NULL, serve, d);
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  if (err) {
    errno = err;
    nbdkit_error ("cannot start the thread of the virtual clock: %m");
    return -1;
  }
  server_runs = true;
  return 0;
}

static void
virtual_stop (struct drive *d)
{
  (void) d;
  if (server_runs) {
    atomic_store (&quit, true);
    futex_wake (&page->call_seq);
    pthread_join (server, NULL);
    server_runs = false;
  }
  if (page)
    munmap (page, sizeof *page);
  page = NULL;
  if (page_fd >= 0)
    close (page_fd);
  page_fd = -1;
}

/* Requests. */

static void
virtual_stamp (struct drive *d, struct command *c)
{
  c->timed = d->disk && page->timed && client_attached ();
  if (c->timed)
    c->arrival_ns = clamp_time (page->now_ns);
}

/* From the client's time to the model's.  Time goes back when there is
 * another client, and that finds the drive idle.
 */
static void
virtual_before_submit (struct drive *d, struct command *c)
{
  if (c->arrival_ns + base_ns < d->now_ns && d->waiting == NULL) {
    base_ns = d->now_ns - c->arrival_ns;
    nbdkit_debug ("clock page: time starts again at %" PRIi64 " ns, "
                  "which is %" PRIi64 " ns for the drive",
                  c->arrival_ns, d->now_ns);
  }
  c->arrival_ns += base_ns;
  /* A client that owes us an advance: what is due comes first. */
  c->arrival_ns = earlier (c->arrival_ns, drive_next_event (d));
  c->arrival_ns = earlier (c->arrival_ns, d->power.cut_ns);
}

/* Waiting for room would need the client, which waits for us. */
static int
virtual_queue_full (struct drive *d)
{
  (void) d;
  nbdkit_error ("more than %d requests wait in the drive", DISK_MAX_QUEUE);
  errno = EAGAIN;
  return -1;
}

static uint32_t
nbd_command (enum disk_op op)
{
  switch (op) {
  case DISK_READ: return 0;
  case DISK_WRITE: return 1;
  case DISK_FLUSH: return 3;
  case DISK_TRIM: return 4;
  }
  abort ();
}

static void
virtual_submitted (struct drive *d, const struct command *c, uint64_t tag)
{
  page->op = nbd_command (c->request.op);
  page->offset = c->offset;
  page->length = c->count;
  page->ticket = tag;
  page->next_event_ns = next_event (d);
  atomic_fetch_add (&page->submit_seq, 1);
  futex_wake (&page->submit_seq);
}

static int
virtual_wait (struct drive *d, struct command *c)
{
  while (!c->done) {
    drive_sleep (d, c, drive_mono_ns () + CLOCK_SLICE_NS);
    if (!c->done && drive_probe (d, 0) == -1 && !c->done)
      return -1;
  }
  return 0;
}

static int64_t
virtual_now (struct drive *d)
{
  return d->now_ns;
}

static void
virtual_power_changed (struct drive *d)
{
  if (page == NULL)
    return;
  page->power_off = atomic_load (&d->power.off);
  page->next_event_ns = next_event (d);
}

const struct clock clock_virtual = {
  .name = "virtual",
  .prepare = virtual_prepare,
  .start = virtual_start,
  .stop = virtual_stop,
  .stamp = virtual_stamp,
  .before_submit = virtual_before_submit,
  .queue_full = virtual_queue_full,
  .submitted = virtual_submitted,
  .wait = virtual_wait,
  .now = virtual_now,
  .power_changed = virtual_power_changed,
};
