/* SPDX-License-Identifier: BSD-3-Clause */
#include "fixed.h"

uint64_t
isqrt64 (uint64_t x)
{
  uint64_t r = 0, bit = UINT64_C (1) << 62;

  while (bit > x)
    bit >>= 2;
  while (bit != 0) {
    if (x >= r + bit) {
      x -= r + bit;
      r = (r >> 1) + bit;
    }
    else
      r >>= 1;
    bit >>= 2;
  }
  return r;
}

uint64_t
q32_sqrt (uint64_t x)
{
  if (x >= Q32_ONE)
    return Q32_ONE;
  return isqrt64 (x << 32);
}

static uint64_t
q32_mul (uint64_t a, uint64_t b)
{
  /* Both at most 1.0, so only 1.0 * 1.0 would not fit in 64 bits. */
  if (a == Q32_ONE)
    return b;
  return (a * b) >> 32;
}

uint64_t
q32_pow (uint64_t x, uint64_t p)
{
  uint64_t r = Q32_ONE, root = x;

  for (uint64_t whole = p >> 32; whole > 0; whole--)
    r = q32_mul (r, x);
  /* x^0.b1b2b3... is the product of the repeated roots of x whose bit is
   * set.  32 bits are below the resolution of r.
   */
  for (uint32_t bit = UINT32_C (1) << 31; bit != 0; bit >>= 1) {
    root = q32_sqrt (root);
    if (p & bit)
      r = q32_mul (r, root);
  }
  return r;
}

int64_t
q32_scale (int64_t value, uint64_t fraction)
{
  uint64_t v = value < 0 ? -(uint64_t) value : (uint64_t) value;
  uint64_t high, low;

  if (fraction >= Q32_ONE)
    return value;
  high = (v >> 32) * fraction;
  low = ((v & UINT32_MAX) * fraction) >> 32;
  v = high + low;
  return value < 0 ? -(int64_t) v : (int64_t) v;
}

uint64_t
gcd64 (uint64_t a, uint64_t b)
{
  while (b != 0) {
    uint64_t t = a % b;

    a = b;
    b = t;
  }
  return a;
}

uint64_t
splitmix64 (uint64_t *state)
{
  uint64_t z = (*state += SPLITMIX64_STEP);

  z = (z ^ (z >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C (0x94d049bb133111eb);
  return z ^ (z >> 31);
}
