/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "boot.h"
#include "calibration.h"
#include "guest.h"
#include "loader.h"
#include "runs.h"
#include "workdir.h"

#define POLL_MS 50
#define PROGRESS_MS 200

struct set {
  const struct run_options *options;
  struct pieces pieces;
  struct workdir workdir;
  struct scenario **scenarios;
  unsigned n_scenarios;
  struct guest *guests;
  struct boot *boots;           /* of the guests */
  char **folders;               /* of the guests: private, then results */
  int keep_fd;                  /* locked; or -1 */
  unsigned n_guests, next;
  bool terminal;
  int64_t last_progress_ms;
};

static void
set_real_clock (const struct set *s, struct machine *m)
{
  if (s->options->late_limit_us >= 0)
    m->late_limit_us = s->options->late_limit_us;
  m->floor_ns = calibration_floor_ns (accel_names[m->accel],
                                      machine_kinds[m->kind]);
}

static int
load_scenarios (struct set *s, const char *const *files, unsigned n)
{
  unsigned i;
  char *error;

  s->scenarios = allocate (n, sizeof *s->scenarios);
  for (i = 0; i < n; ++i) {
    s->scenarios[i] = scenario_load (files[i], &error);
    if (s->scenarios[i] == NULL) {
      complain ("%s", error);
      free (error);
      return -1;
    }
    s->n_scenarios++;
    set_real_clock (s, &s->scenarios[i]->machine);
    if (s->options->kernel) {
      free (s->scenarios[i]->kernel);
      s->scenarios[i]->kernel = format ("%s", s->options->kernel);
    }
  }
  return 0;
}

/* The step must stay on the drive at PLACE. */
static int
check_reach (const struct guest *g, const struct scenario_step *s, int place)
{
  const int64_t sectors = g->profiles[place].geometry.sectors;
  int64_t span = s->span_mib * 2048;

  if (span == 0)
    span = s->random ? 1 : (scenario_step_bytes (s) + 511) / 512;
  if (s->offset_mib * 2048 + span <= sectors)
    return 0;
  complain ("%s: step %s reaches beyond the end of %s, at %lld MiB",
            g->results.scenario->name, s->name, g->results.drive[place].name,
            (long long) sectors / 2048);
  return -1;
}

static int
check_steps (const struct guest *g)
{
  const struct scenario *sc = g->results.scenario;
  unsigned i;

  for (i = 0; i < sc->n_steps; ++i) {
    const struct scenario_step *s = &sc->steps[i];

    if (check_reach (g, s, s->drive) == -1 ||
        (s->verb == STEP_COPY && check_reach (g, s, s->to) == -1))
      return -1;
    if (s->verb == STEP_TRIM && !g->profiles[s->drive].interface.trim) {
      complain ("%s: step %s: %s has no TRIM (interface.trim)", sc->name,
                s->name, g->results.drive[s->drive].name);
      return -1;
    }
  }
  return 0;
}

static int
load_profile (struct guest *g, unsigned place)
{
  const struct scenario_drive *d = &g->results.drive[place];
  char *error;

  g->drives[place].profile = &g->profiles[place];
  if (profile_load (d->profile, (const char *const *) d->set.word, d->set.n,
                    &g->profiles[place], &error) == 0)
    return 0;
  complain ("%s: drive %s: %s", g->results.scenario->name, d->name,
            error ? error : "out of memory");
  free (error);
  return -1;
}

/* The names of N drives, "a+b".  Free it. */
static char *
run_name (const struct scenario_drive *d, unsigned n)
{
  char *r = format ("%s", d[0].name), *longer;
  unsigned i;

  for (i = 1; i < n; ++i) {
    longer = format ("%s+%s", r, d[i].name);
    free (r);
    r = longer;
  }
  return r;
}

/* A guest with the N drives from D on. */
static int
add_guest (struct set *s, struct scenario *sc, struct scenario_drive *d,
           unsigned n)
{
  struct guest *g = &s->guests[s->n_guests];
  unsigned i;

  g->pieces = &s->pieces;
  g->trace = true;
  g->n_drives = n;
  g->results.scenario = sc;
  g->results.name = run_name (d, n);
  g->results.drive = d;
  g->results.profile = g->profiles;
  g->results.n_drives = n;
  g->results.steps = allocate (sc->n_steps, sizeof *g->results.steps);
  g->console.fd = -1;
  s->n_guests++;
  for (i = 0; i < n; ++i) {
    if (s->options->seed >= 0)
      d[i].seed = s->options->seed;
    if (load_profile (g, i) == -1)
      return -1;
  }
  return check_steps (g);
}

static int
add_scenario (struct set *s, struct scenario *sc)
{
  unsigned i;

  if (sc->together)
    return add_guest (s, sc, sc->drives, sc->n_drives);
  for (i = 0; i < sc->n_drives; ++i)
    if (add_guest (s, sc, &sc->drives[i], 1) == -1)
      return -1;
  return 0;
}

