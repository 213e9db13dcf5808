/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the bridge tells the world: counters, the optional log, the end.
 */
#ifndef SPINDLE_REPORT_H
#define SPINDLE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct report {
  int64_t requests, timed, untimed;
  int64_t late, max_late_ns;    /* consumed a tick or more after its time */
  int64_t forced;               /* released before its time, and QEMU
                                   went on */
  int64_t max_early_ns;         /* of those */
  int64_t lost;                 /* in flight when a connection ended */
  int64_t reconnects;
  bool failed;                  /* bridge_fatal was called */
  bool power_off;               /* bridge_power_off was */
  int64_t power_off_ns;
  bool patched;                 /* IDENTIFY */
  int64_t patched_ns;
  int copies;
};

extern struct report report;

/* Files come from SPINDLE_CLOCK_STATS and SPINDLE_CLOCK_LOG, either may be
 * unset.
 */
extern void report_open (void);
extern void report_log (const char *fmt, ...)
  __attribute__ ((format (printf, 1, 2)));

/* Write the statistics (once) and end the log. */
extern void report_close (void);

/* End QEMU at once with one line on standard error. */
extern void bridge_fatal (const char *fmt, ...)
  __attribute__ ((format (printf, 1, 2), noreturn));

/* End QEMU at once, as the guest's power is gone at now_ns. */
extern void bridge_power_off (int64_t now_ns) __attribute__ ((noreturn));

#endif /* SPINDLE_REPORT_H */
