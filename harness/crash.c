/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "crash-files.h"
#include "crash.h"
#include "fixed.h"
#include "guest.h"
#include "initramfs.h"
#include "loader.h"
#include "runs.h"
#include "script.h"
#include "workdir.h"

SCRIPT_FILE (image_script, "harness/crash-image.sh");

#define POLL_MS 10
#define REAL_LIMIT_S 900
#define SILENCE_LIMIT_S 3600

/* More changes than fit before any cut. */
#define CHANGES 1000000

/* The cut comes at most so long after a write: a turn of a slow platter. */
#define MAX_DELAY_NS 12000000

enum { SLOTS = 64 };

/* What came out of one cut. */
struct trial {
  int64_t seed;
  bool done, failed;
  struct crash_files files;
  char *fsck;                   /* "sound", or what is wrong */
  int64_t cut_ns;
  uint64_t digest;              /* of the trace */
  bool repeats;                 /* done once more: the same */
};

/* A guest that runs, for one trial. */
struct slot {
  struct trial *trial;          /* NULL: free */
  bool second;                  /* this is the trial once more */
  bool recovers;                /* the guest looks at what the first left */
  struct scenario scenario;
  struct scenario_drive drive;
  struct guest *guest;
  struct boot boot;
  struct words parameters;
  char *job, *private_folder, *folder, *image, *copy;
  char *guest_folder, *record;
};

struct sweep_state {
  const struct crash_options *options;
  struct pieces pieces;
  struct workdir workdir;
  struct profile profile;
  char *keep;                   /* absolute, or NULL */
  char *empty;                  /* an image to begin with */
  struct trial *trials;
  int64_t next, n_done, n_repeat, n_same;
  struct slot slots[SLOTS];
};

static bool
is_bad (const struct trial *t)
{
  return t->failed || crash_lost (&t->files) > 0 ||
    strcmp (t->fsck, "sound") != 0;
}

void
crash_print_command (const struct crash_options *o, int64_t seed,
                     const char *end)
{
  struct words argv = { 0 };
  size_t i;

  words_add (&argv, "spindle");
  words_add (&argv, "crash");
  words_addf (&argv, "--profile=%s", o->profile);
  for (i = 0; i < o->set.n; ++i)
    words_addf (&argv, "--set=%s", o->set.word[i]);
  words_addf (&argv, "--fs=%s", o->fs);
  if (o->mount)
    words_addf (&argv, "--mount=%s", o->mount);
  words_addf (&argv, "--machine=%s", machine_kinds[o->machine]);
  words_addf (&argv, "--size=%lld", (long long) o->size_mib);
  words_addf (&argv, "--files=%lld", (long long) o->files);
  words_addf (&argv, "--writes=%lld", (long long) o->writes);
  if (o->kernel)
    words_addf (&argv, "--kernel=%s", o->kernel);
  if (o->boot)
    words_add (&argv, "--boot");
  words_addf (&argv, "--seed=%lld", (long long) seed);
  words_print (&argv, stdout, end);
  words_free (&argv);
}

/* Run the script about images.  What it prints, or NULL after a message. */
static char *
image_command (const char *what, const char *a, const char *b, const char *c)
{
  const char *const args[] = { what, a, b, c, NULL };
  char *output = NULL, *error = NULL;

  if (script_run (image_script, args, &output, NULL, &error) == -1) {
    complain ("%s: %s", a, error);
    free (error);
    return NULL;
  }
  output[strcspn (output, "\n")] = '\0';
  return output;
}

static int
copy_image (const char *from, const char *to)
{
  char *said = image_command ("copy", from, to, NULL);

  free (said);
  return said ? 0 : -1;
}

static int
digest_file (const char *path, uint64_t *digest)
{
  FILE *fp = fopen (path, "rb");

  if (fp == NULL) {
    complain ("%s: %s", path, strerror (errno));
    return -1;
  }
  *digest = hash_file (HASH_START, fp);
  fclose (fp);
  return 0;
}