static int
add_guests (struct set *s)
{
  unsigned i, n = 0;

  for (i = 0; i < s->n_scenarios; ++i)
    n += s->scenarios[i]->n_drives;
  s->guests = allocate (n, sizeof *s->guests);
  s->boots = allocate (n, sizeof *s->boots);
  s->folders = allocate (2 * n, sizeof *s->folders);
  for (i = 0; i < s->n_scenarios; ++i)
    if (add_scenario (s, s->scenarios[i]) == -1)
      return -1;
  return 0;
}

/* Two runs of one name would share a folder. */
static int
check_names (const struct set *s)
{
  unsigned i, j;

  for (i = 0; i < s->n_guests; ++i)
    for (j = 0; j < i; ++j) {
      const struct run_results *a = &s->guests[i].results;
      const struct run_results *b = &s->guests[j].results;

      if (strcmp (a->scenario->name, b->scenario->name) == 0 &&
          strcmp (a->name, b->name) == 0) {
        complain ("two scenarios are called %s", a->scenario->name);
        return -1;
      }
    }
  return 0;
}

/* Ours alone: two runs would mix their files.  Returns its absolute path. */
static char *
take_keep (struct set *s)
{
  const char *path = s->options->keep;
  char *keep;

  if (make_directories (path) == -1)
    return NULL;
  keep = realpath (path, NULL);
  s->keep_fd = open (path, O_RDONLY|O_DIRECTORY|O_CLOEXEC);
  if (keep == NULL || s->keep_fd == -1)
    complain ("%s: %s", path, strerror (errno));
  else if (flock (s->keep_fd, LOCK_EX|LOCK_NB) == -1 && errno == EWOULDBLOCK)
    complain ("--keep %s: another run writes there", path);
  else
    return keep;
  free (keep);
  return NULL;
}

static int
make_folders (struct set *s)
{
  char *keep = NULL;
  unsigned i;
  int r = 0;

  if (s->options->keep && (keep = take_keep (s)) == NULL)
    return -1;
  for (i = 0; i < s->n_guests && r == 0; ++i) {
    const struct run_results *g = &s->guests[i].results;
    char *private = format ("%s/%u", s->workdir.path, i);

    s->folders[2*i] = private;
    s->folders[2*i+1] = keep
      ? format ("%s/%s.%s", keep, g->scenario->name, g->name)
      : format ("%s/log", private);
    if (make_directories (private) == -1 ||
        make_directories (s->folders[2*i+1]) == -1)
      r = -1;
    s->guests[i].private_folder = private;
    s->guests[i].folder = s->folders[2*i+1];
  }
  free (keep);
  return r;
}

static int
prepare_boots (struct set *s)
{
  unsigned i;

  for (i = 0; i < s->n_guests; ++i) {
    struct guest *g = &s->guests[i];

    if (boot_prepare (&s->boots[i], g->results.scenario, g->drives,
                      g->n_drives, &s->pieces, g->private_folder) == -1)
      return -1;
    g->kernel = s->boots[i].kernel;
    g->initrd = s->boots[i].initrd;
    g->append = s->boots[i].append;
  }
  return 0;
}

