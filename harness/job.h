/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a scenario to the job that the guest's agent reads (agent/README.md).
 */
#ifndef SPINDLE_JOB_H
#define SPINDLE_JOB_H

#include "scenario.h"

/* The text of /job for a guest with these drives.  The caller frees it. */
char *job_text (const struct scenario *sc, const struct machine_drive *drives,
                unsigned n);

#endif /* SPINDLE_JOB_H */
