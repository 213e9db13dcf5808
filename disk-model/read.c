/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "fixed.h"
#include "internal.h"

/* The tail rule: a command that ends so near the end of a period gets no
 * look-ahead.  See profiles/README.md.
 */
static bool
ends_in_tail (const struct disk *d, const struct segment *g, int64_t lba,
              int64_t end)
{
  const struct profile_lookahead *p = &d->profile.lookahead;
  int64_t period = p->tail.period_sectors, left;

  if (!p->tail.enabled || end - lba < p->tail.min_command_sectors)
    return false;
  left = p->tail.of_track
    ? geometry_track_end (&d->geometry, end - 1) - end
    : (period - (end - g->origin) % period) % period;
  return left < p->tail.tail_sectors;
}

/* How far look-ahead goes after a command [lba, end) in a segment. */
static int64_t
ahead_limit (const struct disk *d, const struct segment *g, int64_t lba,
             int64_t end)
{
  const struct profile_lookahead *p = &d->profile.lookahead;
  const struct geometry *geometry = &d->geometry;
  int64_t room = d->segments.capacity -
    p->keep_behind_bytes / DISK_SECTOR_SIZE, limit;
  const struct fault *fault;

  if (!p->enabled || end >= geometry->sectors ||
      (p->sequential_only && lba == g->origin) ||
      ends_in_tail (d, g, lba, end))
    return end;
  switch (p->limit) {
  case AHEAD_TRACK:
    limit = geometry_track_end (geometry, end);
    if (g->start < geometry_track_start (geometry, end) &&
        limit < geometry->sectors)
      limit = geometry_track_end (geometry, limit);
    break;
  case AHEAD_CYLINDER:
    limit = geometry_cylinder_end (geometry, end);
    break;
  default:
    limit = p->limit_bytes > 0 ? end + p->limit_bytes / DISK_SECTOR_SIZE
                               : INT64_MAX;
  }
  limit = min_i64 (limit, end + max_i64 (room, 0));
  /* Look-ahead does not insist on a bad sector. */
  fault = faults_next (&d->faults, end, d->commands);
  if (fault)
    limit = min_i64 (limit, max_i64 (fault->lba, end));
  return min_i64 (limit, geometry->sectors);
}

/* Fill `segment` up to limit, the arm being free from t_ns on.  Sectors
 * below `any` are wanted, and may come in any order.
 */
static void
fill (struct disk *d, int64_t t_ns, int segment, int64_t limit, int64_t any)
{
  int64_t from = d->segments.v[segment].end;
  bool resumes = segment == d->current;

  d->current = segment;
  d->wanted = 0;
  arm_start (d, WORK_READ, t_ns, from, limit, any, 0);
  if (resumes && !d->profile.lookahead.restart_rotates) {
    /* As if the platter had waited at the stop. */
    int64_t wait_ns = d->arm.from_ns - d->arm.settle_end_ns;

    d->arm.from_ns = d->arm.order_ns = d->arm.anchored_ns =
      d->arm.anchor_ns = d->arm.settle_end_ns;
    d->arm.end_ns -= wait_ns;
  }
}

/* Look-ahead of the current segment is under way: let it go on to limit, or
 * end there already after a command that ends in the tail of a period.
 */
static void
change_limit (struct disk *d, int64_t t_ns, int64_t limit, bool tail)
{
  if (tail)
    arm_shorten (d, t_ns, limit);
  else
    arm_extend (d, limit);
}

