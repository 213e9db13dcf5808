/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fixed.h"
#include "internal.h"

static void
default_ns (int64_t *ns, int64_t other_ns)
{
  if (*ns == 0)
    *ns = other_ns;
}

void
profile_fill_in (struct profile *p)
{
  struct profile_overhead *o = &p->overhead;
  struct profile_write_cache *w = &p->write_cache;

  default_ns (&o->through_ns, o->write_ns);
  default_ns (&o->through_after_write_ns,
              o->write_after_write_ns ? o->write_after_write_ns
                                      : o->through_ns);
  default_ns (&o->read_hit_after_write_ns, o->read_hit_ns);
  default_ns (&o->read_miss_after_write_ns, o->read_miss_ns);
  default_ns (&o->write_after_write_ns, o->write_ns);
  default_ns (&p->interface.write_bus_ps_per_byte,
              p->interface.bus_ps_per_byte);
  default_ns (&w->size_bytes, p->buffer.size_bytes);
  if (w->max_extents == 0)
    w->max_extents = 1;
  if (w->unit_sectors == 0)
    w->unit_sectors = 1;
  if (p->geometry.physical_sectors == 0)
    p->geometry.physical_sectors = 1;
}

static int
init_write_cache (struct disk *d)
{
  const struct profile_write_cache *p = &d->profile.write_cache;

  /* Serving one command destages at most every extent there is. */
  d->max_reports = (int) p->max_extents + 8;
  d->reports = calloc ((size_t) d->max_reports, sizeof d->reports[0]);
  if (d->reports == NULL)
    return -1;
  return dirty_init (&d->dirty, (int) p->max_extents);
}

static void
init_segments (struct disk *d)
{
  struct profile_buffer *p = &d->profile.buffer;

  if (p->segments == 0)
    p->segments = 1;
  if (p->segment_bytes == 0)
    p->segment_bytes = p->size_bytes / p->segments;
  p->segment_bytes = max_i64 (p->segment_bytes, DISK_SECTOR_SIZE);
  d->segments.n = (int) p->segments;
  d->segments.capacity = p->segment_bytes / DISK_SECTOR_SIZE;
  if (p->adaptive)
    d->segments.shared = p->size_bytes / DISK_SECTOR_SIZE;
  d->current = -1;
}

struct disk *
disk_new (const struct profile *profile, uint64_t seed)
{
  struct disk *d = calloc (1, sizeof *d);

  if (d == NULL)
    return NULL;
  d->profile = *profile;
  profile_fill_in (&d->profile);
  init_segments (d);
  d->random = splitmix64 (&seed);
  d->stall_ns = profile->media.stall_every_ns;
  seek_init (&d->seek, &profile->seek,
             geometry_cylinders (&profile->geometry));
  if (init_write_cache (d) == -1 ||
      smr_init (&d->smr, &profile->smr, profile->geometry.sectors) == -1 ||
      geometry_init (&d->geometry, &profile->geometry, &d->seek,
                     splitmix64 (&seed)) == -1) {
    disk_free (d);
    errno = ENOMEM;
    return NULL;
  }
  return d;
}

void
disk_free (struct disk *d)
{
  if (d == NULL)
    return;
  geometry_free (&d->geometry);
  dirty_free (&d->dirty);
  smr_free (&d->smr);
  free (d->reports);
  free (d);
}

static void
serve (struct disk *d)
{
  if (d->profile.instant) {
    d->service.complete_ns = d->service.start_ns;
    return;
  }
  switch (d->service.request.op) {
  case DISK_READ:  serve_read (d);  break;
  case DISK_WRITE: serve_write (d); break;
  case DISK_FLUSH: serve_flush (d); break;
  case DISK_TRIM:  serve_trim (d);  break;
  }
  d->after_write = d->service.request.op == DISK_WRITE;
}

static unsigned
background_met (const struct disk *d, int64_t t_ns)
{
  if (!arm_busy (d, t_ns))
    return 0;
  return d->arm.work == WORK_READ ? DISK_MET_LOOKAHEAD
    : d->arm.work == WORK_SCAN ? DISK_MET_SCAN : DISK_MET_DESTAGE;
}

/* Take command i out of the queue. */
static void
dequeue (struct disk *d, int i)
{
  size_t behind = (size_t) (--d->queued - i);

  memmove (&d->queue[i], &d->queue[i + 1], behind * sizeof d->queue[0]);
}

