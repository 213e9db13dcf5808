/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keep one or two NBD servers busy and say how it went:
 *
 *   nbd-bench read|write BLOCK SPAN DEPTH RUNS SLICES LENGTH SOCKET...
 *
 * A run is SLICES slices, each of LENGTH "300ms" or "1000" requests; the
 * servers take turns slice by slice, so that what else the host does hits
 * both.  One line for each server:
 *
 *   IOPS P50 P90 P99 LAST
 *
 * and, with two servers, a last line with the IOPS of the first by those of
 * the second.  Each figure is the median of the runs, and IOPS in a run is
 * the median of its slices: the kernel may stop everybody for 50 ms at a
 * time.  Percentiles are of what a request took, LAST is the time from the
 * first being sent to the last coming back, in ns.  BLOCK and SPAN are in
 * bytes; blocks are consecutive, round and round in the first SPAN.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <libnbd.h>

#define MAX_DEPTH 64
#define MAX_REQUESTS 2000000    /* a run */
#define MAX_RUNS 99
#define MAX_SLICES 1000
#define FIGURES 5

struct server;

struct slot {
  struct server *server;
  char *buffer;
  int64_t sent_ns;              /* 0: free */
};

struct server {
  struct nbd_handle *nbd;
  struct slot slots[MAX_DEPTH];
  uint64_t next;
  int64_t sent, done, busy_ns;  /* in this run */
  int64_t end_ns;               /* when the last one came back */
  int64_t *took_ns;
  double rates[MAX_SLICES];     /* IOPS of the slices */
  double figures[FIGURES][MAX_RUNS];
};

static struct server servers[2];
static int n_servers, depth, n_slices, n_runs;
static bool writes;
static uint64_t block, span;
static int64_t limit_requests, limit_ns; /* one of them is 0 */

static int64_t
now_ns (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_MONOTONIC, &ts);
  return ts.tv_sec * INT64_C (1000000000) + ts.tv_nsec;
}

static void __attribute__ ((noreturn))
die (const char *why)
{
  fprintf (stderr, "nbd-bench: %s\n", why);
  exit (1);
}

static int
completed (void *opaque, int *error)
{
  struct slot *slot = opaque;
  struct server *s = slot->server;

  if (*error)
    die ("a request failed");
  s->end_ns = now_ns ();
  s->took_ns[s->done++] = s->end_ns - slot->sent_ns;
  slot->sent_ns = 0;
  return 1;
}

static void
send_one (struct server *s, struct slot *slot)
{
  nbd_completion_callback callback = {
    .callback = completed, .user_data = slot,
  };
  int64_t cookie;

  slot->sent_ns = now_ns ();
  cookie = writes
    ? nbd_aio_pwrite (s->nbd, slot->buffer, block, s->next, callback, 0)
    : nbd_aio_pread (s->nbd, slot->buffer, block, s->next, callback, 0);
  if (cookie == -1)
    die (nbd_get_error ());
  s->sent++;
  s->next = (s->next + block) % span;
}

static void
slice (struct server *s, int n)
{
  const int64_t start_ns = now_ns (), before = s->sent;
  bool more = true;

  while (more || s->done < s->sent) {
    for (int i = 0; i < depth; i++)
      if (more && s->slots[i].sent_ns == 0) {
        more = s->sent < MAX_REQUESTS &&
          (limit_requests ? s->sent - before < limit_requests
                          : now_ns () - start_ns < limit_ns);
        if (more)
          send_one (s, &s->slots[i]);
      }
    if (s->done < s->sent && nbd_poll (s->nbd, -1) == -1)
      die (nbd_get_error ());
  }
  s->busy_ns += s->end_ns - start_ns;
  s->rates[n] = (s->done - before) * 1e9 / (s->end_ns - start_ns);
}

static int
compare_times (const void *a, const void *b)
{
  const int64_t *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

static int
compare_figures (const void *a, const void *b)
{
  const double *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

static double
median (double *values, int n)
{
  qsort (values, (size_t) n, sizeof values[0], compare_figures);
  return values[n / 2];
}

static void
note_run (struct server *s, int r)
{
  static const int percentiles[] = { 50, 90, 99 };

  qsort (s->took_ns, (size_t) s->done, sizeof s->took_ns[0], compare_times);
  s->figures[0][r] = median (s->rates, n_slices);
  for (int i = 0; i < 3; i++)
    s->figures[1 + i][r] = s->took_ns[(s->done - 1) * percentiles[i] / 100];
  s->figures[4][r] = s->busy_ns;
  s->sent = s->done = s->busy_ns = 0;
}

static void
run (void)
{
  double ratios[MAX_RUNS];

  for (int r = 0; r < n_runs; r++) {
    for (int i = 0; i < n_slices; i++)
      for (int k = 0; k < n_servers; k++)
        slice (&servers[(i + k) % n_servers], i);
    for (int k = 0; k < n_servers; k++)
      note_run (&servers[k], r);
    ratios[r] = servers[0].figures[0][r] / servers[1].figures[0][r];
  }
  for (int k = 0; k < n_servers; k++) {
    printf ("%.0f", median (servers[k].figures[0], n_runs));
    for (int i = 1; i < FIGURES; i++)
      printf (" %.0f", median (servers[k].figures[i], n_runs));
    putchar ('\n');
  }
  if (n_servers == 2)
    printf ("%.3f\n", median (ratios, n_runs));
}

static void
connect_to (struct server *s, const char *path)
{
  s->took_ns = calloc (MAX_REQUESTS, sizeof s->took_ns[0]);
  s->nbd = nbd_create ();
  if (s->took_ns == NULL || s->nbd == NULL)
    die ("out of memory");
  for (int i = 0; i < depth; i++) {
    s->slots[i] = (struct slot) { s, calloc (1, block), 0 };
    if (s->slots[i].buffer == NULL)
      die ("out of memory");
  }
  if (nbd_connect_unix (s->nbd, path) == -1)
    die (nbd_get_error ());
}

static void
hang_up (struct server *s)
{
  nbd_shutdown (s->nbd, 0);
  nbd_close (s->nbd);
  for (int i = 0; i < depth; i++)
    free (s->slots[i].buffer);
  free (s->took_ns);
}

int
main (int argc, char **argv)
{
  if (argc != 9 && argc != 10)
    die ("read|write BLOCK SPAN DEPTH RUNS SLICES LENGTH SOCKET [SOCKET]");
  writes = strcmp (argv[1], "write") == 0;
  block = strtoull (argv[2], NULL, 10);
  span = strtoull (argv[3], NULL, 10);
  depth = atoi (argv[4]);
  n_runs = atoi (argv[5]);
  n_slices = atoi (argv[6]);
  if (strstr (argv[7], "ms"))
    limit_ns = strtoll (argv[7], NULL, 10) * 1000000;
  else
    limit_requests = strtoll (argv[7], NULL, 10);
  n_servers = argc - 8;
  if (depth < 1 || depth > MAX_DEPTH || n_runs < 1 || n_runs > MAX_RUNS ||
      n_slices < 1 || n_slices > MAX_SLICES || block == 0 || span == 0 || span % block ||
      (limit_ns <= 0 && limit_requests <= 0))
    die ("BLOCK, SPAN, DEPTH, RUNS, SLICES or LENGTH is wrong");

  prctl (PR_SET_TIMERSLACK, 1UL);
  for (int k = 0; k < n_servers; k++)
    connect_to (&servers[k], argv[8 + k]);
  run ();
  for (int k = 0; k < n_servers; k++)
    hang_up (&servers[k]);
  return 0;
}
