/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The search of spindle fit, with a host made up here in place of guests:
 * figures that are hidden are found again.  FIT_TEST_COUNT drives are made
 * at random, one if it is not set, as FIT_TEST_SEED says.
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

#include "fixed.h"
#include "loader.h"
#include "harness/fit.h"
#include "harness/spindle.h"
#include "nlopt-there.h"

/* ---- the host ---- */

/* A CPU that needs this for a read, not always exactly as long, and now and
 * then has something else to do.
 */
#define THINK_NS 90000
#define MORE_NS 4001
#define COPY_NS_PER_KIB 300
#define TICK_NS 4000000
#define TICK_WORK_NS 15000

static int64_t
think_ns (int64_t now_ns, int64_t took_ns, int64_t kib)
{
  int64_t ns = THINK_NS + now_ns % MORE_NS + COPY_NS_PER_KIB * kib;

  if (now_ns / TICK_NS != (now_ns - took_ns) / TICK_NS)
    ns += TICK_WORK_NS;
  return ns;
}

struct host {
  struct fit_run *run;
  struct disk *disk;
  int64_t now_ns;
};

/* Send one, wait until it is done, and note it. */
static void
transfer (struct host *h, int64_t lba, int64_t sectors)
{
  const struct disk_request request = {
    .op = DISK_READ, .lba = lba, .sectors = sectors,
  };
  struct trace_file *t = &h->run->trace;
  const int64_t came_ns = h->now_ns;
  struct disk_completion c;
  int64_t took_ns;

  assert_int_equal (disk_submit (h->disk, came_ns, &request), 0);
  do
    assert_true (disk_next_event (h->disk) != DISK_NEVER);
  while (!disk_advance (h->disk, disk_next_event (h->disk), &c));
  took_ns = c.complete_ns - came_ns;
  t->request[t->n++] = (struct trace_request) {
    .op = DISK_READ, .lba = lba, .sectors = sectors, .arrival_ns = came_ns,
    .response_ns = took_ns,
  };
  h->now_ns = c.complete_ns + think_ns (c.complete_ns, took_ns, sectors / 2);
}

/* As the guest's agent does: each stream has its part of the span. */
static void
do_step (struct host *h, unsigned i)
{
  const struct scenario_step *s = &h->run->results.scenario->steps[i];
  struct measurement *m = &h->run->results.steps[i];
  const int64_t block = scenario_step_block (s) / 512;
  const int64_t span = s->span_mib ? s->span_mib * 2048 : INT64_MAX / 2;
  const int64_t part = span / s->streams / block;
  const int64_t start_ns = h->now_ns;

  assert_true (s->verb == STEP_READ && s->direct && !s->random &&
               s->jobs == 1);
  m->bytes = scenario_step_bytes (s);
  m->requests = m->bytes / 512 / block;
  for (int64_t k = 0; k < m->requests; k++)
    transfer (h, s->offset_mib * 2048 +
              (k % s->streams * part + k / s->streams % part) * block, block);
  m->ns = h->now_ns - start_ns;
  m->measured = true;
}

static struct scenario *
load (const char *file)
{
  const struct scenario_pick first = { 0 };
  char *error = NULL;
  struct scenario *sc = scenario_load (file, &first, &error);

  if (sc == NULL)
    fail_msg ("%s", error);
  return sc;
}

static void
run_host (const char *file, const struct words *set, struct fit_run *r)
{
  struct profile *profile = allocate (1, sizeof *profile);
  struct scenario *sc = load (file);
  struct host h = { .run = r, .now_ns = 1000000000 };
  size_t n = 0;
  char *error = NULL;

  r->results.scenario = sc;
  r->results.drive = &sc->drives[0];
  r->results.n_drives = 1;
  r->results.steps = allocate (sc->n_steps, sizeof *r->results.steps);
  for (unsigned i = 0; i < sc->n_steps; i++)
    n += (size_t) (scenario_step_bytes (&sc->steps[i]) /
                   scenario_step_block (&sc->steps[i]));
  r->trace.request = allocate (n, sizeof *r->trace.request);
  if (fit_load_profile (r->results.drive, set, profile, &error) == -1)
    fail_msg ("%s", error);
  h.disk = disk_new (profile, (uint64_t) r->results.drive->seed);
  for (unsigned i = 0; i < sc->n_steps; i++)
    do_step (&h, i);
  disk_free (h.disk);
  free (profile);
}

