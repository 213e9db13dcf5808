/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How late a drive answered in real time: what its statistics say.
 */
#ifndef SPINDLE_LATENESS_H
#define SPINDLE_LATENESS_H

#include <stdbool.h>
#include <stdint.h>

struct lateness {
  bool known;
  bool valid;                   /* within its late-limit= */
  int64_t answers, p99_ns, max_ns, limit_ns;
};

/* Read them from the plugin's stats= FILE and add them to L, whose other
 * answers came from other drives: the worst counts.
 */
void lateness_add (struct lateness *l, const char *file);

/* "99 % of 1234 answers at most 0.512 ms late", and more if that is not
 * valid.  Free it.
 */
char *lateness_text (const struct lateness *l);

#endif /* SPINDLE_LATENESS_H */
