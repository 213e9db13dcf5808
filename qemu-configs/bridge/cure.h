/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cures for what the host's time does to the guest's.
 *
 * Idle jumps from a stale clock.  With sleep=off QEMU's main loop makes the
 * clock jump to the next timer when every vCPU looks idle.  HLT marks the vCPU
 * halted outside the big lock, before the instructions it has executed are
 * accounted; a main loop that is awake in that window measures the distance
 * from a clock that is n instructions behind, and the clock lands n << shift
 * too far.  A vCPU that stopped itself for a reset or a shutdown looks idle as
 * well.
 *
 * So whenever the main loop takes the big lock while the vCPU thread is
 * out of it (or the vCPU is stopped) the vCPU gets an empty work item: it
 * is then not idle until it has come back, and accounted.
 *
 * Work put off.  A device may leave a part of a command to a bottom half, which
 * the main loop runs when it comes to it: a reset of the IDE bus, a flush for
 * which there is nothing to write.  A guest that polls meanwhile, or has
 * something else to do, sees the end of it sooner or later.  So the vCPU thread
 * runs those that are there before it gives up the big lock, which is in the
 * instruction that asked for them.
 */
#ifndef SPINDLE_CURE_H
#define SPINDLE_CURE_H

#include <pthread.h>

/* Hook QEMU's big lock. */
extern void cure_install (void);

/* Called before any mutex is unlocked.  If it is the big lock, and this the
 * vCPU thread, bottom halves are run.
 */
extern void cure_unlocking (const pthread_mutex_t *mutex);

/* No idle jump from here until the vCPU thread next has the big lock,
 * which the caller holds now.
 */
extern void cure_hold_vcpu (void);

#endif /* SPINDLE_CURE_H */
