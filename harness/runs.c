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
#include "disk-image.h"
#include "guest.h"
#include "kernel.h"
#include "loader.h"
#include "run-output.h"
#include "runs.h"
#include "workdir.h"

#define POLL_MS 50
#define PROGRESS_MS 200
#define END_MS 500

struct set {
  const struct run_options *options;
  struct pieces pieces;
  struct workdir workdir, images; /* images: NULL path if not needed */
  struct scenario **scenarios;  /* a copy for each variant, guest, kernel */
  unsigned n_scenarios;
  uint64_t fingerprint;         /* of scenarios and variants */
  struct guest **guests;
  struct boot *boots;           /* of the guests */
  char *root;                   /* where results.json and folders go */
  char **folders;               /* of the guests: private, then results */
  int keep_fd;                  /* locked; or -1 */
  unsigned n_guests, next;
  unsigned n_runs;              /* of which the guests may be one part */
  bool terminal;
  int64_t last_progress_ms;
};

static int
set_real_clock (const struct set *s, struct machine *m)
{
  if (m->virtual_clock)
    return 0;
  if (s->options->late_limit_us >= 0)
    m->late_limit_us = s->options->late_limit_us;
  return calibration_floor (accel_names[m->accel], machine_kinds[m->kind],
                            &m->floor_ns);
}

static void
fingerprint_file (struct set *s, const char *path)
{
  FILE *fp = fopen (path, "re");

  if (fp) {
    s->fingerprint = hash_file (s->fingerprint, fp);
    fclose (fp);
  }
}

static int
apply_variant (struct scenario *sc, const struct variant *v)
{
  unsigned i;
  size_t j;

  if (v->kernel) {
    free (sc->kernel);
    sc->kernel = format ("%s", v->kernel);
    free (sc->kernel_name);
    sc->kernel_name = NULL;
    sc->n_kernels = 1;
  }
  if (v->profile && sc->together) {
    complain ("%s has %u drives in one guest: no other profile can be given",
              sc->name, sc->n_drives);
    return -1;
  }
  if (v->profile)
    scenario_use_profile (sc, v->profile);
  for (i = 0; i < sc->n_drives; ++i) {
    if (v->seed >= 0)
      sc->drives[i].seed = v->seed;
    for (j = 0; j < v->set.n; ++j)
      words_add (&sc->drives[i].set, v->set.word[j]);
  }
  return 0;
}

static int
load_scenario (struct set *s, const char *file, const struct variant *v,
               unsigned guest, unsigned kernel)
{
  const struct scenario_pick pick = {
    .guest = guest, .kernel = kernel, .full = v->full,
  };
  struct scenario *sc;
  char *error;

  sc = scenario_load (file, &pick, &error);
  if (sc == NULL) {
    complain ("%s", error);
    free (error);
    return -1;
  }
  s->scenarios = reallocate (s->scenarios, s->n_scenarios + 1,
                             sizeof *s->scenarios);
  s->scenarios[s->n_scenarios++] = sc;
  return set_real_clock (s, &sc->machine) == -1 ? -1 : apply_variant (sc, v);
}

