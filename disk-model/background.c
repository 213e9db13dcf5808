/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the drive does between commands, on the same time line: look-ahead
 * that was put off, and destaging.
 */
#include <stddef.h>

#include "fixed.h"
#include "internal.h"

void
background_report (struct disk *d, const struct report *report)
{
  if (d->destaged == NULL || d->n_reports == d->max_reports)
    return;
  d->reports[d->n_reports++] = *report;
}

void
background_deliver (struct disk *d, int64_t t_ns)
{
  int n = 0;

  while (n < d->n_reports && d->reports[n].when_ns <= t_ns) {
    const struct report *r = &d->reports[n++];

    d->destaged (d->destaged_opaque, r->lba, r->end - r->lba, r->when_ns);
  }
  for (int i = n; i < d->n_reports; i++)
    d->reports[i - n] = d->reports[i];
  d->n_reports -= n;
}

static const struct extent *
oldest_extent (const struct dirty *w)
{
  int best = 0;

  for (int i = 1; i < w->n; i++)
    if (w->extents[i].order < w->extents[best].order)
      best = i;
  return &w->extents[best];
}

static const struct extent *
nearest_extent (const struct disk *d, int64_t t_ns)
{
  const struct dirty *w = &d->dirty;
  int64_t best_ns = INT64_MAX;
  struct place from, to;
  int best = 0;

  arm_place (d, t_ns, &from);
  for (int i = 0; i < w->n; i++) {
    int64_t ns;

    geometry_locate (&d->geometry, w->extents[i].lba, &to);
    ns = arm_reach_ns (d, t_ns, &from, &to, true, 1000);
    if (ns < best_ns) {
      best = i;
      best_ns = ns;
    }
  }
  return &w->extents[best];
}

static const struct extent *
next_extent (const struct disk *d, int64_t t_ns)
{
  const struct dirty *w = &d->dirty;
  int i;

  switch (d->profile.write_cache.order) {
  case DESTAGE_ARRIVAL:
    return oldest_extent (w);
  case DESTAGE_SPTF:
    return nearest_extent (d, t_ns);
  case DESTAGE_ELEVATOR:
    break;
  }
  i = dirty_find (w, d->arm.limit - 1);
  return &w->extents[i < w->n ? i : 0];
}

static bool
clean_band (struct disk *d, int64_t t_ns)
{
  int64_t lba, end;

  if (!smr_oldest_band (&d->smr, &lba, &end))
    return false;
  arm_start_clean (d, t_ns, lba, end);
  return true;
}

/* To the persistent cache of a shingled drive; when that is full, a band
 * must be cleaned first.
 */
static void
destage_to_log (struct disk *d, int64_t t_ns, const struct extent *e)
{
  int64_t sectors = min_i64 (e->end - e->lba, d->smr.log_size), place, skip;

  if (!smr_has_room (&d->smr, sectors) && clean_band (d, t_ns))
    return;
  t_ns += d->profile.smr.map_ns;
  skip = 1 + geometry_sectors_passed (&d->geometry, d->smr.log_head,
                                      t_ns - d->arm.end_ns,
                                      d->smr.band, true);
  place = smr_place (&d->smr, sectors, skip < d->smr.band ? skip : 0);
  arm_start (d, WORK_DESTAGE, t_ns, place, place + sectors, 0, 0);
  d->arm.shift = e->lba - place;
}

bool
background_destage (struct disk *d, int64_t t_ns)
{
  int64_t physical = d->profile.geometry.physical_sectors;
  const struct extent *e;

  if (d->dirty.n == 0)
    return false;
  t_ns += d->profile.write_cache.destage_ns;
  e = next_extent (d, t_ns);
  if (smr_logs (&d->smr, e->lba)) {
    destage_to_log (d, t_ns, e);
    return true;
  }
  if (!e->edges_read && arm_unaligned (d, e->lba, e->end))
    arm_start (d, WORK_PREREAD, t_ns, e->lba - e->lba % physical,
               min_i64 (div_up (e->end, physical) * physical,
                        d->geometry.sectors), 0, 0);
  else
    arm_start (d, WORK_DESTAGE, t_ns, e->lba, e->end, e->end, 0);
  return true;
}

/* Start whatever is due before t_ns, the arm being free since arm.end_ns. */
static bool
start_next (struct disk *d, int64_t t_ns)
{
  int64_t free_ns = d->arm.end_ns;

  if (d->wanted > 0 && d->current >= 0) {
    int64_t from = d->segments.v[d->current].end;
    int64_t limit = d->wanted;

    d->wanted = 0;
    if (limit > from) {
      arm_start (d, WORK_READ, free_ns, from, limit, 0, 0);
      return true;
    }
  }
  if (d->dirty.n == 0) {
    free_ns = max_i64 (free_ns,
                       d->service.complete_ns + d->profile.smr.idle_ns);
    return (!d->off && d->smr.n > 0 && free_ns < t_ns &&
            clean_band (d, free_ns)) || idle_scan (d, t_ns);
  }
  free_ns = max_i64 (free_ns,
                     d->dirty_since_ns + d->profile.write_cache.delay_ns);
  return free_ns < t_ns && background_destage (d, free_ns);
}

void
background_run (struct disk *d, int64_t t_ns)
{
  for (;;) {
    if (arm_busy (d, t_ns))
      break;
    arm_finish (d);
    if (d->arm.end_ns >= t_ns || !start_next (d, t_ns))
      break;
  }
  background_deliver (d, t_ns);
}

int64_t
background_drain (struct disk *d, int64_t t_ns)
{
  if (d->dirty.n == 0)
    return t_ns;
  d->wanted = 0;
  if (d->arm.work == WORK_READ)
    t_ns = arm_claim (d, t_ns, d->dirty.extents[0].lba);
  for (;;) {
    t_ns = max_i64 (t_ns, d->arm.end_ns);
    arm_finish (d);
    if (!background_destage (d, t_ns))
      return t_ns;
  }
}

/* Sectors in the write cache at t_ns: those under way count until they
 * have passed under the head.
 */
static int64_t
dirty_sectors_at (const struct disk *d, int64_t t_ns)
{
  int64_t n = d->dirty.sectors;

  if (d->arm.work == WORK_DESTAGE)
    n -= arm_position (d, t_ns) - d->arm.lba;
  return n;
}

int64_t
background_room (struct disk *d, int64_t t_ns, int64_t lba, int64_t end)
{
  int64_t capacity = d->profile.write_cache.size_bytes / DISK_SECTOR_SIZE;
  int64_t sectors = min_i64 (end - lba, capacity);

  for (;;) {
    int64_t excess = dirty_sectors_at (d, t_ns) + sectors - capacity;
    const struct arm *a = &d->arm;

    if (dirty_has_entry (&d->dirty, lba, end)) {
      int64_t first = arm_position (d, t_ns);

      if (excess <= 0)
        return t_ns;
      if (a->work == WORK_DESTAGE && first + excess <= a->limit)
        return arm_passed_ns (d, first + excess);
    }
    /* Not even the work under way makes room: see it through and start
     * the next, whatever the delay says.
     */
    t_ns = arm_busy (d, t_ns) && a->work == WORK_READ
      ? arm_claim (d, t_ns, lba) : max_i64 (t_ns, a->end_ns);
    arm_finish (d);
    if (!background_destage (d, t_ns))
      return t_ns;
  }
}
