/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "faults.h"
#include "fixed.h"

static int
find (const struct faults *f, int64_t lba)
{
  int i = 0;

  while (i < f->n && f->v[i].end <= lba)
    i++;
  return i;
}

const struct fault *
faults_next (const struct faults *f, int64_t lba)
{
  int i = find (f, lba);

  return i < f->n ? &f->v[i] : NULL;
}

static void
insert (struct faults *f, int i, const struct fault *fault)
{
  memmove (&f->v[i + 1], &f->v[i], (size_t) (f->n++ - i) * sizeof f->v[0]);
  f->v[i] = *fault;
}

int
faults_add (struct faults *f, const struct fault *fault)
{
  /* What it covers it replaces, which may cut another in two. */
  if (f->n + 2 > DISK_MAX_FAULTS)
    return -1;
  faults_heal (f, fault->lba, fault->end);
  insert (f, find (f, fault->lba), fault);
  return 0;
}

int64_t
faults_heal (struct faults *f, int64_t lba, int64_t end)
{
  int64_t healed = 0;
  int i = find (f, lba);

  while (i < f->n && f->v[i].lba < end) {
    struct fault *v = &f->v[i];
    struct fault tail = { end, v->end, v->retries };

    healed += min_i64 (v->end, end) - max_i64 (v->lba, lba);
    if (v->lba < lba) {
      v->end = lba;
      i++;
      if (tail.lba < tail.end && f->n < DISK_MAX_FAULTS)
        insert (f, i++, &tail);
    }
    else if (tail.lba < tail.end)
      *v = tail;
    else {
      f->n--;
      memmove (v, v + 1, (size_t) (f->n - i) * sizeof *v);
    }
  }
  return healed;
}
