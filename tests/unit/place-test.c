/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/place.h"
#include "harness/spindle.h"

static cpu_set_t allowed;

/* A process that would use a whole CPU. */
static pid_t
busy (void)
{
  pid_t pid = fork ();

  if (pid == 0) {
    alarm (60);                 /* whatever becomes of us */
    for (;;)
      ;
  }
  assert_true (pid > 0);
  return pid;
}

static void
end (pid_t pid)
{
  kill (pid, SIGKILL);
  assert_int_equal (waitpid (pid, NULL, 0), pid);
}

/* The only CPU that PID may use, or -1. */
static int
only_cpu (pid_t pid)
{
  cpu_set_t set;
  int i;

  assert_int_equal (sched_getaffinity (pid, sizeof set, &set), 0);
  for (i = 0; i < CPU_SETSIZE && !CPU_ISSET (i, &set); ++i)
    ;
  return CPU_COUNT (&set) == 1 ? i : -1;
}

static void
two_cpus_or_skip (void)
{
  assert_int_equal (sched_getaffinity (0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT (&allowed) < 2)
    skip ();
}

static void
each_its_own (void **state)
{
  struct place p[3] = { 0 };
  pid_t pid[3];
  int i;

  (void) state;
  two_cpus_or_skip ();
  for (i = 0; i < 2; ++i) {
    place_start (&p[i]);
    pid[i] = busy ();
    place_add (&p[i], pid[i]);
    assert_int_equal (only_cpu (pid[i]), p[i].cpu);
    assert_true (CPU_ISSET (p[i].cpu, &allowed));
  }
  assert_int_not_equal (p[0].cpu, p[1].cpu);
  assert_int_equal (only_cpu (0), -1);

  /* A CPU that is free again is taken next, even with many. */
  place_end (&p[0]);
  place_end (&p[0]);
  place_start (&p[2]);
  assert_int_not_equal (p[2].cpu, p[1].cpu);
  place_end (&p[1]);
  place_end (&p[2]);
  for (i = 0; i < 2; ++i)
    end (pid[i]);
}

static void
only_one_to_be_had (void **state)
{
  cpu_set_t one;
  struct place p;

  (void) state;
  two_cpus_or_skip ();
  CPU_ZERO (&one);
  CPU_SET (sched_getcpu (), &one);
  if (!CPU_ISSET (sched_getcpu (), &allowed) ||
      sched_setaffinity (0, sizeof one, &one) == -1)
    skip ();
  place_start (&p);
  assert_null (p.idle);
  place_add (&p, getpid ());
  place_check (&p);
  place_end (&p);
  assert_int_equal (sched_setaffinity (0, sizeof allowed, &allowed), 0);
}

/* Somebody else takes our CPU: we go to the other, unless there is nothing
 * to be had there.
 */
static void
moves (void **state)
{
  struct place p;
  pid_t ours, other;
  cpu_set_t taken;
  int64_t start_ms = monotonic_ms ();

  (void) state;
  two_cpus_or_skip ();
  place_start (&p);
  ours = busy ();
  place_add (&p, ours);
  CPU_ZERO (&taken);
  CPU_SET (p.cpu, &taken);
  other = busy ();
  assert_int_equal (sched_setaffinity (other, sizeof taken, &taken), 0);
  while (CPU_ISSET (p.cpu, &taken) && monotonic_ms () - start_ms < 5000) {
    usleep (20000);
    place_check (&p);
  }
  end (other);
  assert_int_equal (only_cpu (ours), p.cpu);
  end (ours);
  place_end (&p);
  if (CPU_ISSET (p.cpu, &taken))
    skip ();
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_its_own),
    cmocka_unit_test (only_one_to_be_had),
    cmocka_unit_test (moves),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
