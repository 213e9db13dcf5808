/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle vm: somebody's own disk image on a named drive.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accel.h"
#include "calibration.h"
#include "child.h"
#include "console.h"
#include "image.h"
#include "json.h"
#include "lateness.h"
#include "loader.h"
#include "machine.h"
#include "options.h"
#include "place.h"
#include "spindle.h"
#include "workdir.h"

#define START_MS 20000
#define STOP_MS 5000
#define NBDKIT_STOP_MS 10000


static const char help[] =
"usage: spindle vm --profile PROFILE [OPTION]... IMAGE [-- QEMU-OPTION...]\n"
"\n"
"Boot the disk image IMAGE (raw, qcow2, vmdk, vdi...) as if it were on that\n"
"drive.  The serial port is the terminal (Ctrl-A X ends QEMU); options after\n"
"-- go to QEMU, for instance -display gtk.\n"
"\n"
"  --accel auto|tcg|kvm  real clock: what runs the guest (default: auto, KVM\n"
"                        if a guest boots under it)\n"
"  --clock virtual|real  exact guest time, or the host's (default: virtual)\n"
"  --control SOCKET      for spindle ctl and spindle top\n"
"  --cpu NAME            the CPU, \"Duron 750\"; 'help' lists what there is\n"
"  --late-limit US       real clock: status 4 if 1 % of the answers are later\n"
"                        than that (default: 10000; 0 is no limit)\n"
"  --machine ide|ahci    PIIX IDE, or ICH9 AHCI (default: ide)\n"
"  --memory MIB          of the guest (default: 128)\n"
"  --print               print the commands instead of running them\n"
"  --profile PROFILE     the drive: a name, or a file\n"
"  --seed N              of the drive (default: 1)\n"
"  --set KEY=VALUE       change one figure of the drive; can be repeated\n"
"  --shift N             the CPU takes 2^N ns an instruction (default: 1)\n"
"  --trace FILE          write a line for each command of the drive\n"
"\n"
"Exit status: 0 QEMU ended by itself, 2 usage, 3 it could not run,\n"
"4 the real clock was too late.\n";

static const struct option_def defs[] = {
  { "--accel", "auto|tcg|kvm" }, { "--clock", "virtual|real" },
  { "--control", "SOCKET" }, { "--cpu", "NAME" }, { "--late-limit", "US" },
  { "--machine", "ide|ahci" },
  { "--memory", "MIB" }, { "--print", NULL }, { "--profile", "PROFILE" },
  { "--seed", "N" }, { "--set", "KEY=VALUE" }, { "--shift", "N" },
  { "--trace", "FILE" }, { NULL, NULL }
};

struct vm {
  struct machine machine;
  const char *profile_name, *image, *trace_name, *control;
  char *image_path;             /* absolute */
  const char *format;           /* NULL: raw */
  struct words set, qemu_options;
  int64_t seed;
  bool print, cpu_given, cpu_help, accel_given, late_limit_given;
  const char *no_kvm;           /* why not, or NULL */
  struct profile profile;
  struct pieces pieces;
  struct workdir workdir;
  struct child qemu_nbd, nbdkit, qemu;
  struct place place;           /* of nbdkit and QEMU, on the virtual clock */
};

static int
choose (const char *name, const char *value, const char *const *choices,
        int *r)
{
  int i;

  for (i = 0; choices[i]; ++i)
    if (strcmp (value, choices[i]) == 0) {
      *r = i;
      return 0;
    }
  complain ("%s: %s: %s or %s", name, value, choices[0], choices[1]);
  return -1;
}

static int
choose_cpu (struct vm *vm, const char *option, const char *value)
{
  struct cpu cpu = { .shift = 0 };
  char *error = NULL;
  int r;

  if (vm->cpu_given) {
    complain ("either --cpu or --shift, once");
    return -1;
  }
  vm->cpu_given = true;
  vm->cpu_help = strcmp (option, "--cpu") == 0 && strcmp (value, "help") == 0;
  if (vm->cpu_help)
    return 0;
  r = strcmp (option, "--shift") == 0
    ? option_number (option, value, 0, CPU_MAX_SHIFT, &cpu.shift)
    : cpu_find (value, &cpu, &error);
  if (r == -1 && error)
    complain ("--cpu: %s: %s", value, error);
  free (error);
  vm->machine.cpu = cpu;
  return r;
}

