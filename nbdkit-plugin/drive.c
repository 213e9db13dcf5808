/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "drive.h"

#define NS_PER_S INT64_C (1000000000)

static void
destaged (void *opaque, int64_t lba, int64_t sectors, int64_t when_ns)
{
  struct drive *d = opaque;

  (void) when_ns;
  undo_destaged (d->undo, lba, sectors);
  power_saw_destage (d, lba, sectors);
}

int
drive_init (struct drive *d)
{
  const struct profile *p = d->profile;
  int64_t bytes = 0;

  pthread_mutex_init (&d->write_lock, NULL);
  pthread_mutex_init (&d->lock, NULL);
  power_init (d);
  if (p->instant)
    return 0;

  d->disk = disk_new (p, d->seed);
  if (d->disk == NULL)
    return -1;
  if (p->write_cache.enabled)
    bytes = p->write_cache.size_bytes ? p->write_cache.size_bytes
                                      : p->buffer.size_bytes;
  d->undo = undo_new (bytes / DISK_SECTOR_SIZE);
  if (d->undo == NULL)
    return -1;
  disk_on_destaged (d->disk, destaged, d);
  return 0;
}

void
drive_free (struct drive *d)
{
  disk_free (d->disk);
  undo_free (d->undo);
  d->disk = NULL;
  d->undo = NULL;
}

/* Commands in flight. */

static void
unlink_command (struct drive *d, const struct command *c)
{
  struct command **p = &d->waiting;

  while (*p && *p != c)
    p = &(*p)->next;
  if (*p)
    *p = c->next;
}

static struct command *
find_command (const struct drive *d, uint64_t tag)
{
  struct command *c = d->waiting;

  while (c && c->request.tag != tag)
    c = c->next;
  return c;
}

/* Hand c, or nobody (NULL), its completion. */
static void
wake (struct drive *d, struct command *c, int error, int64_t complete_ns)
{
  if (c == NULL)
    return;
  unlink_command (d, c);
  c->error = error;
  c->complete_ns = complete_ns;
  c->done = true;
  pthread_cond_signal (&c->cond);
}

void
drive_fail_waiting (struct drive *d, int error)
{
  while (d->waiting)
    wake (d, d->waiting, error, d->now_ns);
}

int64_t
drive_lose_waiting (struct drive *d, int error)
{
  int64_t n = 0;

  for (struct command *c = d->waiting; c; c = c->next) {
    c->error = error;
    c->complete_ns = d->now_ns;
    n++;
  }
  return n;
}

/* What the medium and the cache hold changes with the completion of a
 * command, also when nobody waits for it any more.
 */
static void
settle_undo (struct drive *d, const struct disk_completion *completion)
{
  const struct disk_request *r = &completion->request;

  if (r->op == DISK_WRITE && completion->hit == DISK_HIT_CACHED)
    undo_accepted (d->undo, r->tag);
  else if (r->op == DISK_WRITE || r->op == DISK_TRIM)
    undo_passed (d->undo, r->tag, r->lba, r->sectors);
}

static bool
is_off (const struct drive *d)
{
  return atomic_load_explicit (&d->power.off, memory_order_relaxed);
}

int64_t
drive_next_event (const struct drive *d)
{
  int64_t ns;

  if (is_off (d))
    return d->waiting ? d->now_ns : DISK_NEVER;
  ns = disk_next_event (d->disk);
  return ns <= d->power.cut_ns ? ns : DISK_NEVER;
}

/* Without power: hand out what was lost, in the order of arrival. */
static bool
give_up_one (struct drive *d, struct drive_done *done)
{
  struct command *c = d->waiting, *oldest = c;

  if (c == NULL)
    return false;
  while ((c = c->next) != NULL)
    if (c->request.tag < oldest->request.tag)
      oldest = c;
  *done = (struct drive_done) {
    .tag = oldest->request.tag,
    .complete_ns = oldest->complete_ns,
    .awaited = true,
  };
  wake (d, oldest, oldest->error, oldest->complete_ns);
  return true;
}

bool
drive_advance (struct drive *d, int64_t t_ns, struct drive_done *done)
{
  struct disk_completion completion;
  struct command *c;
  bool completed;

  if (is_off (d)) {
    if (t_ns > d->now_ns)
      d->now_ns = t_ns;
    return give_up_one (d, done);
  }
  if (t_ns > d->power.cut_ns)
    t_ns = d->power.cut_ns;
  if (t_ns > disk_next_event (d->disk))
    t_ns = disk_next_event (d->disk);
  if (t_ns > d->now_ns)
    d->now_ns = t_ns;
  completed = disk_advance (d->disk, d->now_ns, &completion);
  power_look (d);
  if (!completed)
    return false;

  settle_undo (d, &completion);
  if (completion.request.op == DISK_WRITE)
    power_saw_write (d, completion.complete_ns);
  if (d->trace)
    trace_completion (d->trace, &completion);
  c = find_command (d, completion.request.tag);
  *done = (struct drive_done) {
    .tag = completion.request.tag,
    .complete_ns = completion.complete_ns,
    .awaited = c != NULL,
  };
  wake (d, c, completion.error, completion.complete_ns);
  return true;
}

