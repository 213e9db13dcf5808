/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every figure comes from a drive of its own that has just been switched
 * on, so that they do not depend on each other.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixed.h"
#include "geometry.h"
#include "profile-figures.h"
#include "spindle.h"
#include "target.h"

#define SEED 1
#define MIB 2048                /* sectors */

#define SAID(member, scale, tolerance) \
  offsetof (struct profile, member), scale, tolerance
#define NOTHING NULL, 0, 0, -1

const struct profile_figure_def profile_figures[N_FIGURES] = {
  [FIGURE_CAPACITY] = { "capacity", "sectors", "sectors", 0,
    "geometry.sectors", SAID (geometry.sectors, 1, 0) },
  [FIGURE_RPM] = { "speed", "rpm", "rpm", 2, "geometry.rpm",
    SAID (geometry.rpm_x100, 0.01, 0) },
  [FIGURE_OUTER] = { "sustained, outer", "sustained_outer_mb_s", "MB/s", 1,
    "published.sustained-outer-mb-s",
    SAID (published.sustained_outer_kb_s, 1e-3, 3) },
  [FIGURE_MIDDLE] = { "sustained, middle", "sustained_middle_mb_s", "MB/s", 1,
    "published.sustained-middle-mb-s",
    SAID (published.sustained_middle_kb_s, 1e-3, 3) },
  [FIGURE_INNER] = { "sustained, inner", "sustained_inner_mb_s", "MB/s", 1,
    "published.sustained-inner-mb-s",
    SAID (published.sustained_inner_kb_s, 1e-3, 3) },
  [FIGURE_MEAN_RATE] = { "sustained, mean", "mean_mb_s", "MB/s", 1,
    "published.average-mb-s", SAID (published.average_kb_s, 1e-3, -1) },
  [FIGURE_TRACK_SEEK] = { "seek, track to track", "track_seek_ms", "ms", 2,
    "published.track-seek-ms", SAID (published.track_seek_ns, 1e-6, -1) },
  [FIGURE_AVERAGE_SEEK] = { "seek, average", "average_seek_ms", "ms", 2,
    "published.average-seek-ms", SAID (published.average_seek_ns, 1e-6, 3) },
  [FIGURE_FULL_STROKE] = { "seek, full stroke", "full_stroke_ms", "ms", 2,
    "published.full-stroke-ms", SAID (published.full_stroke_ns, 1e-6, 3) },
  [FIGURE_WRITE_TRACK_SEEK] = { "writing, track to track",
    "write_track_seek_ms", "ms", 2, "published.write-track-seek-ms",
    SAID (published.write_track_seek_ns, 1e-6, -1) },
  [FIGURE_WRITE_AVERAGE_SEEK] = { "writing, average seek",
    "write_average_seek_ms", "ms", 2, "published.write-average-seek-ms",
    SAID (published.write_average_seek_ns, 1e-6, 3) },
  [FIGURE_WRITE_FULL_STROKE] = { "writing, full stroke",
    "write_full_stroke_ms", "ms", 2, "published.write-full-stroke-ms",
    SAID (published.write_full_stroke_ns, 1e-6, 3) },
  [FIGURE_RANDOM_READ] = { "random read", "random_read_ms", "ms", 2,
    "published.random-read-ms", SAID (published.random_read_ns, 1e-6, -1) },
  [FIGURE_FULL_ACCESS] = { "access, full stroke", "full_access_ms", "ms", 2,
    "published.full-access-ms", SAID (published.full_access_ns, 1e-6, -1) },
  [FIGURE_HALF_ACCESS] = { "access, half", "half_access_ms", "ms", 2,
    "published.half-access-ms", SAID (published.half_access_ns, 1e-6, -1) },
  [FIGURE_QUARTER_ACCESS] = { "access, quarter", "quarter_access_ms", "ms",
    2, "published.quarter-access-ms",
    SAID (published.quarter_access_ns, 1e-6, -1) },
  [FIGURE_CACHED_READ] = { "cached read", "cached_read_ms", "ms", 3,
    "published.cached-read-ms", SAID (published.cached_read_ns, 1e-6, -1) },
  [FIGURE_IOPS] = { "random reads, depth 1", "random_read_iops", "/s", 0,
    "published.random-read-iops", SAID (published.random_iops, 1, -1) },
  [FIGURE_IOPS_32] = { "random reads, depth 32", "random_read_32_iops", "/s",
    0, "published.random-read-32-iops",
    SAID (published.random_iops_32, 1, -1) },
  [FIGURE_WRITE_IOPS] = { "random writes", "random_write_iops", "/s", 0,
    "published.random-write-iops", SAID (published.write_iops, 1, -1) },
  [FIGURE_SYNC_IOPS] = { "synchronous writes", "sync_write_iops", "/s", 0,
    "published.sync-write-iops", SAID (published.sync_write_iops, 1, -1) },
  [FIGURE_OUTER_16MIB] = { "16 MiB, first zone", "outer_16mib_s", "s", 3,
    "published.sequential-16mib-outer-s",
    SAID (published.outer_16mib_ns, 1e-9 / 1.05, 5) },
  [FIGURE_INNER_16MIB] = { "16 MiB, last zone", "inner_16mib_s", "s", 3,
    "published.sequential-16mib-inner-s",
    SAID (published.inner_16mib_ns, 1e-9 / 1.05, 5) },
  [FIGURE_RANDOM_4096] = { "4096 random reads", "random_4096_s", "s", 1,
    "published.random-4096-s",
    SAID (published.random_4096_ns, 1e-9 / 1.05, 5) },
  [FIGURE_SEGMENTS] = { "segments", "segments", "", 0, NOTHING },
  [FIGURE_LOOKAHEAD] = { "look-ahead", "lookahead_kib", "KiB", 0, NOTHING },
};

