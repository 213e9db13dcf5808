/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "fixed.h"
#include "internal.h"

static bool
writes (enum work work)
{
  return work == WORK_WRITE || work == WORK_DESTAGE || work == WORK_CLEAN;
}

int64_t
arm_passed_ns (const struct disk *d, int64_t lba)
{
  const struct arm *a = &d->arm;
  bool write = writes (a->work);

  if (lba > a->anchor || a->anchor == a->lba)
    return a->anchor_ns + geometry_transfer_ns (&d->geometry, a->anchor,
                                                lba - a->anchor, write);
  return min_i64 (a->anchored_ns, a->order_ns +
                  geometry_transfer_ns (&d->geometry, a->lba, lba - a->lba,
                                        write));
}

/* Sectors passed since `from`, which began at from_ns. */
static int64_t
passed (const struct disk *d, int64_t from, int64_t from_ns, int64_t end,
        int64_t t_ns)
{
  if (t_ns <= from_ns)
    return from;
  return from + geometry_sectors_passed (&d->geometry, from, t_ns - from_ns,
                                         end - from, writes (d->arm.work));
}

int64_t
arm_position (const struct disk *d, int64_t t_ns)
{
  const struct arm *a = &d->arm;

  if (t_ns >= a->end_ns)
    return a->limit;
  if (t_ns < a->anchored_ns)
    return passed (d, a->lba, a->order_ns, min_i64 (a->anchor, a->limit),
                   t_ns);
  return passed (d, a->anchor, a->anchor_ns, a->limit, t_ns);
}

void
arm_place (const struct disk *d, int64_t t_ns, struct place *place)
{
  const struct arm *a = &d->arm;
  int64_t lba;

  *place = (struct place) { a->cylinder, a->head, 0 };
  if (a->work == WORK_NONE || a->limit == a->lba)
    return;
  lba = arm_position (d, t_ns);
  geometry_locate (&d->geometry, lba < a->limit ? lba : lba - 1, place);
}

int64_t
arm_reach_ns (const struct disk *d, int64_t t_ns, const struct place *from,
              const struct place *to, bool write, int64_t awareness_permille)
{
  int64_t move_ns = seek_ns (&d->seek, llabs (to->cylinder - from->cylinder),
                             to->head != from->head, write);
  int64_t rotation_ns;

  move_ns = seek_settled_ns (&d->seek, move_ns, write);
  rotation_ns = geometry_wait_ns (&d->geometry, t_ns + move_ns, to->phase);
  return move_ns + (rotation_ns * awareness_permille +
                    geometry_revolution_ns (&d->geometry) / 2 *
                    (1000 - awareness_permille)) / 1000;
}

bool
arm_unaligned (const struct disk *d, int64_t lba, int64_t end)
{
  int64_t physical = d->profile.geometry.physical_sectors;

  return lba % physical != 0 || end % physical != 0;
}

bool
arm_busy (const struct disk *d, int64_t t_ns)
{
  return d->arm.work != WORK_NONE && t_ns < d->arm.end_ns;
}

/* Where the arm is when its work has ended. */
static void
arm_rest (struct disk *d)
{
  struct arm *a = &d->arm;
  struct place rest;

  if (a->rest != a->lba) {
    geometry_locate (&d->geometry, a->rest, &rest);
    a->cylinder = rest.cylinder;
    a->head = rest.head;
  }
  a->work = WORK_NONE;
}

void
arm_end_at (struct disk *d, int64_t limit)
{
  d->arm.limit = limit;
  d->arm.rest = max_i64 (limit - 1, d->arm.lba);
  d->arm.end_ns = arm_passed_ns (d, limit);
}

/* Quantiles of the normal distribution, (i + 1/2) / 32, in 256ths of its
 * standard deviation.
 */
static const int16_t normal[32] = {
  -551, -429, -363, -315, -275, -242, -212, -184, -159, -135, -112, -90, -69,
  -49, -29, -10, 10, 29, 49, 69, 90, 112, 135, 159, 184, 212, 242, 275, 315,
  363, 429, 551
};

