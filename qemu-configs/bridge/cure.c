/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdatomic.h>
#include <unistd.h>

#include "qemu-configs/bridge/cure.h"
#include "qemu-configs/bridge/fuzz.h"
#include "qemu-configs/bridge/qemu.h"

enum role { ROLE_UNKNOWN, ROLE_MAIN, ROLE_VCPU };

static bql_lock_fn *real_bql_lock;
static _Atomic (const void *) bql;      /* known once it was taken */
static atomic_bool vcpu_out;            /* its thread does not have the bql */
static atomic_flag held = ATOMIC_FLAG_INIT;

/* A thread that is not yet a vCPU's may become one, so unknown is never
 * remembered.
 */
static enum role
my_role (void)
{
  static __thread enum role role;

  if (role == ROLE_UNKNOWN) {
    if (gettid () == getpid ())
      role = ROLE_MAIN;
    else if (qemu.in_vcpu_thread ())
      role = ROLE_VCPU;
  }
  return role;
}

/* The work item, run in the vCPU's thread with the big lock held. */
static void
let_go (void *cpu, uint64_t data)
{
  (void) cpu;
  (void) data;
  atomic_flag_clear (&held);
}

void
cure_hold_vcpu (void)
{
  void *cpu = qemu.get_cpu (0);

#ifdef CLOCK_NO_CURE
  return;
#endif
  if (cpu != NULL && !atomic_flag_test_and_set (&held))
    qemu.async_run_on_cpu (cpu, let_go, 0);
}

static void
main_has_lock (void)
{
  void *cpu;

  if (!qemu.runstate_is_running ())
    return;
  cpu = qemu.get_cpu (0);
  if (cpu != NULL && (vcpu_out || qemu.cpu_is_stopped (cpu)))
    cure_hold_vcpu ();
}

static void
bql_lock_hook (void *mutex, const char *file, int line)
{
  const enum role role = my_role ();

  atomic_store (&bql, mutex);
  fuzz_sleep ();
  if (role == ROLE_MAIN)
    fuzz_fall_behind ();
  /* It asks for the lock: either it has accounted, or it is in the middle
   * of an instruction and not halted.
   */
  if (role == ROLE_VCPU)
    vcpu_out = false;
  real_bql_lock (mutex, file, line);
  if (role == ROLE_MAIN)
    main_has_lock ();
  fuzz_sleep ();
}

/* A bottom half may wait for something, and give up the lock for that. */
static void
run_bottom_halves (void)
{
  static bool running;

#ifdef CLOCK_NO_CURE
  return;
#endif
  if (running || !qemu.runstate_is_running ())
    return;
  running = true;
  qemu.aio_bh_poll (qemu.get_aio_context ());
  running = false;
}

void
cure_unlocking (const pthread_mutex_t *mutex)
{
  if (atomic_load (&bql) != mutex || my_role () != ROLE_VCPU)
    return;
  run_bottom_halves ();
  /* Before the unlock, so that the next owner sees it. */
  vcpu_out = true;
  fuzz_sleep ();
}

void
cure_install (void)
{
  real_bql_lock = *qemu.bql_lock;
  *qemu.bql_lock = bql_lock_hook;
  fuzz_start ();
}
