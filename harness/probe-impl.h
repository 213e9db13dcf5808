/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the steps of a probe share.  Functions that return an int return -1
 * when the target has failed, after a message.
 */
#ifndef SPINDLE_PROBE_IMPL_H
#define SPINDLE_PROBE_IMPL_H

#include "probe.h"

struct probe {
  struct target *t;
  const struct target_info *info;
  struct probe_result *r;
  FILE *progress;
  uint64_t random;
  int64_t unit;                 /* of requests, sectors */
  double hit_ns, hit_most_ns;   /* a read of one unit from the buffer takes
                                   so long; what takes longer is none */
  int64_t settle_ns;            /* look-ahead has ended by then */

  /* One zone is known to the sector. */
  int home;                     /* which */
  int64_t anchor;               /* the first sector of one of its tracks,
                                   of a cylinder if heads are known */
  int64_t track;                /* its sectors per track */
  double base_ns;               /* least time of a read that finds the arm
                                   where it is wanted */
  bool wait_for_ahead;          /* look-ahead would hold up the arm */
};

/* ---- probe.c ---- */

int64_t probe_below (struct probe *p, int64_t n);
/* A place for `sectors' sectors in [first, end), on a unit. */
int64_t probe_anywhere (struct probe *p, int64_t first, int64_t end,
                        int64_t sectors);
/* x modulo m, 0 <= result < m. */
double probe_mod (double x, double m);
/* The N-th of n, sorting them. */
double probe_median (double *values, int n);

/* Read one unit.  Returns 0, or 1 if it was in the buffer. */
int probe_read (struct probe *p, int64_t lba, double *done_ns);
void probe_progress (struct probe *p, const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));
/* End with this status and a reason. */
void probe_stop (struct probe *p, enum probe_status status, const char *fmt,
                 ...) __attribute__ ((format (printf, 3, 4)));

/* ---- the steps, in this order ---- */

int probe_rotation (struct probe *p);
int probe_zones (struct probe *p);
int probe_buffer (struct probe *p);     /* hits, look-ahead, segments */
int probe_tracks (struct probe *p);     /* boundaries, skews, heads */
int probe_seeks (struct probe *p);
int probe_rates (struct probe *p);
int probe_policy (struct probe *p);     /* what a command does to
                                           look-ahead */
int probe_queue (struct probe *p);
int probe_writes (struct probe *p);

/* ---- probe-zones.c ---- */

/* Sectors per track at lba; guess 0: no idea.  -1: the target failed, 0:
 * nothing fits.
 */
double probe_spt (struct probe *p, int64_t lba, double guess);

/* ---- probe-buffer.c ---- */

/* How many sectors the drive reads on after a command (pair: after two that
 * follow each other), -1: the target failed.  Tried at one place after
 * another: anywhere, or at lba and then `stride' sectors before.
 */
int64_t probe_ahead (struct probe *p, int64_t lba, int64_t stride, bool pair);

/* ---- probe-reach.c ---- */

/* From a sector to another one: how long until the head is there, ready to
 * read, and the sector has been read; the least, over all angles.
 */
struct reach {
  /* Where to go from and to, a new pair each time.  b is the last sector
   * of a run of `room' sectors on one track that may be used.
   */
  int (*place) (struct probe *p, void *opaque, int64_t *a, int64_t *b);
  void *opaque;
  int64_t room;                 /* 1: the time is varied, not the sector */
  double sector_ns;             /* at b */
  int64_t wait_ns;              /* after reading a */
  bool pair;                    /* read a in two commands: a stream */
  bool write;                   /* b is written */
  double resolution_ns;
};
int probe_reach (struct probe *p, const struct reach *w, double *ns);

/* ---- probe-tracks.c ---- */

/* The least time to a track so many further, in the zone that is known to
 * the sector.
 */
int probe_home_reach (struct probe *p, int64_t tracks, double *ns);

/* The least time over a distance.  `settled': after look-ahead has ended;
 * early: from the beginning of a track.
 */
int probe_far_reach (struct probe *p, double cylinders, double *ns);
bool probe_is_home (const struct probe *p, int64_t tracks);

double probe_sector_ns (const struct probe *p, const struct probe_zone *z);
const struct probe_zone *probe_zone_of (const struct probe *p, int64_t lba);
/* Cylinders, once the heads are known. */
double probe_cylinder (const struct probe *p, int64_t lba);
int64_t probe_lba (const struct probe *p, double cylinder);

#endif /* SPINDLE_PROBE_IMPL_H */
