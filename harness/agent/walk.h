// SPDX-License-Identifier: BSD-3-Clause

#ifndef AGENT_WALK_H
#define AGENT_WALK_H

#include "job.h"

/* Read every file below a folder of the mounted file system, in the order
 * the kernel lists them, and report how many and how long it took. */
long walk_run (struct step *step);

/* Read files that are numbered, one after the other, and one more along with
 * them, while another is written. */
long frames_run (struct step *step);

#endif
