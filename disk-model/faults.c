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
faults_next (const struct faults *f, int64_t lba, int64_t command)
{
  int i = find (f, lba);

  while (i < f->n && f->v[i].from_command > command)
    i++;
  return i < f->n ? &f->v[i] : NULL;
}

int64_t
faults_first_hard (const struct faults *f, int64_t lba, int64_t end)
{
  for (int i = find (f, lba); i < f->n && f->v[i].lba < end; i++)
    if (f->v[i].retries == DISK_FAULT_HARD)
      return max_i64 (f->v[i].lba, lba);
  return -1;
}

void
faults_pending (struct faults *f, int64_t lba)
{
  struct fault one = f->v[find (f, lba)];

  one.lba = lba;
  one.end = lba + 1;
  if (one.pending)
    return;
  one.pending = true;
  /* Without room the run stays as it is, and bad. */
  faults_add (f, &one);
}

int64_t
faults_pending_sectors (const struct faults *f)
{
  int64_t n = 0;

  for (int i = 0; i < f->n; i++)
    if (f->v[i].pending)
      n += f->v[i].end - f->v[i].lba;
  return n;
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
    struct fault tail = *v;

    tail.lba = end;
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
