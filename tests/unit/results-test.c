/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From what a guest measured to a verdict, and the JSON on both sides.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/json.h"
#include "harness/results.h"

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
  { true, 32 << 20, 256, 1000000000 },
  { true, 32 << 20, 256, 2000000000 },
  { true, 4096 * 100, 100, 1340000000 },
  { true, 4096 * 100, 100, 500000000 },
};
static struct scenario scenario = {
  .name = "s", .steps = steps, .n_steps = 4, .reported = &reported,
  .n_reported = 1,
};
static struct run_results results = {
  .scenario = &scenario, .drive = &drive, .profile = &profile, .n_drives = 1,
  .name = "d",
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

static void
results_as_json (void **state)
{
  char *text = NULL, *s;
  size_t size;
  FILE *fp = open_memstream (&text, &size);
  bool b;

  (void) state;
  assert_non_null (fp);
  verdict ("2.6.0", 10, 5, true);
  results_write_json (fp, &results, 1);
  fclose (fp);
  assert_int_equal (json_get_string (text, "verdict", &s), 0);
  assert_string_equal (s, "not reproduced");
  free (s);
  assert_int_equal (json_get_bool (text, "verdict", &b), -1);
  assert_non_null (strstr (text, "\"value\": 13.4"));
  free (text);
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
    cmocka_unit_test (ratios),
    cmocka_unit_test (results_as_json),
    cmocka_unit_test (json_values),
    cmocka_unit_test (no_json),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
