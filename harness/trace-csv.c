/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Comma-separated values with named columns: anybody's, and the traces that
 * spindle writes itself, which have more columns and comments.
 */
#include <string.h>
#include <strings.h>

#include "spindle.h"
#include "trace-reader.h"

enum role {
  IGNORED, ARRIVAL, RESPONSE, THINK, COMPLETE, LBA, OFFSET, SECTORS, BYTES,
  OP, FLAGS, SEQ, ERROR, N_ROLES
};

static const struct column {
  const char *name;
  enum role role;
  int64_t unit_ns;
} columns[] = {
  { "arrival_ns", ARRIVAL, 1 },
  { "arrival_us", ARRIVAL, 1000 },
  { "arrival_ms", ARRIVAL, 1000000 },
  { "arrival_s", ARRIVAL, 1000000000 },
  { "lba", LBA, 0 },
  { "offset", OFFSET, 0 },
  { "sectors", SECTORS, 0 },
  { "blocks", SECTORS, 0 },
  { "bytes", BYTES, 0 },
  { "op", OP, 0 },
  { "flags", FLAGS, 0 },
  { "measured_response_ns", RESPONSE, 1 },
  { "measured_response_us", RESPONSE, 1000 },
  { "measured_response_ms", RESPONSE, 1000000 },
  { "measured_response_s", RESPONSE, 1000000000 },
  { "think_ns", THINK, 1 },
  { "think_us", THINK, 1000 },
  { "think_ms", THINK, 1000000 },
  { "think_s", THINK, 1000000000 },
  /* Of spindle's own traces. */
  { "seq", SEQ, 0 },
  { "complete_ns", COMPLETE, 1 },
  { "error", ERROR, 0 },
  { "start_ns", IGNORED, 0 },
  { "hit", IGNORED, 0 },
  { "segment", IGNORED, 0 },
  { "queue_ns", IGNORED, 0 },
  { "overhead_ns", IGNORED, 0 },
  { "actuator_ns", IGNORED, 0 },
  { "seek_ns", IGNORED, 0 },
  { "settle_ns", IGNORED, 0 },
  { "rotation_ns", IGNORED, 0 },
  { "media_ns", IGNORED, 0 },
  { "bus_ns", IGNORED, 0 },
  { "background", IGNORED, 0 },
  { "line", IGNORED, 0 },
  { "traced_ns", IGNORED, 0 },
};
#define N_COLUMNS (sizeof columns / sizeof columns[0])

struct csv {
  unsigned n_fields;
  const struct column *column[N_ROLES]; /* NULL if not there */
  unsigned field[N_ROLES];
};

static const struct column *
find_column (struct trace_reader *r, const char *name)
{
  const char *names[N_COLUMNS + 1], *near;
  size_t i;

  for (i = 0; i < N_COLUMNS; ++i) {
    names[i] = columns[i].name;
    if (strcmp (name, columns[i].name) == 0)
      return &columns[i];
  }
  names[N_COLUMNS] = NULL;
  near = nearest_word (name, names);
  if (near)
    trace_fail (r, "column", name, "unknown; did you mean %s?", near);
  else
    trace_fail (r, "column", name,
                "unknown; columns are arrival_ms, lba, sectors, op, "
                "measured_response_ms, think_ms and variants");
  return NULL;
}

static int
need (struct trace_reader *r, const struct csv *csv, enum role a,
      enum role b, const char *names)
{
  if (csv->column[a] && csv->column[b] && a != b)
    return trace_fail (r, "columns", NULL, "%s, not both", names);
  if (csv->column[a] || csv->column[b])
    return 0;
  return trace_fail (r, "columns", NULL, "%s is needed", names);
}

static int
read_header (struct trace_reader *r, struct csv *csv)
{
  unsigned i;

  if (trace_split (r, true) == -1)
    return -1;
  csv->n_fields = r->n_fields;
  for (i = 0; i < r->n_fields; ++i) {
    const struct column *c = find_column (r, r->field[i]);

    if (c == NULL)
      return -1;
    if (c->role != IGNORED && csv->column[c->role])
      return trace_fail (r, "column", c->name, "%s is there already",
                         csv->column[c->role]->name);
    csv->column[c->role] = c;
    csv->field[c->role] = i;
  }
  if (need (r, csv, LBA, OFFSET, "lba or offset") == -1 ||
      need (r, csv, SECTORS, BYTES, "sectors, blocks or bytes") == -1 ||
      need (r, csv, OP, OP, "op") == -1)
    return -1;
  if (csv->column[COMPLETE] &&
      (csv->column[ARRIVAL] == NULL || csv->column[RESPONSE]))
    return trace_fail (r, "column", "complete_ns",
                       "with an arrival and without a measured response");
  r->trace->timed = csv->column[ARRIVAL] != NULL;
  r->sort = csv->column[SEQ] && csv->column[COMPLETE];
  return 0;
}

/* The field with that role, or NULL if there is none or it is empty. */
static const char *
field (const struct trace_reader *r, const struct csv *csv, enum role role)
{
  if (csv->column[role] == NULL || *r->field[csv->field[role]] == '\0')
    return NULL;
  return r->field[csv->field[role]];
}