static int
on_option (void *opaque, const char *name, const char *value)
{
  static const char *const clocks[] = { "real", "virtual", NULL };
  struct vm *vm = opaque;
  int clock;

  if (strcmp (name, "--accel") == 0) {
    vm->accel_given = true;
    return accel_parse (value, &vm->machine.accel);
  }
  if (strcmp (name, "--late-limit") == 0) {
    vm->late_limit_given = true;
    return option_number (name, value, 0, 1000000,
                          &vm->machine.late_limit_us);
  }
  if (strcmp (name, "--machine") == 0)
    return choose (name, value, machine_kinds, &vm->machine.kind);
  if (strcmp (name, "--memory") == 0)
    return option_number (name, value, 8, MACHINE_MAX_MEMORY_MIB,
                          &vm->machine.memory_mib);
  if (strcmp (name, "--cpu") == 0 || strcmp (name, "--shift") == 0)
    return choose_cpu (vm, name, value);
  if (strcmp (name, "--seed") == 0)
    return option_number (name, value, 0, INT32_MAX, &vm->seed);
  if (strcmp (name, "--clock") == 0) {
    if (choose (name, value, clocks, &clock) == -1)
      return -1;
    vm->machine.virtual_clock = clock;
  }
  else if (strcmp (name, "--set") == 0)
    words_add (&vm->set, value);
  else if (strcmp (name, "--profile") == 0)
    vm->profile_name = value;
  else if (strcmp (name, "--trace") == 0)
    vm->trace_name = value;
  else if (strcmp (name, "--control") == 0)
    vm->control = value;
  else
    vm->print = true;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  struct vm *vm = opaque;

  if (after_dashes)
    words_add (&vm->qemu_options, word);
  else if (vm->image) {
    complain ("vm: %s: one image only; options for QEMU come after --",
              word);
    return -1;
  }
  else
    vm->image = word;
  return 0;
}

static int
check_size (const struct vm *vm, int64_t size)
{
  const int64_t want = vm->profile.geometry.sectors * 512;

  if (size == want)
    return 0;
  if (size > want)
    complain ("%s: %lld bytes are more than the drive has (%lld)",
              vm->image, (long long) size, (long long) want);
  else if (vm->format)
    complain ("%s: %lld bytes, and the drive has %lld: "
              "qemu-img resize %s %lld", vm->image, (long long) size,
              (long long) want, vm->image, (long long) want);
  else
    complain ("%s: %lld bytes, and the drive has %lld: truncate -s %lld %s",
              vm->image, (long long) size, (long long) want,
              (long long) want, vm->image);
  return -1;
}

/* What is not raw says its size when it is served. */
static int
check_image (struct vm *vm)
{
  int fd = open (vm->image, O_RDWR|O_CLOEXEC), r;
  struct stat st;

  if (fd == -1) {
    complain ("%s: %s", vm->image, strerror (errno));
    return -1;
  }
  vm->image_path = realpath (vm->image, NULL);
  if (vm->image_path == NULL) {
    complain ("%s: %s", vm->image, strerror (errno));
    close (fd);
    return -1;
  }
  vm->format = image_format (fd);
  r = 0;
  if (fstat (fd, &st) == 0 && !S_ISREG (st.st_mode) && !S_ISBLK (st.st_mode)) {
    complain ("%s: neither a file nor a block device", vm->image);
    r = -1;
  }
  else if (vm->format == NULL)
    r = check_size (vm, lseek (fd, 0, SEEK_END));
  close (fd);
  return r;
}

/* What would do nothing with this clock. */
static int
check_clock (const struct vm *vm)
{
  const bool virtual = vm->machine.virtual_clock;
  const char *option =
    virtual && vm->machine.accel == ACCEL_KVM ? "--accel kvm" :
    virtual && vm->late_limit_given ? "--late-limit" :
    !virtual && vm->cpu_given ? "--cpu or --shift" : NULL;

  if (option == NULL)
    return 0;
  complain ("%s needs --clock %s", option, virtual ? "real" : "virtual");
  return -1;
}

