/* SPDX-License-Identifier: BSD-3-Clause */
#include "fixed.h"
#include "internal.h"

static bool
is_cached (const struct disk *d, const struct disk_request *r)
{
  return d->profile.write_cache.enabled && !(r->flags & DISK_FUA);
}

/* Data the media or the cache are about to replace leave the segments. */
static void
forget (struct disk *d, int64_t t_ns, int64_t lba, int64_t end)
{
  const struct arm *a = &d->arm;
  const struct segment *g;

  if (d->current >= 0) {
    bool reading = a->work == WORK_READ;
    int64_t start, stop;

    g = &d->segments.v[d->current];
    start = min_i64 (g->start, reading ? a->lba : g->start);
    stop = max_i64 (g->end, reading ? a->limit : g->end);
    if (lba < stop && end > start) {
      if (reading && arm_busy (d, t_ns))
        arm_claim (d, t_ns, lba);
      d->current = -1;
      d->wanted = 0;
      segments_forget (&d->segments, start, stop);
    }
  }
  segments_forget (&d->segments, lba, end);
}

/* A write never changes sectors that are on their way to the media: it
 * waits until they are there.
 */
static int64_t
wait_for_destage (struct disk *d, int64_t t_ns, int64_t lba, int64_t end)
{
  struct arm *a = &d->arm;

  if (a->work != WORK_DESTAGE || !arm_busy (d, t_ns) ||
      lba >= a->limit + a->shift || end <= a->lba + a->shift)
    return t_ns;
  arm_cut_destage (d, t_ns);
  if (lba >= a->limit + a->shift)
    return t_ns;
  return max_i64 (t_ns, a->end_ns);
}

/* Into the write cache: done when it has room and the bus has brought the
 * data.
 */
static void
serve_cached (struct disk *d)
{
  struct disk_completion *c = &d->service;
  const struct profile_overhead *o = &d->profile.overhead;
  int64_t lba = c->request.lba, end = lba + c->request.sectors;
  int64_t cursor = c->start_ns, free_ns, room_ns, bus_end_ns;

  c->hit = DISK_HIT_CACHED;
  charge (&cursor,
          cursor + overhead_left (d, o->write_ns, o->write_after_write_ns),
          &c->times.overhead_ns);
  free_ns = wait_for_destage (d, c->start_ns, lba, end);
  charge (&cursor, free_ns, &c->times.actuator_ns);
  /* What is being replaced in the buffer is not destaged meanwhile. */
  if (free_ns > c->start_ns)
    background_run (d, free_ns);
  dirty_remove (&d->dirty, lba, end);
  room_ns = background_room (d, free_ns, lba, end);
  if (room_ns > cursor)
    c->background |= DISK_MET_FULL;
  bus_end_ns = max_i64 (cursor + d->profile.interface.prepare_ns +
                        write_bus_ns (d, c->request.sectors),
                        room_ns + write_bus_ns (d, 1));
  charge (&cursor, min_i64 (room_ns, bus_end_ns), &c->times.actuator_ns);
  charge (&cursor, bus_end_ns, &c->times.bus_ns);
  charge (&cursor, cursor + o->write_done_ns, &c->times.overhead_ns);
  c->complete_ns = cursor;
}

/* When the media may write the first sector of r, whose data come over the
 * bus from t_ns on: a number of sectors is there, and the bus will not be
 * caught up with.
 */
static int64_t
lead_ns (const struct disk *d, const struct disk_request *r, int64_t t_ns)
{
  int64_t bus = write_bus_ns (d, r->sectors);
  int64_t lead = d->profile.interface.write_lead_sectors;

  t_ns += d->profile.interface.prepare_ns;
  if (!d->profile.interface.overlap)
    return t_ns + bus;
  lead = write_bus_ns (d, min_i64 (r->sectors, max_i64 (lead, 1)));
  if (r->sectors > 1)
    bus -= geometry_transfer_ns (&d->geometry, r->lba, r->sectors - 1, true);
  return t_ns + max_i64 (lead, bus);
}

