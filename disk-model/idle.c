/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a drive does that nobody has asked for: it rests more and more deeply
 * the longer it is left alone, scans its media, and stops now and then to
 * find its tracks again.
 */
#include <stddef.h>

#include "fixed.h"
#include "internal.h"

enum { RESTS = 3 };

/* Rest number i, from 1, and where it is counted. */
static struct profile_rest
rest_at (struct disk *d, int i, int64_t **count)
{
  const struct profile_power *p = &d->profile.power;

  switch (i) {
  case 1:
    *count = &d->stats.unloads;
    return p->unload;
  case 2:
    *count = &d->stats.slowdowns;
    return p->slow;
  default:
    *count = &d->stats.standbys;
    return (struct profile_rest) { p->standby_after_ns, p->spin_up_ns };
  }
}

void
idle_note (struct disk *d, int64_t t_ns)
{
  int64_t idle_ns = t_ns - max_i64 (d->idle_since_ns, d->arm.end_ns);

  for (int i = d->rest + 1; i <= RESTS; i++) {
    int64_t *count;
    struct profile_rest rest = rest_at (d, i, &count);

    if (rest.after_ns > 0 && idle_ns >= rest.after_ns) {
      d->rest = i;
      ++*count;
    }
  }
}

/* The deepest rest decides how long it takes to come back. */
static int64_t
wake (struct disk *d, int64_t t_ns)
{
  int64_t *count, back_ns = 0;

  /* A command has been noted when it came. */
  if (!d->serving)
    idle_note (d, t_ns);
  if (d->rest > 0)
    back_ns = rest_at (d, d->rest, &count).back_ns;
  d->rest = 0;
  if (back_ns > 0)
    d->service.background |= DISK_MET_REST;
  return t_ns + back_ns;
}

/* Stops are due at fixed times, and wait for the arm.  Those that it has
 * had time for are over.
 */
static int64_t
stall (struct disk *d, int64_t t_ns)
{
  const struct profile_media *p = &d->profile.media;
  int64_t n, last_ns, until_ns;

  if (p->stall_every_ns == 0 || t_ns < d->stall_ns)
    return t_ns;
  n = (t_ns - d->stall_ns) / p->stall_every_ns;
  last_ns = d->stall_ns + n * p->stall_every_ns;
  d->stall_ns = last_ns + p->stall_every_ns;
  d->stats.stalls += n + 1;
  until_ns = max_i64 (last_ns, d->arm.end_ns) + p->stall_for_ns;
  if (until_ns > t_ns)
    d->service.background |= DISK_MET_STALL;
  return max_i64 (t_ns, until_ns);
}

int64_t
idle_ready_ns (struct disk *d, int64_t t_ns)
{
  return stall (d, wake (d, t_ns));
}

bool
idle_scan (struct disk *d, int64_t t_ns)
{
  int64_t after_ns = d->profile.power.scan_after_ns, start_ns;

  start_ns = max_i64 (d->idle_since_ns, d->arm.end_ns) + after_ns;
  if (after_ns == 0 || d->off || d->serving || start_ns >= t_ns)
    return false;
  arm_start (d, WORK_SCAN, start_ns, d->scanned, d->geometry.sectors, 0, 0);
  return true;
}