static int
terminal_width (void)
{
  struct winsize w;

  return ioctl (STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0
    ? w.ws_col : 80;
}

/* One line, over and over.  It must not wrap. */
static void
show_progress (struct set *s)
{
  char *line = NULL;
  struct timespec t;
  int64_t now;
  size_t size;
  FILE *fp;
  unsigned i;

  clock_gettime (CLOCK_MONOTONIC, &t);
  now = t.tv_sec * INT64_C (1000) + t.tv_nsec / 1000000;
  if (!s->terminal || now - s->last_progress_ms < PROGRESS_MS ||
      (fp = open_memstream (&line, &size)) == NULL)
    return;
  s->last_progress_ms = now;
  for (i = 0; i < s->n_guests; ++i) {
    const struct guest *g = &s->guests[i];

    if (g->state == GUEST_RUNNING)
      fprintf (fp, "%s %u/%u, virtual %.1f s, real %.0f s   ",
               g->results.name, g->steps_done,
               g->results.scenario->n_steps, guest_virtual_s (g),
               (now - g->start_ms) / 1000.);
  }
  if (fclose (fp) == 0)
    fprintf (stderr, "\r%.*s\033[K", terminal_width () - 1, line);
  free (line);
}

static void
clear_progress (const struct set *s)
{
  if (s->terminal)
    fputs ("\r\033[K", stderr);
}

static unsigned
start_and_poll (struct set *s, unsigned jobs)
{
  unsigned i, running = 0;

  for (i = 0; i < s->n_guests; ++i) {
    guest_poll (&s->guests[i]);
    if (s->guests[i].state == GUEST_RUNNING)
      running++;
  }
  while (s->next < s->n_guests && running < jobs) {
    guest_start (&s->guests[s->next]);
    if (s->guests[s->next].state == GUEST_RUNNING)
      running++;
    s->next++;
  }
  return running;
}

/* Returns -1 when we were told to stop. */
static int
run_guests (struct set *s)
{
  long cpus = sysconf (_SC_NPROCESSORS_ONLN);
  unsigned jobs = s->options->jobs ? s->options->jobs : cpus > 0 ? cpus : 1;

  while (start_and_poll (s, jobs) > 0 || s->next < s->n_guests) {
    show_progress (s);
    if (signals_wait (POLL_MS)) {
      clear_progress (s);
      complain ("interrupted");
      return -1;
    }
  }
  clear_progress (s);
  return 0;
}

/* Print one guest's results; how it went. */
static enum spindle_exit
report (struct set *s, struct guest *g)
{
  const struct run_results *r = &g->results;
  char *exactness;
  unsigned i;

  if (g->state == GUEST_FAILED) {
    complain ("%s: %s", r->name, g->failure);
    return EXIT_COULD_NOT_RUN;
  }
  if (!s->options->keep)
    for (i = 0; i < r->n_drives; ++i) {
      free (g->results.traces[i]);
      g->results.traces[i] = NULL;
    }
  else
    results_plot (&g->results, g->folder);
  if (!s->options->json) {
    if (g != s->guests)
      putchar ('\n');
    results_print (stdout, r);
  }
  if (r->scenario->machine.virtual_clock && !r->exact) {
    exactness = results_exactness (r);
    complain ("%s: %s", r->name, exactness);
    free (exactness);
    return EXIT_COULD_NOT_RUN;
  }
  if (r->lateness.known && !r->lateness.valid) {
    exactness = results_exactness (r);
    complain ("%s: %s", r->name, exactness);
    free (exactness);
    return EXIT_INVALID;
  }
  return results_reproduced (r) ? EXIT_REPRODUCED : EXIT_NOT_REPRODUCED;
}

static int
write_json (const struct set *s)
{
  struct run_results *runs = allocate (s->n_guests, sizeof *runs);
  char *path;
  FILE *fp;
  unsigned i, n = 0;
  int r = 0;

  for (i = 0; i < s->n_guests; ++i)
    if (s->guests[i].state == GUEST_DONE)
      runs[n++] = s->guests[i].results;
  if (s->options->json)
    results_write_json (stdout, runs, n);
  if (s->options->keep) {
    path = format ("%s/results.json", s->options->keep);
    fp = fopen (path, "w");
    if (fp)
      results_write_json (fp, runs, n);
    if (fp == NULL || fclose (fp) == EOF) {
      complain ("%s: %s", path, strerror (errno));
      r = -1;
    }
    free (path);
  }
  free (runs);
  return r;
}

static enum spindle_exit
report_all (struct set *s)
{
  enum spindle_exit worst = EXIT_REPRODUCED, one;
  unsigned i;

  for (i = 0; i < s->n_guests; ++i) {
    one = report (s, &s->guests[i]);
    if (one > worst)
      worst = one;
  }
  if (write_json (s) == -1)
    worst = EXIT_COULD_NOT_RUN;
  return worst;
}

static void
free_set (struct set *s)
{
  unsigned i;

  for (i = 0; i < s->n_guests; ++i) {
    guest_free (&s->guests[i]);
    boot_free (&s->boots[i]);
  }
  for (i = 0; i < 2 * s->n_guests; ++i)
    free (s->folders[i]);
  for (i = 0; i < s->n_scenarios; ++i)
    scenario_free (s->scenarios[i]);
  free (s->guests);
  free (s->folders);
  free (s->boots);
  free (s->scenarios);
  if (s->keep_fd != -1)
    close (s->keep_fd);
  workdir_remove (&s->workdir);
  pieces_free (&s->pieces);
}

enum spindle_exit
run_scenarios (const char *const *files, unsigned n_files,
               const struct run_options *options)
{
  struct set s = {
    .options = options, .terminal = isatty (STDERR_FILENO), .keep_fd = -1
  };
  enum spindle_exit r = EXIT_COULD_NOT_RUN;

  signals_take_over ();
  if (load_scenarios (&s, files, n_files) == 0 && add_guests (&s) == 0 &&
      check_names (&s) == 0 &&
      program_check (qemu_program (), "qemu-system-x86") == 0 &&
      program_check (nbdkit_program (), "nbdkit") == 0 &&
      pieces_find (&s.pieces) == 0 && workdir_create (&s.workdir) == 0 &&
      make_folders (&s) == 0 && prepare_boots (&s) == 0 &&
      run_guests (&s) == 0)
    r = report_all (&s);
  free_set (&s);
  return r;
}