/* Instead of those that run guests. */
int
fit_check (const struct fit *f)
{
  (void) f;
  return 0;
}

int
fit_record (struct fit *f, const struct words *set, struct fit_run **runs,
            unsigned *n)
{
  *n = 1;
  *runs = allocate (1, sizeof **runs);
  run_host (f->files.word[0], set, *runs);
  f->guests++;
  return fit_prepare (*runs, set);
}

/* ---- what is hidden ---- */

static char *reported, *found;

/* What the host measures with these figures is reported. */
static void
hide (const char *scenario, const struct words *set)
{
  struct fit_run *r = allocate (1, sizeof *r);
  FILE *from = fopen (scenario, "r"), *to = fopen (reported, "w");
  int c;

  assert_non_null (from);
  assert_non_null (to);
  while ((c = getc (from)) != EOF)
    putc (c, to);
  fclose (from);
  run_host (scenario, set, r);
  fprintf (to, "reported = (");
  for (unsigned i = 0; i < r->results.scenario->n_steps; i++) {
    double value;

    assert_int_equal (results_figure (&r->results, i, &value), 0);
    fprintf (to, "%s\n  { figure = \"%s\"; value = %.4f; assert = true; "
             "tolerance = 2.0; source = \"T1\"; }", i ? "," : "",
             r->results.scenario->steps[i].name, value);
  }
  fprintf (to, "\n);\n");
  assert_int_equal (fclose (to), 0);
  fit_runs_free (r, 1);
}

#define FREE 4

/* The look-ahead is first. */
static const char *const keys[FREE] = {
  "lookahead.limit-kib", "overhead.read-hit-ms", "buffer.segments",
  "geometry.zone-table.outer"
};
static const char *const ranges[FREE] = {
  "32..256", "0.05..0.5", "1..16", "450..750"
};

/* Search for the first N. */
static struct fit
find (unsigned n)
{
  struct fit f = { .quiet = true, .rounds = 4 };

  words_add (&f.files, reported);
  for (unsigned i = 0; i < n; i++) {
    char *text = format ("%s=%s", keys[i], ranges[i]);

    assert_int_equal (fit_add_parameter (&f, text), 0);
    free (text);
  }
  assert_int_equal (fit_do (&f), 0);
  return f;
}

/* What is written is what was found, and loads. */
static void
check_profile (const struct fit *f)
{
  struct profile *p = allocate (1, sizeof *p);
  char *segments = fit_value (&f->parameters[2], f->best.x[2]);
  char *error = NULL;

  assert_int_equal (fit_write_profile (f, found), 0);
  if (profile_load (found, NULL, 0, p, &error) == -1)
    fail_msg ("%s", error);
  assert_int_equal (p->buffer.segments, strtol (segments, NULL, 10));
  free (segments);
  free (p);
}

/* To a tenth; or it is said that the figures do not tell, and the range that
 * fits as well has it.
 */
static bool
is_found (const struct fit *f, unsigned i, double value)
{
  const struct fit_parameter *p = &f->parameters[i];
  char *is = fit_value (p, f->best.x[i]);
  char *low = fit_value (p, f->low[i]), *high = fit_value (p, f->high[i]);
  double off = strtod (is, NULL) / value - 1;
  bool told = fit_is_determined (f, i);

  print_message ("# %s: %s, was %.4g (%+.1f %%), %s to %s%s\n", p->key, is,
                 value, off * 100, low, high, told ? "" : ": not determined");
  told = fabs (off) <= 0.1 ||
    (!told && strtod (low, NULL) <= value && strtod (high, NULL) >= value);
  free (is);
  free (low);
  free (high);
  return told;
}

