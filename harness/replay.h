/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sending a trace's requests to a drive: the model, or one behind NBD.
 */
#ifndef SPINDLE_REPLAY_H
#define SPINDLE_REPLAY_H

#include "trace-file.h"

struct replay_options {
  bool closed;
  int64_t depth;                /* closed: how many are outstanding */
  int64_t speed_permille;       /* 1000: times as in the trace */
};

#define REPLAY_MIN_SPEED 100    /* permille */
#define REPLAY_MAX_SPEED 1000000000

/* One request done. */
struct replay_done {
  int64_t arrival_ns, start_ns, complete_ns;
  struct disk_times times;      /* the model's only */
  uint32_t index;               /* in the trace */
  int16_t segment;
  uint8_t hit;                  /* enum disk_hit */
  uint8_t background;
};

struct replay {
  struct replay_done *done;     /* in the order of completion */
  size_t n;
  bool modelled;
  int64_t host_ns;              /* what all of it cost here */
};

/* Through the model, in virtual time.  Open: a request arrives at the time
 * of the trace; while the drive has DISK_MAX_QUEUE requests it waits in
 * the host, which counts as its time in the queue.  Closed: `depth' users
 * each send a request, wait for it, think as long as the trace says after
 * that request, and take the next of the trace.  Returns -1 after a
 * message.
 */
int replay_model (const struct profile *profile, uint64_t seed,
                  const struct trace_file *trace,
                  const struct replay_options *options, struct replay *r);

/* A connection to an NBD server. */
struct nbd_handle;

/* Connect to URI.  NULL after a message. */
struct nbd_handle *replay_connect (const char *uri);
void replay_disconnect (struct nbd_handle *nbd);

/* The same through NBD, in real time.  Every sector that is written is
 * filled with its number (64 bits, little-endian, 64 times).  Returns -1
 * after a message; the connection is closed in any case.
 */
int replay_live (struct nbd_handle *nbd, const struct trace_file *trace,
                 const struct replay_options *options, struct replay *r);

void replay_free (struct replay *r);

#endif /* SPINDLE_REPLAY_H */
