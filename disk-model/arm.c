/* SPDX-License-Identifier: BSD-3-Clause */
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
  distance = to.cylinder - a->cylinder;
  if (distance < 0)
    distance = -distance;
  move_ns = seek_ns (&d->seek, distance, to.head != a->head);

  a->work = work;
  a->lba = lba;
  a->limit = limit;
  a->start_ns = t_ns;
  a->seek_end_ns = t_ns + move_ns;
  a->settle_end_ns = a->seek_end_ns;
  if (work != WORK_READ && move_ns > 0)
    a->settle_end_ns += d->seek.write_settle_ns;
  a->from_ns = max_i64 (a->settle_end_ns, data_ns);
  a->from_ns += geometry_wait_ns (&d->geometry, a->from_ns, to.phase);
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
    else if (d->profile.lookahead.on_command == INTERRUPT_ABORT ||
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
  case WORK_WRITE:
    break;
  }
  if (sectors > 0)
    d->stats.media_ns += a->end_ns - a->from_ns;
  arm_rest (d);
}
