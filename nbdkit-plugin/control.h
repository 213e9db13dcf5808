/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The control socket: one line in, one line out, in order.
 *
 *   ping              ok
 *   stats             the statistics as one line of JSON
 *   reset-stats       ok: they count from here
 *   bad LBA[+N][:R]   ok: these sectors are bad, R retries or always
 *   power cut         ok, when it has been cut
 *   power on          ok
 *
 * and in real time only:
 *
 *   pause, resume     ok
 *   speed N|instant   ok
 *   set KEY=VALUE     ok: that value of the profile is another
 *
 * An answer to anything else is "error REASON".
 */
#ifndef SPINDLE_CONTROL_H
#define SPINDLE_CONTROL_H

struct drive;

/* Bind the socket, before nbdkit forks; serve it, afterwards; end. */
extern int control_prepare (const char *path);
extern int control_start (struct drive *d);
extern void control_stop (void);

#endif /* SPINDLE_CONTROL_H */
