/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle calibrate: what the way to the drive and back takes.
 *
 * A program on this host: the median of what reads of 4 KiB take that are
 * modelled to take 1 ms, less that, and less the plugin's own lateness.  It
 * is not taken from an ideal drive, because after a millisecond of sleep
 * everything takes longer to wake up.
 *
 * A guest: what the same read of its BIOS takes longer from an ideal drive
 * than from QEMU's null-co driver, which has no transport.  So nothing of
 * what the guest and its controller take is in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <libnbd.h>

#include "accel.h"
#include "calibration.h"
#include "child.h"
#include "control-client.h"
#include "json.h"
#include "options.h"
#include "spindle.h"
#include "target-impl.h"
#include "workdir.h"

#define READS 1000
#define BLOCK 4096
#define MODELLED_NS 1000000
#define GUEST_READS 1000
#define ROUNDS 3                /* of a guest: the best counts */
#define START_MS 20000
#define STOP_MS 5000

static const char help[] =
"usage: spindle calibrate [OPTION]...\n"
"\n"
"Measure what the way to the drive and back takes on this host: first for a\n"
"program, then for guests with either bus.  The real clock of spindle vm and\n"
"spindle run subtracts it.\n"
"\n"
"  --accel auto|tcg|kvm  what guests run with (default: auto)\n"
"  --no-guests           only programs\n"
"\n"
"Exit status: 0, 2 usage, 3 it could not be measured.\n";

static const struct option_def defs[] = {
  { "--accel", "auto|tcg|kvm" }, { "--no-guests", NULL }, { NULL, NULL }
};

struct calibrate {
  enum accel accel;
  bool no_guests;
  struct pieces pieces;
  struct workdir workdir;
  struct child nbdkit;
  char *socket, *control;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct calibrate *c = opaque;

  if (strcmp (name, "--accel") == 0)
    return accel_parse (value, &c->accel);
  c->no_guests = true;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  (void) opaque;
  (void) after_dashes;
  complain ("calibrate: %s: no word is wanted", word);
  return -1;
}

/* The drive, made of words for the plugin. */
static int
serve (struct calibrate *c, const char *const *drive)
{
  char *pidfile = format ("%s/nbdkit.pid", c->workdir.path);
  char *log = format ("%s/nbdkit.log", c->workdir.path);
  struct words argv = { 0 };
  int r;

  words_add (&argv, nbdkit_program ());
  words_add (&argv, "-f");
  words_add (&argv, "-U");
  words_add (&argv, c->socket);
  words_add (&argv, "-P");
  words_add (&argv, pidfile);
  words_add (&argv, c->pieces.plugin);
  words_add (&argv, "memory=true");
  words_addf (&argv, "control=%s", c->control);
  for (; *drive; ++drive)
    words_add (&argv, *drive);
  r = child_start (&c->nbdkit, "nbdkit", &argv, NULL, log);
  if (r == 0 && child_wait_for (&c->nbdkit, pidfile, START_MS) == -1) {
    complain ("nbdkit did not start");
    r = -1;
  }
  unlink (pidfile);
  words_free (&argv);
  free (pidfile);
  free (log);
  return r;
}

static void
stop (struct calibrate *c)
{
  child_stop (&c->nbdkit, STOP_MS);
  unlink (c->socket);
}