/* To the media: the bus fills the buffer while the arm is on its way. */
static void
serve_through (struct disk *d)
{
  struct disk_completion *c = &d->service;
  const struct disk_request *r = &c->request;
  const struct profile_overhead *o = &d->profile.overhead;
  int64_t cursor = c->start_ns, data_ns;

  c->hit = DISK_HIT_THROUGH;
  charge (&cursor,
          cursor + overhead_left (d, o->through_ns,
                                  o->through_after_write_ns),
          &c->times.overhead_ns);
  data_ns = lead_ns (d, r, cursor);
  d->wanted = 0;
  arm_start (d, WORK_WRITE, arm_claim (d, cursor, r->lba), r->lba,
             r->lba + r->sectors,
             arm_unaligned (d, r->lba, r->lba + r->sectors)
             ? 0 : r->lba + r->sectors, data_ns);
  d->current = -1;
  charge_media (d, &cursor, d->arm.end_ns);
  charge (&cursor, cursor + d->profile.interface.reselect_ns,
          &c->times.bus_ns);
  charge (&cursor, cursor + o->write_done_ns, &c->times.overhead_ns);
  c->complete_ns = cursor;
}

void
serve_write (struct disk *d)
{
  struct disk_completion *c = &d->service;
  int64_t lba = c->request.lba, end = lba + c->request.sectors;

  d->stats.writes++;
  d->stats.sectors_written += c->request.sectors;
  arm_interrupt (d, c->start_ns, lba);
  forget (d, c->start_ns, lba, end);
  if (is_cached (d, &c->request))
    serve_cached (d);
  else
    serve_through (d);
}

void
serve_flush (struct disk *d)
{
  struct disk_completion *c = &d->service;
  int64_t cursor = c->start_ns;

  d->stats.flushes++;
  charge (&cursor, cursor + d->profile.overhead.flush_ns,
          &c->times.overhead_ns);
  if (d->profile.interface.flush)
    charge (&cursor, background_drain (d, c->start_ns), &c->times.media_ns);
  c->complete_ns = cursor;
}

void
serve_trim (struct disk *d)
{
  struct disk_completion *c = &d->service;
  int64_t lba = c->request.lba, end = lba + c->request.sectors;
  int64_t cursor = c->start_ns;

  d->stats.trims++;
  forget (d, cursor, lba, end);
  charge (&cursor, cursor + d->profile.overhead.trim_ns,
          &c->times.overhead_ns);
  charge (&cursor, wait_for_destage (d, c->start_ns, lba, end),
          &c->times.actuator_ns);
  c->complete_ns = cursor;
}

/* Sectors of [lba, end) that the write cache held are settled. */
static void
settle_dirty (struct disk *d, int64_t lba, int64_t end, int64_t when_ns)
{
  const struct dirty *w = &d->dirty;

  for (int i = dirty_find (w, lba);
       i < w->n && w->extents[i].lba < end; i++)
    background_report (d, &(struct report) {
      .lba = max_i64 (lba, w->extents[i].lba),
      .end = min_i64 (end, w->extents[i].end),
      .when_ns = when_ns, .from_ns = when_ns,
    });
  dirty_remove (&d->dirty, lba, end);
}

/* Written data stay readable, as far as a segment holds them. */
static void
keep_written (struct disk *d, int64_t lba, int64_t end)
{
  int segment;

  if (d->segments.n < 2)
    return;
  segment = segments_take (&d->segments, d->segments.n, lba);
  segments_extend (&d->segments, segment, end);
  if (segment == d->current)
    d->current = -1;
}

void
finish_write (struct disk *d)
{
  const struct disk_completion *c = &d->service;
  int64_t lba = c->request.lba, end = lba + c->request.sectors;
  struct arm *a = &d->arm;

  if (!is_cached (d, &c->request)) {
    settle_dirty (d, lba, end, c->complete_ns);
    arm_heal (d, lba, end);
    return;
  }
  if (d->profile.buffer.keep_written)
    keep_written (d, lba, end);
  if (d->dirty.n == 0)
    d->dirty_since_ns = c->complete_ns;
  dirty_add (&d->dirty, lba, end);
  /* Data that follow what is on its way join it without a new search, as
   * long as the head is not past.
   */
  if (a->work == WORK_DESTAGE && arm_busy (d, c->complete_ns) &&
      lba == a->limit && a->shift == 0)
    arm_extend (d, end);
}

void
finish_trim (struct disk *d)
{
  const struct disk_completion *c = &d->service;

  settle_dirty (d, c->request.lba, c->request.lba + c->request.sectors,
                c->complete_ns);
}
