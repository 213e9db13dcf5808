/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixed.h"
#include "probe-impl.h"
#include "spindle.h"

/* Below, there is not enough room to keep out of the buffer's way. */
#define MIN_SECTORS (64 * 2048)

int64_t
probe_below (struct probe *p, int64_t n)
{
  return n > 1 ? (int64_t) (splitmix64 (&p->random) % (uint64_t) n) : 0;
}

int64_t
probe_anywhere (struct probe *p, int64_t first, int64_t end, int64_t sectors)
{
  int64_t lba = first + probe_below (p, end - first - sectors);

  return max_i64 (lba - lba % p->unit, 0);
}

double
probe_mod (double x, double m)
{
  x = fmod (x, m);
  return x < 0 ? x + m : x;
}

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

double
probe_median (double *values, int n)
{
  qsort (values, (size_t) n, sizeof values[0], compare);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

int
probe_read (struct probe *p, int64_t lba, double *done_ns)
{
  int64_t start_ns = target_now_ns (p->t), end_ns;

  p->r->commands++;
  if (target_submit (p->t, 0, DISK_READ, 0, lba, p->unit) == -1 ||
      target_take (p->t, &end_ns) == -1)
    return -1;
  *done_ns = (double) end_ns;
  return (double) (end_ns - start_ns) <= p->hit_most_ns;
}

void
probe_progress (struct probe *p, const char *fmt, ...)
{
  va_list args;

  if (p->progress == NULL)
    return;
  va_start (args, fmt);
  vfprintf (p->progress, fmt, args);
  va_end (args);
  fputc ('\n', p->progress);
}

void
probe_stop (struct probe *p, enum probe_status status, const char *fmt, ...)
{
  va_list args;

  p->r->status = status;
  va_start (args, fmt);
  vsnprintf (p->r->reason, sizeof p->r->reason, fmt, args);
  va_end (args);
}

const struct probe_zone *
probe_zone_of (const struct probe *p, int64_t lba)
{
  int i = p->r->n_zones - 1;

  while (i > 0 && lba < p->r->zones[i].first)
    i--;
  return &p->r->zones[i];
}

double
probe_sector_ns (const struct probe *p, const struct probe_zone *z)
{
  return p->r->turn_ns / z->sectors_per_track;
}

static double
per_cylinder (const struct probe *p, const struct probe_zone *z)
{
  return z->sectors_per_track * p->r->heads;
}

double
probe_cylinder (const struct probe *p, int64_t lba)
{
  const struct probe_zone *z = p->r->zones;
  double cylinder = 0;

  for (int i = 0; i + 1 < p->r->n_zones && lba >= z->first + z->sectors; i++)
    cylinder += (double) (z++)->cylinders;
  return cylinder + (double) (lba - z->first) / per_cylinder (p, z);
}

int64_t
probe_lba (const struct probe *p, double cylinder)
{
  const struct probe_zone *z = p->r->zones;
  int64_t lba;

  for (int i = 0; i + 1 < p->r->n_zones &&
         cylinder >= (double) z->cylinders; i++)
    cylinder -= (double) (z++)->cylinders;
  lba = z->first + (int64_t) (cylinder * per_cylinder (p, z));
  lba = min_i64 (max_i64 (lba, 0), p->r->sectors - p->unit);
  return lba - lba % p->unit;
}

static const struct step {
  const char *what;
  int (*run) (struct probe *p);
} steps[] = {
  { "speed of the platters", probe_rotation },
  { "zones", probe_zones },
  { "buffer", probe_buffer },
  { "tracks, heads, skews", probe_tracks },
  { "seeks", probe_seeks },
  { "sustained rates", probe_rates },
  { "look-ahead against other commands", probe_policy },
  { "several commands at once", probe_queue },
};

int
probe_run (struct target *t, uint64_t seed, bool write, FILE *progress,
           struct probe_result *r)
{
  struct probe p = {
    .t = t, .info = target_info (t), .r = r, .progress = progress,
    .random = seed, .unit = target_info (t)->unit,
  };
  int64_t start_ns = target_now_ns (t);

  *r = (struct probe_result) { .sectors = p.info->sectors };
  if (r->sectors < MIN_SECTORS) {
    probe_stop (&p, PROBE_TOO_SMALL, "%.1f MB: too small to be a disk; at "
                "least %d MiB are needed", (double) r->sectors * 512e-6,
                MIN_SECTORS / 2048);
    return 0;
  }
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    probe_progress (&p, "%s ...", steps[i].what);
    if (steps[i].run (&p) == -1)
      return -1;
    if (r->status != PROBE_DONE)
      break;
  }
  if (r->status == PROBE_DONE && write) {
    probe_progress (&p, "writes ...");
    if (probe_writes (&p) == -1)
      return -1;
  }
  r->elapsed_s = (double) (target_now_ns (t) - start_ns) * 1e-9;
  return 0;
}
