/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When requests are sent, what is made of the answers, and that a replay
 * is the same as driving the model by hand.
 *
 * A trim takes exactly trim_ns in the model, whatever came before: with it
 * all times can be written down.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "drives.h"
#include "fixed.h"
#include "harness/replay-report.h"
#include "loader.h"

#define TRIM_NS MS (1)
#define MAX_ROWS 8

static const struct replay_options open_loop = {
  .depth = 1, .speed_permille = 1000
};
static const struct replay_options closed_loop = {
  .closed = true, .depth = 1, .speed_permille = 1000
};

/* One trim: when it came, how long it took, how long the host thought. */
struct row {
  int64_t arrival_ns, response_ns, think_ns;
};

static void
trace_of (struct trace_file *t, const struct row *row, size_t n)
{
  *t = (struct trace_file) {
    .path = strdup ("T"), .format = "csv", .n = n, .timed = true,
    .request = calloc (n, sizeof *t->request),
  };
  assert_non_null (t->path);
  assert_non_null (t->request);
  for (size_t i = 0; i < n; i++)
    t->request[i] = (struct trace_request) {
      .lba = (int64_t) i * 8, .sectors = 8, .op = DISK_TRIM,
      .arrival_ns = row[i].arrival_ns, .response_ns = row[i].response_ns,
      .think_ns = row[i].think_ns, .line = (uint32_t) i + 1,
    };
}

/* Replay, and compare the times of completion; the requests must be done in
 * the order of the trace.
 */
static void
check (const struct trace_file *t, const struct replay_options *options,
       const struct row *expected)
{
  struct profile p;
  struct replay r;

  drive_wd (&p);
  p.overhead.trim_ns = TRIM_NS;
  assert_int_equal (replay_model (&p, 0, t, options, &r), 0);
  assert_int_equal (r.n, t->n);
  for (size_t i = 0; i < r.n; i++) {
    const struct replay_done *d = &r.done[i];

    assert_int_equal (d->index, i);
    assert_int_equal (d->arrival_ns, expected[i].arrival_ns);
    assert_int_equal (d->complete_ns - d->arrival_ns,
                      expected[i].response_ns);
    assert_int_equal (d->times.overhead_ns, TRIM_NS);
    assert_int_equal (d->times.queue_ns + TRIM_NS, expected[i].response_ns);
  }
  replay_free (&r);
}

static void
open_arrivals (void **state)
{
  static const struct row row[] = {
    { US (250), -1, 0 }, { US (750), -1, 0 }, { US (750), -1, 0 },
    { MS (10), -1, 0 }
  };
  static const struct row at_speed_1[] = {
    { US (250), MS (1), 0 }, { US (750), US (1500), 0 },
    { US (750), US (2500), 0 }, { MS (10), MS (1), 0 }
  };
  static const struct row at_speed_2_5[] = {
    { US (100), MS (1), 0 }, { US (300), US (1800), 0 },
    { US (300), US (2800), 0 }, { MS (4), MS (1), 0 }
  };
  struct replay_options faster = { .depth = 1, .speed_permille = 2500 };
  struct trace_file t;

  (void) state;
  trace_of (&t, row, 4);
  check (&t, &open_loop, at_speed_1);
  check (&t, &faster, at_speed_2_5);
  trace_file_free (&t);
}

static void
closed_arrivals (void **state)
{
  static const struct row row[] = {
    { MS (3), -1, US (500) }, { MS (4), -1, 0 }, { MS (5), -1, MS (7) },
    { MS (6), -1, 0 }
  };
  static const struct row one[] = {
    { MS (3), MS (1), 0 }, { US (4500), MS (1), 0 },
    { US (5500), MS (1), 0 }, { US (13500), MS (1), 0 }
  };
  /* Both users begin at 3 ms.  The first is done at 4, thinks, and is back
   * at 4.5; the second is done at 5, is back at once and waits half a
   * millisecond for the first.
   */
  static const struct row two[] = {
    { MS (3), MS (1), 0 }, { MS (3), MS (2), 0 },
    { US (4500), US (1500), 0 }, { MS (5), MS (2), 0 }
  };
  struct replay_options depth_2 = closed_loop;
  struct trace_file t;

  (void) state;
  depth_2.depth = 2;
  trace_of (&t, row, 4);
  check (&t, &closed_loop, one);
  check (&t, &depth_2, two);
  trace_file_free (&t);
}

