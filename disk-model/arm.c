/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "fixed.h"
#include "internal.h"

static int64_t
passed_at (const struct disk *d, int64_t lba)
{
  return d->arm.from_ns +
    geometry_transfer_ns (&d->geometry, d->arm.lba, lba - d->arm.lba);
}

int64_t
arm_position (const struct disk *d, int64_t t_ns)
{
  const struct arm *a = &d->arm;

  if (t_ns >= a->end_ns)
    return a->limit;
  if (t_ns <= a->from_ns)
    return a->lba;
  return a->lba + geometry_sectors_passed (&d->geometry, a->lba,
                                           t_ns - a->from_ns,
                                           a->limit - a->lba);
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
                             to->head != from->head);
  int64_t rotation_ns;

  if (write && move_ns > 0)
    move_ns += d->seek.write_settle_ns;
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

void
arm_start (struct disk *d, enum work work, int64_t t_ns, int64_t lba,
           int64_t limit, int64_t data_ns)
{
  struct arm *a = &d->arm;
  struct place to;
  int64_t distance, move_ns;

  geometry_locate (&d->geometry, lba, &to);
  distance = llabs (to.cylinder - a->cylinder);
  move_ns = seek_ns (&d->seek, distance, to.head != a->head);

  a->work = work;
  a->lba = lba;
  a->limit = limit;
  a->start_ns = t_ns;
  a->seek_end_ns = t_ns + move_ns;
  a->settle_end_ns = a->seek_end_ns;
  if ((work == WORK_WRITE || work == WORK_DESTAGE) && move_ns > 0)
    a->settle_end_ns += d->seek.write_settle_ns;
  a->from_ns = max_i64 (a->settle_end_ns, data_ns);
  a->from_ns += geometry_wait_ns (&d->geometry, a->from_ns, to.phase);
  /* The rest of a physical sector is read as it passes, and the whole of
   * it written when it comes round again.
   */
  if (work == WORK_WRITE && arm_unaligned (d, lba, limit))
    a->from_ns += 2 + geometry_wait_ns (&d->geometry, a->from_ns + 2,
                                        to.phase);
  a->end_ns = passed_at (d, limit);
  a->cylinder = to.cylinder;
  a->head = to.head;

  if (distance > 0)
    d->stats.seeks++;
  d->stats.seek_ns += move_ns;
  d->stats.rotation_ns += a->from_ns - a->settle_end_ns;
}

void
arm_extend (struct disk *d, int64_t limit)
{
  if (limit <= d->arm.limit)
    return;
  d->arm.limit = limit;
  d->arm.end_ns = passed_at (d, limit);
}

/* Stop at `limit`, which is not behind the head. */
static void
cut (struct disk *d, int64_t limit)
{
  d->arm.limit = limit;
  d->arm.end_ns = limit > d->arm.lba ? passed_at (d, limit)
                                     : d->arm.from_ns;
}

/* Look-ahead lets go of the arm at the end of the sector under the head,
 * or as soon as the arm has arrived when no sector has begun.
 */
static void
cut_read (struct disk *d, int64_t t_ns)
{
  struct arm *a = &d->arm;

  if (t_ns < a->from_ns) {
    a->limit = a->lba;
    a->end_ns = max_i64 (t_ns, a->seek_end_ns);
  }
  else
    cut (d, min_i64 (arm_position (d, t_ns) + 1, a->limit));
}

void
arm_cut_destage (struct disk *d, int64_t t_ns)
{
  struct arm *a = &d->arm;
  int64_t unit = d->profile.write_cache.unit_sectors;
  int64_t done = arm_position (d, t_ns) - a->lba;

  cut (d, min_i64 (a->lba + (done / unit + 1) * unit, a->limit));
}

int64_t
arm_claim (struct disk *d, int64_t t_ns)
{
  struct arm *a = &d->arm;

  if (arm_busy (d, t_ns)) {
    if (a->work == WORK_DESTAGE)
      arm_cut_destage (d, t_ns);
    else if (a->work == WORK_PREREAD || d->profile.lookahead.on_command == INTERRUPT_ABORT ||
             t_ns < a->from_ns)
      cut_read (d, t_ns);
  }
  t_ns = max_i64 (t_ns, a->end_ns);
  arm_finish (d);
  return t_ns;
}

void
arm_interrupt (struct disk *d, int64_t t_ns)
{
  if (d->arm.work == WORK_READ && arm_busy (d, t_ns) &&
      d->profile.lookahead.on_command == INTERRUPT_ABORT)
    arm_claim (d, t_ns);
}

/* Where the arm is when its work has ended: on the track of the last
 * sector it passed.
 */
static void
arm_rest (struct disk *d)
{
  struct arm *a = &d->arm;
  struct place last;

  if (a->limit > a->lba) {
    geometry_locate (&d->geometry, a->limit - 1, &last);
    a->cylinder = last.cylinder;
    a->head = last.head;
  }
  a->work = WORK_NONE;
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
  case WORK_DESTAGE:
    dirty_remove (&d->dirty, a->lba, a->limit);
    background_report (d, a->lba, a->limit, a->end_ns);
    d->stats.destages++;
    d->stats.sectors_destaged += sectors;
    break;
  case WORK_PREREAD:
    edges_are_read (d);
    break;
  case WORK_WRITE:
    break;
  }
  if (sectors > 0)
    d->stats.media_ns += a->end_ns - a->from_ns;
  arm_rest (d);
}
