/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every reader of traces, and the model under what it read, for libFuzzer.
 * The first byte of the input chooses the reader: '0' looks at the first
 * line like spindle replay does, '1' to '5' are trace_formats.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/replay.h"

#define MAX_REPLAYED 200

extern int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const struct profile drive = {
  .name = "fuzz",
  .geometry = {
    .sectors = 1000000, .heads = 2, .rpm_x100 = 720000, .n_zones = 1,
    .zones = { { .cylinders = 1000, .sectors_per_track = 500 } },
  },
  .interface = { .bus_ps_per_byte = 15000, .overlap = true, .flush = true,
                 .fua = true, .trim = true },
  .overhead = { .read_hit_ns = 200000, .read_miss_ns = 300000,
                .write_ns = 300000 },
  .buffer = { .size_bytes = 1 << 20, .segments = 4 },
  .lookahead = { .enabled = true },
  .write_cache = { .enabled = true, .max_extents = 16, .unit_sectors = 64 },
};

/* What every trace that was accepted promises. */
static void
check (const struct trace_file *t)
{
  if (t->n == 0)
    abort ();
  for (size_t i = 0; i < t->n; i++) {
    const struct trace_request *q = &t->request[i];

    if (q->arrival_ns < 0 || q->think_ns < 0 || q->response_ns < -1 ||
        q->lba < 0 || (q->op == DISK_FLUSH ? q->sectors : q->sectors < 1) ||
        (i > 0 && q->arrival_ns < q[-1].arrival_ns))
      abort ();
  }
}

static void
send_all (struct trace_file *t)
{
  struct replay_options open = { .depth = 1, .speed_permille = 1000 };
  struct replay_options closed = {
    .closed = true, .depth = 3, .speed_permille = 1500
  };
  struct replay r;
  char *error;

  if (trace_file_fit (t, drive.geometry.sectors, true, &error) == -1) {
    free (error);
    return;
  }
  if (t->n > MAX_REPLAYED)
    return;
  if (replay_model (&drive, 1, t, &open, &r) == 0)
    replay_free (&r);
  if (replay_model (&drive, 1, t, &closed, &r) == 0)
    replay_free (&r);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const char *format = NULL;
  struct trace_file t;
  char *error = NULL;
  int fd;

  if (size < 1 || data[0] < '0' || data[0] > '5')
    return -1;
  if (data[0] > '0')
    format = trace_formats[data[0] - '1'];
  fd = memfd_create ("trace", MFD_CLOEXEC);
  if (fd == -1 || write (fd, data + 1, size - 1) != (ssize_t) size - 1 ||
      lseek (fd, 0, SEEK_SET) == -1)
    abort ();
  if (trace_file_read_fd (fd, "trace", format, NULL, &t, &error) == -1) {
    if (error == NULL || strchr (error, '\n'))
      abort ();
    free (error);
    return 0;
  }
  check (&t);
  send_all (&t);
  trace_file_free (&t);
  return 0;
}
