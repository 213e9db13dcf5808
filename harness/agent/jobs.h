// SPDX-License-Identifier: BSD-3-Clause
//
// Several processes that do their part of a step at the same time.

#ifndef AGENT_JOBS_H
#define AGENT_JOBS_H

#include <stdint.h>

enum { MAX_JOBS = 64 };

struct job_work {
  /* Before time is measured. */
  void (*prepare) (void *opaque, int job);
  void (*run) (void *opaque, int job);
  void *opaque;                 /* what must come back is in shared memory */
};

/* Do the work in this many processes, which run together once all are
 * prepared; with one it is done in this process.  Gives the ns from there
 * until all have ended, or -errno. */
int64_t jobs_run (const struct job_work *work, int jobs);

#endif
