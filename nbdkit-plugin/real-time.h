/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Model time in real time, and who turns it: the speed, pauses, and the
 * drive that takes no time for a while.
 *
 * The drive's lock covers all of it, except for real_time_instant.
 */
#ifndef SPINDLE_REAL_TIME_H
#define SPINDLE_REAL_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct drive;

/* Model time is 0 now. */
extern void real_time_start (void);

/* From CLOCK_MONOTONIC to model time. */
extern int64_t real_time_model_ns (int64_t mono_ns);

/* When model time will be model_ns: rounded up, INT64_MAX for never. */
extern int64_t real_time_mono_ns (int64_t model_ns);

/* Up to what model time things may be handed out at mono_ns, the transport
 * taking so long.
 */
extern int64_t real_time_due_ns (int64_t mono_ns, int64_t floor_ns);

/* A drive that nobody waits for destages, or serves what a client has left
 * behind: let it come to the present.
 */
extern void real_time_catch_up (struct drive *d);

/* Are requests answered at once, without the model? */
extern bool real_time_instant (void);

/* The control socket. */
extern void real_time_pause (struct drive *d, const char *arg, FILE *reply);
extern void real_time_resume (struct drive *d, const char *arg, FILE *reply);
extern void real_time_speed (struct drive *d, const char *arg, FILE *reply);

/* Part of the statistics. */
extern void real_time_print (FILE *fp);

#endif /* SPINDLE_REAL_TIME_H */
