/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spindle.h"
#include "target-impl.h"

/* What O_DIRECT may ask for. */
#define ALIGNMENT 4096

const struct target_info *
target_info (const struct target *t)
{
  return &t->info;
}

int64_t
target_host_ns (const struct target *t)
{
  (void) t;
  return monotonic_ns ();
}

int64_t
target_now_ns (const struct target *t)
{
  return t->ops->now_ns ? t->ops->now_ns (t) : t->now_ns;
}

/* Sleeping is not exact to what a sector takes: the rest is spent awake. */
static void
wait_real (const struct target *t, int64_t ns)
{
  const int64_t until_ns = target_now_ns (t) + ns;
  const int64_t awake_ns = 200000;

  if (ns > awake_ns) {
    struct timespec ts = { .tv_sec = (ns - awake_ns) / 1000000000,
                           .tv_nsec = (ns - awake_ns) % 1000000000 };

    while (clock_nanosleep (CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
      ;
  }
  while (target_now_ns (t) < until_ns)
    ;
}

void
target_wait (struct target *t, int64_t ns)
{
  if (t->info.virtual_time)
    t->now_ns += ns;
  else
    wait_real (t, ns);
}

static int
make_room (struct target_slot *s, int64_t bytes)
{
  if (bytes <= s->size)
    return 0;
  free (s->data);
  s->data = NULL;
  s->size = s->has_sectors = 0;
  if (posix_memalign ((void **) &s->data, ALIGNMENT, (size_t) bytes) != 0) {
    complain ("out of memory");
    return -1;
  }
  memset (s->data, 0, (size_t) bytes);
  s->size = bytes;
  return 0;
}

static bool
may_do (const struct target *t, const struct target_slot *s)
{
  if (s->op == DISK_READ || t->info.no_data)
    return true;
  if (!t->info.writable)
    return false;
  return s->op == DISK_FLUSH ||
    (s->op == DISK_WRITE && s->lba == s->has_lba &&
     s->sectors <= s->has_sectors);
}

int
target_submit (struct target *t, int slot, enum disk_op op, unsigned flags,
               int64_t lba, int64_t sectors)
{
  struct target_slot *s = &t->slots[slot];

  if (op == DISK_FLUSH)
    lba = sectors = 0;
  s->op = op;
  s->flags = flags;
  s->lba = lba;
  s->sectors = sectors;
  if (!t->info.no_data && op == DISK_READ) {
    s->has_sectors = 0;
    if (make_room (s, sectors * DISK_SECTOR_SIZE) == -1)
      return -1;
  }
  if (!may_do (t, s)) {
    complain ("%s: a %s that may not be", t->info.name, disk_op_name (op));
    return -1;
  }
  s->busy = true;
  return t->ops->submit (t, slot);
}

int
target_take (struct target *t, int64_t *done_ns)
{
  int slot = t->ops->take (t, done_ns);
  struct target_slot *s;

  if (slot == -1)
    return -1;
  s = &t->slots[slot];
  s->busy = false;
  if (s->op == DISK_READ) {
    s->has_lba = s->lba;
    s->has_sectors = s->sectors;
  }
  return slot;
}

int64_t
target_do (struct target *t, int slot, enum disk_op op, unsigned flags,
           int64_t lba, int64_t sectors)
{
  int64_t start_ns = target_now_ns (t), done_ns;

  if (target_submit (t, slot, op, flags, lba, sectors) == -1 ||
      target_take (t, &done_ns) == -1)
    return -1;
  return done_ns - start_ns;
}

int64_t
target_read (struct target *t, int64_t lba, int64_t sectors)
{
  return target_do (t, 0, DISK_READ, 0, lba, sectors);
}

void
target_close (struct target *t)
{
  if (t == NULL)
    return;
  t->ops->close (t);
  for (int i = 0; i < TARGET_SLOTS; i++)
    free (t->slots[i].data);
  free (t);
}