static int
compare (const void *a, const void *b)
{
  const int64_t *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

/* The median of what reads take; -1 after a message. */
static int64_t
read_for_a_while (struct nbd_handle *nbd)
{
  static int64_t took_ns[READS];
  static char block[BLOCK];
  int i;

  for (i = 0; i < READS && signals_wait (0) == 0; ++i) {
    int64_t start_ns = target_host_ns (NULL);

    if (nbd_pread (nbd, block, sizeof block, 0, 0) == -1) {
      complain ("%s", nbd_get_error ());
      return -1;
    }
    took_ns[i] = target_host_ns (NULL) - start_ns;
  }
  if (i < READS) {
    complain ("interrupted");
    return -1;
  }
  qsort (took_ns, READS, sizeof took_ns[0], compare);
  return took_ns[READS / 2];
}

/* How late the plugin was; -1 after a message. */
static int64_t
lateness_ns (const struct calibrate *c)
{
  int fd = control_open (c->control);
  char *stats = fd == -1 ? NULL : control_ask (fd, "stats");
  int64_t r = -1;

  if (fd != -1)
    close (fd);
  if (stats && json_get_int (stats, "lateness_ns.p50", &r) == -1)
    complain ("the drive does not say how late it was");
  free (stats);
  return r;
}

static int64_t
measure_client (const struct calibrate *c)
{
  struct nbd_handle *nbd = nbd_create ();
  int64_t ns = -1, late_ns;

  if (nbd == NULL || nbd_connect_unix (nbd, c->socket) == -1)
    complain ("%s", nbd_get_error ());
  else
    ns = read_for_a_while (nbd);
  if (nbd) {
    nbd_shutdown (nbd, 0);
    nbd_close (nbd);
  }
  if (ns == -1 || (late_ns = lateness_ns (c)) == -1)
    return -1;
  ns -= MODELLED_NS + late_ns;
  return ns > 0 ? ns : 0;
}

static int
say_and_store (const char *accelerator, const char *bus, int64_t floor_ns)
{
  printf ("%s %s: %.1f us\n", accelerator, bus, floor_ns / 1e3);
  fflush (stdout);
  return calibration_store (accelerator, bus, floor_ns);
}

static int
calibrate_client (struct calibrate *c)
{
  static const char *const drive[] = {
    "profile=wd200bb", "set=interface.bus=none",
    "set=overhead.read-hit-ms=1", NULL
  };
  int64_t floor_ns = -1;

  if (serve (c, drive) == 0)
    floor_ns = measure_client (c);
  stop (c);
  return floor_ns == -1 ? -1 : say_and_store ("nbd", "-", floor_ns);
}

/* The best of several rounds, by turns; -1 after a message. */
static int64_t
measure_guest (const struct calibrate *c, int kind)
{
  char *drive = format ("driver=nbd,server.type=unix,server.path=%s",
                        c->socket);
  const char *const blockdevs[2] = {
    "driver=null-co,size=1048576,read-zeroes=on", drive
  };
  int64_t best_ns[2] = { INT64_MAX, INT64_MAX };
  const char *why;
  int i;

  for (i = 0; i < 2 * ROUNDS; ++i) {
    int64_t ns = accel_probe (c->accel, kind, &c->pieces, c->workdir.path,
                              blockdevs[i % 2], GUEST_READS, &why);

    if (ns < best_ns[i % 2])
      best_ns[i % 2] = ns;
    if (ns == -1)
      break;
  }
  free (drive);
  if (i < 2 * ROUNDS) {
    complain ("a guest with %s and %s that reads %d times %s",
              accel_names[c->accel], machine_kinds[kind], GUEST_READS, why);
    return -1;
  }
  return best_ns[1] > best_ns[0] ? best_ns[1] - best_ns[0] : 0;
}

static int
calibrate_guests (struct calibrate *c)
{
  static const char *const drive[] = { "profile=ideal", NULL };
  int64_t floor_ns = 0;
  const char *why;
  int kind;

  if (program_check (qemu_program (), "qemu-system-x86") == -1 ||
      accel_choose (&c->accel, &c->pieces, c->workdir.path, &why) == -1 ||
      serve (c, drive) == -1)
    return -1;
  if (why)
    complain ("guests run with TCG: %s", why);
  for (kind = 0; machine_kinds[kind] && floor_ns >= 0; ++kind) {
    floor_ns = measure_guest (c, kind);
    if (floor_ns >= 0 && say_and_store (accel_names[c->accel],
                                        machine_kinds[kind], floor_ns) == -1)
      floor_ns = -1;
  }
  stop (c);
  return floor_ns >= 0 ? 0 : -1;
}

static enum spindle_exit
calibrate (struct calibrate *c)
{
  enum spindle_exit r = EXIT_COULD_NOT_RUN;

  signals_take_over ();
  if (program_check (nbdkit_program (), "nbdkit") == -1 ||
      pieces_find (&c->pieces) == -1 || workdir_create (&c->workdir) == -1)
    return r;
  c->socket = format ("%s/nbd", c->workdir.path);
  c->control = format ("%s/control", c->workdir.path);
  if (calibrate_client (c) == 0 &&
      (c->no_guests || calibrate_guests (c) == 0))
    r = EXIT_REPRODUCED;
  free (c->socket);
  free (c->control);
  return r;
}

int
command_calibrate (int argc, char **argv)
{
  struct calibrate c = { .accel = ACCEL_AUTO };
  int r = options_parse (argc, argv, defs, on_option, on_word, &c);

  if (r != 0)
    return options_status (r, help);
  r = calibrate (&c);
  workdir_remove (&c.workdir);
  pieces_free (&c.pieces);
  return r;
}
