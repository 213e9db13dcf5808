/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What blkparse prints by default:
 *
 *   8,0    3       11     0.009507758   697  D   W 223490 + 8 [kjournald]
 *   8,0    3       12     0.011213221     0  C   W 223490 + 8 [0]
 *
 * device, CPU, sequence, time, process, action, kind, sector + count.
 */
#include <string.h>

#include "trace-reader.h"

#define MAX_OPEN 1024

struct events {
  bool any;
  bool issued;                  /* there are D events: take those */
  unsigned n_open;              /* issued and not yet completed ... */
  size_t open[MAX_OPEN];        /* ... by number, the oldest first */
};

enum { DEVICE, CPU, SEQUENCE, TIME, PROCESS, ACTION, KIND, SECTOR, PLUS,
       COUNT, N_WITH_SECTORS };

/* What the letters of a kind say. */
struct kind {
  bool flush_before, fua;
  char op;                      /* R, W, D, F or N */
};

static int
read_kind (struct trace_reader *r, struct kind *k)
{
  const char *p = r->field[KIND];

  *k = (struct kind) { .op = *p };
  if (*p == 'F') {              /* before data, or all there is */
    k->flush_before = true;
    k->op = p[1] && strchr ("RWDEN", p[1]) ? *++p : 'F';
  }
  if (k->op == 'E')
    k->op = 'D';                /* secure erase */
  if (k->op == '\0' || strchr ("RWDFN", k->op) == NULL)
    return trace_fail (r, "kind", r->field[KIND],
                       "R, W, D, E, F or N, and flags");
  k->fua = strchr (p + 1, 'F') != NULL;
  return 0;
}

/* Sector and count; both 0 if the event has none. */
static int
read_sectors (struct trace_reader *r, int64_t *lba, int64_t *sectors)
{
  int64_t limit = INT64_MAX / DISK_SECTOR_SIZE;

  *lba = *sectors = 0;
  if (r->n_fields < N_WITH_SECTORS || strcmp (r->field[PLUS], "+") != 0)
    return 0;
  if (trace_number (r, "sector", r->field[SECTOR], 0, limit, lba) == -1)
    return -1;
  return trace_number (r, "count", r->field[COUNT], 0, limit, sectors);
}

/* WHOLE: its completion will be reported. */
static int
add (struct trace_reader *r, struct events *e, struct trace_request *q,
     bool whole)
{
  size_t i = r->trace->n;

  q->order = i;
  if (trace_add (r, q) == -1)
    return -1;
  if (!e->issued || !whole)
    return 0;
  if (e->n_open == MAX_OPEN)    /* that one's response stays unknown */
    memmove (&e->open[0], &e->open[1], --e->n_open * sizeof e->open[0]);
  e->open[e->n_open++] = i;
  return 0;
}

static int
on_request (struct trace_reader *r, struct events *e, const struct kind *k,
            const struct trace_request *event)
{
  struct trace_request q = *event;
  bool data = q.sectors > 0 && strchr ("RWD", k->op);

  if (k->flush_before) {
    q.op = DISK_FLUSH;
    q.flags = 0;
    if (add (r, e, &q, !data) == -1)
      return -1;
  }
  q = *event;
  return data ? add (r, e, &q, true) : 0;
}

/* The oldest request that is like this event is done. */
static int
on_completion (struct trace_reader *r, struct events *e,
               const struct trace_request *event)
{
  for (unsigned i = 0; i < e->n_open; ++i) {
    struct trace_request *q = &r->trace->request[e->open[i]];

    if (q->op != event->op || q->lba != event->lba ||
        q->sectors != event->sectors)
      continue;
    if (event->arrival_ns < q->arrival_ns)
      return trace_fail (r, "time", r->field[TIME],
                         "not before the request was issued");
    q->response_ns = event->arrival_ns - q->arrival_ns;
    memmove (&e->open[i], &e->open[i + 1],
             (--e->n_open - i) * sizeof e->open[0]);
    break;
  }
  return 0;
}

static int
on_event (struct trace_reader *r, struct events *e, char action)
{
  struct trace_request event = trace_new_request (DISK_READ);
  struct kind k;
  int got = trace_device (r, r->field[DEVICE]);

  if (got != 1)
    return got;
  if (trace_time (r, "time", r->field[TIME], 1000000000,
                  &event.arrival_ns) == -1 ||
      read_kind (r, &k) == -1 ||
      read_sectors (r, &event.lba, &event.sectors) == -1)
    return -1;
  event.flags = k.fua && k.op == 'W' ? DISK_FUA : 0;
  event.op = k.op == 'W' ? DISK_WRITE : k.op == 'D' ? DISK_TRIM : DISK_READ;
  if (k.op == 'F' || (k.flush_before && event.sectors == 0)) {
    event.op = DISK_FLUSH;
    event.lba = event.sectors = 0;
  }
  if (action == 'C')
    return on_completion (r, e, &event);
  if (action == 'D' && !e->issued) {
    e->issued = true;           /* what was queued so far is not wanted */
    r->trace->n = 0;
  }
  if (action == 'Q' && e->issued)
    return 0;
  return on_request (r, e, &k, &event);
}

static int
on_line (struct trace_reader *r, struct events *e)
{
  const char *device, *action;
  size_t n;

  if (trace_split (r, false) == -1)
    return -1;
  device = r->field[DEVICE];
  n = strspn (device, "0123456789");
  if (n == 0 || device[n] != ',' || device[n+1] == '\0' ||
      device[n + 1 + strspn (device + n + 1, "0123456789")])
    return trace_fail (r, "device", device, "like 8,0");
  if (r->n_fields <= KIND)
    return trace_fail (r, "line", device, "device, CPU, sequence, time, "
                       "process, action, kind ...");
  action = r->field[ACTION];
  if (strchr ("ABCDFGIMPQRSTUWXam", action[0]) == NULL ||
      (action[1] && strcmp (action, "UT") != 0))
    return trace_fail (r, "action", action, "one of blkparse's");
  e->any = true;
  return strchr ("QDC", action[0]) ? on_event (r, e, action[0]) : 0;
}

/* Do the statistics at the end begin here? */
static bool
is_summary (const char *text)
{
  static const char *const words[] = {
    "CPU", "Total (", "Throughput (", "Events (", "Skips:", NULL
  };

  for (const char *const *w = words; *w; ++w)
    if (strncmp (text, *w, strlen (*w)) == 0)
      return true;
  return false;
}

int
trace_read_blkparse (struct trace_reader *r)
{
  struct events e = { 0 };
  int got;

  r->sort = true;               /* CPUs may be slightly out of step */
  r->trace->timed = true;
  while ((got = trace_line (r)) == 1) {
    if (is_summary (r->text))
      return 0;
    if (!e.any && strncmp (r->text, "Input file ", 11) == 0)
      continue;
    if (on_line (r, &e) == -1)
      return -1;
  }
  return got;
}
