/* SPDX-License-Identifier: BSD-3-Clause
 *
 * DiskSim's ASCII traces, and those of its validation runs.
 */
#include <ctype.h>
#include <string.h>

#include "trace-reader.h"

#define READ_FLAG 1

/* Hexadecimal, as DiskSim reads it, but not more than 32 bits. */
static int
read_flags (struct trace_reader *r, const char *text, unsigned *flags)
{
  const char *p = text;

  if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
    p += 2;
  *flags = 0;
  if (strlen (p) < 1 || strlen (p) > 8 ||
      p[strspn (p, "0123456789abcdefABCDEF")])
    return trace_fail (r, "flags", text, "a hexadecimal number of 32 bits");
  for (; *p; ++p)
    *flags = *flags << 4 | (unsigned)
      (isdigit ((unsigned char) *p) ? *p - '0' : (*p | ' ') - 'a' + 10);
  return 0;
}

static int
read_place (struct trace_reader *r, char *const *field,
            struct trace_request *q)
{
  int64_t limit = INT64_MAX / DISK_SECTOR_SIZE;

  if (trace_number (r, "blkno", field[0], 0, limit, &q->lba) == -1)
    return -1;
  return trace_number (r, "size", field[1], 1, limit, &q->sectors);
}

int
trace_read_disksim (struct trace_reader *r)
{
  struct trace_request q;
  unsigned flags;
  int got;

  r->trace->timed = true;
  while ((got = trace_line (r)) == 1) {
    if (trace_split (r, false) == -1)
      return -1;
    if (r->n_fields != 5)
      return trace_fail (r, "line", r->field[0],
                         "five fields: arrival in ms, devno, blkno, size, "
                         "flags");
    if (read_flags (r, r->field[4], &flags) == -1)
      return -1;
    q = trace_new_request (flags & READ_FLAG ? DISK_READ : DISK_WRITE);
    if (trace_time (r, "arrival", r->field[0], 1000000, &q.arrival_ns) == -1
        || read_place (r, &r->field[2], &q) == -1)
      return -1;
    got = trace_device (r, r->field[1]);
    if (got == -1 || (got && trace_add (r, &q) == -1))
      return -1;
  }
  return got;
}

/* "R Hit LBN BLOCKS RESPONSE-US THINK-US".  The second says what the
 * drive's buffer was expected to do.
 */
int
trace_read_validate (struct trace_reader *r)
{
  struct trace_request q;
  int got;

  while ((got = trace_line (r)) == 1) {
    if (trace_split (r, false) == -1)
      return -1;
    if (r->n_fields != 6)
      return trace_fail (r, "line", r->field[0],
                         "six fields: R or W, buffer action, block, size, "
                         "response in us, think time in us");
    if (strcmp (r->field[0], "R") != 0 && strcmp (r->field[0], "W") != 0)
      return trace_fail (r, "op", r->field[0], "R or W");
    q = trace_new_request (r->field[0][0] == 'R' ? DISK_READ : DISK_WRITE);
    if (read_place (r, &r->field[2], &q) == -1 ||
        trace_time (r, "response", r->field[4], 1000, &q.response_ns) == -1
        || trace_time (r, "think", r->field[5], 1000, &q.think_ns) == -1 ||
        trace_add (r, &q) == -1)
      return -1;
  }
  return got;
}