/* No two seeks over the same distance take the same time. */
static int64_t
spread (struct disk *d, int64_t move_ns)
{
  int64_t deviation_ns = d->profile.seek.spread_ns;

  if (deviation_ns == 0)
    return move_ns;
  return max_i64 (move_ns + deviation_ns *
                  normal[splitmix64 (&d->random) % 32] / 256, 0);
}

static int64_t
arm_move_ns (struct disk *d, const struct place *to, bool write)
{
  const struct arm *a = &d->arm;
  int64_t distance = llabs (to->cylinder - a->cylinder);
  int64_t move_ns = seek_ns (&d->seek, distance, to->head != a->head, write);

  if (distance > 0)
    d->stats.seeks++;
  if (move_ns > 0)
    move_ns = spread (d, move_ns);
  d->stats.seek_ns += move_ns;
  return move_ns;
}

static bool
may_take_any (const struct disk *d, enum work work)
{
  const struct profile_buffer *p = &d->profile.buffer;

  return work == WORK_READ ? p->read_on_arrival
                           : p->write_on_arrival && writes (work);
}

/* The head is on the track since ready_ns, and sector lba comes round at
 * from_ns.  If it came down among the sectors [lba, any) it begins with the
 * next one, and is through when that has come round again.
 */
static void
take_any (struct disk *d, int64_t ready_ns, int64_t any)
{
  struct arm *a = &d->arm;
  const struct geometry *g = &d->geometry;
  int64_t end = min_i64 (any, geometry_track_end (g, a->lba));
  int64_t since_ns = ready_ns - a->from_ns + geometry_revolution_ns (g);
  int64_t first = a->lba + 1 +
    geometry_sectors_passed (g, a->lba, since_ns, end - a->lba, false);
  struct place from, next;

  if (a->from_ns == ready_ns || first >= end)
    return;
  a->from_ns = ready_ns - since_ns +
    geometry_transfer_ns (g, a->lba, first - a->lba, false);
  geometry_locate (g, first, &from);
  a->anchored_ns = a->from_ns + 2 +
    geometry_wait_ns (g, a->from_ns + 2, from.phase);
  a->anchor = end;
  a->anchor_ns = a->anchored_ns;
  if (end < g->sectors) {
    geometry_locate (g, end, &next);
    a->anchor_ns += seek_ns (&d->seek, next.cylinder - from.cylinder,
                             next.head != from.head, writes (a->work));
    a->anchor_ns += geometry_wait_ns (g, a->anchor_ns, next.phase);
  }
}

void
arm_start (struct disk *d, enum work work, int64_t t_ns, int64_t lba,
           int64_t limit, int64_t any, int64_t data_ns)
{
  struct arm *a = &d->arm;
  struct place to;
  int64_t move_ns, ready_ns;

  t_ns = idle_ready_ns (d, t_ns);
  geometry_locate (&d->geometry, lba, &to);
  move_ns = arm_move_ns (d, &to, writes (work));
  a->work = work;
  a->lba = a->anchor = lba;
  a->limit = limit;
  a->shift = 0;
  a->start_ns = t_ns;
  a->settle_end_ns = t_ns + seek_settled_ns (&d->seek, move_ns,
                                             writes (work));
  a->seek_end_ns = min_i64 (t_ns + move_ns, a->settle_end_ns);
  ready_ns = max_i64 (a->settle_end_ns, data_ns);
  a->from_ns = ready_ns + geometry_wait_ns (&d->geometry, ready_ns, to.phase);
  /* The rest of a physical sector is read as it passes, and the whole of
   * it written when it comes round again.
   */
  if (work == WORK_WRITE && arm_unaligned (d, lba, limit))
    a->from_ns += 2 + geometry_wait_ns (&d->geometry, a->from_ns + 2,
                                        to.phase);
  a->order_ns = a->anchored_ns = a->anchor_ns = a->from_ns;
  a->cylinder = to.cylinder;
  a->head = to.head;
  if (any > lba && may_take_any (d, work))
    take_any (d, ready_ns, any);
  arm_end_at (d, limit);
  d->stats.rotation_ns += a->from_ns - a->settle_end_ns;
}

