/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "history.h"

void
value_fill (unsigned char *sector, int index, const struct value *v)
{
  uint64_t words[SECTOR / 8];

  for (uint64_t i = 0; i < SECTOR / 8; i++)
    words[i] = v->zero ? 0 : ((uint64_t) index << 32 | v->version) ^ (i << 56);
  memcpy (sector, words, SECTOR);
}

void
history_append (struct history *h, struct value v)
{
  if (h->n == h->room) {
    h->room = h->room ? h->room * 2 : 4;
    h->v = realloc (h->v, (size_t) h->room * sizeof h->v[0]);
    assert_non_null (h->v);
  }
  h->v[h->n++] = v;
}

int
history_find (const struct history *h, uint32_t version)
{
  for (int i = 0; i < h->n; i++)
    if (h->v[i].version == version)
      return i;
  return -1;
}

void
history_durable (struct history *h, uint32_t version)
{
  int i = history_find (h, version);

  if (i <= 0)
    return;
  memmove (h->v, h->v + i, (size_t) (h->n - i) * sizeof h->v[0]);
  h->n -= i;
}

int
history_acknowledged (const struct history *h)
{
  int i = h->n - 1;

  while (i > 0 && !h->v[i].acknowledged)
    i--;
  return i;
}

int
history_match (const struct history *h, int index,
               const unsigned char *sector)
{
  unsigned char expected[SECTOR];
  int i;

  for (i = h->n - 1; i >= 0; i--) {
    value_fill (expected, index, &h->v[i]);
    if (memcmp (expected, sector, SECTOR) == 0)
      break;
  }
  return i;
}
