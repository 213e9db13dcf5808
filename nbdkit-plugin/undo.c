/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "undo.h"

#define SECTOR 512

struct sector {
  struct sector *next;
  int64_t lba;
  unsigned char old[SECTOR];
};

struct undo_write {
  struct undo_write *next;      /* the one submitted before */
  uint64_t tag;
  int64_t lba, sectors;
  bool through;
  struct sector *first;         /* those not forgotten */
};

struct undo {
  struct undo_write *pending;   /* newest first */
  int64_t n_sectors;            /* pending and accepted */
  int64_t n_accepted;
  uint64_t mask;
  struct sector *buckets[];     /* accepted sectors, hashed by LBA */
};

struct undo *
undo_new (int64_t cache_sectors)
{
  uint64_t n = 256;
  struct undo *u;

  while (n < (uint64_t) cache_sectors && n < UINT64_C (1) << 20)
    n *= 2;
  u = calloc (1, sizeof *u + n * sizeof u->buckets[0]);
  if (u)
    u->mask = n - 1;
  return u;
}

static void
free_sectors (struct sector *s)
{
  while (s) {
    struct sector *next = s->next;

    free (s);
    s = next;
  }
}

void
undo_write_free (struct undo_write *w)
{
  if (w)
    free_sectors (w->first);
  free (w);
}

void
undo_free (struct undo *u)
{
  if (u == NULL)
    return;
  while (u->pending) {
    struct undo_write *w = u->pending;

    u->pending = w->next;
    undo_write_free (w);
  }
  for (uint64_t i = 0; i <= u->mask; i++)
    free_sectors (u->buckets[i]);
  free (u);
}

struct undo_write *
undo_write_new (int64_t lba, int64_t sectors, const void *old, bool through)
{
  struct undo_write *w = calloc (1, sizeof *w);

  if (w == NULL)
    return NULL;
  w->lba = lba;
  w->sectors = sectors;
  w->through = through;
  for (int64_t i = sectors - 1; i >= 0; i--) {
    struct sector *s = malloc (sizeof *s);

    if (s == NULL) {
      undo_write_free (w);
      return NULL;
    }
    s->lba = lba + i;
    memcpy (s->old, (const char *) old + i * SECTOR, SECTOR);
    s->next = w->first;
    w->first = s;
  }
  return w;
}

void
undo_pending (struct undo *u, uint64_t tag, struct undo_write *w)
{
  w->tag = tag;
  w->next = u->pending;
  u->pending = w;
  u->n_sectors += w->sectors;
}

static struct undo_write *
take_pending (struct undo *u, uint64_t tag)
{
  for (struct undo_write **p = &u->pending; *p; p = &(*p)->next)
    if ((*p)->tag == tag) {
      struct undo_write *w = *p;

      *p = w->next;
      return w;
    }
  return NULL;
}

/* The place where the sector's pointer is, or would be. */
static struct sector **
lookup (struct undo *u, int64_t lba)
{
  struct sector **p = &u->buckets[(uint64_t) lba & u->mask];

  while (*p && (*p)->lba != lba)
    p = &(*p)->next;
  return p;
}

static void
drop (struct undo *u, struct sector **p)
{
  struct sector *s = *p;

  *p = s->next;
  free (s);
  u->n_sectors--;
}

static void
drop_accepted (struct undo *u, struct sector **p)
{
  drop (u, p);
  u->n_accepted--;
}

void
undo_accepted (struct undo *u, uint64_t tag)
{
  struct undo_write *w = take_pending (u, tag);

  if (w == NULL)
    return;
  while (w->first) {
    struct sector **p = lookup (u, w->first->lba);

    if (*p)                     /* the medium has something older yet */
      drop (u, &w->first);
    else {
      *p = w->first;
      w->first = w->first->next;
      (*p)->next = NULL;
      u->n_accepted++;
    }
  }
  undo_write_free (w);
}

void
undo_passed (struct undo *u, uint64_t tag, int64_t lba, int64_t sectors)
{
  struct undo_write *w = take_pending (u, tag);

  undo_destaged (u, lba, sectors);
  if (w == NULL)
    return;
  while (w->first)
    drop (u, &w->first);
  undo_write_free (w);
}

void
undo_destaged (struct undo *u, int64_t lba, int64_t sectors)
{
  for (int64_t i = 0; i < sectors; i++) {
    struct sector **p = lookup (u, lba + i);

    if (*p)
      drop_accepted (u, p);
  }
}

static void
drop_range (struct undo *u, struct undo_write *w, int64_t lba,
            int64_t sectors)
{
  for (struct sector **p = &w->first; *p; )
    if ((*p)->lba >= lba && (*p)->lba < lba + sectors)
      drop (u, p);
    else
      p = &(*p)->next;
}

void
undo_forget (struct undo *u, int64_t lba, int64_t sectors)
{
  undo_destaged (u, lba, sectors);
  for (struct undo_write *w = u->pending; w; w = w->next)
    drop_range (u, w, lba, sectors);
}

void
undo_stopped (struct undo *u, int64_t lba, int64_t sectors)
{
  struct undo_write *oldest = NULL;

  undo_destaged (u, lba, sectors);
  for (struct undo_write *w = u->pending; w; w = w->next)
    if (w->through && w->lba == lba)
      oldest = w;
  if (oldest)
    drop_range (u, oldest, lba, sectors);
}

static int
restore_list (struct undo *u, struct sector **p, undo_restore_fn *fn,
              void *opaque)
{
  for (; *p; drop (u, p))
    if (fn (opaque, (*p)->lba, (*p)->old) == -1)
      return -1;
  return 0;
}

/* Backwards in time: what was submitted last first, and what the medium
 * has last.
 */
int
undo_restore (struct undo *u, undo_restore_fn *fn, void *opaque)
{
  while (u->pending) {
    struct undo_write *w = u->pending;

    if (restore_list (u, &w->first, fn, opaque) == -1)
      return -1;
    u->pending = w->next;
    undo_write_free (w);
  }
  for (uint64_t i = 0; i <= u->mask; i++)
    if (restore_list (u, &u->buckets[i], fn, opaque) == -1)
      return -1;
  assert (u->n_sectors == 0);
  u->n_accepted = 0;
  return 0;
}

int
undo_write_restore (struct undo_write *w, undo_restore_fn *fn, void *opaque)
{
  for (const struct sector *s = w->first; s; s = s->next)
    if (fn (opaque, s->lba, s->old) == -1)
      return -1;
  return 0;
}

int64_t
undo_bytes (const struct undo *u)
{
  return u->n_sectors * SECTOR;
}

int64_t
undo_accepted_sectors (const struct undo *u)
{
  return u->n_accepted;
}