static void
more_than_the_queue_holds (void **state)
{
  enum { N = DISK_MAX_QUEUE * 2 };
  struct row *row = calloc (N, sizeof *row);
  struct trace_file t;

  (void) state;
  assert_non_null (row);
  trace_of (&t, row, N);
  for (int i = 0; i < N; i++)
    row[i].response_ns = (i + 1) * TRIM_NS;
  check (&t, &open_loop, row);
  trace_file_free (&t);
  free (row);
}

/* A random trace with all there is in it. */
static void
random_trace (struct trace_file *t, size_t n, int64_t sectors)
{
  uint64_t rng = 4;
  int64_t now = 0;

  *t = (struct trace_file) {
    .path = strdup ("T"), .format = "csv", .n = n, .timed = true,
    .request = calloc (n, sizeof *t->request),
  };
  assert_non_null (t->request);
  for (size_t i = 0; i < n; i++) {
    struct trace_request *q = &t->request[i];

    q->op = splitmix64 (&rng) % 4;
    q->flags = splitmix64 (&rng) % 5 == 0 ? DISK_FUA : 0;
    q->sectors = 1 + (int64_t) (splitmix64 (&rng) % 300);
    q->lba = (int64_t) (splitmix64 (&rng) % (uint64_t) (sectors - 300));
    q->arrival_ns = now += (int64_t) (splitmix64 (&rng) % 25000000);
    q->think_ns = (int64_t) (splitmix64 (&rng) % 9000000);
    q->response_ns = TRACE_UNKNOWN;
    if (q->op == DISK_FLUSH)
      q->lba = q->sectors = 0;
    q->line = (uint32_t) i + 1;
  }
}

static void
same_as_by_hand (void **state)
{
  struct trace_file t;
  struct profile p;
  struct replay r;
  struct disk *d;
  int64_t now;

  (void) state;
  drive_wd (&p);
  random_trace (&t, 2000, p.geometry.sectors);
  assert_int_equal (replay_model (&p, 5, &t, &closed_loop, &r), 0);
  d = disk_new (&p, 5);
  assert_non_null (d);
  now = t.request[0].arrival_ns;
  for (size_t i = 0; i < t.n; i++) {
    const struct trace_request *q = &t.request[i];
    const struct replay_done *done = &r.done[i];
    struct disk_completion c = host_do (d, &now, (enum disk_op) q->op,
                                        q->flags, q->lba, q->sectors);

    assert_int_equal (done->index, i);
    assert_int_equal (done->arrival_ns, c.arrival_ns);
    assert_int_equal (done->start_ns, c.start_ns);
    assert_int_equal (done->complete_ns, c.complete_ns);
    assert_int_equal (done->hit, c.hit);
    assert_int_equal (done->segment, c.segment);
    assert_memory_equal (&done->times, &c.times, sizeof c.times);
    now += q->think_ns;
  }
  disk_free (d);
  replay_free (&r);
  trace_file_free (&t);
}

static const char *
temporary (const char *name)
{
  static char path[256];
  const char *dir = getenv ("TMPDIR");

  snprintf (path, sizeof path, "%s/%s", dir ? dir : "/tmp", name);
  return path;
}

/* Replay T, read what was written of it, replay that: everything must come
 * again, whatever the first one was like.
 */
