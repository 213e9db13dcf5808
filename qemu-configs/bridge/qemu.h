/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The few functions of QEMU the bridge calls, found by name in the running
 * program.  No QEMU header, no structure of QEMU's.
 */
#ifndef SPINDLE_QEMU_H
#define SPINDLE_QEMU_H

#include <stdbool.h>
#include <stdint.h>

#define QEMU_CLOCK_VIRTUAL 1
#define QEMU_SCALE_NS 1

/* Larger than any QEMU's QEMUTimer; must be zero when initialised. */
union qemu_timer {
  char bytes[256];
  void *align;
};

typedef void bql_lock_fn (void *mutex, const char *file, int line);

struct qemu {
  int64_t (*clock_get_ns) (int clock);
  void (*timer_init_full) (union qemu_timer *timer, void *group, int clock,
                           int scale, int attributes, void (*fn) (void *),
                           void *opaque);
  void (*timer_mod) (union qemu_timer *timer, int64_t expire_ns);
  void (*timer_del) (union qemu_timer *timer);
  bool (*aio_poll) (void *context, bool blocking);
  int (*aio_bh_poll) (void *context);
  void *(*get_aio_context) (void);
  bool (*runstate_is_running) (void);
  bool (*bql_locked) (void);
  void *(*get_cpu) (int index);
  void (*async_run_on_cpu) (void *cpu, void (*fn) (void *, uint64_t),
                            uint64_t data);
  bool (*in_vcpu_thread) (void);
  bool (*cpu_is_stopped) (void *cpu);
  int64_t (*icount_to_ns) (int64_t instructions);
  bql_lock_fn **bql_lock;       /* the pointer QEMU calls through */
  int *use_icount;

  /* These may be absent (NULL). */
  void *(*query_version) (void **error);
  void (*notify_event) (void);
};

extern struct qemu qemu;

/* Is this process QEMU's system emulator? */
extern bool qemu_is_here (void);

/* Fill the structure.  Returns NULL, or the name of a missing symbol. */
extern const char *qemu_find_symbols (void);

/* "7.2.22", or "" if QEMU does not tell. */
extern const char *qemu_version (void);

/* Virtual time, nanoseconds. */
static inline int64_t
qemu_now_ns (void)
{
  return qemu.clock_get_ns (QEMU_CLOCK_VIRTUAL);
}

/* A timer on virtual time, not armed. */
static inline void
qemu_timer_init (union qemu_timer *timer, void (*fn) (void *), void *opaque)
{
  qemu.timer_init_full (timer, NULL, QEMU_CLOCK_VIRTUAL, QEMU_SCALE_NS, 0,
                        fn, opaque);
}

#endif /* SPINDLE_QEMU_H */