int64_t
drive_mono_ns (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_MONOTONIC, &ts);
  return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

void
drive_sleep (struct drive *d, struct command *c, int64_t mono_ns)
{
  struct timespec ts = { mono_ns / NS_PER_S, mono_ns % NS_PER_S };

  pthread_cond_clockwait (&c->cond, &d->lock, CLOCK_MONOTONIC, &ts);
}

int
drive_probe (struct drive *d, int64_t sleep_ns)
{
  int r;

  pthread_mutex_unlock (&d->lock);
  r = nbdkit_nanosleep (0, (unsigned) sleep_ns);
  pthread_mutex_lock (&d->lock);
  return r;
}

/* The steps of a command. */

static void
begin (struct drive *d, struct command *c, enum disk_op op, bool fua,
       uint32_t count, uint64_t offset)
{
  *c = (struct command) {
    .request = { .op = op, .flags = fua ? DISK_FUA : 0 },
    .offset = offset,
    .count = count,
    .cond = PTHREAD_COND_INITIALIZER,
  };
  if (op != DISK_FLUSH) {
    uint64_t end = offset + count + DISK_SECTOR_SIZE - 1;

    c->request.lba = (int64_t) (offset / DISK_SECTOR_SIZE);
    c->request.sectors = (int64_t) (end / DISK_SECTOR_SIZE) - c->request.lba;
  }
  atomic_fetch_add_explicit (&d->stats.requests[op], 1,
                             memory_order_relaxed);
  d->clock->stamp (d, c);
}

/* A command that does not get into the model, whether it failed or is not
 * timed.  errno is kept.
 */
static void
pass_by (struct drive *d, struct command *c)
{
  int err = errno;

  if (d->clock->submitted) {
    pthread_mutex_lock (&d->lock);
    d->clock->submitted (d, c, 0);
    pthread_mutex_unlock (&d->lock);
  }
  errno = err;
}

/* Put c into the model. */
static int
try_submit (struct drive *d, struct command *c)
{
  if (d->clock->before_submit)
    d->clock->before_submit (d, c);
  if (c->arrival_ns < d->now_ns)
    c->arrival_ns = d->now_ns;
  if (is_off (d) || power_is_due (d, c->arrival_ns)) {
    errno = ESHUTDOWN;
    return -1;
  }
  c->request.tag = d->last_tag + 1;
  if (disk_submit (d->disk, c->arrival_ns, &c->request) == -1)
    return -1;
  d->now_ns = c->arrival_ns;
  d->last_tag++;
  c->next = d->waiting;
  d->waiting = c;
  return 0;
}

/* saved is NULL, or becomes the undo store's unless this fails. */
static int
submit (struct drive *d, struct command *c, struct undo_write *saved)
{
  int r;

  pthread_mutex_lock (&d->lock);
  do
    r = try_submit (d, c);
  while (r == -1 && errno == EAGAIN && d->clock->queue_full (d) == 0);
  if (r == 0) {
    if (saved)
      undo_pending (d->undo, c->request.tag, saved);
    if (d->clock->submitted)
      d->clock->submitted (d, c, c->request.tag);
  }
  pthread_mutex_unlock (&d->lock);
  return r;
}

static int
wait_done (struct drive *d, struct command *c)
{
  int r;

  pthread_mutex_lock (&d->lock);
  r = d->clock->wait (d, c);
  if (!c->done)
    unlink_command (d, c);
  pthread_mutex_unlock (&d->lock);
  if (r == 0 && c->error) {
    errno = c->error;
    r = -1;
  }
  return r;
}

/* c was refused because the power was to be cut before: see to that.  errno
 * is kept.
 */
static void
catch_up (struct drive *d, const struct command *c)
{
  int err = errno;

  pthread_mutex_lock (&d->write_lock);
  pthread_mutex_lock (&d->lock);
  if (c->timed)
    power_cut_if_due (d, c->arrival_ns);
  pthread_mutex_unlock (&d->lock);
  pthread_mutex_unlock (&d->write_lock);
  errno = err;
}

/* The last step.  r and errno are those of the steps before; durable: the
 * host's disk must have the data before we answer.
 */
