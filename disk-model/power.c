/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is on the media when the power goes, and what is not.
 */
#include <errno.h>
#include <stddef.h>

#include "fixed.h"
#include "internal.h"

/* A run is being written since from_ns.  Tell of the sectors that are whole
 * at now_ns, and find the one under the head.
 */
static void
cut_run (struct disk *d, const struct report *r, int64_t now_ns,
         struct disk_cut *cut)
{
  int64_t n = r->end - r->lba, passed;

  if (now_ns <= r->from_ns)
    return;
  passed = geometry_sectors_passed (&d->geometry, r->place,
                                    now_ns - r->from_ns, n, true);
  if (passed > 0 && d->destaged != NULL)
    d->destaged (d->destaged_opaque, r->lba, passed, now_ns);
  /* Between tracks the head is over none. */
  if (passed < n && now_ns - r->from_ns >
      geometry_transfer_ns (&d->geometry, r->place, passed + 1, true) -
      geometry_transfer_ns (&d->geometry, r->place + passed, 1, true))
    cut->torn_lba = r->lba + passed;
}

/* What the arm is writing: a destage or a command. */
static void
cut_arm (struct disk *d, int64_t now_ns, struct disk_cut *cut)
{
  const struct arm *a = &d->arm;

  if ((a->work == WORK_DESTAGE || a->work == WORK_WRITE) &&
      a->anchor == a->lba && arm_busy (d, now_ns))
    cut_run (d, &(struct report) {
      .lba = a->lba + a->shift, .end = a->limit + a->shift,
      .place = a->lba, .from_ns = a->from_ns, .when_ns = a->end_ns,
    }, now_ns, cut);
}

/* Everything that needs power to exist. */
static void
forget_all (struct disk *d)
{
  d->busy = d->serving = false;
  d->idle_since_ns = d->now_ns;
  d->rest = 0;
  d->queued = 0;
  d->n_reports = 0;
  d->current = -1;
  d->wanted = 0;
  d->after_write = false;
  d->arm = (struct arm) { .work = WORK_NONE, .end_ns = d->now_ns };
  dirty_remove (&d->dirty, 0, d->geometry.sectors);
  segments_forget (&d->segments, 0, d->geometry.sectors);
}

void
disk_power_cut (struct disk *d, int64_t now_ns, struct disk_cut *cut)
{
  cut->torn_lba = -1;
  if (d->off)
    return;
  d->now_ns = max_i64 (d->now_ns, now_ns);
  background_run (d, now_ns);
  cut_arm (d, now_ns, cut);
  /* Serving a flush, or waiting for room, has been worked out ahead. */
  for (int i = 0; i < d->n_reports; i++)
    cut_run (d, &d->reports[i], now_ns, cut);
  forget_all (d);
  d->off = true;
  d->stats.power_cuts++;
}

void
disk_power_on (struct disk *d, int64_t now_ns)
{
  if (!d->off)
    return;
  d->now_ns = max_i64 (d->now_ns, now_ns);
  d->off = false;
  d->ready_ns = d->now_ns + d->profile.power.spin_up_ns;
  d->arm.end_ns = d->ready_ns;
}

int
disk_add_fault (struct disk *d, int64_t lba, int64_t sectors,
                uint32_t retries, int64_t from_command)
{
  struct fault fault = { lba, lba + sectors, retries, from_command, false };

  if (lba < 0 || sectors <= 0 || lba >= d->geometry.sectors ||
      sectors > d->geometry.sectors - lba) {
    errno = EINVAL;
    return -1;
  }
  if (faults_add (&d->faults, &fault) == -1) {
    errno = ENOSPC;
    return -1;
  }
  /* The buffer does not know better than the media. */
  if (d->arm.work == WORK_READ && arm_busy (d, d->now_ns))
    arm_claim (d, d->now_ns, lba);
  segments_forget (&d->segments, lba, lba + sectors);
  return 0;
}