/* When the power is cut is all in the seed: it is the place in the sequence
 * of random numbers.
 */
static void
choose_cut (const struct crash_options *o, int64_t seed,
            struct words *parameters)
{
  uint64_t state = (uint64_t) (seed - 1) * SPLITMIX64_STEP;
  uint64_t z = splitmix64 (&state), write, delay_ns;

  write = 1 + (z >> 32) % (uint64_t) o->writes;
  delay_ns = 1 + (z & UINT32_MAX) % MAX_DELAY_NS;
  words_addf (parameters, "cut-after-writes=%" PRIu64 "+%" PRIu64 "ns",
              write, delay_ns);
}

/* ---- one guest ---- */

static void
clear_slot (struct slot *s)
{
  if (s->guest)
    guest_free (s->guest);
  free (s->guest);
  boot_free (&s->boot);
  words_free (&s->parameters);
  free (s->job);
  free (s->guest_folder);
  free (s->record);
  *s = (struct slot) { .trial = s->trial, .second = s->second,
                       .private_folder = s->private_folder,
                       .folder = s->folder, .image = s->image,
                       .copy = s->copy };
}

static void
free_slot (struct slot *s)
{
  clear_slot (s);
  if (s->copy)
    unlink (s->copy);
  free (s->private_folder);
  free (s->folder);
  free (s->image);
  free (s->copy);
  *s = (struct slot) { .trial = NULL };
}

static char *
job_of (const struct crash_options *o, int64_t seed, bool recovers)
{
  char *options = o->mount ? format (" options=%s", o->mount)
                           : format ("%s", "");
  char *rest = recovers
    ? format ("verify count=%lld\numount\n", (long long) o->files)
    : format ("files count=%lld changes=%d seed=%lld\n",
              (long long) o->files, CHANGES, (long long) seed);
  char *r = format ("mount type=%s%s\n%s", o->fs, options, rest);

  free (options);
  free (rest);
  return r;
}

static void
describe_scenario (struct sweep_state *st, struct slot *s, int64_t seed)
{
  static const char *const modules[] = {
    "sd_mod", "ata_piix", "ahci", "crc32c_generic", "ext4", NULL
  };
  const struct crash_options *o = st->options;

  s->job = job_of (o, seed, s->recovers);
  s->drive = (struct scenario_drive) {
    .name = (char *) "drive", .profile = (char *) o->profile,
    .set = o->set, .seed = seed,
  };
  s->scenario = (struct scenario) {
    .name = (char *) "crash", .machine = MACHINE_DEFAULT,
    .kernel = (char *) (o->kernel ? o->kernel : "debian"),
    .device = (char *) "/dev/sda", .job = s->job, .modules = modules,
    .real_limit_s = REAL_LIMIT_S, .silence_limit_s = SILENCE_LIMIT_S,
    .drives = &s->drive, .n_drives = 1,
  };
  s->scenario.machine.kind = o->machine;
  words_addf (&s->parameters, "size=%lldM", (long long) o->size_mib);
  if (!s->recovers)
    choose_cut (o, seed, &s->parameters);
}

static int
start_guest (struct sweep_state *st, struct slot *s)
{
  struct guest *g = s->guest = allocate (1, sizeof *s->guest);

  s->guest_folder = format ("%s%s", s->folder,
                            s->recovers ? "/recovery" : "");
  s->record = format ("%s/record.txt", s->guest_folder);
  if (make_directories (s->guest_folder) == -1)
    return -1;
  describe_scenario (st, s, s->trial->seed);
  g->pieces = &st->pieces;
  g->private_folder = s->private_folder;
  g->folder = s->guest_folder;
  g->trace = true;
  g->record = s->record;
  g->n_drives = 1;
  g->profiles[0] = st->profile;
  g->drives[0].profile = &g->profiles[0];
  g->drives[0].image = s->recovers ? s->copy : s->image;
  g->drives[0].parameters = &s->parameters;
  g->results.scenario = &s->scenario;
  g->results.name = format ("seed %lld", (long long) s->trial->seed);
  g->results.drive = &s->drive;
  g->results.profile = g->profiles;
  g->results.n_drives = 1;
  g->console.fd = -1;
  if (boot_prepare (&s->boot, &s->scenario, g->drives, 1, &st->pieces,
                    s->private_folder) == -1)
    return -1;
  g->boot = &s->boot;
  guest_start (g);
  return 0;
}

