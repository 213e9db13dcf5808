/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a command costs in the model, on one core: a line per case with its
 * name, nanoseconds a request, and the ratio to a reference loop of the
 * same run (1000 steps of splitmix64, each with a 64-bit division), so that
 * runs on different machines can be compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "drives.h"
#include "fixed.h"

#define REQUESTS 200000

static uint64_t rng;
static volatile uint64_t sink;

static int64_t
cpu_ns (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &ts);
  return ts.tv_sec * INT64_C (1000000000) + ts.tv_nsec;
}

static int64_t
reference_ns (void)
{
  int64_t start = cpu_ns ();
  uint64_t sum = 1;

  for (int i = 0; i < 1000000; i++) {
    uint64_t x = splitmix64 (&rng);

    sum += x / ((sum & 0xffff) | 1);
  }
  sink = sum;
  return (cpu_ns () - start) / 1000;
}

struct bench {
  const char *name;
  enum disk_op op;
  int64_t sectors;
  bool sequential;
  int depth;
  int64_t drive_sectors;        /* 0: the WD's */
};

static void
next_request (const struct bench *b, int64_t capacity,
              struct disk_request *r)
{
  r->op = b->op;
  r->sectors = b->sectors;
  if (b->sequential)
    r->lba = (r->lba + b->sectors) % (capacity - b->sectors);
  else
    r->lba = (int64_t) (splitmix64 (&rng) %
                        (uint64_t) (capacity - b->sectors));
}

static int64_t
run (const struct bench *b)
{
  struct profile p;
  struct disk *d;
  struct disk_request r = { .lba = 0 };
  struct disk_completion c;
  int64_t now = 0, start;

  drive_wd (&p);
  p.queue.depth = (uint32_t) b->depth;
  p.queue.order = b->depth > 1 ? ORDER_SPTF : ORDER_FCFS;
  p.queue.awareness_permille = 900;
  if (b->drive_sectors > 0) {
    p.geometry.sectors = b->drive_sectors;
    p.geometry.heads = 16;
    drive_zones (&p, 30, 2400, 1200);
  }
  d = disk_new (&p, 1);
  if (d == NULL)
    exit (EXIT_FAILURE);
  rng = 1;
  for (int i = 0; i < b->depth; i++) {
    next_request (b, p.geometry.sectors, &r);
    disk_submit (d, 0, &r);
  }
  start = cpu_ns ();
  for (int i = 0; i < REQUESTS; i++) {
    now = disk_next_event (d);
    while (disk_advance (d, now, &c)) {
      next_request (b, p.geometry.sectors, &r);
      disk_submit (d, now, &r);
    }
  }
  start = cpu_ns () - start;
  disk_free (d);
  return start / REQUESTS;
}

int
main (void)
{
  static const struct bench cases[] = {
    { "random 4 KiB read", DISK_READ, 8, false, 1, 0 },
    { "random 1 MiB read", DISK_READ, 2048, false, 1, 0 },
    { "random 4 KiB read, 12 TB", DISK_READ, 8, false, 1, 23437770752 },
    { "sequential 4 KiB read, hits", DISK_READ, 8, true, 1, 0 },
    { "sequential 1 MiB read", DISK_READ, 2048, true, 1, 0 },
    { "random 4 KiB write, write-back", DISK_WRITE, 8, false, 1, 0 },
    { "random 4 KiB read, SPTF depth 32", DISK_READ, 8, false, 32, 0 },
  };
  int64_t reference = reference_ns ();

  printf ("%-36s %8s %8s\n", "case", "ns", "ratio");
  printf ("%-36s %8" PRId64 " %8.3f\n", "reference loop", reference, 1.0);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int64_t ns = run (&cases[i]);

    printf ("%-36s %8" PRId64 " %8.3f\n", cases[i].name, ns,
            (double) ns / (double) reference);
  }
  return 0;
}
