/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "histogram.h"

static struct histogram h;

static void
is_empty_at_first (void **state)
{
  (void) state;
  memset (&h, 0, sizeof h);
  assert_int_equal (histogram_quantile (&h, 500), 0);
}

/* One value, whatever it is, comes back nearly as it was. */
static void
keeps_a_value (void **state)
{
  (void) state;
  for (int shift = 0; shift < 63; shift++)
    for (int64_t d = -1; d <= 1; d++) {
      int64_t ns = (INT64_C (1) << shift) + d;
      int64_t q;

      memset (&h, 0, sizeof h);
      histogram_add (&h, ns);
      histogram_add (&h, INT64_MAX);
      q = histogram_quantile (&h, 500);
      assert_true (q >= ns && q - ns <= ns / 16);
      assert_int_equal (histogram_quantile (&h, 1000), INT64_MAX);
    }
}

static void
finds_quantiles (void **state)
{
  int64_t q;

  (void) state;
  memset (&h, 0, sizeof h);
  for (int64_t ns = 1000; ns > 0; ns--)
    histogram_add (&h, ns);
  histogram_add (&h, -5);
  assert_int_equal (h.count, 1001);
  assert_int_equal (h.max, 1000);
  assert_int_equal (histogram_quantile (&h, 10), 10);
  q = histogram_quantile (&h, 500);
  assert_in_range (q, 500, 500 + 500 / 16);
  q = histogram_quantile (&h, 990);
  assert_in_range (q, 990, 1000);
  assert_int_equal (histogram_quantile (&h, 1000), 1000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (is_empty_at_first),
    cmocka_unit_test (keeps_a_value),
    cmocka_unit_test (finds_quantiles),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
