/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One guest with its drives: an nbdkit for each and QEMU started, watched,
 * and ended.
 */
#ifndef SPINDLE_GUEST_H
#define SPINDLE_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "boot.h"
#include "child.h"
#include "console.h"
#include "machine.h"
#include "place.h"
#include "results.h"

struct clock_page;

enum guest_state { GUEST_IDLE, GUEST_RUNNING, GUEST_DONE, GUEST_FAILED };

struct guest {
  /* The caller sets these. */
  const struct pieces *pieces;
  const char *private_folder;   /* for the socket and the clock page */
  const char *folder;           /* for logs, the trace, the results */
  const struct boot *boot;
  char *image;                  /* the first drive's, made for it, or NULL */
  const char *record;           /* takes what the debug port is told, or NULL */
  bool trace;
  struct profile profiles[MACHINE_MAX_DRIVES];
  struct machine_drive drives[MACHINE_MAX_DRIVES]; /* with profile set */
  unsigned n_drives;
  struct run_results results;   /* with scenario, name, drives set */

  enum guest_state state;
  char *failure;                /* one line, when state is GUEST_FAILED */
  char *doing;                  /* for progress */
  unsigned steps_done;

  struct child nbdkit[MACHINE_MAX_DRIVES], qemu;
  char *nbdkit_names[MACHINE_MAX_DRIVES];
  struct place place;           /* of all of them, on the virtual clock */
  struct console console;
  char *console_path, *stats_path;
  /* Mapped, or NULL. */
  const struct clock_page *pages[MACHINE_MAX_DRIVES];
  int64_t start_ms;             /* real */
  int64_t end_ms;               /* real; when the guest said it was done */
  int64_t heard_ns;             /* when the console last said something */
  char *panic;                  /* the kernel's last words, or NULL */
  char *trouble;                /* the first step that went wrong, or NULL */
};

/* Start nbdkit and, once all listen, QEMU.  On failure the state is
 * GUEST_FAILED and nothing runs.
 */
void guest_start (struct guest *g);

/* Look after it; call it often.  Ends in GUEST_DONE or GUEST_FAILED, and
 * then nothing runs any more and the results are filled in.
 */
void guest_poll (struct guest *g);

/* Give up: kill everything. */
void guest_kill (struct guest *g);

/* The guest's virtual time so far, or 0. */
double guest_virtual_s (const struct guest *g);

void guest_free (struct guest *g);

#endif /* SPINDLE_GUEST_H */