static void
comes_again (const struct trace_file *t, const struct replay_options *first)
{
  struct profile p;
  struct replay r, again;
  struct trace_file own;
  struct replay_report report = {
    .trace = t, .options = first, .replay = &r
  };
  const char *path = temporary ("own.csv");
  char *error = NULL;

  drive_wd (&p);
  assert_int_equal (replay_model (&p, 9, t, first, &r), 0);
  assert_int_equal (replay_write_csv (&report, path), 0);
  if (trace_file_read (path, NULL, NULL, &own, &error) == -1)
    fail_msg ("%s", error);
  unlink (path);
  assert_int_equal (own.n, t->n);
  assert_int_equal (own.n_measured, t->n);
  assert_int_equal (replay_model (&p, 9, &own, &open_loop, &again), 0);
  assert_int_equal (again.n, r.n);
  for (size_t i = 0; i < r.n; i++)
    assert_memory_equal (&again.done[i], &r.done[i], sizeof r.done[i]);
  replay_free (&again);
  trace_file_free (&own);
  replay_free (&r);
}

static void
own_trace_comes_again (void **state)
{
  struct replay_options deep = closed_loop;
  struct trace_file t;

  (void) state;
  deep.depth = 7;
  random_trace (&t, 1500, 39102336);
  comes_again (&t, &closed_loop);
  comes_again (&t, &open_loop);
  comes_again (&t, &deep);
  trace_file_free (&t);
}

static void
time_runs_out (void **state)
{
  static const struct row row[] = {
    { 0, -1, TRACE_MAX_NS }, { 1, -1, TRACE_MAX_NS }, { 2, -1, 0 }
  };
  struct replay_options slow = closed_loop;
  struct trace_file t;
  struct profile p;
  struct replay r;

  (void) state;
  drive_wd (&p);
  slow.speed_permille = REPLAY_MIN_SPEED;
  trace_of (&t, row, 3);
  assert_int_equal (replay_model (&p, 0, &t, &closed_loop, &r), 0);
  replay_free (&r);
  assert_int_equal (replay_model (&p, 0, &t, &slow, &r), -1);
  trace_file_free (&t);
}

#define assert_near(a, b) assert_true (fabs ((a) - (b)) < 1e-9)

static void
figures (void **state)
{
  /* Here each takes 1 ms. */
  static const struct row row[] = {
    { 0, MS (50), 0 }, { MS (10), US (1400), 0 }, { MS (20), -1, 0 },
    { MS (30), US (400), 0 }, { MS (40), MS (4), 0 }
  };
  struct replay_stats s;
  struct trace_file t;
  struct profile p;
  struct replay r;

  (void) state;
  drive_wd (&p);
  p.overhead.trim_ns = TRIM_NS;
  trace_of (&t, row, 5);
  assert_int_equal (replay_model (&p, 0, &t, &open_loop, &r), 0);
  replay_stats_make (&s, &t, &r, 1);
  assert_int_equal (s.skipped, 1);
  assert_int_equal (s.all.n, 4);
  assert_int_equal (s.op[DISK_TRIM].n, 4);
  assert_int_equal (s.hit[DISK_HIT_NONE].n, 4);
  assert_near (s.elapsed_s, 0.031);
  assert_near (s.all.mean_ms, 1);
  assert_near (s.part_ms[1], 1);
  assert_int_equal (s.comparison.n, 3);
  assert_near (s.comparison.measured_mean_ms, 5.8 / 3);
  assert_near (s.comparison.mean_error_percent, (3 / 5.8 - 1) * 100);
  assert_near (s.comparison.demerit_ms,
               sqrt ((0.4 * 0.4 + 0.6 * 0.6 + 3 * 3) / 3));
  assert_near (s.comparison.within_500us, 1 / 3.0);
  assert_int_equal (s.comparison.n_worst, 3);
  assert_int_equal (r.done[s.comparison.worst[0]].index, 4);
  assert_int_equal (r.done[s.comparison.worst[1]].index, 3);
  assert_int_equal (r.done[s.comparison.worst[2]].index, 1);
  replay_stats_free (&s);

  replay_stats_make (&s, &t, &r, 99); /* nothing is left */
  assert_int_equal (s.all.n, 0);
  assert_int_equal (s.comparison.n, 0);
  replay_stats_free (&s);
  replay_free (&r);
  trace_file_free (&t);
}