void
arm_start_clean (struct disk *d, int64_t t_ns, int64_t lba, int64_t limit)
{
  struct arm *a = &d->arm;
  int64_t start_ns, seek_end_ns;

  arm_start (d, WORK_READ, t_ns, lba, limit, 0, 0);
  start_ns = a->start_ns;
  seek_end_ns = a->seek_end_ns;
  t_ns = a->end_ns;
  arm_rest (d);
  arm_start (d, WORK_CLEAN, t_ns, lba, limit, 0, 0);
  a->start_ns = start_ns;
  a->seek_end_ns = a->settle_end_ns = seek_end_ns;
}

void
arm_extend (struct disk *d, int64_t limit)
{
  if (limit <= d->arm.limit)
    return;
  arm_end_at (d, limit);
}

void
arm_shorten (struct disk *d, int64_t t_ns, int64_t limit)
{
  int64_t position = arm_position (d, t_ns);

  if (limit <= position)
    limit = position + (t_ns > d->arm.from_ns);
  arm_end_at (d, min_i64 (limit, d->arm.limit));
}

/* The head is on its way from one track to the next: the arm is free when
 * it is there, without waiting for a sector.
 */
static bool
cut_between_tracks (struct disk *d, int64_t t_ns, int64_t position)
{
  struct arm *a = &d->arm;
  struct place from, to;
  int64_t left_ns;

  if (position == a->lba || position >= a->limit ||
      geometry_track_start (&d->geometry, position) != position)
    return false;
  left_ns = arm_passed_ns (d, position);
  if (t_ns >= arm_passed_ns (d, position + 1) -
      geometry_transfer_ns (&d->geometry, position, 1, false))
    return false;
  geometry_locate (&d->geometry, position - 1, &from);
  geometry_locate (&d->geometry, position, &to);
  a->limit = position;
  a->rest = position;
  a->end_ns = max_i64 (t_ns, left_ns +
                       seek_ns (&d->seek, to.cylinder - from.cylinder,
                                to.head != from.head, false));
  return true;
}

/* Look-ahead lets go of the arm at the end of the sector under the head,
 * or as soon as the arm has arrived when no sector has begun.
 */
static void
cut_read (struct disk *d, int64_t t_ns)
{
  struct arm *a = &d->arm;
  int64_t position = arm_position (d, t_ns);

  if (t_ns < a->from_ns) {
    a->limit = a->lba;
    a->rest = a->lba;
    a->end_ns = max_i64 (t_ns, a->seek_end_ns);
  }
  else if (!cut_between_tracks (d, t_ns, position))
    arm_end_at (d, min_i64 (position + 1, a->limit));
}

void
arm_cut_destage (struct disk *d, int64_t t_ns)
{
  struct arm *a = &d->arm;
  int64_t unit = d->profile.write_cache.unit_sectors;
  int64_t done = arm_position (d, t_ns) - a->lba;

  arm_end_at (d, min_i64 (a->lba + (done / unit + 1) * unit, a->limit));
}

/* What look-ahead under way does about a command for sector lba. */
static void
interrupt_read (struct disk *d, int64_t t_ns, int64_t lba)
{
  struct arm *a = &d->arm;
  int64_t position = arm_position (d, t_ns);
  int64_t track_end;

  /* Nobody waits for a look-ahead that has not got hold of a sector. */
  if (t_ns < a->from_ns) {
    cut_read (d, t_ns);
    return;
  }
  position = min_i64 (position, a->limit - 1);
  track_end = geometry_track_end (&d->geometry, position);
  switch (d->profile.lookahead.on_command) {
  case INTERRUPT_FINISH:
    return;
  case INTERRUPT_TRACK:
    arm_end_at (d, min_i64 (track_end, a->limit));
    return;
  case INTERRUPT_ELSEWHERE:
    if (lba < track_end &&
        lba >= geometry_track_start (&d->geometry, position))
      return;
    break;
  case INTERRUPT_ABORT:
    break;
  }
  cut_read (d, t_ns);
}

