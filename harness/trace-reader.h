/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the readers of the single formats have in common.  Functions that
 * can fail return -1 after they have set the reader's error.
 */
#ifndef SPINDLE_TRACE_READER_H
#define SPINDLE_TRACE_READER_H

#include <zlib.h>

#include "trace-file.h"

#define TRACE_LINE_MAX 4096
#define TRACE_MAX_FIELDS 64

struct trace_reader {
  gzFile gz;
  const char *device;           /* wanted, or NULL */
  bool has_devices;
  char *first_device;           /* seen, if none is wanted */
  struct trace_file *trace;
  size_t allocated;
  bool sort;                    /* may be out of order in the file */
  bool again;                   /* trace_line returns this line again */
  uint32_t line;
  char text[TRACE_LINE_MAX];
  char *field[TRACE_MAX_FIELDS];
  unsigned n_fields;
  char *error;
};

/* The next line that is not blank, without its end: 1, 0 at the end. */
int trace_line (struct trace_reader *r);

/* Split the line at white space, or at every COMMA.  More fields than there
 * is room for are ignored at white space: no format there has as many.
 */
int trace_split (struct trace_reader *r, bool comma);

/* "FILE:LINE: WHAT: VALUE: allowed".  VALUE may be NULL. */
int trace_fail (struct trace_reader *r, const char *what, const char *value,
                const char *fmt, ...)
  __attribute__ ((format (printf, 4, 5)));

/* A whole number. */
int trace_number (struct trace_reader *r, const char *what, const char *text,
                  int64_t min, int64_t max, int64_t *v);

/* A decimal fraction of units of UNIT_NS (a power of ten), rounded to
 * nanoseconds.
 */
int trace_time (struct trace_reader *r, const char *what, const char *text,
                int64_t unit_ns, int64_t *ns);

/* A number of bytes that is one of sectors. */
int trace_bytes (struct trace_reader *r, const char *what, const char *text,
                 int64_t *sectors);

/* 1 if the request is of the device that is replayed, 0 if not. */
int trace_device (struct trace_reader *r, const char *device);

/* A request with nothing known of its times. */
struct trace_request trace_new_request (enum disk_op op);

/* Append it. */
int trace_add (struct trace_reader *r, const struct trace_request *request);

/* The readers.  The first line is the next that trace_line returns. */
int trace_read_csv (struct trace_reader *r);
int trace_read_fio (struct trace_reader *r);
int trace_read_blkparse (struct trace_reader *r);
int trace_read_disksim (struct trace_reader *r);
int trace_read_validate (struct trace_reader *r);

#endif /* SPINDLE_TRACE_READER_H */