static int
start_trial (struct sweep_state *st, struct slot *s, struct trial *t,
             bool second)
{
  s->trial = t;
  s->second = second;
  s->private_folder = format ("%s/%d", st->workdir.path,
                              (int) (s - st->slots));
  s->folder = st->keep
    ? format ("%s/seed-%lld%s", st->keep, (long long) t->seed,
              second ? "-again" : "")
    : format ("%s/log", s->private_folder);
  s->image = format ("%s/disk.raw", s->folder);
  s->copy = format ("%s/copy.raw", s->folder);
  if (make_directories (s->private_folder) == -1 ||
      make_directories (s->folder) == -1 ||
      copy_image (st->empty, s->image) == -1)
    return -1;
  return start_guest (st, s);
}

/* ---- what it left ---- */

static int
check_exact (const struct guest *g)
{
  char *text;

  if (g->results.exact)
    return 0;
  text = results_exactness (&g->results);
  complain ("%s: %s", g->results.name, text);
  free (text);
  return -1;
}

/* The host recovers a copy, and looks into it. */
static int
check_on_host (struct slot *s)
{
  struct trial *t = s->trial;
  char *files = format ("%s/files", s->folder);

  t->fsck = copy_image (s->image, s->copy) == 0
    ? image_command ("check", s->copy, files, NULL) : NULL;
  if (t->fsck)
    crash_read_files (&t->files, files);
  remove_tree (files);
  free (files);
  return t->fsck ? 0 : -1;
}

/* The guest with the cut is over.  Returns 1 if another must look at what
 * it left.
 */
static int
after_cut (struct sweep_state *st, struct slot *s)
{
  struct trial *t = s->trial;
  const struct guest *g = s->guest;

  t->files = (struct crash_files) { .n = (unsigned) st->options->files };
  if (g->state == GUEST_FAILED) {
    complain ("%s: %s", g->results.name, g->failure);
    return -1;
  }
  if (!g->results.power_off) {
    complain ("%s: everything was done before the cut", g->results.name);
    return -1;
  }
  t->cut_ns = g->results.power_off_ns;
  if (check_exact (g) == -1 ||
      digest_file (g->results.traces[0], &t->digest) == -1 ||
      crash_read_record (&t->files, s->record) == -1)
    return -1;
  if (!st->options->boot)
    return check_on_host (s);
  return copy_image (s->image, s->copy) == 0 ? 1 : -1;
}

/* Its kernel has recovered the copy and read the files, or could not. */
static int
after_recovery (struct slot *s)
{
  struct trial *t = s->trial;
  struct guest *g = s->guest;
  char *log = format ("%s/fsck.txt", s->folder);
  int r = 0;

  if (g->state == GUEST_FAILED && g->end_ms) {
    t->fsck = format ("the guest could not mount it");
    for (unsigned i = 0; i < t->files.n; ++i)
      t->files.file[i].found = 0;
  }
  else if (g->state == GUEST_FAILED) {
    complain ("%s: %s", g->results.name, g->failure);
    r = -1;
  }
  else if (check_exact (g) == -1 ||
           crash_read_record (&t->files, s->record) == -1 ||
           (t->fsck = image_command ("sound", s->copy, log, NULL)) == NULL)
    r = -1;
  free (log);
  return r;
}

/* ---- the sweep ---- */

