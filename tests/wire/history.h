/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For tests: what a sector may hold, when some of what was written to it
 * may be lost.
 */
#ifndef SPINDLE_TEST_HISTORY_H
#define SPINDLE_TEST_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define SECTOR 512

struct value {
  uint32_t version;             /* number of the write */
  bool zero;                    /* it was trimmed, or never written */
  bool acknowledged;
};

/* In the order of submission. */
struct history {
  struct value *v;              /* the first is durable */
  int n, room;
};

/* The bytes of sector number `index` with this value. */
extern void value_fill (unsigned char *sector, int index,
                        const struct value *v);

extern void history_append (struct history *h, struct value v);

/* Where the version is, or -1. */
extern int history_find (const struct history *h, uint32_t version);

/* What is older than this version, if that is still there, is impossible. */
extern void history_durable (struct history *h, uint32_t version);

/* The last one that was acknowledged. */
extern int history_acknowledged (const struct history *h);

/* The latest one that the sector has, or -1. */
extern int history_match (const struct history *h, int index,
                          const unsigned char *sector);

#endif /* SPINDLE_TEST_HISTORY_H */