/* Go on with look-ahead in a segment that holds all of the command. */
static void
read_ahead (struct disk *d, int64_t t_ns, int segment, int64_t limit,
            bool tail)
{
  if (arm_busy (d, t_ns)) {
    if (segment != d->current)
      return;
    if (d->arm.work == WORK_READ)
      change_limit (d, t_ns, limit, tail);
    else
      d->wanted = limit;        /* as soon as the arm is free */
  }
  else if (limit > d->segments.v[segment].end &&
           (segment == d->current || d->profile.lookahead.resume_any))
    fill (d, max_i64 (t_ns, d->arm.end_ns), segment, limit, 0);
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

static int64_t
hit_overhead (const struct disk *d)
{
  const struct profile_overhead *o = &d->profile.overhead;

  return overhead_left (d, o->read_hit_ns, o->read_hit_after_write_ns);
}

static int64_t
miss_overhead (const struct disk *d)
{
  const struct profile_overhead *o = &d->profile.overhead;

  return overhead_left (d, o->read_miss_ns, o->read_miss_after_write_ns);
}

/* The bus ends at done_ns, and the command a little later. */
static void
complete_read (struct disk *d, int64_t cursor, int64_t done_ns)
{
  struct disk_completion *c = &d->service;

  charge (&cursor, done_ns, &c->times.bus_ns);
  charge (&cursor, cursor + d->profile.overhead.read_done_ns,
          &c->times.overhead_ns);
  c->complete_ns = cursor;
}

/* All of it is in the buffer.  free_ns: a destage holds it up until then. */
static void
serve_hit (struct disk *d, enum disk_hit hit, int segment, int64_t free_ns)
{
  struct disk_completion *c = &d->service;
  int64_t cursor = c->start_ns;

  c->hit = hit;
  c->segment = segment;
  d->stats.hits++;
  if (free_ns > c->start_ns) {
    charge (&cursor, cursor + miss_overhead (d), &c->times.overhead_ns);
    charge (&cursor, free_ns, &c->times.actuator_ns);
    charge (&cursor, cursor + d->profile.interface.reselect_ns,
            &c->times.bus_ns);
  }
  else
    charge (&cursor, cursor + hit_overhead (d), &c->times.overhead_ns);
  complete_read (d, cursor, cursor + d->profile.interface.prepare_ns +
                 read_bus_ns (d, c->request.sectors));
}

/* Sectors that must be in the buffer before the bus is taken up again. */
static int64_t
watermark (const struct disk *d, int64_t sectors)
{
  return max_i64 (1, min_i64 (sectors, d->segments.capacity) *
                  d->profile.interface.watermark_permille / 1000);
}

static int64_t
charge_retries (struct disk *d, int64_t revolutions)
{
  const struct geometry *g = &d->geometry;

  if (revolutions > 0)
    d->service.background |= DISK_MET_RETRY;
  d->service.retries += (unsigned) revolutions;
  d->stats.retries += revolutions;
  return revolutions * g->revolution / g->rate;
}

/* Retries of a sector take a revolution each, as many as the drive has the
 * patience for.
 */
static int64_t
retry (struct disk *d, const struct fault *fault, bool *readable)
{
  const struct profile_media *p = &d->profile.media;
  const struct geometry *g = &d->geometry;
  int64_t patience = p->retries, revolutions;

  if (p->timeout_ns > 0)
    patience = min_i64 (patience, p->timeout_ns / geometry_revolution_ns (g));
  *readable = fault->retries <= patience;
  revolutions = *readable ? fault->retries : patience;
  return charge_retries (d, revolutions);
}

/* A head that is worn needs another revolution now and then. */
static int64_t
worn_head_ns (struct disk *d, int64_t lba)
{
  const struct profile_media *p = &d->profile.media;
  struct place place;
  int64_t n = 0;

  if (p->worn_head == 0)
    return 0;
  geometry_locate (&d->geometry, lba, &place);
  if (place.head + 1 != p->worn_head)
    return 0;
  while (n < p->retries && splitmix64 (&d->random) % 1000 < p->worn_permille)
    n++;
  return charge_retries (d, n);
}

/* The command's sectors from `have` on pass under the head until
 * media_end_ns; those that do not read well take longer.  Then look-ahead
 * has lost its place.
 */
static int64_t
read_faults (struct disk *d, int64_t have, int64_t media_end_ns)
{
  struct disk_completion *c = &d->service;
  int64_t end = c->request.lba + c->request.sectors, lost_ns = 0;
  const struct fault *f;
  bool readable = true;

  lost_ns += worn_head_ns (d, have);
  while (readable && (f = faults_next (&d->faults, have, d->commands)) &&
         f->lba < end) {
    int64_t lba = max_i64 (f->lba, have);

    lost_ns += retry (d, f, &readable);
    have = lba + 1;
    if (!readable) {
      c->error = EIO;
      c->error_lba = lba;
      d->stats.errors++;
      faults_pending (&d->faults, lba);
      media_end_ns = arm_passed_ns (d, have);
    }
  }
  if (lost_ns > 0 || !readable) {
    arm_end_at (d, readable ? end : have - 1);
    d->arm.end_ns = media_end_ns + lost_ns;
    arm_finish (d);
    d->current = -1;
    d->wanted = 0;
  }
  return media_end_ns + lost_ns;
}

/* When the bus has moved sectors [have, end) at the earliest, each no sooner
 * than it has passed.  Where the media are the slower, the last decides;
 * where the bus is, the first of some track, since a switch may let the bus
 * catch up.
 */
static int64_t
bus_done_ns (const struct disk *d, int64_t have, int64_t end)
{
  int64_t done_ns = arm_passed_ns (d, have + 1) + read_bus_ns (d, end - have);
  int64_t y = have;

  if (read_bus_ns (d, 1) <= geometry_transfer_ns (&d->geometry, have, 1,
                                                  false))
    return done_ns;
  while ((y = geometry_track_end (&d->geometry, y)) < end)
    done_ns = max_i64 (done_ns, arm_passed_ns (d, y + 1) +
                       read_bus_ns (d, end - y));
  return done_ns;
}

/* The arm is on its way, or reading; sectors below `have` are in the
 * buffer.  The bus moves them from connect_ns on.
 */
static void
serve_media (struct disk *d, enum disk_hit hit, int segment, int64_t have,
             int64_t overhead_ns)
{
  struct disk_completion *c = &d->service;
  const struct profile_interface *i = &d->profile.interface;
  int64_t sectors = c->request.sectors, end = c->request.lba + sectors;
  int64_t cursor = c->start_ns, connect_ns, media_end_ns, done_ns;
  int64_t bus_ns, missing = have;

  c->hit = hit;
  c->segment = segment;
  charge (&cursor, cursor + overhead_ns, &c->times.overhead_ns);
  connect_ns = cursor + i->prepare_ns;
  if (have <= c->request.lba) {
    have = c->request.lba + watermark (d, sectors);
    connect_ns = max_i64 (cursor, arm_passed_ns (d, have)) +
      i->reselect_ns + i->prepare_ns;
  }
  bus_ns = have < end ? bus_done_ns (d, have, end) : 0;
  media_end_ns = read_faults (d, max_i64 (missing, c->request.lba),
                              arm_passed_ns (d, end));
  charge_media (d, &cursor, media_end_ns);
  if (!i->overlap)
    connect_ns = max_i64 (connect_ns, media_end_ns);
  done_ns = connect_ns + read_bus_ns (d, sectors);
  if (have < end) {
    done_ns = max_i64 (done_ns, bus_ns);
    done_ns = max_i64 (done_ns, media_end_ns + read_bus_ns (d, 1));
  }
  complete_read (d, cursor, done_ns);
}

static int
usable_segments (const struct disk *d)
{
  int64_t left = d->profile.buffer.size_bytes -
    d->dirty.sectors * DISK_SECTOR_SIZE;
  int64_t n = left / d->profile.buffer.segment_bytes;

  return (int) max_i64 (1, min_i64 (n, d->segments.n));
}

/* All of the command is in the log of a shingled drive.  Where it is there
 * is no look-ahead worth having.
 */
static void
serve_from_log (struct disk *d, int64_t free_ns, const struct shingled *run)
{
  struct disk_request *r = &d->service.request;
  int64_t lba = r->lba, miss_ns = miss_overhead (d);
  int64_t t_ns = max_i64 (free_ns, d->service.start_ns + miss_ns);

  t_ns = arm_claim (d, t_ns, lba);
  d->current = -1;
  d->wanted = 0;
  r->lba = run->log + (lba - run->lba);
  arm_start (d, WORK_READ, t_ns, r->lba, r->lba + r->sectors, 0, 0);
  serve_media (d, DISK_HIT_MISS, -1, r->lba, miss_ns);
  r->lba = lba;
  d->stats.misses++;
}

/* Some of it is: the log is visited first. */
static int64_t
visit_log (struct disk *d, int64_t t_ns, const struct shingled *run)
{
  int64_t sectors = min_i64 (run->end - run->lba, d->service.request.sectors);

  arm_start (d, WORK_READ, t_ns, run->log, run->log + sectors, 0, 0);
  t_ns = d->arm.end_ns;
  d->current = -1;
  arm_finish (d);
  return t_ns;
}

/* The stream ended short of what is wanted: take it up again where it
 * stopped, or start a new one (segment -1).
 */
static void
serve_positioned (struct disk *d, int segment, int64_t free_ns)
{
  const struct disk_request *r = &d->service.request;
  int64_t end = r->lba + r->sectors, miss_ns = miss_overhead (d);
  bool resumes = segment >= 0 && segment == d->current &&
    d->profile.lookahead.enabled;
  int64_t t_ns = max_i64 (free_ns, d->service.start_ns + miss_ns);
  const struct shingled *run = smr_find (&d->smr, r->lba, end);

  if (run && run->lba <= r->lba && run->end >= end) {
    serve_from_log (d, free_ns, run);
    return;
  }
  t_ns = arm_claim (d, t_ns, r->lba);
  if (run)
    t_ns = visit_log (d, t_ns, run);
  if (segment < 0) {
    segment = segments_take (&d->segments, usable_segments (d), r->lba);
    d->current = -1;            /* nothing of it is resumed */
  }
  fill (d, t_ns, segment,
        ahead_limit (d, &d->segments.v[segment], r->lba, end),
        resumes ? 0 : end);
  serve_media (d, resumes ? DISK_HIT_RESTART : DISK_HIT_MISS, segment,
               d->arm.lba, resumes ? hit_overhead (d) : miss_ns);
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
  int64_t t_ns = c->start_ns, free_ns = t_ns, limit;
  bool reading, tail;
  int segment;

  d->stats.reads++;
  d->stats.sectors_read += c->request.sectors;
  if (d->profile.write_cache.blocks_hits && d->arm.work == WORK_DESTAGE)
    free_ns = arm_claim (d, t_ns, lba);
  if (dirty_contains (&d->dirty, lba, end)) {
    arm_interrupt (d, t_ns, lba);
    serve_hit (d, DISK_HIT_DIRTY, -1, free_ns);
    return;
  }
  reading = arm_busy (d, t_ns) && d->arm.work == WORK_READ &&
    d->current >= 0;
  if (reading)
    segments_extend (&d->segments, d->current, arm_position (d, t_ns));
  segment = segments_find (&d->segments, lba, end);
  if (segment < 0 || segment != d->current) {
    arm_interrupt (d, t_ns, lba);
    reading = false;
  }
  if (segment < 0) {
    serve_positioned (d, -1, free_ns);
    return;
  }
  segments_touch (&d->segments, segment);
  limit = ahead_limit (d, &d->segments.v[segment], lba, end);
  tail = ends_in_tail (d, &d->segments.v[segment], lba, end);
  if (d->segments.v[segment].end >= end) {
    serve_hit (d, DISK_HIT_FULL, segment, free_ns);
    if (d->profile.lookahead.enabled)
      read_ahead (d, max_i64 (free_ns, t_ns + miss_overhead (d)), segment,
                  limit, tail);
  }
  else if (reading && d->profile.lookahead.enabled) {
    change_limit (d, t_ns, max_i64 (end, limit), tail);
    serve_media (d, DISK_HIT_STREAM, segment, arm_position (d, t_ns),
                 hit_overhead (d));
    d->stats.stream_hits++;
  }
  else
    serve_positioned (d, segment, free_ns);
}
