/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A trace of the plugin's with everything in it: docs/trace.md.
 */
#ifndef SPINDLE_DRIVE_TRACE_H
#define SPINDLE_DRIVE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the time of a command goes, in the order in which it does. */
enum trace_part {
  PART_QUEUE, PART_OVERHEAD, PART_ACTUATOR, PART_SEEK, PART_SETTLE,
  PART_ROTATION, PART_MEDIA, PART_BUS, N_PARTS
};
extern const char *const trace_part_names[];

/* Where its data were. */
enum trace_class {
  CLASS_BUFFER,                 /* in the buffer */
  CLASS_LOOKAHEAD,              /* look-ahead was there, or nearly */
  CLASS_MEDIA,                  /* on the track below the head */
  CLASS_SEEK,                   /* elsewhere */
  CLASS_CACHED,                 /* a write into the cache */
  CLASS_WRITTEN,                /* a write to the media */
  CLASS_OTHER,                  /* no data */
  N_CLASSES
};
extern const char *const trace_class_names[];

struct trace_command {
  int64_t arrival_ns, start_ns, complete_ns, lba;
  int64_t part_ns[N_PARTS];
  enum trace_class class;
};

struct drive_trace {
  struct trace_command *command; /* in order of completion */
  size_t n;
};

/* Returns -1 after a message. */
int drive_trace_load (const char *path, struct drive_trace *t);
void drive_trace_free (struct drive_trace *t);

/* What all commands took: nanoseconds for each part. */
void drive_trace_sum (const struct drive_trace *t, int64_t part_ns[N_PARTS]);

#endif /* SPINDLE_DRIVE_TRACE_H */
