/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a scenario to the job that the guest's agent reads (agent/README.md).
 */
#ifndef SPINDLE_JOB_H
#define SPINDLE_JOB_H

#include "scenario.h"

/* The text of /job.  With NO_FLUSH the kernel is told to send the drive no
 * FLUSH CACHE.  The caller frees it.
 */
char *job_text (const struct scenario *sc, bool no_flush);

#endif /* SPINDLE_JOB_H */
