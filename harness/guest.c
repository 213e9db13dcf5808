/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock-page.h"
#include "guest.h"
#include "json.h"
#include "spindle.h"

#define MARK "@spindle "

#define NBDKIT_START_MS 20000
#define NBDKIT_STOP_MS 10000
#define QEMU_STOP_MS 5000

/* A guest that said it is done gets this long to power off. */
#define POWER_OFF_MS 10000

static int64_t
virtual_ns (const struct guest *g)
{
  int64_t r = 0;
  unsigned i;

  for (i = 0; i < g->n_drives; ++i) {
    volatile const struct clock_page *page = g->pages[i];

    if (page && page->now_ns > r)
      r = page->now_ns;
    if (page && page->advance_ns > r)
      r = page->advance_ns;
  }
  return r;
}

/* The clock that silence on the console is measured with. */
static int64_t
guest_ns (const struct guest *g)
{
  return g->results.scenario->machine.virtual_clock
    ? virtual_ns (g) : (monotonic_ms () - g->start_ms) * 1000000;
}

double
guest_virtual_s (const struct guest *g)
{
  return virtual_ns (g) / 1e9;
}

/* End with a message.  The first one stays. */
static void __attribute__ ((format (printf, 2, 3)))
fail (struct guest *g, const char *fmt, ...)
{
  va_list args;

  if (g->failure == NULL) {
    va_start (args, fmt);
    g->failure = format_args (fmt, args);
    va_end (args);
  }
  guest_kill (g);
  g->state = GUEST_FAILED;
}

static void
set_doing (struct guest *g, const char *what)
{
  free (g->doing);
  g->doing = format ("%s", what);
}

/* Why a program ended: what it said last, else how it ended. */
static char *
why (const struct guest *g, const struct child *c)
{
  char *log = format ("%s/%s.log", g->folder, c->name);
  char *said = last_line (log, NULL), *fate = child_fate (c), *r;
  const char *text = said;
  char *prefix = format ("%s: ", c->name);

  /* Programs put their own name first. */
  if (text && strncmp (text, prefix, strlen (prefix)) == 0)
    text += strlen (prefix);
  r = text ? format ("%s: %s", fate, text) : format ("%s", fate);
  free (prefix);
  free (log);
  free (said);
  free (fate);
  return r;
}

static void
fail_child (struct guest *g, const struct child *c)
{
  char *reason = why (g, c);

  fail (g, "%s %s", c->name, reason);
  free (reason);
}

static char *
path_in (const char *folder, const char *name)
{
  return format ("%s/%s", folder, name);
}

/* Commands are kept beside the logs, so that a run can be repeated by
 * hand.
 */
static void
note_command (const struct guest *g, const struct words *env,
              const struct words *argv)
{
  char *path = path_in (g->folder, "commands.txt");
  FILE *fp = fopen (path, "a");

  if (fp) {
    if (env && env->n) {
      fputs ("env ", fp);
      words_print (env, fp, " \\\n  ");
    }
    words_print (argv, fp, "\n");
    fclose (fp);
  }
  free (path);
}

static int
start_child (struct guest *g, struct child *c, const char *name,
             const struct words *argv, const struct words *env)
{
  char *log = format ("%s/%s.log", g->folder, name);
  int r;

  note_command (g, env, argv);
  r = child_start (c, name, argv, env, log);
  if (r == 0)
    place_add (&g->place, c->pid);
  free (log);
  return r;
}

/* A file of one drive: NAME and SUFFIX, and between them the drive's name if
 * there are several.
 */
static char *
drive_path (const struct guest *g, unsigned i, const char *name,
            const char *suffix)
{
  return g->n_drives == 1
    ? format ("%s/%s%s", g->folder, name, suffix)
    : format ("%s/%s-%s%s", g->folder, name, g->results.drive[i].name,
              suffix);
}

static int
wait_for_nbdkit (struct guest *g, unsigned i, const char *pidfile)
{
  const int64_t start = monotonic_ms ();

  while (access (pidfile, F_OK) == -1) {
    if (child_ended (&g->nbdkit[i]))
      fail_child (g, &g->nbdkit[i]);
    else if (monotonic_ms () - start > NBDKIT_START_MS)
      fail (g, "nbdkit does not answer");
    else if (signals_wait (5))
      fail (g, "interrupted");
    else
      continue;
    return -1;
  }
  return 0;
}

