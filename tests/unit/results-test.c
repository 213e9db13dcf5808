/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From what a guest measured to a verdict, and the JSON on both sides.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/json.h"
#include "harness/record.h"
#include "harness/results.h"
#include "harness/spindle.h"

static struct scenario_step steps[] = {
  { .name = "fast", .family = "fast", .unit = UNIT_MIB_PER_S },
  { .name = "slow", .family = "slow", .unit = UNIT_MIB_PER_S },
  { .name = "seek", .family = "seek", .unit = UNIT_MS },
  { .name = "rate", .family = "rate", .unit = UNIT_IO_PER_S },
};
static struct scenario_reported reported;
static struct scenario_drive drive = { .name = "d", .profile = "p" };
static struct profile profile = { .title = "A \"drive\"" };
static struct measurement measured[] = {
#define MEASURED(b, n, t) \
  { .measured = true, .bytes = b, .requests = n, .ns = t }
  MEASURED (32 << 20, 256, 1000000000),
  MEASURED (32 << 20, 256, 2000000000),
  MEASURED (4096 * 100, 100, 1340000000),
  MEASURED (4096 * 100, 100, 500000000),
};
static struct scenario scenario = {
  .name = "s", .steps = steps, .n_steps = 4, .reported = &reported,
  .n_reported = 1, .machine = MACHINE_DEFAULT,
};
static struct run_results results = {
  .scenario = &scenario, .drive = &drive, .profile = &profile, .n_drives = 1,
  .name = "d", .folder = "s.d", .part = 3,
  .exact = true,
  .kernel = "2.6.1-test", .steps = measured,
};

static enum verdict
verdict (const char *kernel, double value, double tolerance, bool assert)
{
  double v, ratio;

  reported = (struct scenario_reported) {
    .figure = "fast", .value = value, .kernel = (char *) kernel,
    .tolerance = tolerance, .assert = assert,
  };
  return results_compare (&results, &reported, &v, &ratio);
}

static void
figures (void **state)
{
  static const double expected[] = { 32, 16, 13.4, 200 };
  double v;
  unsigned i;

  (void) state;
  for (i = 0; i < 4; ++i) {
    assert_int_equal (results_figure (&results, i, &v), 0);
    assert_true (v > expected[i] * 0.999999 && v < expected[i] * 1.000001);
  }
}

static void
verdicts (void **state)
{
  (void) state;
  assert_int_equal (verdict (NULL, 31, 5, false), VERDICT_REPRODUCED);
  assert_int_equal (verdict (NULL, 31, 3, false), VERDICT_NOT_REPRODUCED);
  assert_int_equal (verdict ("2.6.1", 31, 5, false), VERDICT_REPRODUCED);
  assert_int_equal (verdict ("2.6", 31, 5, false), VERDICT_REPRODUCED);
  assert_int_equal (verdict ("2.6.0", 10, 5, false), VERDICT_COMPARISON);
  assert_int_equal (verdict ("2.6.1-rc1", 10, 5, false),
                    VERDICT_COMPARISON);
  assert_int_equal (verdict ("2.6.0", 10, 5, true), VERDICT_NOT_REPRODUCED);
  assert_int_equal (verdict ("2.6.0", 31, 5, true), VERDICT_REPRODUCED);
  /* "2.6.1" is not what 2.6.12 or 2.6.1-rc1 are. */
  results.kernel = "2.6.12";
  assert_int_equal (verdict ("2.6.1", 31, 5, false), VERDICT_COMPARISON);
  results.kernel = "2.6.1-rc1";
  assert_int_equal (verdict ("2.6.1", 31, 5, false), VERDICT_COMPARISON);
  results.kernel = "2.6.1-test";
}

/* A run is not reproduced if nothing of what was reported counts. */
static void
what_counts (void **state)
{
  struct run_results r = results;

  (void) state;
  r.exact = true;
  assert_int_equal (verdict ("2.6.1", 31, 5, false), VERDICT_REPRODUCED);
  assert_int_equal (results_outcome (&r), OUTCOME_REPRODUCED);
  assert_int_equal (verdict ("2.6.12", 31, 5, false), VERDICT_COMPARISON);
  assert_int_equal (results_outcome (&r), OUTCOME_MEASURED);
  assert_int_equal (outcome_exit (OUTCOME_MEASURED), EXIT_REPRODUCED);
  assert_int_equal (verdict ("2.6.1", 10, 5, false), VERDICT_NOT_REPRODUCED);
  assert_int_equal (results_outcome (&r), OUTCOME_NOT_REPRODUCED);
}

static void
ratios (void **state)
{
  double v, ratio;

  (void) state;
  reported = (struct scenario_reported) {
    .figure = "slow", .over = "fast", .value = 0.5, .tolerance = 1,
  };
  assert_int_equal (results_compare (&results, &reported, &v, &ratio),
                    VERDICT_REPRODUCED);
  assert_true (results_reproduced (&results));
  measured[0].measured = false;
  assert_int_equal (results_compare (&results, &reported, &v, &ratio),
                    VERDICT_NOT_MEASURED);
  assert_false (results_reproduced (&results));
  measured[0].measured = true;
}