double
profile_said (const struct profile *profile, enum profile_figure f)
{
  const struct profile_figure_def *def = &profile_figures[f];
  const char *field = (const char *) profile + def->offset;
  double value;

  if (def->key == NULL)
    return NAN;
  if (f == FIGURE_RPM)
    value = *(const uint32_t *) field;
  else
    value = (double) *(const int64_t *) field;
  return value > 0 ? value * def->scale : NAN;
}

/* ---- a drive and who uses it ---- */

struct bench {
  const struct profile *profile;
  struct target *target;
  uint64_t random;
};

static int
bench_open (struct bench *b, const struct profile *profile)
{
  *b = (struct bench) { .profile = profile, .random = SEED };
  b->target = target_model (profile, SEED);
  return b->target ? 0 : -1;
}

static int64_t
below (struct bench *b, int64_t n)
{
  return (int64_t) (splitmix64 (&b->random) % (uint64_t) n);
}

/* An aligned place for `sectors' sectors. */
static int64_t
anywhere (struct bench *b, int64_t sectors)
{
  int64_t n = b->profile->geometry.sectors / sectors;

  return n > 0 ? below (b, n) * sectors : 0;
}

/* Mean time of n random commands with `depth' outstanding, in ns. */
static int
run_random (struct bench *b, enum disk_op op, int n, int depth,
            int64_t sectors, double *mean_ns)
{
  int64_t start_ns = target_now_ns (b->target), done_ns = start_ns;
  int slot = 0;

  for (int i = 0; i < n + depth; i++) {
    if (i >= depth)
      slot = target_take (b->target, &done_ns);
    else
      slot = i;
    if (slot == -1)
      return -1;
    if (i < n && target_submit (b->target, slot, op, 0,
                                anywhere (b, sectors), sectors) == -1)
      return -1;
  }
  *mean_ns = (double) (done_ns - start_ns) / n;
  return 0;
}

/* ---- rates ---- */

/* Read [lba, lba + total) with commands of `each' sectors: ns, or -1. */
static int64_t
read_run (struct bench *b, int64_t lba, int64_t total, int64_t each)
{
  int64_t start_ns = target_now_ns (b->target);

  for (int64_t i = 0; i < total; i += each)
    if (target_read (b->target, lba + i, min_i64 (each, total - i)) == -1)
      return -1;
  return target_now_ns (b->target) - start_ns;
}

