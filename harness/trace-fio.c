/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fio's I/O logs, versions 2 and 3.
 */
#include <string.h>

#include "trace-reader.h"

struct log {
  unsigned version;
  unsigned first;               /* field with the file's name */
  int64_t wait_ns;              /* since the last request (version 2) */
};

static int
read_version (struct trace_reader *r, struct log *log)
{
  if (trace_line (r) != 1)
    return -1;
  if (strcmp (r->text, "fio version 2 iolog") == 0)
    log->version = 2;
  else if (strcmp (r->text, "fio version 3 iolog") == 0)
    log->version = 3;
  else
    return trace_fail (r, "version", r->text,
                       "\"fio version 2 iolog\" or \"fio version 3 iolog\"");
  log->first = log->version - 2;
  r->trace->timed = log->version == 3;
  return 0;
}

/* N microseconds pass: that belongs to the request before. */
static int
read_wait (struct trace_reader *r, struct log *log, const char *text)
{
  struct trace_file *t = r->trace;
  int64_t ns;

  if (log->version == 3)
    return trace_fail (r, "action", "wait", "not in version 3");
  if (trace_time (r, "wait", text, 1000, &ns) == -1)
    return -1;
  log->wait_ns += ns;
  if (log->wait_ns > TRACE_MAX_NS)
    return trace_fail (r, "wait", text, "three years in all");
  if (t->n > 0)
    t->request[t->n - 1].think_ns = log->wait_ns;
  return 0;
}

static int
read_request (struct trace_reader *r, struct log *log, enum disk_op op)
{
  char *const *field = &r->field[log->first];
  struct trace_request q = trace_new_request (op);
  int got;

  if (op != DISK_FLUSH) {
    if (trace_bytes (r, "offset", field[2], &q.lba) == -1 ||
        trace_bytes (r, "length", field[3], &q.sectors) == -1)
      return -1;
    if (q.sectors == 0)
      return trace_fail (r, "length", field[3], "more than 0");
  }
  if (log->version == 3 &&
      trace_time (r, "timestamp", r->field[0], 1000, &q.arrival_ns) == -1)
    return -1;
  got = trace_device (r, field[0]);
  if (got != 1)
    return got;
  if (log->version == 2 && r->trace->n == 0)
    q.arrival_ns = log->wait_ns;
  log->wait_ns = 0;
  return trace_add (r, &q);
}

static int
read_action (struct trace_reader *r, struct log *log)
{
  const char *action;
  unsigned n = r->n_fields - log->first;

  if (r->n_fields < log->first + 2)
    return trace_fail (r, "line", r->field[0], "%sfile, action%s",
                       log->version == 3 ? "timestamp, " : "",
                       " [, offset, length]");
  action = r->field[log->first + 1];
  if (strcmp (action, "add") == 0 || strcmp (action, "open") == 0 ||
      strcmp (action, "close") == 0)
    return n == 2 ? 0 : trace_fail (r, action, r->field[log->first + 2],
                                    "nothing after it");
  if (n != 4)
    return trace_fail (r, "action", action, "add, open or close, or another "
                       "with an offset and a length");
  if (strcmp (action, "read") == 0)
    return read_request (r, log, DISK_READ);
  if (strcmp (action, "write") == 0)
    return read_request (r, log, DISK_WRITE);
  if (strcmp (action, "trim") == 0)
    return read_request (r, log, DISK_TRIM);
  if (strcmp (action, "sync") == 0 || strcmp (action, "datasync") == 0)
    return read_request (r, log, DISK_FLUSH);
  if (strcmp (action, "wait") == 0)
    return read_wait (r, log, r->field[log->first + 2]);
  return trace_fail (r, "action", action,
                     "add, open, close, read, write, sync, datasync, trim "
                     "or wait");
}

int
trace_read_fio (struct trace_reader *r)
{
  struct log log = { 0 };
  int got;

  if (read_version (r, &log) == -1)
    return -1;
  while ((got = trace_line (r)) == 1)
    if (trace_split (r, false) == -1 || read_action (r, &log) == -1)
      return -1;
  return got;
}
