/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "fixed.h"
#include "smr.h"

#define SECTOR 512

int
smr_init (struct smr *s, const struct profile_smr *profile, int64_t capacity)
{
  *s = (struct smr) {
    .enabled = profile->enabled,
    .capacity = capacity,
    .band = max_i64 (profile->band_bytes / SECTOR, 1),
    .log_size = min_i64 (profile->cache_bytes / SECTOR, capacity),
    .in_order = -1,
    .max = (int) profile->map_entries,
  };
  if (!s->enabled)
    return 0;
  /* Cutting a run in two takes one more. */
  s->map = calloc ((size_t) s->max + 2, sizeof s->map[0]);
  return s->map == NULL ? -1 : 0;
}

void
smr_free (struct smr *s)
{
  free (s->map);
}

bool
smr_logs (const struct smr *s, int64_t lba)
{
  return s->enabled && lba % s->band != 0 && lba != s->in_order;
}

bool
smr_has_room (const struct smr *s, int64_t sectors)
{
  return s->n < s->max &&
    s->log_used + sectors <= s->log_size;
}

int64_t
smr_place (struct smr *s, int64_t sectors, int64_t skip)
{
  int64_t place = s->log_head + skip;

  return place + sectors > s->log_size ? 0 : place;
}

/* First run that ends after lba. */
static int
find (const struct smr *s, int64_t lba)
{
  int low = 0, high = s->n;

  while (low < high) {
    int middle = (low + high) / 2;

    if (s->map[middle].end > lba)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void
insert (struct smr *s, int i, const struct shingled *run)
{
  memmove (&s->map[i + 1], &s->map[i],
           (size_t) (s->n++ - i) * sizeof s->map[0]);
  s->map[i] = *run;
}

static void
forget (struct smr *s, int64_t lba, int64_t end)
{
  int i = find (s, lba), j;

  if (i < s->n && s->map[i].lba < lba) {
    struct shingled tail = s->map[i];

    s->map[i].end = lba;
    tail.log += lba - tail.lba;
    tail.lba = lba;
    insert (s, ++i, &tail);
  }
  for (j = i; j < s->n && s->map[j].end <= end; j++)
    s->log_used -= s->map[j].end - s->map[j].lba;
  if (j < s->n && s->map[j].lba < end) {
    s->log_used -= end - s->map[j].lba;
    s->map[j].log += end - s->map[j].lba;
    s->map[j].lba = end;
  }
  memmove (&s->map[i], &s->map[j], (size_t) (s->n - j) * sizeof s->map[0]);
  s->n -= j - i;
}

void
smr_settle (struct smr *s, int64_t lba, int64_t end)
{
  forget (s, lba, end);
  s->in_order = end;
}

void
smr_note (struct smr *s, int64_t lba, int64_t end, int64_t log)
{
  struct shingled run = { lba, end, log, s->next_order++ };

  forget (s, lba, end);
  insert (s, find (s, lba), &run);
  s->log_used += end - lba;
  s->log_head = log + (end - lba);
}

const struct shingled *
smr_find (const struct smr *s, int64_t lba, int64_t end)
{
  int i = s->enabled ? find (s, lba) : 0;

  return i < s->n && s->map[i].lba < end ? &s->map[i] : NULL;
}

bool
smr_oldest_band (const struct smr *s, int64_t *lba, int64_t *end)
{
  int best = 0;

  if (s->n == 0)
    return false;
  for (int i = 1; i < s->n; i++)
    if (s->map[i].order < s->map[best].order)
      best = i;
  *lba = s->map[best].lba / s->band * s->band;
  *end = min_i64 (*lba + s->band, s->capacity);
  return true;
}
