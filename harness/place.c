/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixed.h"
#include "place.h"
#include "spindle.h"

/* Runs that share a CPU must not look, and jump, at the same time, and if they
 * did, not once more: each looks at moments of its own, never the same pause
 * between them.  Some ask us only every 500 ms, so the spread is more.
 */
#define LOOK_MS 1000
#define LOOK_SPREAD_MS 1500

/* A move is worth this part of a CPU, in percent. */
#define GAIN_PERCENT 25

/* With less than this of a CPU that is never idle, try another. */
#define CROWDED_PERCENT 45

/* How many of our guests each CPU has, so that the next goes elsewhere. */
static unsigned guests_on[CPU_SETSIZE];

/* Clock ticks that the process has had, all its threads. */
static int64_t
ticks_used (pid_t pid)
{
  char *path = format ("/proc/%d/stat", (int) pid), text[1024], *after;
  FILE *fp = fopen (path, "re");
  unsigned long long user = 0, system = 0;
  size_t n;

  free (path);
  if (fp == NULL)
    return 0;
  n = fread (text, 1, sizeof text - 1, fp);
  fclose (fp);
  text[n] = '\0';
  /* The second field is a name that may hold anything. */
  after = strrchr (text, ')');
  if (after == NULL ||
      sscanf (after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
              "%llu %llu", &user, &system) != 2)
    return 0;
  return user + system;
}

static int64_t
all_used (const struct place *p)
{
  int64_t r = 0;
  unsigned i;

  for (i = 0; i < p->n_pids; ++i)
    r += ticks_used (p->pids[i]);
  return r;
}

/* The ticks that each of CPU_SETSIZE CPUs has been idle.  Free it. */
static int64_t *
read_idle (void)
{
  int64_t *idle = allocate (CPU_SETSIZE, sizeof *idle);
  FILE *fp = fopen ("/proc/stat", "re");
  char *line = NULL;
  size_t size = 0;

  while (fp && getline (&line, &size, fp) > 0) {
    unsigned long long idling, waiting;
    int cpu;

    if (line[3] != ' ' &&
        sscanf (line, "cpu%d %*u %*u %*u %llu %llu", &cpu, &idling,
                &waiting) == 3 && cpu >= 0 && cpu < CPU_SETSIZE)
      idle[cpu] = idling + waiting;
  }
  free (line);
  if (fp)
    fclose (fp);
  return idle;
}

/* The thread, or if that fails it was its last moment. */
static void
pin (pid_t thread, int cpu)
{
  cpu_set_t set;

  CPU_ZERO (&set);
  CPU_SET (cpu, &set);
  sched_setaffinity (thread, sizeof set, &set);
}

static void
pin_threads (pid_t pid, int cpu)
{
  char *path = format ("/proc/%d/task", (int) pid);
  DIR *dir = opendir (path);
  struct dirent *d;

  free (path);
  if (dir == NULL)
    return;
  while ((d = readdir (dir)) != NULL)
    if (d->d_name[0] != '.')
      pin (atoi (d->d_name), cpu);
  closedir (dir);
}

/* Of the CPUs in SET the one with the fewest of our guests; the one we are
 * on if that is among them: the kernel found it free a moment ago.
 */
static int
least_used (const cpu_set_t *set)
{
  int here = sched_getcpu (), best = -1, i;

  for (i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET (i, set) &&
        (best == -1 || guests_on[i] < guests_on[best] ||
         (guests_on[i] == guests_on[best] && i == here)))
      best = i;
  return best;
}

static void
look_later (struct place *p, int64_t now_ms)
{
  p->looked_ms = now_ms;
  p->look_ms = now_ms + LOOK_MS +
    (int64_t) (splitmix64 (&p->random) % LOOK_SPREAD_MS);
}

void
place_start (struct place *p)
{
  cpu_set_t set;

  memset (p, 0, sizeof *p);
  /* Fails where there are more CPUs than fit. */
  if (sched_getaffinity (0, sizeof set, &set) == -1 || CPU_COUNT (&set) < 2)
    return;
  p->cpu = least_used (&set);
  guests_on[p->cpu]++;
  p->idle = read_idle ();
  p->random = (uint64_t) getpid ();
  look_later (p, monotonic_ms ());
}

void
place_add (struct place *p, pid_t pid)
{
  if (p->idle == NULL || p->n_pids == PLACE_PIDS)
    return;
  p->pids[p->n_pids++] = pid;
  pin_threads (pid, p->cpu);
}

/* What CPU would give us, in ticks, of what was to be had since we looked
 * last.  Our own has what we USED as well.
 */
static int
best_cpu (const struct place *p, const int64_t *idle, int64_t used,
          int64_t ticks)
{
  int64_t most = used + idle[p->cpu] - p->idle[p->cpu] +
    ticks * GAIN_PERCENT / 100;
  int best = p->cpu, i;
  cpu_set_t set;

  if (sched_getaffinity (0, sizeof set, &set) == -1)
    return best;
  for (i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET (i, &set) && idle[i] - p->idle[i] > most &&
        guests_on[i] < guests_on[p->cpu]) {
      most = idle[i] - p->idle[i];
      best = i;
    }
  return best;
}

/* Some other CPU that we may use, each as likely as the other. */
static int
any_other (struct place *p)
{
  cpu_set_t set;
  int n, i;

  if (sched_getaffinity (0, sizeof set, &set) == -1)
    return p->cpu;
  CPU_CLR (p->cpu, &set);
  n = CPU_COUNT (&set);
  if (n == 0)
    return p->cpu;
  n = (int) (splitmix64 (&p->random) % (unsigned) n);
  for (i = 0; !CPU_ISSET (i, &set) || n-- > 0; ++i)
    ;
  return i;
}

static void
move (struct place *p, int cpu)
{
  unsigned i;

  guests_on[p->cpu]--;
  guests_on[cpu]++;
  p->cpu = cpu;
  for (i = 0; i < p->n_pids; ++i)
    pin_threads (p->pids[i], cpu);
}

void
place_check (struct place *p)
{
  const int64_t now_ms = monotonic_ms (), ms = now_ms - p->looked_ms;
  int64_t *idle, used, ticks;
  int cpu;

  if (p->idle == NULL || now_ms < p->look_ms)
    return;
  ticks = ms * sysconf (_SC_CLK_TCK) / 1000;
  idle = read_idle ();
  used = all_used (p);
  cpu = best_cpu (p, idle, used - p->used, ticks);
  /* Nothing is idle, but perhaps others are fewer there. */
  if (cpu == p->cpu && idle[cpu] == p->idle[cpu] &&
      used - p->used < ticks * CROWDED_PERCENT / 100)
    cpu = any_other (p);
  free (p->idle);
  p->idle = idle;
  p->used = used;
  look_later (p, now_ms);
  if (cpu != p->cpu)
    move (p, cpu);
}

void
place_end (struct place *p)
{
  if (p->idle)
    guests_on[p->cpu]--;
  free (p->idle);
  p->idle = NULL;
}
