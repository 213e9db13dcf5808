/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stands for QEMU, to test what the spindle command does with results: it
 * takes the same settings, and does with the drive, in virtual time, what a
 * guest with nothing else to do would: random reads.  It says so in the
 * words of the agent and of the bridge.
 *
 * NO_GUEST_MS: wait so long in between, to be killed in time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock-drive.h"

#define READS 40
#define BYTES 4096
#define BLOCKS 4000000

/* The word after NAME, from its PREFIX on. */
static const char *
argument (char **argv, const char *name, const char *prefix)
{
  for (; argv[0] && argv[1]; ++argv)
    if (strcmp (argv[0], name) == 0 &&
        strncmp (argv[1], prefix, strlen (prefix)) == 0)
      return argv[1] + strlen (prefix);
  fprintf (stderr, "no %s %s\n", name, prefix);
  exit (1);
}

static struct clock_drive *
attach (void)
{
  char error[CLOCK_ERROR_SIZE], *socket = getenv ("SPINDLE_CLOCK"), *page;
  struct clock_drive *d;

  if (socket == NULL || (page = strchr (socket, '=')) == NULL)
    exit (1);
  *page++ = '\0';
  d = clock_drive_connect (socket, page, error);
  if (d == NULL) {
    fprintf (stderr, "%s\n", error);
    exit (1);
  }
  return d;
}

/* One after the other; how long they take. */
static int64_t
read_all (struct clock_drive *d)
{
  static char data[BYTES];
  const int64_t start_ns = 1000000;
  int64_t now_ns = start_ns;
  uint32_t random = 12345;

  for (int i = 0; i < READS; ++i) {
    struct clock_io io = {
      .op = CLOCK_READ, .length = BYTES, .data = data, .now_ns = now_ns,
    };
    struct clock_io_done done;

    random = random * 1103515245 + 12345;
    io.offset = (uint64_t) (random % BLOCKS) * BYTES;
    if (clock_drive_submit (d, &io) == -1 ||
        clock_drive_run (d, CLOCK_NEVER, &done) != 1) {
      fprintf (stderr, "%s\n", clock_drive_error (d));
      exit (1);
    }
    now_ns = done.done_ns + 100000;
  }
  return now_ns - start_ns;
}

static void
write_file (const char *path, int64_t ns)
{
  FILE *fp = fopen (path, "w");

  if (fp == NULL)
    exit (1);
  if (ns > 0)
    fprintf (fp, "@spindle {\"event\":\"start\",\"kernel\":\"none\"}\n"
             "@spindle {\"event\":\"result\",\"name\":\"reads\","
             "\"bytes\":%d,\"requests\":%d,\"ns\":%" PRIi64 "}\n"
             "@spindle {\"event\":\"end\",\"status\":\"ok\"}\n",
             READS * BYTES, READS, ns);
  else
    fprintf (fp, "{ \"requests\": %d, \"late\": 0, \"max_late_ns\": 0, "
             "\"forced\": 0, \"max_early_ns\": 0, \"exact\": true }\n",
             READS);
  if (fclose (fp) == EOF)
    exit (1);
}

int
main (int argc, char **argv)
{
  const char *console = argument (argv, "-serial", "file:");
  const char *wait_ms = getenv ("NO_GUEST_MS");
  const int64_t ms = wait_ms ? atoll (wait_ms) : 0;
  const struct timespec t = {
    .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000
  };
  struct clock_drive *d = attach ();

  (void) argc;
  nanosleep (&t, NULL);
  write_file (console, read_all (d));
  write_file (getenv ("SPINDLE_CLOCK_STATS"), 0);
  clock_drive_close (d);
  return 0;
}
