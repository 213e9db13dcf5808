// SPDX-License-Identifier: BSD-3-Clause

#include "jobs.h"
#include "sys.h"

/* Children write a byte to one pipe when they are ready, and wait for the
 * end of the other. */
struct gates {
  int ready[2], start[2];       /* to read, to write */
};

static void
child (const struct job_work *work, int job, const struct gates *g)
{
  char byte = 0;

  sys_close (g->start[1]);
  work->prepare (work->opaque, job);
  sys3 (SYS_WRITE, g->ready[1], &byte, 1);
  sys3 (SYS_READ, g->start[0], &byte, 1);
  work->run (work->opaque, job);
  sys1 (SYS_EXIT, 0);
}

static long
open_gates (struct gates *g)
{
  long error = sys1 (SYS_PIPE, g->ready);

  if (error < 0)
    return error;
  error = sys1 (SYS_PIPE, g->start);
  if (error < 0) {
    sys_close (g->ready[0]);
    sys_close (g->ready[1]);
  }
  return error;
}

static int64_t
alone (const struct job_work *work)
{
  int64_t start_ns;

  work->prepare (work->opaque, 0);
  start_ns = sys_now_ns ();
  work->run (work->opaque, 0);
  return sys_now_ns () - start_ns;
}

int64_t
jobs_run (const struct job_work *work, int jobs)
{
  struct gates g;
  int64_t start_ns;
  int started;
  long error;
  char byte;

  if (jobs == 1)
    return alone (work);
  error = open_gates (&g);
  if (error < 0)
    return error;
  for (started = 0; started < jobs; started++) {
    error = sys0 (SYS_FORK);
    if (error == 0)
      child (work, started, &g);
    if (error < 0)
      break;
  }
  for (int i = 0; i < started; i++)
    sys3 (SYS_READ, g.ready[0], &byte, 1);
  start_ns = sys_now_ns ();
  sys_close (g.start[1]);
  while (started-- > 0)
    sys3 (SYS_WAITPID, -1, NULL, 0);
  sys_close (g.start[0]);
  sys_close (g.ready[0]);
  sys_close (g.ready[1]);
  return error < 0 ? error : sys_now_ns () - start_ns;
}