/* What has an option of ours: QEMU would ignore it in silence (it takes the
 * first -accel), or do something else than we say it does.
 */
static int
check_qemu_options (const struct vm *vm)
{
  static const struct {
    const char *name, *ours;
  } known[] = {
    { "accel", "--accel" }, { "enable-kvm", "--accel" },
    { "icount", "--cpu or --shift" },
  };
  size_t i, j;

  for (i = 0; i < vm->qemu_options.n; ++i) {
    const char *word = vm->qemu_options.word[i];
    const size_t dashes = strspn (word, "-");

    for (j = 0; j < sizeof known / sizeof known[0]; ++j)
      if ((dashes == 1 || dashes == 2) &&
          strcmp (word + dashes, known[j].name) == 0) {
        complain ("vm: %s: not for QEMU; give %s, before --", word,
                  known[j].ours);
        return -1;
      }
  }
  return 0;
}

static int
check_arguments (struct vm *vm)
{
  char *error;

  if (!vm->accel_given)
    vm->machine.accel = vm->machine.virtual_clock ? ACCEL_TCG : ACCEL_AUTO;
  if (check_clock (vm) == -1 || check_qemu_options (vm) == -1)
    return -1;
  if (vm->profile_name == NULL || vm->image == NULL) {
    complain ("vm: %s; try 'spindle vm --help'",
              vm->profile_name ? "no image given" : "no --profile given");
    return -1;
  }
  if (profile_load (vm->profile_name, (const char *const *) vm->set.word,
                    vm->set.n, &vm->profile, &error) == -1) {
    complain ("%s", error ? error : "out of memory");
    free (error);
    return -1;
  }
  return 0;
}

static void
nbdkit_words (struct vm *vm, const char *folder, struct words *argv)
{
  char *socket = format ("%s/nbd", folder);
  char *page = format ("%s/clock", folder);
  char *pidfile = format ("%s/nbdkit.pid", folder);
  char *stats = format ("%s/drive.json", folder);
  char *image = format ("%s/image", folder);
  struct drive_server server = {
    .profile = vm->profile_name, .set = &vm->set, .seed = vm->seed,
    .image = vm->format ? NULL : vm->image_path,
    .image_socket = vm->format ? image : NULL,
    .socket = socket, .pidfile = pidfile,
    .clock_page = page, .trace = vm->trace_name,
    .control = vm->control,
    .stats = vm->machine.virtual_clock ? NULL : stats,
  };

  machine_nbdkit (argv, &vm->pieces, &vm->machine, &server);
  free (socket);
  free (page);
  free (pidfile);
  free (stats);
  free (image);
}

static void
qemu_words (struct vm *vm, const char *folder, struct words *argv,
            struct words *env)
{
  struct machine_drive drive = {
    .profile = &vm->profile, .socket = format ("%s/nbd", folder),
    .clock_page = format ("%s/clock", folder),
  };
  char *stats = format ("%s/clock.json", folder);
  size_t i;

  machine_qemu (argv, &vm->pieces, &vm->machine, &drive, 1);
  machine_environment (env, &vm->pieces, &vm->machine, &drive, 1, stats);
  words_add (argv, "-vga");
  words_add (argv, "std");
  words_add (argv, "-display");
  words_add (argv, "none");
  words_add (argv, "-serial");
  words_add (argv, "mon:stdio");
  for (i = 0; i < vm->qemu_options.n; ++i)
    words_add (argv, vm->qemu_options.word[i]);
  free (drive.socket);
  free (drive.clock_page);
  free (stats);
}

/* With the real clock: what runs the guest, and what its way takes. */
static int
decide (struct vm *vm)
{
  struct machine *m = &vm->machine;

  if (m->virtual_clock)
    return 0;
  if (accel_choose (&m->accel, &vm->pieces, vm->workdir.path, &vm->no_kvm)
      == -1)
    return -1;
  return calibration_floor (accel_names[m->accel], machine_kinds[m->kind],
                            &m->floor_ns);
}

