/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For the test build -DCLOCK_FUZZ: provoke the races the cures are for, by
 * random delays where threads meet, random wake-ups of the main loop, and one
 * that is busy.
 */
#ifndef SPINDLE_FUZZ_H
#define SPINDLE_FUZZ_H

#ifdef CLOCK_FUZZ
extern void fuzz_start (void);
extern void fuzz_sleep (void);
extern void fuzz_fall_behind (void);  /* the main loop */
#else
static inline void fuzz_start (void) { }
static inline void fuzz_sleep (void) { }
static inline void fuzz_fall_behind (void) { }
#endif

#endif /* SPINDLE_FUZZ_H */
