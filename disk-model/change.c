/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Other settings for a drive that runs.
 */
#include <errno.h>

#include "internal.h"

/* Look-ahead that is under way goes on to its limit; none begins. */
int
disk_change (struct disk *d, const struct profile *profile)
{
  struct profile *p = &d->profile;

  if (d->busy || d->queued > 0) {
    errno = EBUSY;
    return -1;
  }
  if (!profile->write_cache.enabled && d->dirty.sectors > 0) {
    errno = ENOTEMPTY;
    return -1;
  }
  p->overhead = profile->overhead;
  p->lookahead.enabled = profile->lookahead.enabled;
  p->write_cache.enabled = profile->write_cache.enabled;
  profile_fill_in (p);
  if (!p->lookahead.enabled)
    d->wanted = 0;
  return 0;
}

int64_t
disk_cylinder (const struct disk *d)
{
  struct place place;

  arm_place (d, d->now_ns, &place);
  return place.cylinder;
}