/* The private directory that --print speaks of: not there yet, and nobody
 * else's.
 */
static char *
print_folder (void)
{
  const char *base = getenv ("XDG_RUNTIME_DIR");

  if (base == NULL || *base == '\0')
    base = getenv ("TMPDIR");
  if (base == NULL || *base == '\0')
    base = "/tmp";
  return format ("%s/spindle-vm.%d", base, (int) getpid ());
}

static void
print_servers (struct vm *vm, const char *folder)
{
  struct words image = { 0 }, server = { 0 };
  char *socket = format ("%s/image", folder);

  if (vm->format) {
    image_words (&image, vm->format, vm->image_path, socket);
    words_print (&image, stdout, " &\n");
  }
  nbdkit_words (vm, folder, &server);
  words_print (&server, stdout, " &\n");
  words_free (&image);
  words_free (&server);
  free (socket);
}

static int
print_commands (struct vm *vm)
{
  struct words argv = { 0 }, env = { 0 };
  char *folder;
  int r;

  signals_take_over ();
  if (workdir_create (&vm->workdir) == -1)
    return EXIT_COULD_NOT_RUN;
  r = decide (vm);
  workdir_remove (&vm->workdir);
  if (r == -1)
    return EXIT_COULD_NOT_RUN;
  folder = print_folder ();
  printf ("mkdir -m 700 %s\n", folder);
  print_servers (vm, folder);
  words_add (&env, "env");
  qemu_words (vm, folder, &argv, &env);
  if (env.n > 1)
    words_print (&env, stdout, " \\\n  ");
  words_print (&argv, stdout, "\n");
  words_free (&argv);
  words_free (&env);
  free (folder);
  return EXIT_REPRODUCED;
}

static int
start_image (struct vm *vm)
{
  char *socket = format ("%s/image", vm->workdir.path);
  char *log = format ("%s/qemu-nbd.log", vm->workdir.path);
  int64_t bytes;
  int r = 0;

  if (vm->format) {
    bytes = image_serve (&vm->qemu_nbd, vm->format, vm->image_path, socket,
                         log);
    r = bytes == -1 ? -1 : check_size (vm, bytes);
  }
  free (socket);
  free (log);
  return r;
}

static int
start_nbdkit (struct vm *vm)
{
  char *log = format ("%s/nbdkit.log", vm->workdir.path), *said;
  char *pidfile = format ("%s/nbdkit.pid", vm->workdir.path);
  struct words argv = { 0 };
  int r;

  if (vm->machine.virtual_clock)
    place_start (&vm->place);
  nbdkit_words (vm, vm->workdir.path, &argv);
  r = child_start (&vm->nbdkit, "nbdkit", &argv, NULL, log);
  if (r == 0)
    place_add (&vm->place, vm->nbdkit.pid);
  if (r == 0 && child_wait_for (&vm->nbdkit, pidfile, START_MS) == -1) {
    said = last_line (log, NULL);
    complain ("%s", said ? said : "nbdkit did not start");
    free (said);
    r = -1;
  }
  words_free (&argv);
  free (log);
  free (pidfile);
  return r;
}

static int
start_qemu (struct vm *vm)
{
  struct words argv = { 0 }, env = { 0 };
  int r;

  qemu_words (vm, vm->workdir.path, &argv, &env);
  r = child_start (&vm->qemu, "qemu", &argv, &env, NULL);
  if (r == 0)
    place_add (&vm->place, vm->qemu.pid);
  words_free (&argv);
  words_free (&env);
  return r;
}

/* Returns how it went. */
static int
watch (struct vm *vm)
{
  int sig = 0;

  while (!child_ended (&vm->qemu) && !child_ended (&vm->nbdkit) && sig == 0) {
    sig = signals_wait (500);
    place_check (&vm->place);
  }
  if (sig)
    complain ("interrupted");
  else if (vm->nbdkit.ended && !vm->qemu.ended) {
    char *fate = child_fate (&vm->nbdkit);

    complain ("nbdkit %s", fate);
    free (fate);
  }
  else if (vm->qemu.status != 0) {
    char *fate = child_fate (&vm->qemu);

    complain ("QEMU %s", fate);
    free (fate);
  }
  else
    return EXIT_REPRODUCED;
  return EXIT_COULD_NOT_RUN;
}

