/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dirty.h"
#include "fixed.h"

int
dirty_init (struct dirty *d, int max)
{
  *d = (struct dirty) { .max = max };
  d->extents = calloc ((size_t) max + 2, sizeof d->extents[0]);
  return d->extents == NULL ? -1 : 0;
}

void
dirty_free (struct dirty *d)
{
  free (d->extents);
}

int
dirty_find (const struct dirty *d, int64_t lba)
{
  int low = 0, high = d->n;

  while (low < high) {
    int middle = (low + high) / 2;

    if (d->extents[middle].end > lba)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

bool
dirty_contains (const struct dirty *d, int64_t lba, int64_t end)
{
  int i = dirty_find (d, lba);

  return i < d->n && d->extents[i].lba <= lba && d->extents[i].end >= end;
}

bool
dirty_overlaps (const struct dirty *d, int64_t lba, int64_t end)
{
  int i = dirty_find (d, lba);

  return i < d->n && d->extents[i].lba < end;
}

bool
dirty_has_entry (const struct dirty *d, int64_t lba, int64_t end)
{
  int i = dirty_find (d, lba - 1);

  return d->n < d->max || (i < d->n && d->extents[i].lba <= end);
}

/* Replace extents [i, j) by `with` (NULL: by nothing). */
static void
replace (struct dirty *d, int i, int j, const struct extent *with)
{
  int shift = (with != NULL) - (j - i);

  if (shift != 0)
    memmove (&d->extents[j + shift], &d->extents[j],
             (size_t) (d->n - j) * sizeof d->extents[0]);
  if (with != NULL)
    d->extents[i] = *with;
  d->n += shift;
}

void
dirty_add (struct dirty *d, int64_t lba, int64_t end)
{
  struct extent joined = { lba, end, d->next_order++, false };
  int i = dirty_find (d, lba - 1), j;

  for (j = i; j < d->n && d->extents[j].lba <= end; j++) {
    joined.lba = min_i64 (joined.lba, d->extents[j].lba);
    joined.end = max_i64 (joined.end, d->extents[j].end);
    if (d->extents[j].order < joined.order)
      joined.order = d->extents[j].order;
    d->sectors -= d->extents[j].end - d->extents[j].lba;
  }
  d->sectors += joined.end - joined.lba;
  replace (d, i, j, &joined);
}

void
dirty_remove (struct dirty *d, int64_t lba, int64_t end)
{
  int i = dirty_find (d, lba);

  while (i < d->n && d->extents[i].lba < end) {
    struct extent *e = &d->extents[i];
    struct extent tail = { end, e->end, e->order, e->edges_read };

    d->sectors -= min_i64 (e->end, end) - max_i64 (e->lba, lba);
    if (e->lba < lba) {
      e->end = lba;
      i++;
      if (tail.lba < tail.end)
        replace (d, i, i, &tail);
    }
    else if (tail.lba < tail.end) {
      *e = tail;
      i++;
    }
    else
      replace (d, i, i + 1, NULL);
  }
}
