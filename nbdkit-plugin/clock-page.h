/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock page: how somebody else's clock drives the drive.
 *
 * A page of shared memory, created by the plugin (clock=virtual,
 * clock-page=PATH) and mapped by exactly one client: the bridge inside
 * QEMU, or a libnbd program.  The client owns virtual time.  The plugin
 * owns the drive model.  Between them:
 *
 * Submission.  Before the client sends a read, write, flush or trim on the
 * NBD socket it stores the virtual time in now_ns (and timed = 1), notes
 * submit_seq, sends *one* whole request, and waits until submit_seq has
 * moved.  The plugin has then put the command in the model's queue: ticket
 * names it, op/offset/length echo it, and next_event_ns is valid.
 * Requests are sent one at a time, whatever number is in flight.  With
 * timed = 0 the plugin answers the request at once and leaves the model
 * alone: ticket is 0.
 *
 * Advance.  When virtual time reaches next_event_ns the client stores the
 * time in advance_ns and adds one to call_seq; the plugin runs the model
 * and sets answer_seq = call_seq.  At most one command completes: if
 * done_ticket is not 0, its reply is on its way, done_ns is the modelled
 * time (<= advance_ns), and the client must consume that reply before it
 * does anything else.  next_event_ns is valid again.  The client repeats
 * until next_event_ns > advance_ns.  Submissions and advances never
 * overlap: the client does one thing at a time.
 *
 * Power.  A cut of the drive's power is an event of its own: next_event_ns
 * says when, if that is known before.  It sets power_off, 1 until the power
 * is on again, and the commands that waited then come out as completions
 * of that time, whose replies are errors.  Whatever is sent without power
 * is refused with ticket 0.
 *
 * Life.  The plugin holds a write lock (F_OFD_SETLK) on byte
 * CLOCK_PAGE_LOCK_SERVER of the file as long as it lives, the client on
 * byte CLOCK_PAGE_LOCK_CLIENT; each waits in slices and looks whether the
 * other's lock is still there.  A client that is gone fails the requests
 * that wait for it.  While no client holds its lock every request is
 * untimed.
 *
 * Waiting is by futex (not FUTEX_PRIVATE) on submit_seq, call_seq and
 * answer_seq.  All times are int64 nanoseconds.
 */
#ifndef SPINDLE_CLOCK_PAGE_H
#define SPINDLE_CLOCK_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#define CLOCK_PAGE_MAGIC UINT64_C (0x53504e444c434c4b)
#define CLOCK_PAGE_VERSION 1

#define CLOCK_PAGE_LOCK_SERVER 0
#define CLOCK_PAGE_LOCK_CLIENT 1

struct clock_page {
  uint64_t magic;
  uint32_t version;
  uint32_t size;                /* sizeof (struct clock_page) */

  /* Written by the client. */
  int64_t now_ns;
  uint32_t timed;
  uint32_t power_off;           /* written by the plugin: see Power */
  int64_t advance_ns;
  _Atomic uint32_t call_seq;    /* futex; the plugin waits here */

  /* Written by the plugin. */
  _Atomic uint32_t submit_seq;  /* futex; the client waits here */
  _Atomic uint32_t answer_seq;  /* futex; the client waits here */
  uint32_t op;                  /* NBD command number, echoed */
  uint64_t offset;
  uint64_t length;
  uint64_t ticket;              /* of the command last submitted */
  int64_t next_event_ns;        /* INT64_MAX = never */
  uint64_t done_ticket;         /* of the command just completed, or 0 */
  int64_t done_ns;
};

#endif /* SPINDLE_CLOCK_PAGE_H */