int64_t
arm_claim (struct disk *d, int64_t t_ns, int64_t lba)
{
  if (arm_busy (d, t_ns))
    switch (d->arm.work) {
    case WORK_DESTAGE:
      arm_cut_destage (d, t_ns);
      break;
    case WORK_PREREAD:
    case WORK_SCAN:
      cut_read (d, t_ns);
      break;
    case WORK_CLEAN:
      if (t_ns < d->arm.from_ns)
        cut_read (d, t_ns);
      break;
    case WORK_READ:
      interrupt_read (d, t_ns, lba);
      break;
    case WORK_NONE:
    case WORK_WRITE:
      break;
    }
  t_ns = max_i64 (t_ns, d->arm.end_ns);
  arm_finish (d);
  return t_ns;
}

void
arm_interrupt (struct disk *d, int64_t t_ns, int64_t lba)
{
  if (d->arm.work == WORK_READ && arm_busy (d, t_ns) &&
      d->profile.lookahead.on_command != INTERRUPT_FINISH)
    interrupt_read (d, t_ns, lba);
}

/* Unless it was cut short, or the extent has grown meanwhile. */
static void
edges_are_read (struct disk *d)
{
  int i = dirty_find (&d->dirty, d->arm.lba);
  struct extent *e = &d->dirty.extents[i];

  if (i < d->dirty.n && e->lba >= d->arm.lba && e->end <= d->arm.limit)
    e->edges_read = true;
}

void
arm_heal (struct disk *d, int64_t lba, int64_t end)
{
  int64_t hard;

  while ((hard = faults_first_hard (&d->faults, lba, end)) >= 0) {
    d->stats.healed_sectors += faults_heal (&d->faults, hard, hard + 1);
    d->stats.reallocated_sectors +=
      geometry_reallocate (&d->geometry, hard, &d->seek);
  }
  d->stats.healed_sectors += faults_heal (&d->faults, lba, end);
}

/* What has been written is on the media, and readable. */
static void
arm_report (struct disk *d)
{
  const struct arm *a = &d->arm;
  struct report r = {
    .lba = a->lba + a->shift, .end = a->limit + a->shift,
    .when_ns = a->end_ns, .place = a->lba,
    .from_ns = a->anchor == a->lba ? a->from_ns : a->end_ns,
  };

  background_report (d, &r);
  arm_heal (d, r.lba, r.end);
}

void
arm_finish (struct disk *d)
{
  struct arm *a = &d->arm;
  int64_t sectors = a->limit - a->lba;

  switch (a->work) {
  case WORK_NONE:
    return;
  case WORK_READ:
    d->stats.media_sectors_read += sectors;
    if (d->current >= 0)
      segments_extend (&d->segments, d->current, a->limit);
    break;
  case WORK_CLEAN:
    if (sectors > 0)
      smr_settle (&d->smr, a->lba, a->limit);
    break;
  case WORK_DESTAGE:
    if (a->shift != 0)
      smr_note (&d->smr, a->lba + a->shift, a->limit + a->shift, a->lba);
    else if (d->smr.enabled)
      smr_settle (&d->smr, a->lba, a->limit);
    dirty_remove (&d->dirty, a->lba + a->shift, a->limit + a->shift);
    arm_report (d);
    d->stats.destages++;
    d->stats.sectors_destaged += sectors;
    break;
  case WORK_PREREAD:
    edges_are_read (d);
    break;
  case WORK_SCAN:
    d->stats.scanned_sectors += sectors;
    d->scanned = a->limit < d->geometry.sectors ? a->limit : 0;
    break;
  case WORK_WRITE:
    break;
  }
  if (sectors > 0)
    d->stats.media_ns += a->end_ns - a->from_ns;
  arm_rest (d);
}
