// SPDX-License-Identifier: BSD-3-Clause

#ifndef AGENT_COPY_H
#define AGENT_COPY_H

#include "job.h"

/* Do a copy step, from one open disk to another with direct I/O, and report
 * its result.  Gives 0, or -errno of the transfer that ended it. */
long copy_run (struct step *step);

#endif
