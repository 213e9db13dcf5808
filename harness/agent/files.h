// SPDX-License-Identifier: BSD-3-Clause
//
// Files of the mounted file system that are made durable one change at a
// time.

#ifndef AGENT_FILES_H
#define AGENT_FILES_H

#include "job.h"

/* The steps of these names; each gives 0 or -errno. */
long files_change (struct step *step);
long files_verify (struct step *step);

#endif