static int
start_nbdkit (struct guest *g, unsigned i)
{
  const struct scenario_drive *d = &g->results.drive[i];
  char *pidfile = format ("%s/nbdkit%u.pid", g->private_folder, i);
  char *stats = drive_path (g, i, "drive", ".json");
  struct drive_server server = {
    .profile = d->profile, .set = &d->set, .seed = d->seed,
    .image = g->drives[i].image, .parameters = g->drives[i].parameters,
    .socket = g->drives[i].socket, .pidfile = pidfile,
    .clock_page = g->drives[i].clock_page, .trace = g->results.traces[i],
    .stats = stats,
  };
  struct words argv = { 0 };
  int r;

  /* Of the guest that had the folder before. */
  unlink (pidfile);
  unlink (server.socket);
  machine_nbdkit (&argv, g->pieces, &g->results.scenario->machine, &server);
  r = start_child (g, &g->nbdkit[i], g->nbdkit_names[i], &argv, NULL);
  if (r == -1)
    fail (g, "nbdkit could not be started");
  else
    r = wait_for_nbdkit (g, i, pidfile);
  words_free (&argv);
  free (pidfile);
  free (stats);
  return r;
}

static void
map_clock_page (struct guest *g, unsigned i)
{
  int fd = open (g->drives[i].clock_page, O_RDONLY|O_CLOEXEC);
  void *p;

  if (fd == -1)
    return;
  p = mmap (NULL, sizeof *g->pages[i], PROT_READ, MAP_SHARED, fd, 0);
  close (fd);
  if (p != MAP_FAILED)
    g->pages[i] = p;
}

static void
add_record (const struct guest *g, struct words *argv)
{
  if (g->record == NULL)
    return;
  words_add (argv, "-chardev");
  words_addf (argv, "file,id=record,path=%s", g->record);
  words_add (argv, "-device");
  words_add (argv, "isa-debugcon,iobase=0xe9,chardev=record");
}

static int
start_qemu (struct guest *g)
{
  struct machine machine = g->results.scenario->machine;
  const struct machine *m = &machine;
  struct words argv = { 0 }, env = { 0 };
  int r;

  machine.memory_mib = g->results.memory_mib = g->boot->memory_mib;
  machine_qemu (&argv, g->pieces, m, g->drives, g->n_drives);
  machine_environment (&env, g->pieces, m, g->drives, g->n_drives,
                       g->stats_path);
  words_add (&argv, "-display");
  words_add (&argv, "none");
  if (!scenario_reboots (g->results.scenario))
    words_add (&argv, "-no-reboot");
  words_add (&argv, "-serial");
  words_addf (&argv, "file:%s", g->console_path);
  add_record (g, &argv);
  words_add (&argv, "-kernel");
  words_add (&argv, g->boot->kernel);
  words_add (&argv, "-initrd");
  words_add (&argv, g->boot->initrd);
  words_add (&argv, "-append");
  words_add (&argv, g->boot->append);
  r = start_child (g, &g->qemu, "qemu", &argv, &env);
  if (r == -1)
    fail (g, "QEMU could not be started");
  words_free (&argv);
  words_free (&env);
  return r;
}

static void
name_files (struct guest *g)
{
  char *commands = path_in (g->folder, "commands.txt");
  unsigned i;

  unlink (commands);
  free (commands);
  for (i = 0; i < g->n_drives; ++i) {
    g->nbdkit_names[i] = g->n_drives == 1 ? format ("nbdkit")
      : format ("nbdkit-%s", g->results.drive[i].name);
    g->drives[i].socket = format ("%s/nbd%u", g->private_folder, i);
    g->drives[i].clock_page = format ("%s/clock%u", g->private_folder, i);
    if (g->trace)
      g->results.traces[i] = drive_path (g, i, "trace", ".txt");
  }
  g->console_path = path_in (g->folder, "console.log");
  g->stats_path = path_in (g->folder, "clock.json");
  unlink (g->console_path);
  unlink (g->stats_path);
}

void
guest_start (struct guest *g)
{
  unsigned i;

  g->state = GUEST_RUNNING;
  g->start_ms = monotonic_ms ();
  name_files (g);
  console_start (&g->console);
  set_doing (g, "booting");
  if (g->results.scenario->machine.virtual_clock)
    place_start (&g->place);
  for (i = 0; i < g->n_drives; ++i) {
    if (start_nbdkit (g, i) == -1)
      return;
    if (g->results.scenario->machine.virtual_clock)
      map_clock_page (g, i);
  }
  start_qemu (g);
}

/* When the first of "12 9 10" was done, or 0. */
static int64_t
least (const char *numbers)
{
  int64_t r = 0, n;
  char *end;

  for (;; numbers = end) {
    n = strtoll (numbers, &end, 10);
    if (end == numbers)
      return r;
    if (r == 0 || n < r)
      r = n;
  }
}

