/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where sectors are and when they pass under the head.
 *
 * Angles are counted in phase units.  One revolution is `revolution` units
 * and the platter turns `rate` units a nanosecond, both whole numbers in
 * lowest terms, so that the angle at any time is exact although the period
 * of, say, 7200 rpm is no whole number of nanoseconds.
 *
 * Inside a zone the sectors lie along one long line: track after track,
 * with a gap (the skew) between them.  The distance along that line between
 * two sectors is a closed formula, so the cost of a transfer does not
 * depend on its length.
 */
#ifndef SPINDLE_GEOMETRY_H
#define SPINDLE_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"
#include "seek.h"

/* A hole as it is looked up: from sector `number` on, counting only those
 * with an LBA, `shift` sectors have been passed over; the hole's own begin
 * at `place`.
 */
struct hole {
  int64_t number, place, shift;
};

/* A remapped sector: the head goes to the spare and comes back.  Up to and
 * with this one the zone's remapped sectors cost so much, in whole
 * revolutions, since what follows is where it was.
 */
struct remap {
  int64_t place;
  int64_t cost;                 /* phase */
};

struct zone {
  int64_t first_lba;
  int64_t sectors;              /* with an LBA */
  int64_t first_cylinder;
  int64_t sectors_per_track;
  int64_t start_phase;          /* of the zone's first sector */
  /* Phase, reading [0] and writing [1]: */
  int64_t head_gap[2];          /* from a track's end to the next track's
                                   start, on the same cylinder */
  int64_t cylinder_gap[2];      /* the same, to the next cylinder */
  int64_t cylinder_length[2];   /* one cylinder with its gaps */
  int64_t next_gap[2];          /* from the last sector to the next zone */
  const struct hole *holes;
  int n_holes;
  struct remap *remaps;
  int n_remaps;
};

struct geometry {
  int64_t sectors;
  int64_t cylinders;
  int64_t heads;
  bool serpentine;
  int64_t revolution;           /* phase units */
  int64_t rate;                 /* phase units per ns */
  int64_t phase_at_zero;        /* angle at time 0 */
  int n_zones;
  struct zone zones[PROFILE_MAX_ZONES];
  struct hole *holes;
  struct remap *remaps;
  int n_remaps, max_remaps;
};

/* Where one sector is. */
struct place {
  int64_t cylinder;
  int64_t head;
  int64_t phase;                /* where it begins, 0 <= phase < revolution */
};

/* Cylinders from the first to the last, those without data included. */
extern int64_t geometry_cylinders (const struct profile_geometry *profile);

/* angle decides where the platter is at time 0.  Returns -1 when memory is
 * short.
 */
extern int geometry_init (struct geometry *g,
                          const struct profile_geometry *profile,
                          const struct seek *seek, uint64_t angle);
#define GEOMETRY_SPARES 1024
extern void geometry_free (struct geometry *g);

/* Move sector lba to a spare one behind the last LBA.  Returns 1, or 0 if
 * it is a spare already, or there is none left.
 */
extern int geometry_reallocate (struct geometry *g, int64_t lba,
                                const struct seek *seek);

/* Find a sector; 0 <= lba < g->sectors. */
extern void geometry_locate (const struct geometry *g, int64_t lba,
                             struct place *place);

/* The inverse: the sector that begins at a place, -1 if none with an LBA
 * does.
 */
extern int64_t geometry_lba (const struct geometry *g,
                             const struct place *place);

/* Angle of the platter at a time. */
extern int64_t geometry_phase_at (const struct geometry *g, int64_t t_ns);

/* How long after t_ns the angle is next `phase`: 0 <= ns <= a revolution. */
extern int64_t geometry_wait_ns (const struct geometry *g, int64_t t_ns,
                                 int64_t phase);

/* Time from the start of sector lba to the end of sector lba + sectors - 1
 * when nothing interrupts the transfer: switches and lost revolutions
 * between tracks are part of it.  0 for 0 sectors.
 */
extern int64_t geometry_transfer_ns (const struct geometry *g, int64_t lba,
                                     int64_t sectors, bool write);

/* The inverse: how many whole sectors have passed, at most max, elapsed_ns
 * after the start of sector lba.
 */
extern int64_t geometry_sectors_passed (const struct geometry *g, int64_t lba,
                                        int64_t elapsed_ns, int64_t max,
                                        bool write);

/* First LBA of lba's track; first LBA behind its track, its cylinder. */
extern int64_t geometry_track_start (const struct geometry *g, int64_t lba);
extern int64_t geometry_track_end (const struct geometry *g, int64_t lba);
extern int64_t geometry_cylinder_end (const struct geometry *g, int64_t lba);

/* Duration of one revolution, rounded to the nearest nanosecond. */
extern int64_t geometry_revolution_ns (const struct geometry *g);

#endif /* SPINDLE_GEOMETRY_H */