/* How many of the values are not found. */
static unsigned
look_for (const double *value)
{
  struct words set = { 0 };
  struct fit f;
  unsigned bad = 0;

  for (unsigned i = 0; i < FREE; i++)
    words_addf (&set, "%s=%.3f", keys[i], value[i]);
  for (unsigned i = 0; i < FREE; i++)
    if (strchr (ranges[i], '.') == strstr (ranges[i], ".."))
      set.word[i][strlen (set.word[i]) - 4] = '\0';
  hide ("tests/guest/fit.cfg", &set);
  f = find (FREE);
  for (unsigned i = 0; i < FREE; i++)
    bad += !is_found (&f, i, value[i]);
  print_message ("# off by %.3f tolerances, %lld hosts, %lld replays\n",
                 f.best.off, (long long) f.guests, (long long) f.replays);
  check_profile (&f);
  fit_free (&f);
  words_free (&set);
  return bad;
}

static double
between (uint64_t *state, double low, double high)
{
  double x = (double) (splitmix64 (state) >> 11) / 0x1p53;

  return low * pow (high / low, x);
}

static uint64_t
setting (const char *name, uint64_t otherwise)
{
  const char *text = getenv (name);

  return text ? strtoull (text, NULL, 10) : otherwise;
}

/* No look-ahead is longer than a segment. */
static void
hidden_figures_are_found (void **unused)
{
  const uint64_t count = setting ("FIT_TEST_COUNT", 1);
  uint64_t state = setting ("FIT_TEST_SEED", 1);
  unsigned bad = 0;

  (void) unused;
  for (uint64_t i = 0; i < count; i++) {
    double segments = round (between (&state, 2, 15));
    const double value[FREE] = {
      round (between (&state, 36, fmin (240, floor (2048 / segments)))),
      between (&state, 0.06, 0.45), segments,
      round (between (&state, 460, 740)),
    };

    bad += look_for (value);
  }
  assert_int_equal (bad, 0);
}

/* Reads so large that the drive never gets far ahead, and so small that its
 * look-ahead is not drained within a turn: the figures do not tell how long
 * it is.
 */
static void
ambiguity_is_told (void **unused)
{
  struct words set = { 0 };
  char *scenario = format ("%s.few", reported);
  FILE *fp = fopen (scenario, "w");
  struct fit f;

  (void) unused;
  assert_non_null (fp);
  fprintf (fp, "name = \"few\";\n"
           "drive = { profile = \"wd200bb\"; "
           "set = [\"lookahead.tail.enabled=false\"]; };\n"
           "steps = ({ name = \"4k\"; read = \"direct\"; block-kib = 4; "
           "mib = 3; }, { name = \"64k\"; read = \"direct\"; "
           "block-kib = 64; mib = 8; offset-mib = 80; });\n");
  assert_int_equal (fclose (fp), 0);
  words_add (&set, "lookahead.limit-kib=220");
  hide (scenario, &set);
  f = find (1);
  assert_false (fit_is_determined (&f, 0));
  assert_true (f.has_other && f.other_in_guest);
  assert_true (fabs (f.other.x[0] - f.best.x[0]) > 0.1);
  fit_free (&f);
  words_free (&set);
  unlink (scenario);
  free (scenario);
}

int
main (void)
{
  static const struct CMUnitTest tests[] = {
    cmocka_unit_test (hidden_figures_are_found),
    cmocka_unit_test (ambiguity_is_told),
  };
  const char *tmp = getenv ("TMPDIR");
  int r;

#ifndef HAVE_NLOPT
  printf ("1..0 # SKIP built without NLopt\n");
  return 0;
#endif
  reported = format ("%s/fit-test.%ld.cfg", tmp ? tmp : "/tmp",
                     (long) getpid ());
  found = format ("%s.found.cfg", reported);
  r = cmocka_run_group_tests (tests, NULL, NULL);
  unlink (reported);
  unlink (found);
  free (reported);
  free (found);
  return r;
}
