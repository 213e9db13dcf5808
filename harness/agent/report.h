// SPDX-License-Identifier: BSD-3-Clause
//
// The result lines: `@spindle {"event":...}` on the console.

#ifndef AGENT_REPORT_H
#define AGENT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* Where lines go.  Gives 0 or -errno; on error they go where they went. */
long report_open (const char *path);

/* A line is begun, gets its fields in order, and is written by its end. */
void report_begin (const char *event);
void report_text (const char *key, const char *value);
void report_number (const char *key, int64_t value);
void report_flag (const char *key, bool value);
void report_end (void);

/* A whole error line; it makes report_failed true... */
void report_error (const char *step, long errno_value, const char *why);
/* ...unless it tells of something the job can do without. */
void report_warning (const char *step, long errno_value, const char *why);
bool report_failed (void);

/* Wait until everything written has left the serial port. */
void report_drain (void);

#endif
