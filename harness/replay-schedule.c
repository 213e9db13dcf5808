/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "replay-schedule.h"
#include "spindle.h"

/* A time of the trace at the speed of the replay.  TRACE_MAX_NS at the
 * lowest speed still fits.
 */
static int64_t
scale (const struct schedule *s, int64_t ns)
{
  int64_t speed = s->options->speed_permille;

  return ns / speed * 1000 + ns % speed * 1000 / speed;
}

void
schedule_init (struct schedule *s, const struct trace_file *trace,
               const struct replay_options *options, int64_t limit)
{
  *s = (struct schedule) {
    .trace = trace, .options = options, .limit = limit
  };
  if (!options->closed)
    return;
  s->ready_ns = allocate ((size_t) options->depth, sizeof *s->ready_ns);
  while (s->n_ready < options->depth)
    s->ready_ns[s->n_ready++] = scale (s, trace->request[0].arrival_ns);
}

void
schedule_free (struct schedule *s)
{
  free (s->ready_ns);
}

/* The user who is ready first, of several the one who was done first. */
static int64_t
first_ready (const struct schedule *s)
{
  int64_t best = 0;

  for (int64_t i = 1; i < s->n_ready; ++i)
    if (s->ready_ns[i] < s->ready_ns[best])
      best = i;
  return best;
}

int64_t
schedule_due_ns (const struct schedule *s)
{
  if (s->next == s->trace->n || s->outstanding == s->limit)
    return DISK_NEVER;
  if (!s->options->closed)
    return scale (s, s->trace->request[s->next].arrival_ns);
  return s->n_ready > 0 ? s->ready_ns[first_ready (s)] : DISK_NEVER;
}

size_t
schedule_take (struct schedule *s)
{
  if (s->options->closed) {
    int64_t i = first_ready (s);

    memmove (&s->ready_ns[i], &s->ready_ns[i + 1],
             (size_t) (--s->n_ready - i) * sizeof *s->ready_ns);
  }
  s->outstanding++;
  return s->next++;
}

void
schedule_done (struct schedule *s, size_t i, int64_t complete_ns)
{
  s->outstanding--;
  if (s->options->closed)
    s->ready_ns[s->n_ready++] =
      complete_ns + scale (s, s->trace->request[i].think_ns);
}