/* The best rate that any size of command gives, after a start. */
static int
rate_at (const struct profile *profile, int64_t lba, int64_t total,
         double *mb_s)
{
  static const int64_t sizes[] = { 128, 256, 512 };
  const int64_t warm = total / 8;

  *mb_s = 0;
  for (int i = 0; i < 3; i++) {
    struct bench b;
    int64_t ns = -1;
    double rate;

    if (bench_open (&b, profile) == -1)
      return -1;
    if (read_run (&b, lba, warm, sizes[i]) != -1)
      ns = read_run (&b, lba + warm, total - warm, sizes[i]);
    target_close (b.target);
    if (ns == -1)
      return -1;
    rate = (double) (total - warm) * DISK_SECTOR_SIZE * 1e3 / (double) ns;
    if (rate > *mb_s)
      *mb_s = rate;
  }
  return 0;
}

static int
measure_rates (const struct profile *profile, double *figures)
{
  const int64_t sectors = profile->geometry.sectors;
  const int64_t total = min_i64 (64 * MIB, sectors);
  const int64_t piece = min_i64 (4 * MIB, sectors);
  const int n = 50;
  double sum = 0, rate;

  if (rate_at (profile, 0, total, &figures[FIGURE_OUTER]) == -1 ||
      rate_at (profile, (sectors - total) / 2, total,
               &figures[FIGURE_MIDDLE]) == -1 ||
      rate_at (profile, sectors - total, total, &figures[FIGURE_INNER]) == -1)
    return -1;
  for (int i = 0; i < n; i++) {
    if (rate_at (profile, (sectors - piece) / (n - 1) * i, piece, &rate) == -1)
      return -1;
    sum += rate;
  }
  figures[FIGURE_MEAN_RATE] = sum / n;
  return 0;
}

/* IBM's "simple sequential access": 128 commands of 128 KiB, seek and wait
 * for the first included.  The mean over several stretches.
 */
static int
measure_16mib (const struct profile *profile, bool inner, double *s)
{
  const int64_t sectors = profile->geometry.sectors, total = 16 * MIB;
  const int n = 8;
  int64_t sum_ns = 0, ns;
  struct bench b;

  if (sectors < n * total)
    return 0;
  if (bench_open (&b, profile) == -1)
    return -1;
  for (int i = 0; i < n; i++) {
    int64_t lba = inner ? sectors - (i + 1) * total : i * total;

    if (target_read (b.target, anywhere (&b, 1), 1) == -1 ||
        (ns = read_run (&b, lba, total, 256)) == -1) {
      target_close (b.target);
      return -1;
    }
    sum_ns += ns;
  }
  target_close (b.target);
  *s = (double) sum_ns * 1e-9 / n;
  return 0;
}

int
profile_streams (const struct profile *profile, int readers, double *mb_s)
{
  const int64_t each = 128, sectors = profile->geometry.sectors;
  const int64_t apart = sectors / readers / each * each;
  const int rounds = (int) min_i64 (max_i64 (1024 / readers, 16),
                                    apart / each);
  struct bench b;
  int64_t start_ns = 0;
  const int warm = rounds / 4;

  if (bench_open (&b, profile) == -1)
    return -1;
  for (int i = 0; i < rounds; i++) {
    if (i == warm)
      start_ns = target_now_ns (b.target);
    for (int r = 0; r < readers; r++)
      if (target_read (b.target, r * apart + i * each, each) == -1) {
        target_close (b.target);
        return -1;
      }
  }
  *mb_s = (double) (rounds - warm) * readers * (double) each *
    DISK_SECTOR_SIZE * 1e3 / (double) (target_now_ns (b.target) - start_ns);
  target_close (b.target);
  return 0;
}

/* ---- seeks, and the speed of the platters ---- */

/* The same mechanics with a buffer that holds nothing for long. */
static struct profile
bare_mechanics (const struct profile *profile)
{
  struct profile p = *profile;

  p.lookahead.enabled = false;
  p.buffer.segments = 1;
  p.buffer.segment_bytes = DISK_SECTOR_SIZE;
  p.buffer.keep_written = false;
  p.smr.enabled = false;
  return p;
}

