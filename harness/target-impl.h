/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the kinds of targets have in common.
 */
#ifndef SPINDLE_TARGET_IMPL_H
#define SPINDLE_TARGET_IMPL_H

#include "target.h"

struct target_slot {
  char *data;                   /* aligned */
  int64_t size;                 /* of it, bytes */
  enum disk_op op;
  unsigned flags;
  int64_t lba, sectors;
  int64_t has_lba, has_sectors; /* what a read has brought; 0 sectors: none */
  bool busy;
};

struct target_ops {
  /* The slot is filled in. */
  int (*submit) (struct target *t, int slot);
  int (*take) (struct target *t, int64_t *done_ns);
  int64_t (*now_ns) (const struct target *t); /* NULL: t->now_ns */
  void (*close) (struct target *t);
};

/* The kinds begin with this. */
struct target {
  const struct target_ops *ops;
  struct target_info info;
  struct target_slot slots[TARGET_SLOTS];
  int64_t now_ns;               /* virtual */
};

/* The host's clock. */
int64_t target_host_ns (const struct target *t);

#endif /* SPINDLE_TARGET_IMPL_H */