static void
print_trial (const struct crash_options *o, const struct trial *t)
{
  char *lost = crash_describe (&t->files);

  printf ("seed %lld: cut at %.9f s, %lld acknowledged, trace %016" PRIx64
          ": %s%s%s\n", (long long) t->seed, t->cut_ns / 1e9,
          (long long) crash_acknowledged (&t->files), t->digest,
          lost[0] ? lost : "nothing lost",
          strcmp (t->fsck, "sound") ? "; " : "",
          strcmp (t->fsck, "sound") ? t->fsck : "");
  free (lost);
  if (o->n_seeds > 1) {
    fputs ("  ", stdout);
    crash_print_command (o, t->seed, "\n");
  }
  fflush (stdout);
}

static bool
same (const struct trial *a, const struct trial *b)
{
  return !b->failed && a->digest == b->digest && a->cut_ns == b->cut_ns &&
    strcmp (a->fsck, b->fsck) == 0 &&
    memcmp (&a->files, &b->files, sizeof a->files) == 0;
}

/* Compare with the first time.  The slot's trial is a copy. */
static void
end_repeat (struct sweep_state *st, struct slot *s, const struct trial *first)
{
  st->n_repeat++;
  if (same (first, s->trial))
    st->n_same++;
  else
    complain ("seed %lld: another outcome, or another trace, the second time",
              (long long) first->seed);
}

static void
end_trial (struct sweep_state *st, struct slot *s, bool failed)
{
  struct trial *t = s->trial, *first = &st->trials[t->seed -
                                               st->options->first_seed];
  bool second = s->second;

  t->failed = failed;
  if (second) {
    end_repeat (st, s, first);
    free (t->fsck);
    free (t);
  }
  else {
    t->done = true;
    st->n_done++;
    if (!failed && (is_bad (t) || st->options->n_seeds == 1))
      print_trial (st->options, t);
  }
  if (st->keep == NULL)
    unlink (s->image);
  free_slot (s);
  if (second || failed || !is_bad (first) || !st->options->again)
    return;
  t = allocate (1, sizeof *t);
  t->seed = first->seed;
  if (start_trial (st, s, t, true) == -1)
    end_trial (st, s, true);
}

static void
poll_slot (struct sweep_state *st, struct slot *s)
{
  int r;

  guest_poll (s->guest);
  if (s->guest->state == GUEST_RUNNING)
    return;
  if (s->recovers)
    r = after_recovery (s);
  else
    r = after_cut (st, s);
  if (r == 1) {
    clear_slot (s);
    s->recovers = true;
    if (start_guest (st, s) == 0)
      return;
    r = -1;
  }
  end_trial (st, s, r == -1);
}

/* Returns how many run. */
static unsigned
start_and_poll (struct sweep_state *st, unsigned jobs)
{
  unsigned i, running = 0;

  for (i = 0; i < jobs; ++i) {
    struct slot *s = &st->slots[i];

    if (s->trial)
      poll_slot (st, s);
    if (s->trial == NULL && st->next < st->options->n_seeds &&
        start_trial (st, s, &st->trials[st->next++], false) == -1)
      end_trial (st, s, true);
    running += s->trial != NULL;
  }
  return running;
}

/* Returns -1 when we were told to stop. */
static int
run_trials (struct sweep_state *st)
{
  long cpus = sysconf (_SC_NPROCESSORS_ONLN);
  unsigned jobs = st->options->jobs ? st->options->jobs : cpus > 0 ? cpus : 1;

  while (start_and_poll (st, jobs < SLOTS ? jobs : SLOTS) > 0 ||
         st->next < st->options->n_seeds) {
    if (isatty (STDERR_FILENO))
      fprintf (stderr, "\r%lld of %lld\033[K\r", (long long) st->n_done,
               (long long) st->options->n_seeds);
    if (signals_wait (POLL_MS)) {
      complain ("interrupted");
      return -1;
    }
  }
  return 0;
}

