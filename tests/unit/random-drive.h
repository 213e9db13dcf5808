/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A drive that nobody has seen before, but that might have been built.
 */
#ifndef SPINDLE_TEST_RANDOM_DRIVE_H
#define SPINDLE_TEST_RANDOM_DRIVE_H

#include <stdint.h>

#include "profile.h"

extern void random_drive (struct profile *p, uint64_t seed);

#endif /* SPINDLE_TEST_RANDOM_DRIVE_H */
