/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "fixed.h"
#include "random-drive.h"

static int64_t
between (uint64_t *random, int64_t low, int64_t high)
{
  return low + (int64_t) (splitmix64 (random) % (uint64_t) (high - low + 1));
}

#define US(low, high) between (r, (low) * 1000, (high) * 1000)

static void
random_zones (struct profile_geometry *g, uint64_t *r)
{
  int64_t outer = between (r, 250, 3500);
  int64_t inner = outer * between (r, 45, 75) / 100;
  int64_t cylinders = between (r, 8000, 120000);

  g->heads = (uint32_t) between (r, 1, 12);
  g->n_zones = (uint32_t) between (r, 4, 32);
  g->sectors = 0;
  for (uint32_t i = 0; i < g->n_zones; i++) {
    struct profile_zone *z = &g->zones[i];

    /* Not all as wide. */
    z->cylinders = (uint32_t)
      (cylinders / g->n_zones * between (r, 70, 130) / 100);
    z->sectors_per_track = (uint32_t)
      (outer - (outer - inner) * i / (g->n_zones - 1));
    z->track_skew_x1000 = z->cylinder_skew_x1000 = PROFILE_SKEW_AUTO;
    z->offset_x1000 = PROFILE_SKEW_AUTO;
    z->skip_cylinders = 0;
    g->sectors += (int64_t) z->cylinders * g->heads * z->sectors_per_track;
  }
}

static void
random_seek (struct profile_seek *s, uint64_t *r)
{
  struct profile_curve *c = &s->read;

  c->kind = SEEK_CURVE_THREE_POINT;
  c->track_ns = US (500, 2500);
  c->full_ns = US (10000, 24000);
  c->average_ns = c->track_ns + (c->full_ns - c->track_ns) *
    between (r, 42, 57) / 100;
  /* Longer than to the next track, shorter, or the same. */
  switch (between (r, 0, 2)) {
  case 0: s->head_switch_ns = c->track_ns; break;
  case 1: s->head_switch_ns = c->track_ns * between (r, 40, 95) / 100; break;
  case 2: s->head_switch_ns = c->track_ns * between (r, 105, 160) / 100;
  }
  s->write_settle_ns = US (0, 2000);
}

static void
random_buffer (struct profile *p, uint64_t *r)
{
  int64_t segment_kib = between (r, 48, 1500);

  p->buffer.segments = (uint32_t) between (r, 1, 48);
  p->buffer.segment_bytes = segment_kib * 1024;
  p->buffer.size_bytes = p->buffer.segment_bytes * p->buffer.segments;
  p->lookahead.enabled = between (r, 0, 9) > 0;
  p->lookahead.limit_bytes = between (r, 0, 1)
    ? between (r, 16, segment_kib) * 1024 : 0;
  p->lookahead.sequential_only = between (r, 0, 2) == 0;
  p->lookahead.on_command = (enum profile_interrupt) between (r, 0, 3);
  p->lookahead.restart_rotates = between (r, 0, 4) > 0;
}

void
random_drive (struct profile *p, uint64_t seed)
{
  static const uint32_t rpms[] = {
    420000, 540000, 590000, 720000, 1000000, 1500000
  };
  uint64_t random = seed, *r = &random;
  struct profile_overhead *o = &p->overhead;

  *p = (struct profile) { .name = "random" };
  p->geometry.rpm_x100 = rpms[between (r, 0, 5)];
  if (between (r, 0, 2) == 0)
    p->geometry.rpm_x100 = (uint32_t) between (r, 360000, 1500000);
  random_zones (&p->geometry, r);
  random_seek (&p->seek, r);
  random_buffer (p, r);
  p->interface.overlap = p->interface.flush = p->interface.fua = true;
  /* From four times what the outer zone needs. */
  p->interface.bus_ps_per_byte = between (r, 1600, 4800);
  o->read_hit_ns = US (30, 250);
  o->read_miss_ns = o->read_hit_ns * between (r, 100, 250) / 100;
  o->write_ns = o->read_hit_ns;
  p->write_cache.enabled = true;
  p->write_cache.max_extents = 32;
  p->write_cache.unit_sectors = 128;
  p->queue.depth = between (r, 0, 1) ? 32 : 0;
  p->queue.order = ORDER_SPTF;
  p->queue.awareness_permille = 1000;
  snprintf (p->title, sizeof p->title, "%.2f rpm, %u heads, %u zones, %u to "
            "%u sectors, %u segments, look-ahead %d/%d/%d",
            p->geometry.rpm_x100 / 100.0, p->geometry.heads,
            p->geometry.n_zones, p->geometry.zones[0].sectors_per_track,
            p->geometry.zones[p->geometry.n_zones - 1].sectors_per_track,
            p->buffer.segments, p->lookahead.enabled,
            p->lookahead.sequential_only, (int) p->lookahead.on_command);
}