/* The real clock.  Returns how it went. */
static int
say_how_late (const struct vm *vm)
{
  char *path = format ("%s/drive.json", vm->workdir.path), *text;
  struct lateness late = { .known = false };

  lateness_add (&late, path);
  text = lateness_text (&late);
  complain ("real clock, not exact: %s (%s%s%s)", text,
            accel_names[vm->machine.accel], vm->no_kvm ? ": " : "",
            vm->no_kvm ? vm->no_kvm : "");
  free (path);
  free (text);
  return late.known && !late.valid ? EXIT_INVALID : EXIT_REPRODUCED;
}

/* The guest has ended well: but has it used the drive, and was its time
 * exact?
 */
static int
say_how_exact (const struct vm *vm)
{
  char *path = format ("%s/clock.json", vm->workdir.path);
  FILE *fp = fopen (path, "r");
  char text[65536];
  int64_t requests = 0, late = 0, forced = 0;
  bool exact = false;
  char *cpu;

  free (path);
  if (fp == NULL) {
    complain ("QEMU has left no account of the virtual clock");
    return EXIT_COULD_NOT_RUN;
  }
  text[fread (text, 1, sizeof text - 1, fp)] = '\0';
  fclose (fp);
  json_get_int (text, "requests", &requests);
  json_get_int (text, "late", &late);
  json_get_int (text, "forced", &forced);
  json_get_bool (text, "exact", &exact);
  if (requests == 0) {
    complain ("QEMU ended before it had used the drive");
    return EXIT_COULD_NOT_RUN;
  }
  cpu = cpu_text (&vm->machine.cpu);
  complain ("%s: %lld requests, %lld late, %lld forced; CPU %s",
            exact ? "exact" : "NOT EXACT", (long long) requests,
            (long long) late, (long long) forced, cpu);
  free (cpu);
  return EXIT_REPRODUCED;
}

static int
run_vm (struct vm *vm)
{
  int r = EXIT_COULD_NOT_RUN;

  signals_take_over ();
  if (program_check (qemu_program (), "qemu-system-x86") == 0 &&
      program_check (nbdkit_program (), "nbdkit") == 0 &&
      workdir_create (&vm->workdir) == 0 && decide (vm) == 0 &&
      start_image (vm) == 0 && start_nbdkit (vm) == 0 &&
      start_qemu (vm) == 0) {
    r = watch (vm);
    child_stop (&vm->qemu, STOP_MS);
    child_stop (&vm->nbdkit, NBDKIT_STOP_MS);
    if (r == EXIT_REPRODUCED)
      r = vm->machine.virtual_clock ? say_how_exact (vm) : say_how_late (vm);
  }
  child_stop (&vm->qemu, 0);
  child_stop (&vm->nbdkit, NBDKIT_STOP_MS);
  child_stop (&vm->qemu_nbd, NBDKIT_STOP_MS);
  place_end (&vm->place);
  workdir_remove (&vm->workdir);
  return r;
}

int
command_vm (int argc, char **argv)
{
  struct vm vm = { .machine = MACHINE_DEFAULT, .seed = 1 };
  int r = options_parse (argc, argv, defs, on_option, on_word, &vm);

  if (r != 0)
    r = options_status (r, help);
  else if (vm.cpu_help)
    cpu_print_table (stdout);
  else if (check_arguments (&vm) == -1)
    r = EXIT_USAGE;
  else if (check_image (&vm) == -1 || pieces_find (&vm.pieces) == -1)
    r = EXIT_COULD_NOT_RUN;
  else
    r = vm.print ? print_commands (&vm) : run_vm (&vm);
  pieces_free (&vm.pieces);
  free (vm.image_path);
  words_free (&vm.set);
  words_free (&vm.qemu_options);
  return r;
}
