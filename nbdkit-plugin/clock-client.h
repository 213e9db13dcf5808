/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The client's side of the clock page (see clock-page.h): the owner of
 * virtual time.  Used by the bridge inside QEMU and by libnbd programs.
 *
 * Not thread safe: one thread at a time.  No call hangs: a server that is
 * gone is an error within half a second, one that lives but does not
 * answer is an error after the limit.
 */
#ifndef SPINDLE_CLOCK_CLIENT_H
#define SPINDLE_CLOCK_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_NEVER INT64_MAX
#define CLOCK_ERROR_SIZE 512

struct clock_client;

/* One request as it stands on the wire. */
struct clock_request {
  uint32_t op;                  /* NBD command number */
  uint64_t offset, length;      /* bytes; 0 for a flush */
};

struct clock_done {
  uint64_t ticket;
  int64_t done_ns;              /* modelled, <= the time advanced to */
};

/* Map the page at path, check it and its server, take the client's lock.
 * Returns NULL with one line in error (CLOCK_ERROR_SIZE bytes).
 */
extern struct clock_client *clock_client_attach (const char *path,
                                                 char *error);

/* Give up the lock and the page; requests still waiting fail. */
extern void clock_client_detach (struct clock_client *client);

/* How long a living server may take to answer, milliseconds (default
 * 10000).
 */
extern void clock_client_set_limit (struct clock_client *client,
                                    int64_t limit_ms);

/* Call before the last bytes of a request are sent.  now_ns is virtual
 * time; if it is behind a time given before, that one is used: the drive's
 * clock never goes back.  timed = false: answer at once, leave the drive
 * alone.
 */
extern void clock_client_prepare (struct clock_client *client,
                                  int64_t now_ns, bool timed);

/* Call after all of the request is sent: wait until the server has it.
 * Stores its ticket, 0 if it is untimed.  Returns 0, or -1: server gone,
 * no answer, or it saw another request than this one.
 */
extern int clock_client_wait (struct clock_client *client,
                              const struct clock_request *request,
                              uint64_t *ticket);

/* When the drive next does something, CLOCK_NEVER if it has no command. */
extern int64_t clock_client_next_event (const struct clock_client *client);

/* Run the drive to t_ns (or to the latest time given before).  Returns 1
 * if a command completed and its reply is on its way: consume it, then
 * call again.  0 if the drive stands at t_ns.  -1: see clock_client_wait.
 */
extern int clock_client_advance (struct clock_client *client, int64_t t_ns,
                                 struct clock_done *done);

/* Is the drive without power? */
extern bool clock_client_power_off (const struct clock_client *client);

/* Is the server's lock still there? */
extern bool clock_client_server_alive (const struct clock_client *client);

/* The reason of the last -1, one line. */
extern const char *clock_client_error (const struct clock_client *client);

#endif /* SPINDLE_CLOCK_CLIENT_H */
