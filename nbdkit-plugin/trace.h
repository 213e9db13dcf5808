/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One line per completed command.  docs/trace.md describes the format;
 * nothing in it depends on the host.
 */
#ifndef SPINDLE_TRACE_H
#define SPINDLE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "disk.h"

struct trace;

/* Create the file.  NULL: the reason is in errno. */
extern struct trace *trace_open (const char *path);

/* Write the header: to be called once, after any fork. */
extern void trace_begin (struct trace *t, const struct profile *profile,
                         uint64_t seed, const char *const *overrides,
                         size_t n_overrides);
extern void trace_completion (struct trace *t,
                              const struct disk_completion *c);

/* Comments: what a cut took, and when the power was on again. */
extern void trace_power_cut (struct trace *t, int64_t at_ns,
                             int64_t torn_lba, int64_t lost_sectors,
                             int64_t failed_commands);
extern void trace_power_on (struct trace *t, int64_t at_ns);

/* Returns -1 when something could not be written, with errno. */
extern int trace_close (struct trace *t);

#endif /* SPINDLE_TRACE_H */