/* Of several reported values none is the right one. */
static void
a_range (void **state)
{
  double v, ratio;

  (void) state;
  reported = (struct scenario_reported) {
    .figure = "fast", .value = 30, .below = 2, .above = 1.5, .tolerance = 2,
  };
  assert_int_equal (results_compare (&results, &reported, &v, &ratio),
                    VERDICT_REPRODUCED);
  reported.above = 1;
  assert_int_equal (results_compare (&results, &reported, &v, &ratio),
                    VERDICT_NOT_REPRODUCED);
}

/* An eighth of the work in an eighth of the time; a rate stays one. */
static void
a_part_of_the_work (void **state)
{
  static struct scenario_step also[] = {
    { .name = "a", .unit = UNIT_S, .scale = 8, .repeats = 2 },
    { .name = "b", .verb = STEP_ALSO, .also = ALSO_FIRST, .scale = 8,
      .repeats = 2, .unit = UNIT_S },
    { .name = "c", .verb = STEP_ALSO, .also = ALSO_DISK, .scale = 8,
      .repeats = 2, .unit = UNIT_IO },
    { .name = "d", .verb = STEP_ALSO, .also = ALSO_DISK_MS, .scale = 8,
      .repeats = 2, .unit = UNIT_MS },
    { .name = "e", .unit = UNIT_MIB_PER_S, .scale = 8, .repeats = 2 },
  };
  static const double expected[] = { 8, 4, 40, 3, 16 };
  struct scenario sc = { .steps = also, .n_steps = 5 };
  struct measurement m = {
    .measured = true, .bytes = 32 << 20, .requests = 100, .ns = 2000000000,
    .first_ns = 1000000000, .slow = 10, .slow_ns = 30000000,
  };
  struct measurement all[] = { m, m, m, m, m };
  struct run_results r = { .scenario = &sc, .steps = all };
  double v;
  unsigned i;

  (void) state;
  for (i = 0; i < 5; ++i) {
    assert_int_equal (results_figure (&r, i, &v), 0);
    assert_true (v > expected[i] * 0.999999 && v < expected[i] * 1.000001);
  }
}

/* A kernel that is not there: its own figures are named, and nothing else. */
static void
skipped (void **state)
{
  struct run_results r = results;
  struct scenario sc = scenario;
  char *text = NULL;
  size_t size;
  double v, ratio;
  FILE *fp;

  (void) state;
  sc.kernel_name = (char *) "2.6.0";
  r.scenario = &sc;
  r.kernel = NULL;
  r.skipped = (char *) "no kernel 2.6.0";
  verdict ("2.6.0", 31, 5, true);
  assert_true (results_applies (&r, &reported));
  assert_int_equal (results_compare (&r, &reported, &v, &ratio),
                    VERDICT_SKIPPED);
  assert_true (results_reproduced (&r));
  fp = open_memstream (&text, &size);
  results_print (fp, &r, NULL);
  fclose (fp);
  assert_non_null (strstr (text, "skipped: no kernel 2.6.0: fast\n"));
  free (text);
  verdict ("2.6.1", 31, 5, true);
  assert_false (results_applies (&r, &reported));
}

/* results.json of one run.  Free it. */
static char *
write_json (void)
{
  char *text = NULL, *run = NULL;
  struct words runs = { 0 };
  size_t size;
  FILE *fp = open_memstream (&run, &size);
  struct json j = { .fp = fp };

  assert_non_null (fp);
  results_write_json (&j, &results);
  fclose (fp);
  words_add (&runs, run);
  free (run);
  fp = open_memstream (&text, &size);
  assert_non_null (fp);
  records_write (fp, "0123", 7, &runs);
  fclose (fp);
  words_free (&runs);
  return text;
}

static void
results_as_json (void **state)
{
  char *text, *s;
  bool b;

  (void) state;
  verdict ("2.6.0", 10, 5, true);
  text = write_json ();
  assert_int_equal (json_get_string (text, "verdict", &s), 0);
  assert_string_equal (s, "not reproduced");
  free (s);
  assert_int_equal (json_get_bool (text, "verdict", &b), -1);
  assert_non_null (strstr (text, "\"value\": 13.4"));
  free (text);
}

/* Written to a folder, read again.  Free what *R is. */
static void
keep_and_load (struct records *r)
{
  char *folder = format ("%s/kept", getenv ("TMPDIR"));
  char *path = format ("%s/results.json", folder);
  char *text = write_json ();
  FILE *fp;

  mkdir (folder, 0777);
  fp = fopen (path, "w");
  assert_non_null (fp);
  fputs (text, fp);
  fclose (fp);
  assert_int_equal (records_load (folder, r), 0);
  free (text);
  /* Half of it is nothing. */
  assert_int_equal (truncate (path, 300), 0);
  assert_int_equal (records_load (folder, &(struct records) { 0 }), -1);
  unlink (path);
  rmdir (folder);
  free (path);
  free (folder);
}