static int
finish (struct drive *d, struct command *c, int r, bool durable)
{
  int err = 0;

  if (r == -1 && errno == ESHUTDOWN)
    catch_up (d, c);
  if (r == -1 || !c->timed)
    pass_by (d, c);
  if (r == -1)
    err = errno;
  else {
    if (durable && d->sync && backing_sync (&d->backing) == -1)
      err = errno;
    if (c->timed && wait_done (d, c) == -1)
      err = errno;
  }
  pthread_cond_destroy (&c->cond);
  if (!c->timed)
    atomic_fetch_add_explicit (&d->stats.untimed, 1, memory_order_relaxed);
  if (err == 0)
    return 0;
  atomic_fetch_add_explicit (&d->stats.failed, 1, memory_order_relaxed);
  errno = err;
  return -1;
}

static bool
has_power (const struct drive *d)
{
  if (!is_off (d))
    return true;
  errno = ESHUTDOWN;
  return false;
}

int
drive_read (struct drive *d, void *buf, uint32_t count, uint64_t offset)
{
  struct command c;
  int r;

  begin (d, &c, DISK_READ, false, count, offset);
  r = has_power (d) ? backing_read (&d->backing, buf, count, offset) : -1;
  if (r == 0 && c.timed)
    r = submit (d, &c, NULL);
  return finish (d, &c, r, false);
}

/* Keep what the sectors of c hold. */
static struct undo_write *
save_old (struct drive *d, const struct command *c)
{
  const struct disk_request *r = &c->request;
  bool through = !d->profile->write_cache.enabled || (r->flags & DISK_FUA);
  struct undo_write *w = undo_write_new (r->lba, r->sectors, through);

  if (w == NULL) {
    nbdkit_error ("malloc: %m");
    return NULL;
  }
  if (backing_read (&d->backing, undo_write_old (w),
                    (size_t) r->sectors * DISK_SECTOR_SIZE,
                    (uint64_t) r->lba * DISK_SECTOR_SIZE) == -1) {
    undo_write_free (w);
    return NULL;
  }
  return w;
}

/* The data of a command that was not timed are on the medium at once. */
static void
forget_old (struct drive *d, const struct command *c)
{
  if (d->undo == NULL)
    return;
  pthread_mutex_lock (&d->lock);
  undo_forget (d->undo, c->request.lba, c->request.sectors);
  pthread_mutex_unlock (&d->lock);
}

int
drive_put_back (void *opaque, int64_t lba, const void *old)
{
  const struct drive *d = opaque;

  return backing_write (&d->backing, old, DISK_SECTOR_SIZE,
                        (uint64_t) lba * DISK_SECTOR_SIZE);
}

/* A write that fails has not been: as far as that can be. */
static void
take_back (struct drive *d, struct undo_write *saved)
{
  int err = errno;

  if (saved)
    undo_write_restore (saved, drive_put_back, d);
  undo_write_free (saved);
  errno = err;
}

/* buf == NULL trims. */
static int
change (struct drive *d, struct command *c, const void *buf)
{
  struct undo_write *saved = NULL;
  int r;

  if (!has_power (d))
    return -1;
  if (buf && d->undo && c->timed) {
    saved = save_old (d, c);
    if (saved == NULL)
      return -1;
  }
  r = buf ? backing_write (&d->backing, buf, c->count, c->offset)
          : backing_trim (&d->backing, c->count, c->offset);
  if (r == 0 && c->timed)
    r = submit (d, c, saved);
  else if (r == 0)
    forget_old (d, c);
  if (r == -1)
    take_back (d, saved);
  return r;
}

static int
change_in_order (struct drive *d, struct command *c, const void *buf)
{
  int r;

  if (d->disk == NULL)
    return change (d, c, buf);
  pthread_mutex_lock (&d->write_lock);
  r = change (d, c, buf);
  pthread_mutex_unlock (&d->write_lock);
  return r;
}

int
drive_write (struct drive *d, const void *buf, uint32_t count,
             uint64_t offset, bool fua)
{
  struct command c;

  begin (d, &c, DISK_WRITE, fua, count, offset);
  return finish (d, &c, change_in_order (d, &c, buf), fua);
}

int
drive_trim (struct drive *d, uint32_t count, uint64_t offset, bool fua)
{
  struct command c;

  begin (d, &c, DISK_TRIM, fua, count, offset);
  return finish (d, &c, change_in_order (d, &c, NULL), fua);
}

int
drive_flush (struct drive *d)
{
  struct command c;
  int r = 0;

  begin (d, &c, DISK_FLUSH, false, 0, 0);
  if (!has_power (d))
    r = -1;
  else if (c.timed)
    r = submit (d, &c, NULL);
  return finish (d, &c, r, true);
}
