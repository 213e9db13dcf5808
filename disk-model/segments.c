/* SPDX-License-Identifier: BSD-3-Clause */
#include "fixed.h"
#include "segments.h"

int
segments_find (const struct segments *s, int64_t lba, int64_t end)
{
  int best = -1;
  int64_t best_end = 0;

  for (int i = 0; i < s->n; i++) {
    const struct segment *g = &s->v[i];

    if (g->start == g->end || lba < g->start || lba > g->end)
      continue;
    if (g->end >= end)
      return i;
    if (g->end > best_end) {
      best = i;
      best_end = g->end;
    }
  }
  return best;
}

/* Adaptive segments: those of streams share the buffer. */
static void
share (struct segments *s)
{
  int streams = 0;

  if (s->shared == 0)
    return;
  for (int i = 0; i < s->n; i++)
    streams += s->v[i].stream && s->v[i].start < s->v[i].end;
  s->capacity = s->shared / max_i64 (streams, 1);
}

int
segments_take (struct segments *s, int usable, int64_t lba)
{
  int oldest = 0;

  /* An empty one first. */
  for (int i = 0; i < usable; i++) {
    const struct segment *g = &s->v[i];

    if (g->start == g->end) {
      oldest = i;
      break;
    }
    if (g->used < s->v[oldest].used)
      oldest = i;
  }
  for (int i = usable; i < s->n; i++)
    s->v[i].end = s->v[i].start;
  s->v[oldest] = (struct segment) { .start = lba, .end = lba, .origin = lba };
  s->v[oldest].used = ++s->clock;
  share (s);
  return oldest;
}

void
segments_touch (struct segments *s, int segment)
{
  s->v[segment].used = ++s->clock;
  s->v[segment].stream = true;
  share (s);
}

void
segments_extend (struct segments *s, int segment, int64_t end)
{
  struct segment *g = &s->v[segment];

  if (end <= g->end)
    return;
  g->end = end;
  g->start = max_i64 (g->start, end - s->capacity);
}

void
segments_forget (struct segments *s, int64_t lba, int64_t end)
{
  for (int i = 0; i < s->n; i++) {
    struct segment *g = &s->v[i];

    if (lba < g->end && end > g->start)
      g->end = g->start;
  }
}
