/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the way from a client to the plugin and back takes on this host, as
 * `spindle calibrate' has measured it: the plugin's floor=.
 *
 * It is kept in ${XDG_STATE_HOME:-~/.local/state}/spindle/calibration, a
 * line for each client, "ACCELERATOR BUS NANOSECONDS": "tcg ide 45000", or
 * "nbd - 61000" for a program on this host.  Lines with # are comments.
 */
#ifndef SPINDLE_CALIBRATION_H
#define SPINDLE_CALIBRATION_H

#include <stdint.h>

/* The floor of a guest, 0 if it has not been measured.  Returns -1 after a
 * message.
 */
int calibration_floor (const char *accelerator, const char *bus,
                       int64_t *ns);

/* Keep it.  Returns -1 after a message. */
int calibration_store (const char *accelerator, const char *bus,
                       int64_t floor_ns);

#endif /* SPINDLE_CALIBRATION_H */
