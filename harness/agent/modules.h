// SPDX-License-Identifier: BSD-3-Clause

#ifndef AGENT_MODULES_H
#define AGENT_MODULES_H

/* Load every file named in /modules/order, in order.  Parameters come from
 * the kernel's command line (`libata.force=...`), as modprobe takes them.
 * A module that fails is reported.  Gives 0, or -errno without a list. */
long modules_load (void);

#endif