/* Take up the next command, if there is one, at t_ns. */
static void
start_service (struct disk *d, int64_t t_ns)
{
  struct disk_completion *c = &d->service;
  int i;

  d->busy = d->queued > 0;
  if (!d->busy)
    return;
  t_ns = max_i64 (t_ns, d->ready_ns);
  background_run (d, t_ns);
  i = queue_pick (d, t_ns);
  *c = (struct disk_completion) {
    .request = d->queue[i].request,
    .arrival_ns = d->queue[i].arrival_ns,
    .start_ns = t_ns,
    .times.queue_ns = t_ns - d->queue[i].arrival_ns,
    .hit = DISK_HIT_NONE,
    .segment = -1,
    .error_lba = -1,
    .background = background_met (d, t_ns),
  };
  dequeue (d, i);
  d->commands++;
  idle_note (d, t_ns);
  d->serving = true;
  /* Whatever comes, a scan stops. */
  if (d->arm.work == WORK_SCAN)
    arm_claim (d, t_ns, c->request.lba);
  serve (d);
  d->stats.bus_ns += c->times.bus_ns;
}

static bool
valid_range (const struct disk *d, const struct disk_request *r)
{
  if (r->op == DISK_FLUSH)
    return true;
  return r->lba >= 0 && r->sectors > 0 &&
    r->lba < d->geometry.sectors && r->sectors <= d->geometry.sectors - r->lba;
}

int
disk_submit (struct disk *d, int64_t now_ns, const struct disk_request *r)
{
  struct waiting *w;

  if (d->off) {
    errno = ENODEV;
    return -1;
  }
  if (r->op > DISK_TRIM || !valid_range (d, r) || now_ns < d->now_ns ||
      disk_next_event (d) < now_ns) {
    errno = EINVAL;
    return -1;
  }
  if (d->queued == DISK_MAX_QUEUE) {
    errno = EAGAIN;
    return -1;
  }
  d->now_ns = now_ns;
  w = &d->queue[d->queued++];
  w->request = *r;
  w->arrival_ns = now_ns;
  if (d->profile.queue.depth > 1 && r->op != DISK_FLUSH)
    geometry_locate (&d->geometry, r->lba, &w->place);
  d->stats.max_queued = max_i64 (d->stats.max_queued, d->queued + d->busy);
  if (!d->busy)
    start_service (d, now_ns);
  return 0;
}

int64_t
disk_next_event (const struct disk *d)
{
  return d->busy ? d->service.complete_ns : DISK_NEVER;
}

bool
disk_advance (struct disk *d, int64_t t_ns, struct disk_completion *completion)
{
  d->now_ns = max_i64 (d->now_ns, t_ns);
  if (!d->busy || d->service.complete_ns > t_ns) {
    background_run (d, t_ns);
    return false;
  }
  background_run (d, d->service.complete_ns);
  if (!d->profile.instant) {
    if (d->service.request.op == DISK_WRITE)
      finish_write (d);
    else if (d->service.request.op == DISK_TRIM)
      finish_trim (d);
    background_deliver (d, d->service.complete_ns);
  }
  *completion = d->service;
  d->serving = false;
  d->idle_since_ns = d->service.complete_ns;
  start_service (d, d->service.complete_ns);
  return true;
}

void
disk_on_destaged (struct disk *d, disk_destaged_fn *fn, void *opaque)
{
  d->destaged = fn;
  d->destaged_opaque = opaque;
}

const struct disk_stats *
disk_get_stats (struct disk *d)
{
  d->stats.dirty_sectors = d->dirty.sectors;
  d->stats.pending_sectors = faults_pending_sectors (&d->faults);
  return &d->stats;
}

const char *
disk_op_name (enum disk_op op)
{
  static const char *const names[] = { "read", "write", "flush", "trim" };

  return names[op];
}

const char *
disk_hit_name (enum disk_hit hit)
{
  static const char *const names[] = {
    [DISK_HIT_NONE] = "none",
    [DISK_HIT_MISS] = "miss",
    [DISK_HIT_FULL] = "hit",
    [DISK_HIT_STREAM] = "stream",
    [DISK_HIT_RESTART] = "restart",
    [DISK_HIT_DIRTY] = "dirty",
    [DISK_HIT_CACHED] = "cached",
    [DISK_HIT_THROUGH] = "through",
  };

  return names[hit];
}
