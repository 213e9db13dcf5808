/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The other end of the plugin's control socket.
 */
#ifndef SPINDLE_CONTROL_CLIENT_H
#define SPINDLE_CONTROL_CLIENT_H

/* Connect.  Returns -1 after a message. */
int control_open (const char *path);

/* Send a line, and wait for the answer, at most ten seconds.  NULL after a
 * message; free it otherwise.
 */
char *control_ask (int fd, const char *line);

#endif /* SPINDLE_CONTROL_CLIENT_H */