static void
percentiles (void **state)
{
  struct row row[200] = { 0 };
  struct replay_stats s;
  struct trace_file t;
  struct profile p;
  struct replay r;

  (void) state;
  drive_wd (&p);
  p.overhead.trim_ns = TRIM_NS;
  trace_of (&t, row, 200);      /* all at once: 1 ms, 2 ms ... 200 ms */
  assert_int_equal (replay_model (&p, 0, &t, &open_loop, &r), 0);
  replay_stats_make (&s, &t, &r, 0);
  assert_near (s.all.p50_ms, 100);
  assert_near (s.all.p90_ms, 180);
  assert_near (s.all.p99_ms, 198);
  assert_near (s.all.max_ms, 200);
  assert_near (s.all.mean_ms, 100.5);
  replay_stats_free (&s);
  replay_free (&r);
  trace_file_free (&t);
}

/* How near the profiles of four measured drives come, where the data are
 * at hand.  The figures are for the reader; a profile that is not there is
 * not a failure.
 */
static void
print_demerit (const char *folder, const char *key)
{
  struct trace_file t;
  struct replay_stats s;
  struct replay r;
  struct profile *p = malloc (sizeof *p);
  char path[512], *error = NULL;

  assert_non_null (p);
  snprintf (path, sizeof path, "%s/%s.trace.csv.gz", folder, key);
  if (trace_file_read (path, NULL, NULL, &t, &error) == -1)
    fail_msg ("%s", error);
  assert_true (t.n_measured == t.n && t.n_overlapping == 0);
  snprintf (path, sizeof path, "%s/%s.cfg", folder, key);
  if (access (path, R_OK) == -1)
    snprintf (path, sizeof path, "%s", key);
  if (profile_load (path, NULL, 0, p, &error) == -1) {
    print_message ("# %s: %zu requests, no profile\n", key, t.n);
    free (error);
  }
  else {
    if (trace_file_fit (&t, p->geometry.sectors, false, &error) == -1)
      fail_msg ("%s", error);
    assert_int_equal (replay_model (p, 0, &t, &closed_loop, &r), 0);
    replay_stats_make (&s, &t, &r, 50);
    print_message ("# %s: measured %.3f ms, model %.3f ms, demerit %.3f ms "
                   "(%.1f %%), within 0.5 ms %.1f %%\n", key,
                   s.comparison.measured_mean_ms, s.comparison.mean_ms,
                   s.comparison.demerit_ms,
                   s.comparison.demerit_ms * 100 /
                   s.comparison.measured_mean_ms,
                   s.comparison.within_500us * 100);
    replay_stats_free (&s);
    replay_free (&r);
  }
  free (p);
  trace_file_free (&t);
}

static void
validation (void **state)
{
  static const char *const keys[] = {
    "barracuda", "cheetah9LP", "hp_c2247a", "ibm18es"
  };

  (void) state;
  for (int i = 0; i < 4; i++)
    print_demerit (getenv ("SPINDLE_VALIDATION"), keys[i]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (open_arrivals),
    cmocka_unit_test (closed_arrivals),
    cmocka_unit_test (more_than_the_queue_holds),
    cmocka_unit_test (same_as_by_hand),
    cmocka_unit_test (own_trace_comes_again),
    cmocka_unit_test (time_runs_out),
    cmocka_unit_test (figures),
    cmocka_unit_test (percentiles),
  };
  const struct CMUnitTest with_data[] = {
    cmocka_unit_test (validation),
  };
  int failed = cmocka_run_group_tests (tests, NULL, NULL);

  if (getenv ("SPINDLE_VALIDATION"))
    failed += cmocka_run_group_tests (with_data, NULL, NULL);
  else
    puts ("1..0 # SKIP SPINDLE_VALIDATION names no folder of measured drives");
  return failed;
}
