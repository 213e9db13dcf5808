/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which CPU a guest on the virtual clock runs on.
 *
 * QEMU's threads and the drive take turns: each waits for what another
 * does next.  On one CPU a turn is a switch between threads; on several it
 * is an interrupt that wakes another CPU, which on a cloud machine costs
 * more than the turn itself (measured: 1.4 to 1.8 times as long in all).
 * So all of them share a CPU, and move when another has more to give.
 */
#ifndef SPINDLE_PLACE_H
#define SPINDLE_PLACE_H

#include <stdint.h>
#include <sys/types.h>

#define PLACE_PIDS 8

struct place {
  int cpu;
  pid_t pids[PLACE_PIDS];
  unsigned n_pids;
  uint64_t random;
  int64_t look_ms;              /* when to look again */
  int64_t looked_ms;            /* when we looked at what follows */
  int64_t used;                 /* ticks, by all the pids */
  int64_t *idle;                /* of each CPU; NULL = no CPU is chosen */
};

/* Choose a CPU of those that we may use; none if there is only one, and
 * everything stays where the kernel puts it.
 */
void place_start (struct place *p);

/* PID, which has just been started, and what it starts go there.  Beyond
 * PLACE_PIDS they stay where the kernel puts them.
 */
void place_add (struct place *p, pid_t pid);

/* Call it often.  Every second or two it looks whether another CPU could give
 * more, and moves.
 */
void place_check (struct place *p);

/* Once more does no harm, nor one that is all zeroes. */
void place_end (struct place *p);

#endif /* SPINDLE_PLACE_H */
