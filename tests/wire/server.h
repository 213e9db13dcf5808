/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For tests: an nbdkit with the plugin, in a private directory.
 */
#ifndef SPINDLE_TEST_SERVER_H
#define SPINDLE_TEST_SERVER_H

#include <stddef.h>
#include <sys/types.h>

struct nbd_handle;

struct server {
  pid_t pid;
  char dir[64];                 /* what the test wants to keep goes there */
  char socket[96];
};

/* Make s->dir, once. */
extern void server_dir (struct server *s);

/* "DIR/NAME"; good until the next call but seven. */
extern const char *server_path (const struct server *s, const char *name);

/* Run $NBDKIT with the plugin and these parameters, until it listens. */
extern void server_start (struct server *s, const char *parameters);

/* A new connection. */
extern struct nbd_handle *server_connect (const struct server *s);

/* Say goodbye, properly: nbdkit 1.32 leaks a little when it is told to stop
 * just after a client has hung up.
 */
extern void server_disconnect (struct nbd_handle *nbd);

/* The control socket, at server_path (s, "control"): send a line and return
 * the answer's, which the caller frees.
 */
extern char *server_control (const struct server *s, const char *line);

/* The number after "KEY": in a line of JSON. */
extern long long json_number (const char *json, const char *key);

/* Terminate it.  Returns its exit status, or -1 if it had to be killed. */
extern int server_stop (struct server *s);

/* Remove the directory and what is in it. */
extern void server_remove (struct server *s);

/* A whole file, with a NUL after it.  The caller frees it. */
extern char *slurp (const char *path, size_t *n);

#endif /* SPINDLE_TEST_SERVER_H */