/* The first sector of the first cylinder with data from `cylinder' on. */
static int64_t
cylinder_lba (const struct geometry *g, int64_t cylinder)
{
  int64_t low = 0, high = g->sectors - 1;

  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    struct place place;

    geometry_locate (g, middle, &place);
    if (place.cylinder < cylinder)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Head for head the same, so that there is no head switch. */
static int
one_seek (struct bench *b, const struct geometry *g, int64_t from, int64_t to,
          bool write, int64_t *ns)
{
  const int64_t physical = max_i64 (b->profile->geometry.physical_sectors, 1);
  const unsigned flags = write ? DISK_FUA : 0;
  const struct disk_completion *c;
  int64_t lba = cylinder_lba (g, to);

  lba = min_i64 ((lba + physical - 1) / physical * physical,
                 g->sectors - physical);
  if (target_read (b->target, cylinder_lba (g, from), 1) == -1 ||
      target_do (b->target, 0, write ? DISK_WRITE : DISK_READ, flags, lba,
                 physical) == -1)
    return -1;
  c = target_completion (b->target);
  *ns = c->times.seek_ns + c->times.settle_ns;
  return 0;
}

/* The mean over random pairs of tracks: IBM's definition weights each
 * distance with the number of pairs that are so far apart, (n + 1 - d).  Of
 * those weights the quantiles are taken.
 */
static int
average_seek (struct bench *b, const struct geometry *g, bool write,
              double *ms)
{
  const int64_t longest = g->cylinders - 1;
  const int n = 400;
  int64_t sum_ns = 0, ns;

  for (int i = 0; i < n; i++) {
    double x = 1 - sqrt (1 - (i + 0.5) / n);
    int64_t distance = max_i64 (1, llround (x * (double) longest));
    int64_t from = below (b, longest - distance + 1);
    bool back = i % 2;

    if (one_seek (b, g, back ? from + distance : from,
                  back ? from : from + distance, write, &ns) == -1)
      return -1;
    sum_ns += ns;
  }
  *ms = (double) sum_ns * 1e-6 / n;
  return 0;
}

static int
mean_seek (struct bench *b, const struct geometry *g, int64_t distance,
           bool write, double *ms)
{
  const int n = 32;
  int64_t sum_ns = 0, ns;

  for (int i = 0; i < n; i++) {
    int64_t from = below (b, g->cylinders - distance);

    if (one_seek (b, g, i % 2 ? from + distance : from,
                  i % 2 ? from : from + distance, write, &ns) == -1)
      return -1;
    sum_ns += ns;
  }
  *ms = (double) sum_ns * 1e-6 / n;
  return 0;
}

/* A sector that is read again and again, with another one between. */
static int
platter_speed (struct bench *b, double *rpm)
{
  const int64_t sectors = b->profile->geometry.sectors;
  int64_t first_ns = 0;
  double turn_ns = 6e12 / b->profile->geometry.rpm_x100, elapsed_ns = 0;
  const int n = 1000;

  for (int i = 0; i <= n; i++) {
    if (target_read (b->target, 0, 1) == -1)
      return -1;
    if (i == 0)
      first_ns = target_now_ns (b->target);
    elapsed_ns = (double) (target_now_ns (b->target) - first_ns);
    if (target_read (b->target, sectors / 2, 1) == -1)
      return -1;
  }
  *rpm = 60e9 * round (elapsed_ns / turn_ns) / elapsed_ns;
  return 0;
}

static int
measure_mechanics (const struct profile *profile, double *figures)
{
  struct profile bare = bare_mechanics (profile);
  struct geometry g;
  struct seek seek;
  struct bench b;
  int r = 0;

  if (bench_open (&b, &bare) == -1)
    return -1;
  seek_init (&seek, &bare.seek, geometry_cylinders (&bare.geometry));
  if (geometry_init (&g, &bare.geometry, &seek, 0) == -1) {
    complain ("%s", strerror (errno));
    target_close (b.target);
    return -1;
  }
  for (int write = 0; write < 2 && r == 0 && g.cylinders > 1; write++) {
    double *f = &figures[write ? FIGURE_WRITE_TRACK_SEEK : FIGURE_TRACK_SEEK];

    r = mean_seek (&b, &g, 1, write, &f[0]);
    if (r == 0)
      r = average_seek (&b, &g, write, &f[1]);
    if (r == 0)
      r = mean_seek (&b, &g, g.cylinders - 1, write, &f[2]);
  }
  if (r == 0 && g.cylinders > 1)
    r = platter_speed (&b, &figures[FIGURE_RPM]);
  geometry_free (&g);
  target_close (b.target);
  return r;
}

/* ---- times of commands ---- */

/* 250 reads of a sector to and fro, as FreeBSD's diskinfo does. */
static int
access_between (struct bench *b, int64_t lba, int64_t other, double *ms)
{
  const int64_t step = 1000, sectors = b->profile->geometry.sectors;
  int64_t start_ns = target_now_ns (b->target);

  for (int i = 0; i < 125; i++)
    if (target_read (b->target, (lba + i * step) % sectors, 1) == -1 ||
        target_read (b->target, llabs (other - i * step) % sectors, 1) == -1)
      return -1;
  *ms = (double) (target_now_ns (b->target) - start_ns) * 1e-6 / 250;
  return 0;
}

static int
cached_read (struct bench *b, double *ms)
{
  int64_t lba = b->profile->geometry.sectors / 2, ns;

  if (b->profile->buffer.segments == 0 || target_read (b->target, lba, 1) == -1)
    return -1;
  ns = target_read (b->target, lba, 1);
  *ms = (double) ns * 1e-6;
  return ns == -1 ? -1 : 0;
}

static int
measure_reads (struct bench *b, double *figures)
{
  const int64_t sectors = b->profile->geometry.sectors, last = sectors - 1;
  double ns;

  if (run_random (b, DISK_READ, 4096, 1, 1, &ns) == -1)
    return -1;
  figures[FIGURE_RANDOM_READ] = ns * 1e-6;
  figures[FIGURE_RANDOM_4096] = ns * 4096e-9;
  if (run_random (b, DISK_READ, 4096, 1, 8, &ns) == -1)
    return -1;
  figures[FIGURE_IOPS] = 1e9 / ns;
  if (run_random (b, DISK_READ, 4096, 32, 8, &ns) == -1)
    return -1;
  figures[FIGURE_IOPS_32] = 1e9 / ns;
  if (access_between (b, 0, last, &figures[FIGURE_FULL_ACCESS]) == -1 ||
      access_between (b, sectors / 4, sectors / 4 * 3,
                      &figures[FIGURE_HALF_ACCESS]) == -1 ||
      access_between (b, sectors / 4, sectors / 2,
                      &figures[FIGURE_QUARTER_ACCESS]) == -1)
    return -1;
  return cached_read (b, &figures[FIGURE_CACHED_READ]);
}

/* The write cache is filled before it counts. */
static int
measure_writes (struct bench *b, double *figures)
{
  const int64_t lba = b->profile->geometry.sectors / 16 * 8;
  const int n = 500;
  int64_t start_ns;
  double ns;

  if (run_random (b, DISK_WRITE, 2000, 1, 8, &ns) == -1 ||
      run_random (b, DISK_WRITE, 2000, 1, 8, &ns) == -1)
    return -1;
  figures[FIGURE_WRITE_IOPS] = 1e9 / ns;
  if (target_do (b->target, 0, DISK_FLUSH, 0, 0, 0) == -1)
    return -1;
  start_ns = target_now_ns (b->target);
  for (int i = 0; i < n; i++)
    if (target_do (b->target, 0, DISK_WRITE, DISK_FUA, lba + 8 * i, 8) == -1)
      return -1;
  figures[FIGURE_SYNC_IOPS] = n * 1e9 /
    (double) (target_now_ns (b->target) - start_ns);
  return 0;
}

/* ---- the buffer ---- */

/* Do n streams of one command each all stay in the buffer?  1, 0, or -1. */
static int
streams_stay (const struct profile *profile, int n)
{
  const int64_t apart = profile->geometry.sectors / n;
  struct bench b;
  int stay = 1;

  if (bench_open (&b, profile) == -1)
    return -1;
  for (int i = 0; i < 2 * n && stay == 1; i++)
    if (target_read (b.target, i % n * apart, 8) == -1)
      stay = -1;
    else if (i >= n)
      stay = target_completion (b.target)->hit == DISK_HIT_FULL;
  target_close (b.target);
  return stay;
}

/* Does the drive read on as far as the sector `ahead' after a command, or
 * after two that follow each other?  1, 0, or -1.
 */
static int
reads_on (const struct profile *profile, int64_t lba, int commands,
          int64_t ahead)
{
  struct bench b;
  int r = 1;

  if (bench_open (&b, profile) == -1)
    return -1;
  for (int i = 0; i < commands && r == 1; i++)
    if (target_read (b.target, lba + i * 8, 8) == -1)
      r = -1;
  target_wait (b.target, INT64_C (10000000000));
  if (r == 1 && target_read (b.target, lba + commands * 8 + ahead, 1) == -1)
    r = -1;
  if (r == 1)
    r = target_completion (b.target)->hit == DISK_HIT_FULL;
  target_close (b.target);
  return r;
}

static int64_t
lookahead_sectors (const struct profile *profile, int commands)
{
  int64_t lba = profile->geometry.sectors / 2;
  int64_t low = 0, high = profile->buffer.size_bytes / DISK_SECTOR_SIZE;

  high = min_i64 (high, profile->geometry.sectors - lba - 17);
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int r = reads_on (profile, lba, commands, middle);

    if (r == -1)
      return -1;
    if (r)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int
measure_buffer (const struct profile *profile, double *figures)
{
  int low = 0, high = PROFILE_MAX_SEGMENTS;
  int64_t ahead = lookahead_sectors (profile, 1);

  while (low < high) {
    int middle = (low + high + 1) / 2, r = streams_stay (profile, middle);

    if (r == -1)
      return -1;
    if (r)
      low = middle;
    else
      high = middle - 1;
  }
  figures[FIGURE_SEGMENTS] = low;
  if (ahead == 0)
    ahead = lookahead_sectors (profile, 2);
  figures[FIGURE_LOOKAHEAD] = (double) ahead / 2;
  return ahead == -1 ? -1 : 0;
}

/* ---- all of it ---- */

/* The zones hold it, and the model takes its last sector but no more. */
static int
measure_capacity (const struct profile *profile, double *sectors)
{
  struct disk *disk = disk_new (profile, SEED);
  struct disk_request r = { .op = DISK_READ, .sectors = 1,
                            .lba = profile->geometry.sectors };

  *sectors = NAN;
  if (disk == NULL) {
    complain ("%s", strerror (errno));
    return -1;
  }
  if (disk_submit (disk, 0, &r) == -1) {
    r.lba--;
    if (disk_submit (disk, 0, &r) == 0)
      *sectors = (double) profile->geometry.sectors;
  }
  disk_free (disk);
  return 0;
}

static int
with_bench (const struct profile *profile, double *figures,
            int (*measure) (struct bench *b, double *figures))
{
  struct bench b;
  int r;

  if (bench_open (&b, profile) == -1)
    return -1;
  r = measure (&b, figures);
  target_close (b.target);
  return r;
}

int
profile_measure (const struct profile *profile, double figures[N_FIGURES])
{
  for (int i = 0; i < N_FIGURES; i++)
    figures[i] = NAN;
  if (measure_capacity (profile, &figures[FIGURE_CAPACITY]) == -1)
    return -1;
  if (profile->instant)
    return 0;
  if (measure_mechanics (profile, figures) == -1 ||
      measure_rates (profile, figures) == -1 ||
      measure_16mib (profile, false, &figures[FIGURE_OUTER_16MIB]) == -1 ||
      measure_16mib (profile, true, &figures[FIGURE_INNER_16MIB]) == -1 ||
      with_bench (profile, figures, measure_reads) == -1 ||
      with_bench (profile, figures, measure_writes) == -1)
    return -1;
  return profile->buffer.segments > 0 ? measure_buffer (profile, figures) : 0;
}

int
profile_random (const struct profile *profile, int n, double *ms)
{
  struct bench b;

  if (bench_open (&b, profile) == -1)
    return -1;
  for (int i = 0; i < n; i++) {
    int64_t ns = target_read (b.target, anywhere (&b, 8), 8);

    if (ns == -1) {
      target_close (b.target);
      return -1;
    }
    ms[i] = (double) ns * 1e-6;
  }
  target_close (b.target);
  return 0;
}