/* What a step that is done several times gives is added up. */
static void
add_measurement (struct measurement *m, const char *event)
{
  int64_t bytes = 0, requests = 0, ns = 0, slow = 0, slow_ns = 0, error;

  m->measured =
    json_get_int (event, "errno", &error) == -1 && /* else it stopped early */
    json_get_int (event, "bytes", &bytes) == 0 &&
    json_get_int (event, "requests", &requests) == 0 &&
    json_get_int (event, "ns", &ns) == 0 &&
    bytes > 0 && requests > 0 && ns > 0;
  json_get_int (event, "slow", &slow);
  json_get_int (event, "slow_ns", &slow_ns);
  m->bytes += bytes;
  m->requests += requests;
  m->ns += ns;
  m->slow += slow;
  m->slow_ns += slow_ns;
  free (m->finished);
  m->finished = NULL;
  if (json_get_string (event, "finished_ns", &m->finished) == 0)
    m->first_ns += least (m->finished);
}

/* The other figures of step I are in the same event. */
static void
share_measurement (struct guest *g, unsigned i)
{
  const struct scenario *sc = g->results.scenario;
  unsigned j;

  for (j = i + 1; j < sc->n_steps; ++j)
    if (sc->steps[j].verb == STEP_ALSO && sc->steps[j].of == i) {
      g->results.steps[j] = g->results.steps[i];
      g->results.steps[j].finished = NULL;
    }
}

static void
on_result (struct guest *g, const char *event)
{
  const struct scenario *sc = g->results.scenario;
  char *name;
  unsigned i;

  if (json_get_string (event, "name", &name) == -1)
    return;
  for (i = 0; i < sc->n_steps; ++i) {
    struct measurement *m = &g->results.steps[i];

    if (strcmp (sc->steps[i].name, name) != 0)
      continue;
    add_measurement (m, event);
    share_measurement (g, i);
    set_doing (g, name);
    g->steps_done++;
    break;
  }
  free (name);
}

static void
on_error (struct guest *g, const char *event)
{
  char *step = NULL;
  int64_t error = 0;

  json_get_string (event, "step", &step);
  json_get_int (event, "errno", &error);
  if (g->trouble == NULL)
    g->trouble = format ("the guest could not do '%s': %s", step ? step : "?",
                         error ? strerror (error) : "no reason given");
  free (step);
}

static void
on_skip (struct guest *g, const char *event)
{
  char *elevator;

  if (json_get_string (event, "elevator", &elevator) == -1)
    return;
  g->results.skipped = format ("Linux %s has no elevator %s",
                               g->results.kernel ? g->results.kernel : "",
                               elevator);
  free (elevator);
}

static void
on_warning (struct guest *g, const char *event)
{
  char *step = NULL;
  int64_t error = 0;

  if (json_get_string (event, "step", &step) == -1)
    return;
  json_get_int (event, "errno", &error);
  words_addf (&g->results.warnings, "'%s': %s", step, strerror (error));
  free (step);
}

static void
on_event (struct guest *g, const char *event)
{
  struct run_results *r = &g->results;
  char *kind, *status = NULL;

  if (json_get_string (event, "event", &kind) == -1)
    return;
  if (strcmp (kind, "start") == 0 && r->kernel == NULL)
    json_get_string (event, "kernel", &r->kernel);
  else if (strcmp (kind, "identify") == 0 && r->identify == NULL)
    r->identify = format ("%s", event);
  else if (strcmp (kind, "result") == 0)
    on_result (g, event);
  else if (strcmp (kind, "error") == 0)
    on_error (g, event);
  else if (strcmp (kind, "skip") == 0 && r->skipped == NULL)
    on_skip (g, event);
  else if (strcmp (kind, "warning") == 0)
    on_warning (g, event);
  else if (strcmp (kind, "end") == 0) {
    r->ended = json_get_string (event, "status", &status) == 0 &&
      strcmp (status, "ok") == 0;
    g->end_ms = monotonic_ms ();
    free (status);
  }
  free (kind);
}

/* The kernel may write in front of the agent, on the same line. */
static void
on_line (void *opaque, const char *line)
{
  struct guest *g = opaque;
  const char *event = strstr (line, MARK), *panic;

  if (event)
    on_event (g, event + strlen (MARK));
  else if (g->panic == NULL && (panic = strstr (line, "Kernel panic")))
    g->panic = format ("%s", panic);
}

