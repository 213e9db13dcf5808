/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When the next request of a trace is due.
 */
#ifndef SPINDLE_REPLAY_SCHEDULE_H
#define SPINDLE_REPLAY_SCHEDULE_H

#include "replay.h"

struct schedule {
  const struct trace_file *trace;
  const struct replay_options *options;
  size_t next;                  /* of the trace */
  int64_t outstanding, limit;
  int64_t *ready_ns;            /* closed: users who have thought */
  int64_t n_ready;
};

/* Not more than LIMIT requests will be outstanding.  Time begins at the
 * trace's time 0.
 */
void schedule_init (struct schedule *s, const struct trace_file *trace,
                    const struct replay_options *options, int64_t limit);
void schedule_free (struct schedule *s);

/* When the next request is due, perhaps long ago; DISK_NEVER if there is
 * none before another one is done.
 */
int64_t schedule_due_ns (const struct schedule *s);

/* Take it: its number. */
size_t schedule_take (struct schedule *s);

/* Request number I was done. */
void schedule_done (struct schedule *s, size_t i, int64_t complete_ns);

#endif /* SPINDLE_REPLAY_SCHEDULE_H */
