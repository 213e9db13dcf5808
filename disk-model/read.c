/* SPDX-License-Identifier: BSD-3-Clause */
#include "fixed.h"
#include "internal.h"

/* How far look-ahead goes after a command [lba, end) in a segment. */
static int64_t
ahead_limit (const struct disk *d, const struct segment *g, int64_t lba,
             int64_t end)
{
  const struct profile_lookahead *p = &d->profile.lookahead;
  int64_t ahead = d->segments.capacity;

  if (!p->enabled)
    return end;
  if (p->limit_bytes > 0)
    ahead = min_i64 (ahead, p->limit_bytes / DISK_SECTOR_SIZE);
  if (p->tail.enabled && end - lba >= p->tail.min_command_sectors) {
    int64_t period = p->tail.period_sectors;
    int64_t left = p->tail.of_track
      ? geometry_track_left (&d->geometry, end - 1) - 1
      : (period - (end - g->origin) % period) % period;

    if (left < p->tail.tail_sectors)
      return end;
  }
  return min_i64 (end + ahead, d->geometry.sectors);
}

void
read_ahead (struct disk *d, int64_t t_ns, int64_t limit)
{
  int64_t from = d->segments.v[d->current].end;

  if (arm_busy (d, t_ns)) {
    if (d->arm.work == WORK_READ)
      arm_extend (d, limit);
    else
      d->wanted = limit;        /* as soon as the arm is free */
    return;
  }
  if (limit <= from)
    return;
  if (!d->profile.lookahead.restart_rotates) {
    /* As if the head had waited at the stop, without the platter. */
    arm_start (d, WORK_READ, t_ns, from, limit, 0);
    d->arm.end_ns -= d->arm.from_ns - d->arm.settle_end_ns;
    d->arm.from_ns = d->arm.settle_end_ns;
    return;
  }
  arm_start (d, WORK_READ, t_ns, from, limit, 0);
}

void
charge_media (struct disk *d, int64_t *cursor, int64_t media_end_ns)
{
  struct disk_times *times = &d->service.times;
  const struct arm *a = &d->arm;

  charge (cursor, a->start_ns, &times->actuator_ns);
  charge (cursor, a->seek_end_ns, &times->seek_ns);
  charge (cursor, a->settle_end_ns, &times->settle_ns);
  charge (cursor, a->from_ns, &times->rotation_ns);
  charge (cursor, media_end_ns, &times->media_ns);
}

/* All of it is in the buffer. */
static void
serve_hit (struct disk *d, enum disk_hit hit, int segment)
{
  struct disk_completion *c = &d->service;
  int64_t cursor = c->start_ns;

  c->hit = hit;
  c->segment = segment;
  charge (&cursor, cursor + overhead_left (d, d->profile.overhead.read_hit_ns),
          &c->times.overhead_ns);
  charge (&cursor, cursor + bus_ns (d, c->request.sectors),
          &c->times.bus_ns);
  c->complete_ns = cursor;
  d->stats.hits++;
}

/* The arm is on its way, or reading: the command is done when its last
 * sector has passed and gone over the bus, and not before the bus could
 * have moved all of it.
 */
static void
serve_media (struct disk *d, enum disk_hit hit, int segment,
             int64_t overhead_ns)
{
  struct disk_completion *c = &d->service;
  int64_t end = c->request.lba + c->request.sectors;
  int64_t cursor = c->start_ns, ready_ns, media_end_ns, done_ns;

  c->hit = hit;
  c->segment = segment;
  charge (&cursor, c->start_ns + overhead_ns, &c->times.overhead_ns);
  ready_ns = cursor;
  media_end_ns = d->arm.from_ns +
    geometry_transfer_ns (&d->geometry, d->arm.lba, end - d->arm.lba);
  charge_media (d, &cursor, media_end_ns);
  if (d->profile.interface.overlap)
    done_ns = max_i64 (cursor + bus_ns (d, 1),
                       ready_ns + bus_ns (d, c->request.sectors));
  else
    done_ns = cursor + bus_ns (d, c->request.sectors);
  charge (&cursor, done_ns, &c->times.bus_ns);
  c->complete_ns = cursor;
}

static int
usable_segments (const struct disk *d)
{
  int64_t left = d->profile.buffer.size_bytes -
    d->dirty.sectors * DISK_SECTOR_SIZE;
  int64_t n = left / d->profile.buffer.segment_bytes;

  return (int) max_i64 (1, min_i64 (n, d->segments.n));
}

/* The stream ended short of what is wanted: take it up again where it
 * stopped, or start a new one.
 */
static void
serve_positioned (struct disk *d, int segment)
{
  const struct disk_request *r = &d->service.request;
  const struct profile_overhead *overhead = &d->profile.overhead;
  int64_t end = r->lba + r->sectors, from, limit;
  bool resumes = segment >= 0 && segment == d->current &&
    d->profile.lookahead.enabled;
  int64_t overhead_ns = overhead_left (d, resumes ? overhead->read_hit_ns
                                                  : overhead->read_miss_ns);
  /* A stream that goes on needs no decision, so its arm starts at once. */
  int64_t t_ns = d->service.start_ns + (resumes ? 0 : overhead_ns);

  t_ns = arm_claim (d, t_ns);
  if (segment < 0)
    segment = segments_take (&d->segments, usable_segments (d), r->lba);
  d->current = segment;
  d->wanted = 0;
  from = d->segments.v[segment].end;
  limit = ahead_limit (d, &d->segments.v[segment], r->lba, end);
  if (resumes)
    read_ahead (d, t_ns, limit);
  else
    arm_start (d, WORK_READ, t_ns, from, limit, 0);
  serve_media (d, resumes ? DISK_HIT_RESTART : DISK_HIT_MISS, segment,
               overhead_ns);
  if (resumes)
    d->stats.restarts++;
  else
    d->stats.misses++;
}

void
serve_read (struct disk *d)
{
  struct disk_completion *c = &d->service;
  int64_t lba = c->request.lba, end = lba + c->request.sectors;
  int64_t t_ns = c->start_ns;
  bool reading;
  int segment;

  d->stats.reads++;
  d->stats.sectors_read += c->request.sectors;
  if (dirty_contains (&d->dirty, lba, end)) {
    serve_hit (d, DISK_HIT_DIRTY, -1);
    return;
  }
  reading = arm_busy (d, t_ns) && d->arm.work == WORK_READ &&
    d->current >= 0;
  if (reading)
    segments_extend (&d->segments, d->current, arm_position (d, t_ns));
  segment = segments_find (&d->segments, lba, end);
  if (segment != d->current || segment < 0)
    arm_interrupt (d, t_ns);
  if (segment < 0) {
    serve_positioned (d, -1);
    return;
  }
  segments_touch (&d->segments, segment);
  if (d->segments.v[segment].end >= end) {
    serve_hit (d, DISK_HIT_FULL, segment);
    if (segment == d->current && d->profile.lookahead.enabled)
      read_ahead (d, t_ns, ahead_limit (d, &d->segments.v[segment], lba,
                                        end));
  }
  else if (segment == d->current && reading &&
           d->profile.lookahead.enabled) {
    arm_extend (d, max_i64 (end, ahead_limit (d, &d->segments.v[segment],
                                              lba, end)));
    serve_media (d, DISK_HIT_STREAM, segment,
                 overhead_left (d, d->profile.overhead.read_hit_ns));
    d->stats.stream_hits++;
  }
  else
    serve_positioned (d, segment);
}