static void
read_clock_stats (struct guest *g)
{
  struct run_results *r = &g->results;
  FILE *fp = fopen (g->stats_path, "r");
  char text[65536];
  size_t n;

  if (fp == NULL)
    return;
  n = fread (text, 1, sizeof text - 1, fp);
  text[n] = '\0';
  fclose (fp);
  r->have_clock =
    json_get_int (text, "requests", &r->requests) == 0 &&
    json_get_int (text, "late", &r->late) == 0 &&
    json_get_int (text, "forced", &r->forced) == 0 &&
    json_get_bool (text, "exact", &r->exact) == 0;
  json_get_int (text, "max_late_ns", &r->max_late_ns);
  json_get_int (text, "max_early_ns", &r->max_early_ns);
  json_get_bool (text, "identify.patched", &r->patched);
  r->power_off = json_get_int (text, "power_off_ns", &r->power_off_ns) == 0;
  if (!r->have_clock || r->late || r->forced)
    r->exact = false;
}

static void
read_lateness (struct guest *g)
{
  unsigned i;

  for (i = 0; i < g->n_drives; ++i) {
    char *stats = drive_path (g, i, "drive", ".json");

    lateness_add (&g->results.lateness, stats);
    free (stats);
  }
}

/* QEMU is gone, as it should. */
static void
finish (struct guest *g)
{
  unsigned i;

  place_end (&g->place);
  g->results.virtual_s = guest_virtual_s (g);
  g->results.real_s = (monotonic_ms () - g->start_ms) / 1000.;
  for (i = 0; i < g->n_drives; ++i) {
    child_stop (&g->nbdkit[i], NBDKIT_STOP_MS);
    if (g->nbdkit[i].status != 0) {
      fail_child (g, &g->nbdkit[i]);
      return;
    }
  }
  if (!g->results.scenario->machine.virtual_clock)
    read_lateness (g);
  g->state = GUEST_DONE;
}

static void
qemu_ended (struct guest *g)
{
  console_read (&g->console, g->console_path, true, on_line, g);
  if (g->results.scenario->machine.virtual_clock)
    read_clock_stats (g);
  if (g->results.power_off)
    finish (g);
  else if (g->panic)
    fail (g, "the guest's kernel gave up: %s", g->panic);
  else if (g->end_ms && !g->results.ended)
    fail (g, "%s", g->trouble ? g->trouble
          : "the guest could not do its job");
  else if (g->qemu.status != 0 && !g->results.ended)
    fail_child (g, &g->qemu);
  else if (!g->results.ended)
    fail (g, "the guest stopped before it had done its job");
  else if (g->qemu.status != 0)
    fail_child (g, &g->qemu);
  else
    finish (g);
}

static void
check_limits (struct guest *g)
{
  const struct scenario *sc = g->results.scenario;

  if (g->end_ms && monotonic_ms () - g->end_ms > POWER_OFF_MS) {
    /* It cannot power off; nothing is lost. */
    child_stop (&g->qemu, QEMU_STOP_MS);
    qemu_ended (g);
  }
  else if (monotonic_ms () - g->start_ms > sc->real_limit_s * 1000)
    fail (g, "not done after %lld s (limits.real-s); the last it did was %s",
          (long long) sc->real_limit_s, g->doing);
  else if (guest_ns (g) - g->heard_ns > sc->silence_limit_s * 1000000000)
    fail (g, "the guest has been silent for %lld s of its time "
          "(limits.silence-s); the last it did was %s",
          (long long) sc->silence_limit_s, g->doing);
}

/* The nbdkit that has ended, or NULL. */
static struct child *
ended_nbdkit (struct guest *g)
{
  unsigned i;

  for (i = 0; i < g->n_drives; ++i)
    if (child_ended (&g->nbdkit[i]))
      return &g->nbdkit[i];
  return NULL;
}

void
guest_poll (struct guest *g)
{
  struct child *nbdkit;

  if (g->state != GUEST_RUNNING)
    return;
  place_check (&g->place);
  if (console_read (&g->console, g->console_path, false, on_line, g))
    g->heard_ns = guest_ns (g);
  nbdkit = ended_nbdkit (g);
  if (nbdkit)
    fail_child (g, nbdkit);
  else if (child_ended (&g->qemu) || g->panic)
    qemu_ended (g);
  else
    check_limits (g);
}

void
guest_kill (struct guest *g)
{
  unsigned i;

  child_stop (&g->qemu, 0);
  for (i = 0; i < g->n_drives; ++i)
    child_stop (&g->nbdkit[i], 0);
  place_end (&g->place);
}

void
guest_free (struct guest *g)
{
  unsigned i;

  guest_kill (g);
  console_stop (&g->console);
  for (i = 0; i < g->n_drives; ++i) {
    if (g->pages[i])
      munmap ((void *) g->pages[i], sizeof *g->pages[i]);
    free (g->nbdkit_names[i]);
    free (g->drives[i].socket);
    free (g->drives[i].clock_page);
  }
  run_results_free (&g->results);
  free (g->failure);
  free (g->doing);
  free (g->console_path);
  free (g->stats_path);
  free (g->panic);
  free (g->trouble);
}
