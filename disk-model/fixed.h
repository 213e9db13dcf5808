/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Integer arithmetic that gives the same answer everywhere.
 *
 * "Q32" is an unsigned fraction: 1.0 is 1 << 32.
 */
#ifndef SPINDLE_FIXED_H
#define SPINDLE_FIXED_H

#include <stdint.h>

#define Q32_ONE (UINT64_C (1) << 32)

static inline int64_t
min_i64 (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline int64_t
max_i64 (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* a / b rounded up; a >= 0, b > 0. */
static inline int64_t
div_up (int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* Largest r with r * r <= x. */
extern uint64_t isqrt64 (uint64_t x);

/* Square root of a Q32 fraction. */
extern uint64_t q32_sqrt (uint64_t x);

/* x to the power p, x in Q32 and at most 1.0, p in Q32 below 16.0. */
extern uint64_t q32_pow (uint64_t x, uint64_t p);

/* value * fraction, |value| < 2^62, fraction in Q32 and at most 1.0. */
extern int64_t q32_scale (int64_t value, uint64_t fraction);

extern uint64_t gcd64 (uint64_t a, uint64_t b);

/* The next number of the splitmix64 sequence (Steele, Lea, Flood: "Fast
 * splittable pseudorandom number generators", OOPSLA 2014).
 */
#define SPLITMIX64_STEP UINT64_C (0x9e3779b97f4a7c15)
extern uint64_t splitmix64 (uint64_t *state);

#endif /* SPINDLE_FIXED_H */
