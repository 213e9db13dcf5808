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
  unsigned char *old;           /* all of it: large blocks are given back */
  bool gone[];                  /* forgotten */
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
    free (w->old);
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
undo_write_new (int64_t lba, int64_t sectors, bool through)
{
  struct undo_write *w = calloc (1, sizeof *w +
                                 (size_t) sectors * sizeof w->gone[0]);

  if (w == NULL)
    return NULL;
  w->lba = lba;
  w->sectors = sectors;
  w->through = through;
  w->old = malloc ((size_t) sectors * SECTOR);
  if (w->old == NULL) {
    free (w);
    return NULL;
  }
  return w;
}

void *
undo_write_old (struct undo_write *w)
{
  return w->old;
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
drop_accepted (struct undo *u, struct sector **p)
{
  struct sector *s = *p;

  *p = s->next;
  free (s);
  u->n_sectors--;
  u->n_accepted--;
}

static void
drop_pending (struct undo *u, struct undo_write *w, int64_t i)
{
  u->n_sectors -= !w->gone[i];
  w->gone[i] = true;
}

/* Sector i of w becomes an accepted one, unless the medium has something
 * older yet.  Without memory it does not: a cut will leave the new content.
 */
static void
accept_sector (struct undo *u, const struct undo_write *w, int64_t i)
{
  struct sector **p = lookup (u, w->lba + i), *s;

  if (*p || (s = malloc (sizeof *s)) == NULL)
    return;
  s->next = NULL;
  s->lba = w->lba + i;
  memcpy (s->old, w->old + i * SECTOR, SECTOR);
  *p = s;
  u->n_sectors++;
  u->n_accepted++;
}

void
undo_accepted (struct undo *u, uint64_t tag)
{
  struct undo_write *w = take_pending (u, tag);

  if (w == NULL)
    return;
  for (int64_t i = 0; i < w->sectors; i++)
    if (!w->gone[i]) {
      accept_sector (u, w, i);
      drop_pending (u, w, i);
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
  for (int64_t i = 0; i < w->sectors; i++)
    drop_pending (u, w, i);
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
  int64_t first = lba > w->lba ? lba - w->lba : 0;

  for (int64_t i = first;
       i < w->sectors && w->lba + i < lba + sectors; i++)
    drop_pending (u, w, i);
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
restore_accepted (struct undo *u, struct sector **p, undo_restore_fn *fn,
                  void *opaque)
{
  for (; *p; drop_accepted (u, p))
    if (fn (opaque, (*p)->lba, (*p)->old) == -1)
      return -1;
  return 0;
}

static int
restore_pending (struct undo *u, struct undo_write *w, undo_restore_fn *fn,
                 void *opaque)
{
  for (int64_t i = 0; i < w->sectors; i++)
    if (!w->gone[i]) {
      if (fn (opaque, w->lba + i, w->old + i * SECTOR) == -1)
        return -1;
      drop_pending (u, w, i);
    }
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

    if (restore_pending (u, w, fn, opaque) == -1)
      return -1;
    u->pending = w->next;
    undo_write_free (w);
  }
  for (uint64_t i = 0; i <= u->mask; i++)
    if (restore_accepted (u, &u->buckets[i], fn, opaque) == -1)
      return -1;
  assert (u->n_sectors == 0 && u->n_accepted == 0);
  return 0;
}

int
undo_write_restore (const struct undo_write *w, undo_restore_fn *fn,
                    void *opaque)
{
  for (int64_t i = 0; i < w->sectors; i++)
    if (fn (opaque, w->lba + i, w->old + i * SECTOR) == -1)
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
