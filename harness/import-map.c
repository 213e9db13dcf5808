/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From DiskSim's parameters to a profile.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import-impl.h"

#define SECTOR 512

/* 2^16 times the root of 2, cut off as the model does. */
#define ROOT_2_X65536 92681

/* Of a write with "Extra write disconnect"; a constant of DiskSim's. */
#define EXTRA_LEAD_SECTORS 10

static int64_t
max_i64 (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static int64_t
min_i64 (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int
check_required (struct import *in)
{
  for (int i = 0; i < IMPORT_N_KEYS; i++)
    if (import_keys[i].required && !in->drive.given[i])
      return import_fail (in, import_keys[i].name, NULL, "is missing");
  return 0;
}

/* ---- seeks ---- */

static int
curve_needs (struct import *in, enum import_key key)
{
  return in->drive.given[key] ? 0
    : import_fail (in, import_keys[key].name, NULL, "is missing: the type "
                   "of seek needs it");
}

static void
add_point (struct profile_curve *c, int64_t cylinders, int64_t ns)
{
  if (c->n_points > 0 && cylinders <= c->points[c->n_points - 1].cylinders)
    return;
  c->points[c->n_points++] = (struct profile_seek_point) {
    .cylinders = (uint32_t) cylinders, .time_ns = ns
  };
}

static int64_t
all_cylinders (const struct import *in)
{
  const struct import_drive *d = &in->drive;

  return max_i64 (d->value[IMPORT_CYLINDERS],
                  d->zone[d->n_zones - 1].last_cylinder + 1);
}

/* Straight lines between track, average at a third, and full. */
static void
map_lines (struct import *in, struct profile_curve *c)
{
  const int64_t *v = in->drive.value;
  int64_t cylinders = max_i64 (all_cylinders (in), 3);

  c->kind = SEEK_CURVE_TABLE;
  add_point (c, 1, v[IMPORT_TRACK]);
  add_point (c, cylinders / 3, v[IMPORT_AVERAGE]);
  add_point (c, cylinders - 1, v[IMPORT_FULL]);
}

/* The loader wants a curve that bends the right way. */
static void
map_three_point (struct import *in, struct profile_curve *c)
{
  const int64_t *v = in->drive.value;
  int64_t rise = v[IMPORT_AVERAGE] - v[IMPORT_TRACK];
  int64_t span = v[IMPORT_FULL] - v[IMPORT_TRACK];

  if ((span != 0 || rise != 0) &&
      (span <= 0 || 3 * rise < span || rise >= span)) {
    import_note (in, "Seek type = curve: the three times make no curve that "
                 "rises and flattens; straight lines between them");
    map_lines (in, c);
    return;
  }
  c->kind = SEEK_CURVE_THREE_POINT;
  c->track_ns = v[IMPORT_TRACK];
  c->average_ns = v[IMPORT_AVERAGE];
  c->full_ns = v[IMPORT_FULL];
}

static int
map_hpl (struct import *in, struct profile_curve *c, bool first_ten)
{
  const struct import_drive *d = &in->drive;
  const int64_t *v = d->hpl;
  int64_t two;

  if (d->n_hpl != N_HPL)
    return import_fail (in, "HPL seek equation values", NULL,
                        "%d values are needed", N_HPL);
  c->kind = SEEK_CURVE_TWO_PIECE;
  c->knee_cylinders = (uint32_t) v[HPL_KNEE];
  c->low_ns = v[HPL_LOW];
  c->low_root_ns = v[HPL_ROOT];
  c->high_ns = v[HPL_HIGH];
  c->high_ps = v[HPL_SLOPE];
  if (v[HPL_LOW] + v[HPL_ROOT] * (first_ten ? 3 : 1) < 0 ||
      v[HPL_HIGH] + v[HPL_SLOPE] * v[HPL_KNEE] / 1000 < 0)
    return import_fail (in, "HPL seek equation values", NULL,
                        "a seek would take less than no time");
  if (first_ten) {
    if (d->n_first_ten != 10)
      return import_fail (in, "First ten seek times", NULL,
                          "ten values are needed");
    for (int i = 0; i < 10; i++)
      add_point (c, i + 1, d->first_ten_ns[i]);
  }
  else if (v[HPL_SINGLE] >= 0) {
    /* A table has two points: the second is where it is anyhow. */
    two = v[HPL_KNEE] > 2
      ? v[HPL_LOW] + v[HPL_ROOT] * ROOT_2_X65536 / 65536
      : v[HPL_HIGH] + v[HPL_SLOPE] * 2 / 1000;
    add_point (c, 1, v[HPL_SINGLE]);
    add_point (c, 2, min_i64 (max_i64 (two, 0), 1000000000));
  }
  return 0;
}

static int
map_extracted (struct import *in, struct profile_curve *c)
{
  const struct import_drive *d = &in->drive;

  if (d->n_points < 2)
    return import_fail (in, "seek curve", NULL, "%s", d->n_points
                        ? "two points are needed" : "is missing");
  c->kind = SEEK_CURVE_TABLE;
  c->n_points = d->n_points;
  memcpy (c->points, d->point, d->n_points * sizeof c->points[0]);
  return 0;
}

static int
map_curve (struct import *in, struct profile_curve *c)
{
  enum import_seek_type type = in->drive.value[IMPORT_SEEK_TYPE];

  switch (type) {
  case IMPORT_SEEK_EXTRACTED:
    return map_extracted (in, c);
  case IMPORT_SEEK_HPL:
  case IMPORT_SEEK_HPL10:
    return map_hpl (in, c, type == IMPORT_SEEK_HPL10);
  case IMPORT_SEEK_CONSTANT:
    if (curve_needs (in, IMPORT_CONSTANT) == -1)
      return -1;
    c->kind = SEEK_CURVE_THREE_POINT;
    c->track_ns = c->average_ns = c->full_ns =
      in->drive.value[IMPORT_CONSTANT];
    return 0;
  case IMPORT_SEEK_LINEAR:
  case IMPORT_SEEK_CURVE:
    break;
  }
  if (curve_needs (in, IMPORT_TRACK) == -1 ||
      curve_needs (in, IMPORT_AVERAGE) == -1 ||
      curve_needs (in, IMPORT_FULL) == -1)
    return -1;
  if (type == IMPORT_SEEK_LINEAR)
    map_lines (in, c);
  else
    map_three_point (in, c);
  return 0;
}

static int
map_seek (struct import *in, struct profile_seek *s)
{
  const int64_t *v = in->drive.value;

  s->head_switch_ns = v[IMPORT_SWITCH];
  s->write_settle_ns = v[IMPORT_SETTLE];
  s->write_switch_ns = max_i64 (v[IMPORT_SETTLE], 0);
  s->write_minimum_ns = v[IMPORT_MINIMUM];
  if (v[IMPORT_SETTLE] < 0)
    import_note (in, "Add. write settling delay: negative; it shortens a "
                 "seek before a write, but not a switch inside of one");
  return map_curve (in, &s->read);
}

/* ---- the controller ---- */

/* In a profile 0 means "as the other one". */
static int64_t
not_zero (int64_t ns)
{
  return ns ? ns : 1;
}

static void
map_overhead (const struct import *in, struct profile_overhead *o)
{
  const int64_t *v = in->drive.value;

  *o = (struct profile_overhead) {
    .read_hit_ns = v[IMPORT_READ_HIT],
    .read_hit_after_write_ns = not_zero (v[IMPORT_READ_HIT_W]),
    .read_miss_ns = v[IMPORT_READ_MISS],
    .read_miss_after_write_ns = not_zero (v[IMPORT_READ_MISS_W]),
    .write_ns = v[IMPORT_WRITE_HIT],
    .write_after_write_ns = not_zero (v[IMPORT_WRITE_HIT_W]),
    .through_ns = not_zero (v[IMPORT_WRITE_MISS]),
    .through_after_write_ns = not_zero (v[IMPORT_WRITE_MISS_W]),
    .read_done_ns = v[IMPORT_READ_DONE],
    .write_done_ns = v[IMPORT_WRITE_DONE],
  };
}

/* A block's time over the slower of the drive and the bus. */
int64_t
import_bus_kb_per_s (const struct import *in, bool write)
{
  const struct import_drive *d = &in->drive;
  int64_t ns = max_i64 (d->value[IMPORT_BULK],
                        write ? d->bus_write_ns : d->bus_read_ns);
  int64_t fastest = IMPORT_FASTEST_BUS;

  if (ns == 0)
    return fastest;
  return min_i64 ((SECTOR * INT64_C (1000000) + ns / 2) / ns, fastest);
}

static int64_t
bus_ps (const struct import *in, bool write)
{
  int64_t kb_per_s = import_bus_kb_per_s (in, write);

  /* No time at all; 0 of a write would mean "as a read". */
  if (kb_per_s == IMPORT_FASTEST_BUS && !write)
    return 0;
  return (1000000000 + kb_per_s / 2) / kb_per_s;
}

static void
map_interface (const struct import *in, struct profile_interface *i)
{
  const int64_t *v = in->drive.value;

  *i = (struct profile_interface) {
    .bus_ps_per_byte = bus_ps (in, false),
    .write_bus_ps_per_byte = bus_ps (in, true),
    .overlap = true, .flush = true, .fua = true,
    .prepare_ns = v[IMPORT_PREPARE],
    .reselect_ns = v[IMPORT_RESELECT],
    .watermark_permille = (uint32_t) v[IMPORT_HIGH_MARK],
    .write_lead_sectors = v[IMPORT_EXTRA_DISC] ? EXTRA_LEAD_SECTORS : 1,
  };
}

static int
map_buffer (struct import *in, struct profile *p)
{
  const int64_t *v = in->drive.value;
  struct profile_buffer *b = &p->buffer;
  struct profile_write_cache *w = &p->write_cache;

  b->segment_bytes = v[IMPORT_SEGMENT] * SECTOR;
  /* One belongs to writes. */
  b->segments = (uint32_t) max_i64 (1, v[IMPORT_SEGMENTS] - 1);
  b->size_bytes = (b->segments + 1) * b->segment_bytes;
  if (b->size_bytes / 1024 > 4194304)
    return import_fail (in, "Segment size (in blks)", NULL,
                        "more than 4 GiB of buffer");
  *w = (struct profile_write_cache) {
    .enabled = v[IMPORT_FAST_WRITE] > 0,
    .size_bytes = b->segment_bytes,
    .max_extents = 32,
    .order = DESTAGE_ARRIVAL,
    .unit_sectors = 65536,
    .blocks_hits = true,
  };
  if (in->drive.given[IMPORT_CACHING] && v[IMPORT_CACHING] == 0) {
    import_note (in, "Enable caching in buffer = 0: no read hits, no "
                 "look-ahead");
    b->segments = 0;
  }
  return 0;
}

static void
map_lookahead (struct import *in, struct profile *p)
{
  enum { NOTHING, TO_TRACK, TO_CYLINDER, TO_SEGMENT, TWO_TRACKS };
  const int64_t *v = in->drive.value;
  struct profile_lookahead *a = &p->lookahead;

  *a = (struct profile_lookahead) {
    .enabled = p->buffer.segments > 0 && v[IMPORT_CONTINUOUS] != NOTHING,
    .resume_any = true,
    .on_command = INTERRUPT_ABORT,
    .restart_rotates = true,
  };
  switch (v[IMPORT_CONTINUOUS]) {
  case TO_TRACK:
    import_note (in, "Buffer continuous read = 1: a stream that began on "
                 "the track before is read on by one track more");
    /* fall through */
  case TWO_TRACKS:
    a->limit = AHEAD_TRACK;
    break;
  case TO_CYLINDER:
    a->limit = AHEAD_CYLINDER;
    break;
  case TO_SEGMENT:
    if (v[IMPORT_MAX_AHEAD] == 0)
      a->enabled = false;
    else if (v[IMPORT_MAX_AHEAD] < v[IMPORT_SEGMENT])
      a->limit_bytes = v[IMPORT_MAX_AHEAD] * SECTOR;
    break;
  }
  if (a->enabled && v[IMPORT_MAX_AHEAD] > v[IMPORT_SEGMENT])
    import_note (in, "Maximum read-ahead (blks) = %" PRIi64 ": a segment at "
                 "most", v[IMPORT_MAX_AHEAD]);
}

/* ---- all of it ---- */

static void
map_title (const struct import *in, struct profile *p)
{
  const char *name = in->drive.name ? in->drive.name : "a drive";

  snprintf (p->title, sizeof p->title, "%.100s (DiskSim parameters)", name);
  for (char *c = p->title; *c; c++)
    if (*c < ' ' || *c > '~')
      *c = '?';
}

int
import_map (struct import *in, struct profile *p)
{
  *p = (struct profile) { .geometry = { .physical_sectors = 1 } };
  in->file = in->path;
  in->line = 0;
  if (check_required (in) == -1 || import_layout (in, &p->geometry) == -1 ||
      map_seek (in, &p->seek) == -1 || map_buffer (in, p) == -1)
    return -1;
  p->geometry.rpm_x100 = (uint32_t) in->drive.value[IMPORT_RPM];
  map_title (in, p);
  map_overhead (in, &p->overhead);
  map_interface (in, &p->interface);
  map_lookahead (in, p);
  import_notes (in);
  return 0;
}