/* The step must stay on the drive at PLACE. */
static int
check_reach (const struct guest *g, const struct scenario_step *s, int place)
{
  const int64_t sectors = g->profiles[place].geometry.sectors;
  int64_t span = s->span_mib * 2048;

  if (s->file || s->verb == STEP_ALSO)
    return 0;
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

static char *
append (char *s, const char *between, const char *more)
{
  char *longer = format ("%s%s%s", s, between, more);

  free (s);
  return longer;
}

/* The names of N drives, "a+b", which of the scenario's guests and kernels
 * it is, ".as@2.6.0", and what was changed.  Free it.
 */
static char *
run_name (const struct scenario *sc, const struct scenario_drive *d,
          unsigned n, const struct variant *v)
{
  char *r = format ("%s", d[0].name);
  unsigned i;

  for (i = 1; i < n; ++i)
    r = append (r, "+", d[i].name);
  if (sc->guest)
    r = append (r, ".", sc->guest);
  if (sc->kernel_name)
    r = append (r, "@", sc->kernel_name);
  return append (r, "", v->label);
}

/* A kernel that a list names but is not there is no mistake. */
static void
skip_missing_kernel (struct guest *g)
{
  const struct scenario *sc = g->results.scenario;

  if (sc->kernel_name == NULL || kernel_is_there (sc->kernel))
    return;
  g->results.skipped = format ("no kernel %s", sc->kernel_name);
  g->state = GUEST_DONE;
}

/* A guest with the N drives from D on. */
static int
add_guest (struct set *s, struct scenario *sc, struct scenario_drive *d,
           unsigned n, const struct variant *v)
{
  struct guest *g = allocate (1, sizeof *g);
  unsigned i;

  s->guests = reallocate (s->guests, s->n_guests + 1, sizeof *s->guests);
  s->guests[s->n_guests++] = g;
  g->pieces = &s->pieces;
  g->trace = true;
  g->n_drives = n;
  g->results.scenario = sc;
  g->results.name = run_name (sc, d, n, v);
  g->results.folder = format ("%s.%s", sc->name, g->results.name);
  g->results.varied = v->profile || v->set.n;
  g->results.drive = d;
  g->results.profile = g->profiles;
  g->results.n_drives = n;
  g->results.steps = allocate (sc->n_steps, sizeof *g->results.steps);
  g->console.fd = -1;
  g->results.part = s->n_guests;
  s->fingerprint = hash_bytes (s->fingerprint, g->results.folder,
                               strlen (g->results.folder) + 1);
  for (i = 0; i < n; ++i) {
    g->drives[i].parameters = &d[i].bad;
    if (load_profile (g, i) == -1)
      return -1;
  }
  skip_missing_kernel (g);
  return check_steps (g);
}

static int
add_scenario (struct set *s, struct scenario *sc, const struct variant *v)
{
  unsigned n = sc->together ? 1 : sc->n_drives, i;

  for (i = 0; i < n; ++i)
    if (add_guest (s, sc, &sc->drives[i], sc->together ? sc->n_drives : 1,
                   v) == -1)
      return -1;
  return 0;
}

/* Two runs of one name would share a folder. */
static int
check_names (const struct set *s)
{
  unsigned i, j;

  for (i = 0; i < s->n_guests; ++i)
    for (j = 0; j < i; ++j)
      if (strcmp (s->guests[i]->results.folder,
                  s->guests[j]->results.folder) == 0) {
        complain ("two runs are called %s", s->guests[i]->results.folder);
        return -1;
      }
  return 0;
}

/* All guests and kernels of one scenario. */
static int
add_file (struct set *s, const char *file, const struct variant *v)
{
  unsigned guest, kernel, n_guests = 1, n_kernels = 1;

  for (kernel = 0; kernel < n_kernels; ++kernel)
    for (guest = 0; guest < n_guests; ++guest) {
      struct scenario *sc;

      if (load_scenario (s, file, v, guest, kernel) == -1)
        return -1;
      sc = s->scenarios[s->n_scenarios - 1];
      if (add_scenario (s, sc, v) == -1)
        return -1;
      n_guests = sc->n_guests;
      n_kernels = sc->n_kernels;
    }
  return 0;
}

static int
add_runs (struct set *s, const struct words *files,
          const struct variants *variants)
{
  size_t i;
  unsigned j;

  s->fingerprint = HASH_START;
  for (i = 0; i < files->n; ++i) {
    for (j = 0; j < variants->n; ++j)
      if (add_file (s, files->word[i], &variants->variant[j]) == -1)
        return -1;
    fingerprint_file (s, files->word[i]);
  }
  return check_names (s);
}

static void
free_guest (struct guest *g)
{
  guest_free (g);
  free (g);
}

/* Only one of them, if that is wanted. */
static int
pick_part (struct set *s)
{
  const struct run_options *o = s->options;
  unsigned i;

  s->n_runs = s->n_guests;
  if (o->parts == 0)
    return 0;
  if (o->parts != s->n_guests) {
    complain ("--part %lld/%lld: these are %u runs", (long long) o->part,
              (long long) o->parts, s->n_guests);
    return -1;
  }
  for (i = 0; i < s->n_guests; ++i)
    if (i + 1 != o->part)
      free_guest (s->guests[i]);
  s->guests[0] = s->guests[o->part - 1];
  s->n_guests = 1;
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

/* Where results go: kept, or private. */
static int
make_root (struct set *s)
{
  s->root = s->options->keep ? take_keep (s)
    : format ("%s/results", s->workdir.path);
  return s->root ? 0 : -1;
}

static int
make_folders (struct set *s)
{
  unsigned i;

  if (make_root (s) == -1)
    return -1;
  s->folders = allocate (2 * s->n_guests, sizeof *s->folders);
  for (i = 0; i < s->n_guests; ++i) {
    struct guest *g = s->guests[i];
    char *private = format ("%s/%u", s->workdir.path, i);
    char *folder = format ("%s/%s", s->root, g->results.folder);

    s->folders[2*i] = private;
    s->folders[2*i+1] = folder;
    if (make_directories (private) == -1 || make_directories (folder) == -1)
      return -1;
    g->private_folder = private;
    g->folder = folder;
  }
  return 0;
}

static int
prepare_boots (struct set *s)
{
  unsigned i;

  s->boots = allocate (s->n_guests, sizeof *s->boots);
  for (i = 0; i < s->n_guests; ++i) {
    struct guest *g = s->guests[i];

    if (g->state == GUEST_DONE)
      continue;
    if (boot_prepare (&s->boots[i], g->results.scenario, g->drives,
                      g->n_drives, &s->pieces, g->private_folder) == -1)
      return -1;
    g->boot = &s->boots[i];
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

static unsigned
count_done (const struct set *s)
{
  unsigned i, n = 0;

  for (i = 0; i < s->next; ++i)
    n += s->guests[i]->state != GUEST_RUNNING;
  return n;
}

/* One line, over and over.  It must not wrap. */
static void
show_progress (struct set *s)
{
  char *line = NULL;
  const int64_t now = monotonic_ms ();
  size_t size;
  FILE *fp;
  unsigned i;

  if (!s->terminal || now - s->last_progress_ms < PROGRESS_MS ||
      (fp = open_memstream (&line, &size)) == NULL)
    return;
  s->last_progress_ms = now;
  if (s->n_guests > 2)
    fprintf (fp, "%u of %u done   ", count_done (s), s->n_guests);
  for (i = 0; i < s->n_guests; ++i) {
    const struct guest *g = s->guests[i];

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

/* Is anything to be made on a drive before a guest starts? */
static bool
needs_image (const struct scenario *sc)
{
  return sc->disk.file_system || sc->disk.partition_lba;
}

static int
make_images_folder (struct set *s)
{
  unsigned i;

  for (i = 0; i < s->n_scenarios; ++i)
    if (needs_image (s->scenarios[i]))
      return workdir_create_large (&s->images);
  return 0;
}

/* Each when its guest starts, and no longer than it lives: they may grow as
 * large as the drive.
 */
static int
make_image (const struct set *s, struct guest *g)
{
  const struct scenario *sc = g->results.scenario;
  char *error = NULL;
  int r;

  if (!needs_image (sc))
    return 0;
  g->image = format ("%s/%lld", s->images.path, (long long) g->results.part);
  g->drives[0].image = g->image;
  r = disk_image_make (g->image, &sc->disk,
                       g->profiles[0].geometry.sectors, g->private_folder,
                       &error);
  if (r == -1) {
    g->failure = error;
    g->state = GUEST_FAILED;
  }
  return r;
}

static void
remove_image (struct guest *g)
{
  if (g->image)
    unlink (g->image);
  free (g->image);
  g->image = NULL;
}

static void
start_guest (struct set *s, struct guest *g)
{
  if (g->state == GUEST_IDLE && make_image (s, g) == 0)
    guest_start (g);
}

static unsigned
start_and_poll (struct set *s, unsigned jobs)
{
  unsigned i, running = 0;

  for (i = 0; i < s->n_guests; ++i) {
    guest_poll (s->guests[i]);
    if (s->guests[i]->state == GUEST_RUNNING)
      running++;
    else if (s->guests[i]->state != GUEST_IDLE)
      remove_image (s->guests[i]);
  }
  while (s->next < s->n_guests && running < jobs) {
    start_guest (s, s->guests[s->next]);
    if (s->guests[s->next]->state == GUEST_RUNNING)
      running++;
    s->next++;
  }
  return running;
}

/* Whoever ends us, as a cluster does a job, may have ended our children a
 * moment before: that is no result.
 */
static bool
was_ended (const struct set *s)
{
  bool failed = false, ended = false;
  unsigned i;

  for (i = 0; i < s->n_guests; ++i)
    failed = failed || s->guests[i]->state == GUEST_FAILED;
  for (i = 0; failed && !ended && i < END_MS / POLL_MS; ++i)
    ended = signals_wait (POLL_MS) != 0;
  return ended;
}

/* Returns -1 when we were told to stop. */
static int
run_guests (struct set *s)
{
  long cpus = sysconf (_SC_NPROCESSORS_ONLN);
  unsigned jobs = s->options->jobs ? s->options->jobs : cpus > 0 ? cpus : 1;
  bool stopped = false;

  while (!stopped &&
         (start_and_poll (s, jobs) > 0 || s->next < s->n_guests)) {
    show_progress (s);
    stopped = signals_wait (POLL_MS) != 0;
  }
  clear_progress (s);
  if (!stopped && !was_ended (s))
    return 0;
  complain ("interrupted");
  return -1;
}

static enum spindle_exit
output (struct set *s)
{
  struct run_output o = {
    .options = s->options, .root = s->root, .parts = s->n_runs,
    .matrix = format ("%016llx", (unsigned long long) s->fingerprint),
    .runs = allocate (s->n_guests, sizeof *o.runs), .n = s->n_guests,
  };
  enum spindle_exit r;
  unsigned i;

  for (i = 0; i < s->n_guests; ++i) {
    s->guests[i]->results.failure = s->guests[i]->failure;
    o.runs[i] = &s->guests[i]->results;
    if (s->options->each)
      s->options->each (s->options->opaque, o.runs[i]);
  }
  r = run_output (&o);
  free (o.matrix);
  free (o.runs);
  return r;
}

static void
free_set (struct set *s)
{
  unsigned i;

  for (i = 0; i < s->n_guests; ++i) {
    remove_image (s->guests[i]);
    free_guest (s->guests[i]);
    if (s->boots)
      boot_free (&s->boots[i]);
  }
  for (i = 0; s->folders && i < 2 * s->n_guests; ++i)
    free (s->folders[i]);
  for (i = 0; i < s->n_scenarios; ++i)
    scenario_free (s->scenarios[i]);
  free (s->root);
  free (s->guests);
  free (s->folders);
  free (s->boots);
  free (s->scenarios);
  if (s->keep_fd != -1)
    close (s->keep_fd);
  workdir_remove (&s->images);
  workdir_remove (&s->workdir);
  pieces_free (&s->pieces);
}

enum spindle_exit
run_scenarios (const struct words *files, const struct variants *variants,
               const struct run_options *options)
{
  struct set s = {
    .options = options, .terminal = isatty (STDERR_FILENO), .keep_fd = -1
  };
  enum spindle_exit r = EXIT_COULD_NOT_RUN;

  signals_take_over ();
  if (add_runs (&s, files, variants) == 0 && pick_part (&s) == 0 &&
      program_check (qemu_program (), "qemu-system-x86") == 0 &&
      program_check (nbdkit_program (), "nbdkit") == 0 &&
      pieces_find (&s.pieces) == 0 && workdir_create (&s.workdir) == 0 &&
      make_images_folder (&s) == 0 && make_folders (&s) == 0 &&
      run_output_start (s.root) == 0 && prepare_boots (&s) == 0 &&
      run_guests (&s) == 0)
    r = output (&s);
  free_set (&s);
  return r;
}

int
runs_list (const struct words *files, const struct variants *variants,
           struct words *folders)
{
  static const struct run_options none = { .late_limit_us = -1 };
  struct set s = { .options = &none, .keep_fd = -1 };
  int r = add_runs (&s, files, variants);
  unsigned i;

  for (i = 0; r == 0 && i < s.n_guests; ++i)
    words_add (folders, s.guests[i]->results.folder);
  free_set (&s);
  return r;
}