static void
results_read_back (void **state)
{
  struct records r;

  (void) state;
  verdict ("2.6.0", 64, 5, true);
  keep_and_load (&r);
  assert_string_equal (r.matrix, "0123");
  assert_int_equal (r.parts, 7);
  assert_int_equal (r.n, 1);
  assert_int_equal (records_outcome (&r), OUTCOME_NOT_REPRODUCED);
  assert_string_equal (r.run[0].folder, "s.d");
  assert_int_equal (r.run[0].part, 3);
  assert_int_equal (r.run[0].n_figures, 4);
  assert_true (record_figure (&r.run[0], "slow")->value == 16);
  assert_null (record_figure (&r.run[0], "none"));
  assert_int_equal (r.run[0].n_reported, 1);
  assert_true (r.run[0].reported[0].ratio == 0.5);
  assert_string_equal (r.run[0].reported[0].figure, "fast");
  assert_string_equal (r.run[0].drives.word[0], "A \"drive\"");
  records_free (&r);
}

/* A run that failed is a result as well. */
static void
failed_run (void **state)
{
  struct records r;

  (void) state;
  verdict ("2.6.0", 64, 5, true);
  results.failure = "it's <dead>";
  keep_and_load (&r);
  assert_int_equal (records_outcome (&r), OUTCOME_FAILED);
  assert_int_equal (outcome_exit (records_outcome (&r)), EXIT_COULD_NOT_RUN);
  assert_string_equal (r.run[0].error, "it's <dead>");
  records_free (&r);
  results.failure = NULL;
}

static void
varied_runs_only_compare (void **state)
{
  (void) state;
  results.varied = true;
  assert_int_equal (verdict ("2.6.1", 31, 3, true), VERDICT_COMPARISON);
  results.varied = false;
}

static void
json_values (void **state)
{
  static const char text[] =
    "{ \"a\": { \"x\\\"\": [1, {\"n\": 2}, \"}\"], \"n\": -12 },"
    " \"f\": 1.5, \"s\": \"q\\\"\\u0041\\n\", \"t\": true, \"n\": 7 }";
  int64_t n;
  bool b;
  char *s;

  (void) state;
  assert_int_equal (json_get_int (text, "a.n", &n), 0);
  assert_int_equal (n, -12);
  assert_int_equal (json_get_int (text, "n", &n), 0);
  assert_int_equal (n, 7);
  assert_int_equal (json_get_int (text, "f", &n), -1);
  assert_int_equal (json_get_int (text, "s", &n), -1);
  assert_int_equal (json_get_int (text, "a.b", &n), -1);
  assert_int_equal (json_get_bool (text, "t", &b), 0);
  assert_true (b);
  assert_int_equal (json_get_string (text, "s", &s), 0);
  assert_string_equal (s, "q\"A\n");
  free (s);
}

static void
json_arrays (void **state)
{
  static const char text[] =
    "{ \"a\": [ {\"n\": 1}, {\"n\": [2, 3]}, \"x\" ], \"e\": [ ], \"d\": 1.25 }";
  const char *array = json_find (text, "a"), *e = NULL;
  double d;
  char *s;
  int64_t n;

  (void) state;
  e = json_each (array, e);
  assert_int_equal (json_get_int (e, "n", &n), 0);
  assert_int_equal (n, 1);
  e = json_each (array, e);
  assert_int_equal (json_size (e), strlen ("{\"n\": [2, 3]}"));
  e = json_each (array, e);
  s = json_string_at (e);
  assert_string_equal (s, "x");
  free (s);
  assert_null (json_each (array, e));
  assert_null (json_each (json_find (text, "e"), NULL));
  assert_null (json_each (json_find (text, "d"), NULL));
  assert_int_equal (json_get_double (text, "d", &d), 0);
  assert_true (d == 1.25);
  assert_int_equal (json_size (text), strlen (text));
  assert_int_equal (json_size ("{ \"a\": [ 1"), 0);
}

static void
no_json (void **state)
{
  static const char *const texts[] = {
    "", "{", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"b\":,\"a\":1}", "[1]",
    "{\"b\":\"", "{\"b\":[1,\"a\":1", "\"a\"", "{\"b\" 1, \"a\":1}",
  };
  int64_t n;
  size_t i;

  (void) state;
  for (i = 0; i < sizeof texts / sizeof texts[0]; ++i)
    assert_int_equal (json_get_int (texts[i], "a", &n), -1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (figures),
    cmocka_unit_test (verdicts),
    cmocka_unit_test (what_counts),
    cmocka_unit_test (ratios),
    cmocka_unit_test (a_range),
    cmocka_unit_test (a_part_of_the_work),
    cmocka_unit_test (skipped),
    cmocka_unit_test (results_as_json),
    cmocka_unit_test (results_read_back),
    cmocka_unit_test (failed_run),
    cmocka_unit_test (varied_runs_only_compare),
    cmocka_unit_test (json_arrays),
    cmocka_unit_test (json_values),
    cmocka_unit_test (no_json),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
