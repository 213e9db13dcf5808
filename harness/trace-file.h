/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recorded requests, read from files of several formats (spindle-replay(1)
 * describes them).
 */
#ifndef SPINDLE_TRACE_FILE_H
#define SPINDLE_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "disk.h"

#define TRACE_UNKNOWN (-1)

/* Nothing in a trace is later or takes longer: over three years. */
#define TRACE_MAX_NS INT64_C (100000000000000000)
#define TRACE_MAX_REQUESTS (16u << 20)

struct trace_request {
  int64_t lba, sectors;         /* both 0 for a flush */
  int64_t arrival_ns;
  int64_t response_ns;          /* as measured, or TRACE_UNKNOWN */
  int64_t think_ns;             /* from its completion to the next request */
  uint64_t order;               /* among those of one arrival */
  uint32_t line;
  uint8_t op;                   /* enum disk_op */
  uint8_t flags;                /* DISK_FUA */
};

struct trace_file {
  char *path;                   /* for messages */
  const char *format;
  struct trace_request *request; /* in order of arrival */
  size_t n;
  size_t n_measured;            /* have a response time */
  size_t n_overlapping;         /* came before the one before was done */
  bool timed;                   /* has times of arrival */
};

/* The names of the formats, NULL at the end. */
extern const char *const trace_formats[];

/* Read all of a trace.  PATH "-" is standard input; gzip is recognised.
 * FORMAT is one of trace_formats, or NULL: look at the first line.  DEVICE
 * picks the requests of one device (blkparse "8,0", DiskSim "0") or file
 * (fio); with NULL there may be only one.
 *
 * Returns 0.  On failure returns -1, leaves nothing to free in *T and sets
 * *ERROR, which the caller frees: one line, "FILE:LINE: what: value: what
 * is allowed".
 */
int trace_file_read (const char *path, const char *format,
                     const char *device, struct trace_file *t, char **error);

/* The same from an open file, which is closed. */
int trace_file_read_fd (int fd, const char *path, const char *format,
                        const char *device, struct trace_file *t,
                        char **error);

void trace_file_free (struct trace_file *t);

/* Make every request lie within a drive of SECTORS.  With WRAP, a first
 * sector beyond the end is taken modulo SECTORS, and a request that would
 * then cross the end is moved down to end there.  Without, and for requests
 * larger than the drive, returns -1 with *ERROR.
 */
int trace_file_fit (struct trace_file *t, int64_t sectors, bool wrap,
                    char **error);

#endif /* SPINDLE_TRACE_FILE_H */