static int
read_op (struct trace_reader *r, const struct csv *csv,
         struct trace_request *q)
{
  const char *text = field (r, csv, OP);
  const char *flags = field (r, csv, FLAGS);

  for (enum disk_op op = DISK_READ; text && op <= DISK_TRIM; ++op) {
    const char *name = disk_op_name (op);

    if (strcasecmp (text, name) == 0 ||
        (strncasecmp (text, name, 1) == 0 && text[1] == '\0')) {
      *q = trace_new_request (op);
      if (flags == NULL)
        return 0;
      q->flags = DISK_FUA;
      return strcmp (flags, "fua") == 0
        ? 0 : trace_fail (r, "flags", flags, "fua or nothing");
    }
  }
  return trace_fail (r, "op", text ? text : "",
                     "read, write, flush or trim, or the first letter");
}

static int
read_place (struct trace_reader *r, const struct csv *csv,
            struct trace_request *q)
{
  int64_t limit = INT64_MAX / DISK_SECTOR_SIZE;
  const char *from = field (r, csv, csv->column[LBA] ? LBA : OFFSET);
  const char *size = field (r, csv, csv->column[SECTORS] ? SECTORS : BYTES);

  if (q->op == DISK_FLUSH)
    return 0;
  if (from == NULL || size == NULL)
    return trace_fail (r, from ? "size" : "place", "", "a number");
  if (csv->column[LBA]
      ? trace_number (r, "lba", from, 0, limit, &q->lba)
      : trace_bytes (r, "offset", from, &q->lba))
    return -1;
  if (csv->column[BYTES]) {
    if (trace_bytes (r, "bytes", size, &q->sectors) == -1)
      return -1;
    return q->sectors > 0 ? 0 : trace_fail (r, "bytes", size, "more than 0");
  }
  return trace_number (r, csv->column[SECTORS]->name, size, 1, limit,
                       &q->sectors);
}

/* A time that may be missing. */
static int
read_time (struct trace_reader *r, const struct csv *csv, enum role role,
           int64_t *ns)
{
  const char *text = field (r, csv, role);

  if (text == NULL)
    return 0;
  return trace_time (r, csv->column[role]->name, text,
                     csv->column[role]->unit_ns, ns);
}

static int
read_times (struct trace_reader *r, const struct csv *csv,
            struct trace_request *q)
{
  int64_t complete_ns = TRACE_UNKNOWN;

  if (csv->column[ARRIVAL] && field (r, csv, ARRIVAL) == NULL)
    return trace_fail (r, csv->column[ARRIVAL]->name, "", "a time");
  if (read_time (r, csv, ARRIVAL, &q->arrival_ns) == -1 ||
      read_time (r, csv, RESPONSE, &q->response_ns) == -1 ||
      read_time (r, csv, THINK, &q->think_ns) == -1 ||
      read_time (r, csv, COMPLETE, &complete_ns) == -1)
    return -1;
  if (complete_ns == TRACE_UNKNOWN)
    return 0;
  if (complete_ns < q->arrival_ns)
    return trace_fail (r, "complete_ns", field (r, csv, COMPLETE),
                       "not before its arrival");
  q->response_ns = complete_ns - q->arrival_ns;
  return 0;
}

static int
read_row (struct trace_reader *r, const struct csv *csv)
{
  struct trace_request q;
  const char *seq, *error;
  int64_t n = 0;

  if (trace_split (r, true) == -1)
    return -1;
  if (r->n_fields != csv->n_fields)
    return trace_fail (r, "line", r->field[0],
                       "%u fields, as many as the header has",
                       csv->n_fields);
  if (read_op (r, csv, &q) == -1 || read_place (r, csv, &q) == -1 ||
      read_times (r, csv, &q) == -1)
    return -1;
  seq = field (r, csv, SEQ);
  error = field (r, csv, ERROR);
  if ((r->sort && trace_number (r, "seq", seq ? seq : "", 0, INT64_MAX,
                                &n) == -1))
    return -1;
  q.order = (uint64_t) n;
  if (error && trace_number (r, "error", error, 0, INT32_MAX, &n) == -1)
    return -1;
  if (error && n != 0)
    return 0;                   /* the drive never served it */
  return trace_add (r, &q);
}

static int
check_comment (struct trace_reader *r)
{
  static const char head[] = "# spindle-trace ";
  size_t n = strlen (head);

  if (strncmp (r->text, head, n) == 0 && strcmp (r->text + n, "1") != 0)
    return trace_fail (r, "spindle-trace", r->text + n, "version 1");
  return 0;
}

int
trace_read_csv (struct trace_reader *r)
{
  struct csv csv = { 0 };
  bool header = false;
  int got, result;

  while ((got = trace_line (r)) == 1) {
    if (r->text[0] == '#')
      result = check_comment (r);
    else if (!header) {
      header = true;
      result = read_header (r, &csv);
    }
    else
      result = read_row (r, &csv);
    if (result == -1)
      return -1;
  }
  return got;
}
