/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For the test build -DCLOCK_FUZZ: provoke the races the cure is for, by
 * random delays where threads meet and random wake-ups of the main loop.
 */
#ifndef SPINDLE_FUZZ_H
#define SPINDLE_FUZZ_H

#ifdef CLOCK_FUZZ
extern void fuzz_start (void);
extern void fuzz_sleep (void);
#else
static inline void fuzz_start (void) { }
static inline void fuzz_sleep (void) { }
#endif

#endif /* SPINDLE_FUZZ_H */