static enum spindle_exit
summarize (const struct sweep_state *st)
{
  const struct crash_options *o = st->options;
  int64_t acknowledged = 0, lost = 0, losing = 0, damaged = 0, failed = 0;
  int64_t cuts = 0, i;

  for (i = 0; i < o->n_seeds; ++i) {
    const struct trial *t = &st->trials[i];

    failed += t->failed;
    cuts += t->done && !t->failed;
    if (!t->done || t->failed)
      continue;
    acknowledged += crash_acknowledged (&t->files);
    lost += crash_lost (&t->files);
    losing += crash_lost (&t->files) > 0;
    damaged += strcmp (t->fsck, "sound") != 0;
  }
  if (cuts == 0)
    return EXIT_COULD_NOT_RUN;  /* and why has been said */
  printf ("%s, %s%s%s: %lld cuts, %lld changes acknowledged: "
          "%lld cuts lost some, %lld changes in all; "
          "%lld file systems damaged\n",
          st->profile.name, o->fs, o->mount ? ", " : "",
          o->mount ? o->mount : "", (long long) cuts,
          (long long) acknowledged, (long long) losing, (long long) lost,
          (long long) damaged);
  if (st->n_repeat)
    printf ("%lld of %lld were the same the second time\n",
            (long long) st->n_same, (long long) st->n_repeat);
  if (failed > 0 || st->n_same < st->n_repeat)
    return EXIT_COULD_NOT_RUN;
  return lost > 0 || damaged > 0 ? EXIT_NOT_REPRODUCED : EXIT_REPRODUCED;
}

static int
prepare (struct sweep_state *st)
{
  const struct crash_options *o = st->options;
  char *mib = format ("%lld", (long long) o->size_mib), *said = NULL;
  int64_t i;

  if (o->keep && make_directories (o->keep) == 0) {
    st->keep = realpath (o->keep, NULL);
    if (st->keep == NULL)
      complain ("%s: %s", o->keep, strerror (errno));
  }
  st->empty = format ("%s/empty.raw", st->workdir.path);
  if (o->keep == NULL || st->keep)
    said = image_command ("make", st->empty, mib, o->fs);
  free (mib);
  free (said);
  st->trials = allocate ((size_t) o->n_seeds, sizeof *st->trials);
  for (i = 0; i < o->n_seeds; ++i)
    st->trials[i].seed = o->first_seed + i;
  return said ? 0 : -1;
}

static void
free_state (struct sweep_state *st)
{
  int64_t i;

  for (i = 0; i < SLOTS; ++i) {
    struct trial *t = st->slots[i].trial;
    bool second = st->slots[i].second;

    free_slot (&st->slots[i]);
    if (second && t) {
      free (t->fsck);
      free (t);
    }
  }
  for (i = 0; st->trials && i < st->options->n_seeds; ++i)
    free (st->trials[i].fsck);
  free (st->trials);
  free (st->keep);
  free (st->empty);
  workdir_remove (&st->workdir);
  pieces_free (&st->pieces);
}

enum spindle_exit
crash_run (const struct crash_options *o)
{
  struct sweep_state st = { .options = o };
  enum spindle_exit r = EXIT_COULD_NOT_RUN;
  char *error;

  if (profile_load (o->profile, (const char *const *) o->set.word, o->set.n,
                    &st.profile, &error) == -1) {
    complain ("%s", error ? error : "out of memory");
    free (error);
    return EXIT_USAGE;
  }
  signals_take_over ();
  if (program_check (qemu_program (), "qemu-system-x86") == 0 &&
      program_check (nbdkit_program (), "nbdkit") == 0 &&
      pieces_find (&st.pieces) == 0 && workdir_create (&st.workdir) == 0 &&
      prepare (&st) == 0) {
    /* What there is when we are told to stop is worth telling. */
    int stopped = run_trials (&st);

    r = summarize (&st);
    if (stopped)
      r = EXIT_COULD_NOT_RUN;
  }
  free_state (&st);
  return r;
}
