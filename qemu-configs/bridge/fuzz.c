/* SPDX-License-Identifier: BSD-3-Clause */

#ifdef CLOCK_FUZZ

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "qemu-configs/bridge/fuzz.h"
#include "qemu-configs/bridge/qemu.h"

#define EXPORT __attribute__ ((visibility ("default")))
#define MAX_SLEEP_NS 200000
#define FALL_BEHIND_S 1

static bool started;

static uint32_t
draw (void)
{
  static __thread uint64_t state;
  struct timespec t;

  if (state == 0) {
    clock_gettime (CLOCK_MONOTONIC, &t);
    state = (uint64_t) t.tv_nsec * 2654435761u + gettid ();
  }
  state = state * UINT64_C (6364136223846793005) + 1442695040888963407u;
  return state >> 33;
}

/* Now and then, so that threads get out of step both ways. */
void
fuzz_sleep (void)
{
  struct timespec t = { .tv_nsec = 0 };

  if (!started || draw () % 4 != 0)
    return;
  t.tv_nsec = draw () % MAX_SLEEP_NS;
  nanosleep (&t, NULL);
}

/* At first, when the BIOS polls for the end of a reset: for 2 ms, which this
 * build takes a second for.
 */
void
fuzz_fall_behind (void)
{
  static unsigned times = 4;
  const struct timespec t = { .tv_sec = FALL_BEHIND_S };

  if (started && times > 0 && qemu.runstate_is_running ()) {
    times--;
    nanosleep (&t, NULL);
  }
}

static void *
notify (void *arg)
{
  struct timespec t = { .tv_nsec = 0 };

  for (;;) {
    t.tv_nsec = draw () % MAX_SLEEP_NS;
    nanosleep (&t, NULL);
    qemu.notify_event ();
  }
  return arg;
}

void
fuzz_start (void)
{
  pthread_t thread;

  started = true;
  if (qemu.notify_event == NULL ||
      pthread_create (&thread, NULL, notify, NULL) != 0)
    abort ();
}

/* HLT leaves the translated code by one of these, with the vCPU halted and
 * its instructions not accounted.
 */
typedef void jump_fn (void *env, int value);

static void
jump (const char *name, void *env, int value)
{
  jump_fn *real = (jump_fn *) dlsym (RTLD_NEXT, name);

  if (started && qemu.in_vcpu_thread () && !qemu.bql_locked ())
    fuzz_sleep ();
  real (env, value);
  abort ();
}

EXPORT void siglongjmp (sigjmp_buf env, int value);
EXPORT void __longjmp_chk (void *env, int value);

void
siglongjmp (sigjmp_buf env, int value)
{
  jump ("siglongjmp", env, value);
  abort ();
}

void
__longjmp_chk (void *env, int value)
{
  jump ("__longjmp_chk", env, value);
  abort ();
}

#else
typedef int not_empty;
#endif /* CLOCK_FUZZ */
