/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model as a target: no data, no waiting.
 */
#include <errno.h>
#include <string.h>

#include "spindle.h"
#include "target-impl.h"

struct model {
  struct target target;
  struct disk *disk;
  struct disk_completion last;
  char name[sizeof ((struct profile *) 0)->name];
};

static int
submit (struct target *t, int slot)
{
  struct model *m = (struct model *) t;
  const struct target_slot *s = &t->slots[slot];
  const struct disk_request r = { .tag = (uint64_t) slot, .op = s->op,
                                  .flags = s->flags, .lba = s->lba,
                                  .sectors = s->sectors };

  if (disk_next_event (m->disk) == DISK_NEVER)
    disk_advance (m->disk, t->now_ns, &m->last);
  if (disk_submit (m->disk, t->now_ns, &r) == 0)
    return 0;
  complain ("%s: %s %lld + %lld: %s", m->name, disk_op_name (r.op),
            (long long) r.lba, (long long) r.sectors, strerror (errno));
  return -1;
}

static int
take (struct target *t, int64_t *done_ns)
{
  struct model *m = (struct model *) t;
  int64_t next_ns = disk_next_event (m->disk);

  if (next_ns == DISK_NEVER || !disk_advance (m->disk, next_ns, &m->last)) {
    complain ("%s: nothing to wait for", m->name);
    return -1;
  }
  if (next_ns > t->now_ns)
    t->now_ns = next_ns;
  *done_ns = m->last.complete_ns;
  return (int) m->last.request.tag;
}

static void
close_model (struct target *t)
{
  disk_free (((struct model *) t)->disk);
}

static const struct target_ops ops = {
  .submit = submit, .take = take, .close = close_model,
};

struct target *
target_model (const struct profile *profile, uint64_t seed)
{
  struct disk *disk = disk_new (profile, seed);
  struct model *m;

  if (disk == NULL) {
    complain ("%s: %s", profile->name, strerror (errno));
    return NULL;
  }
  m = allocate (1, sizeof *m);
  m->disk = disk;
  memcpy (m->name, profile->name, sizeof m->name);
  m->target.ops = &ops;
  m->target.info = (struct target_info) {
    .name = m->name, .sectors = profile->geometry.sectors, .unit = 1,
    .depth = TARGET_SLOTS,
    .virtual_time = true, .writable = true, .no_data = true,
    .can_flush = profile->interface.flush, .can_fua = profile->interface.fua,
  };
  return &m->target;
}

const struct disk_completion *
target_completion (const struct target *t)
{
  return t->ops == &ops ? &((const struct model *) t)->last : NULL;
}
