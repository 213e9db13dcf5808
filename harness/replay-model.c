/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay-schedule.h"
#include "spindle.h"

/* Thirty years: the model's arithmetic holds well beyond. */
#define MAX_NS INT64_C (1000000000000000000)

static void
record (struct replay *r, const struct disk_completion *c, int64_t due_ns)
{
  struct replay_done *d = &r->done[r->n++];

  *d = (struct replay_done) {
    .arrival_ns = due_ns,
    .start_ns = c->start_ns,
    .complete_ns = c->complete_ns,
    .times = c->times,
    .index = (uint32_t) c->request.tag,
    .segment = (int16_t) c->segment,
    .hit = (uint8_t) c->hit,
    .background = (uint8_t) c->background,
  };
  d->times.queue_ns += c->arrival_ns - due_ns;
}

static int
submit (struct disk *disk, int64_t now_ns, const struct trace_file *trace,
        size_t i)
{
  const struct trace_request *q = &trace->request[i];
  struct disk_request request = {
    .tag = i, .op = (enum disk_op) q->op, .flags = q->flags,
    .lba = q->lba, .sectors = q->sectors
  };
  struct disk_completion c;

  while (disk_advance (disk, now_ns, &c))
    abort ();                   /* those due have been taken */
  if (disk_submit (disk, now_ns, &request) == 0)
    return 0;
  complain ("%s:%" PRIu32 ": request: %" PRIi64 " + %" PRIi64
            ": the model refuses it: %s", trace->path, q->line, q->lba,
            q->sectors, strerror (errno));
  return -1;
}

static int
run (struct disk *disk, struct schedule *s, int64_t *due_ns,
     struct replay *r)
{
  struct disk_completion c;
  int64_t now_ns = 0;

  while (r->n < s->trace->n) {
    int64_t due = schedule_due_ns (s);
    int64_t event_ns = disk_next_event (disk);

    if (event_ns <= due) {
      if (!disk_advance (disk, event_ns, &c))
        continue;
      now_ns = c.complete_ns;
      record (r, &c, due_ns[c.request.tag]);
      schedule_done (s, c.request.tag, now_ns);
    }
    else {
      size_t i = schedule_take (s);

      due_ns[i] = due;
      if (due > now_ns)
        now_ns = due;
      if (now_ns > MAX_NS) {
        complain ("%s:%" PRIu32 ": arrival: after more than thirty years",
                  s->trace->path, s->trace->request[i].line);
        return -1;
      }
      if (submit (disk, now_ns, s->trace, i) == -1)
        return -1;
    }
  }
  return 0;
}

int
replay_model (const struct profile *profile, uint64_t seed,
              const struct trace_file *trace,
              const struct replay_options *options, struct replay *r)
{
  struct disk *disk = disk_new (profile, seed);
  int64_t *due_ns = allocate (trace->n, sizeof *due_ns);
  int64_t start_ns = monotonic_ns ();
  struct schedule s;
  int result;

  *r = (struct replay) { .modelled = true };
  if (disk == NULL) {
    complain ("%s", strerror (errno));
    free (due_ns);
    return -1;
  }
  r->done = allocate (trace->n, sizeof *r->done);
  schedule_init (&s, trace, options, DISK_MAX_QUEUE);
  result = run (disk, &s, due_ns, r);
  r->host_ns = monotonic_ns () - start_ns;
  schedule_free (&s);
  free (due_ns);
  disk_free (disk);
  if (result == -1)
    replay_free (r);
  return result;
}

void
replay_free (struct replay *r)
{
  free (r->done);
  *r = (struct replay) { 0 };
}
