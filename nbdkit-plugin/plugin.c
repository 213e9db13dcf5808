/* SPDX-License-Identifier: BSD-3-Clause
 *
 * nbdkit-spindle-plugin: parameters and callbacks.  What a request does is
 * in drive.c.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "backing-nbd.h"
#include "bad-sectors.h"
#include "change.h"
#include "control.h"
#include "drive.h"
#include "loader.h"
#include "owned.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

#define MAX_US 1000000

#define MAX_REQUEST (32 * 1024 * 1024) /* 65536 sectors, as many as LBA48 */

/* Parameters. */
static const char *profile_name;
static const char **overrides;  /* "KEY=VALUE" */
static size_t n_overrides;
static char *file;              /* NULL: a temporary file */
static const char *uri;         /* of an NBD server, instead of that */
static bool in_memory;          /* likewise */
static int64_t size = -1;       /* bytes served, at most the drive's */
static uint64_t seed;
static bool sync_backing = true;
static const struct clock *clock_kind = &clock_real;
static char *clock_page;
static char *trace_path;
static char *stats_path;        /* "-" is stderr */
static char *control_path;
static const char **bad_sectors; /* "LBA[+N][:RETRIES][@COMMAND]" */
static size_t n_bad_sectors;

static const char *real_time_given; /* a parameter that needs clock=real */

static struct profile profile;
static struct drive drive;
static FILE *stats_fp;

/* Keep the path for later, when nbdkit has changed directory. */
static int
set_path (char **path, const char *value)
{
  free (*path);
  *path = nbdkit_absolute_path (value);
  return *path ? 0 : -1;
}

static int
set_size (const char *value)
{
  size = nbdkit_parse_size (value);
  if (size == -1)
    return -1;
  size -= size % DISK_SECTOR_SIZE;
  if (size == 0) {
    nbdkit_error ("size=%s: at least one sector of %d bytes is needed",
                  value, DISK_SECTOR_SIZE);
    return -1;
  }
  return 0;
}

/* Microseconds. */
static int
set_us (int64_t *ns, const char *key, const char *value)
{
  uint32_t us;

  if (nbdkit_parse_uint32_t (key, value, &us) == -1)
    return -1;
  if (us > MAX_US) {
    nbdkit_error ("%s=%s: at most %d microseconds", key, value, MAX_US);
    return -1;
  }
  *ns = us * INT64_C (1000);
  real_time_given = key;
  return 0;
}

static int
set_clock (const char *value)
{
  if (strcmp (value, clock_real.name) == 0)
    clock_kind = &clock_real;
  else if (strcmp (value, clock_virtual.name) == 0)
    clock_kind = &clock_virtual;
  else {
    nbdkit_error ("clock=%s: must be real or virtual", value);
    return -1;
  }
  return 0;
}

static int
set_bool (bool *what, const char *value)
{
  int r = nbdkit_parse_bool (value);

  if (r == -1)
    return -1;
  *what = r;
  return 0;
}

static int
add_to (const char ***list, size_t *n, const char *value)
{
  const char **p;

  p = realloc (*list, (*n + 1) * sizeof *list[0]);
  if (p == NULL) {
    nbdkit_error ("realloc: %m");
    return -1;
  }
  *list = p;
  p[(*n)++] = value;
  return 0;
}

static int
set_power (const char *key, const char *value)
{
  int r = power_config (&drive.power, key, value);

  if (r == 0)
    nbdkit_error ("unknown parameter '%s'", key);
  return r == 1 ? 0 : -1;
}

static int
spindle_config (const char *key, const char *value)
{
  if (strcmp (key, "profile") == 0)
    profile_name = value;
  else if (strcmp (key, "set") == 0)
    return add_to (&overrides, &n_overrides, value);
  else if (strcmp (key, "file") == 0)
    return set_path (&file, value);
  else if (strcmp (key, "uri") == 0)
    uri = value;
  else if (strcmp (key, "size") == 0)
    return set_size (value);
  else if (strcmp (key, "seed") == 0)
    return nbdkit_parse_uint64_t ("seed", value, &seed);
  else if (strcmp (key, "sync") == 0)
    return set_bool (&sync_backing, value);
  else if (strcmp (key, "memory") == 0)
    return set_bool (&in_memory, value);
  else if (strcmp (key, "clock") == 0)
    return set_clock (value);
  else if (strcmp (key, "floor") == 0)
    return set_us (&drive.floor_ns, "floor", value);
  else if (strcmp (key, "spin") == 0)
    return set_us (&drive.spin_ns, "spin", value);
  else if (strcmp (key, "late-limit") == 0)
    return set_us (&drive.stats.late_limit_ns, "late-limit", value);
  else if (strcmp (key, "clock-page") == 0)
    return set_path (&clock_page, value);
  else if (strcmp (key, "trace") == 0)
    return set_path (&trace_path, value);
  else if (strcmp (key, "stats") == 0) {
    if (strcmp (value, "-") != 0)
      return set_path (&stats_path, value);
    free (stats_path);
    stats_path = strdup (value);
    return stats_path ? 0 : -1;
  }
  else if (strcmp (key, "control") == 0)
    return set_path (&control_path, value);
  else if (strcmp (key, "bad") == 0)
    return add_to (&bad_sectors, &n_bad_sectors, value);
  else
    return set_power (key, value);
  return 0;
}

#define spindle_config_help \
  "profile=<NAME|FILE>  (required) The drive to be.\n" \
  "file=<FILE>               Raw disk image (default: a temporary file).\n" \
  "uri=<URI>                 An NBD server that has the data.\n" \
  "memory=<BOOL>             Keep the data in memory (default: false).\n" \
  "size=<SIZE>               Serve only the first SIZE bytes of the drive.\n" \
  "seed=<N>                  Where the platter stands at the start.\n" \
  "set=<KEY=VALUE>           Change a value of the profile (repeatable).\n" \
  "clock=real|virtual        Who says what time it is (default: real).\n" \
  "clock-page=<PATH>         Clock page to create (with clock=virtual).\n" \
  "floor=<US>                Answer so much sooner: the transport's time.\n" \
  "spin=<US>                 Do not sleep so shortly before an answer.\n" \
  "late-limit=<US>           Invalid if 1 % of answers are later than that.\n" \
  "trace=<FILE>              Write a line for each command.\n" \
  "stats=<FILE>              Write statistics at the end (- is stderr).\n" \
  "control=<PATH>            Unix socket that answers questions.\n" \
  "sync=<BOOL>               Flush and FUA reach the host's disk (true).\n" \
  "bad=<LBA[+N][:RETRIES][@COMMAND]>  Sectors that do not read (repeatable).\n" \
  "cut-at=<TIME>             Cut the power at this time of the drive's.\n" \
  "cut-after-writes=<N>[+<TIME>]  Cut it when so many writes have completed,\n" \
  "                          or so much later.\n" \
  "cut-while-destaging=<N>   Cut it during the N-th destage or soon after.\n" \
  "cut-random=<TIME>         Cut it at random, after so long on average.\n" \
  "torn=new|old|unreadable|random  The sector that was being written (new)."

static void
print_name (void *opaque, const char *name, const char *path)
{
  (void) path;
  fprintf (opaque, "%s ", name);
}

static void
spindle_dump_plugin (void)
{
  printf ("spindle_version=%s\n", SPINDLE_VERSION);
  printf ("spindle_model_version=%s\n", SPINDLE_VERSION);
  fputs ("spindle_profiles=", stdout);
  profile_list (print_name, stdout);
  putchar ('\n');
}

static int
no_profile (void)
{
  char *names = NULL;
  size_t n = 0;
  FILE *fp = open_memstream (&names, &n);

  if (fp) {
    profile_list (print_name, fp);
    fclose (fp);
  }
  nbdkit_error ("profile=NAME is required; there are: %s",
                n > 0 ? names : "none");
  free (names);
  return -1;
}

static int
load_profile (void)
{
  char *error = NULL;

  if (profile_load (profile_name, overrides, n_overrides, &profile, &error)
      == 0)
    return 0;
  nbdkit_error ("%s", error ? error : "out of memory");
  free (error);
  return -1;
}

static int
check_size (void)
{
  int64_t bytes = profile.geometry.sectors * DISK_SECTOR_SIZE;

  if (size > bytes) {
    nbdkit_error ("size=%" PRIi64 ": the drive %s has only %" PRIi64
                  " bytes", size, profile.name, bytes);
    return -1;
  }
  if (size == -1)
    size = bytes;
  return 0;
}

static int
check_together (void)
{
  if ((file != NULL) + (uri != NULL) + in_memory > 1) {
    nbdkit_error ("one of file=, uri= and memory=true");
    return -1;
  }
  if (clock_page && clock_kind != &clock_virtual) {
    nbdkit_error ("clock-page= needs clock=virtual");
    return -1;
  }
  if (!clock_page && clock_kind == &clock_virtual) {
    nbdkit_error ("clock=virtual needs clock-page=PATH");
    return -1;
  }
  if (profile.instant && power_is_scheduled (&drive.power)) {
    nbdkit_error ("cut-...: for the drive %s no time passes", profile.name);
    return -1;
  }
  if (real_time_given && clock_kind != &clock_real) {
    nbdkit_error ("%s= needs clock=real", real_time_given);
    return -1;
  }
  return 0;
}

static int
spindle_config_complete (void)
{
  if (profile_name == NULL)
    return no_profile ();
  if (load_profile () == -1 || check_size () == -1 ||
      change_prepare (&profile, profile_name, overrides, n_overrides) == -1)
    return -1;
  return check_together ();
}

/* Nothing that is written may be what another parameter names, by whatever
 * path: the image least of all.
 */
static int
check_outputs (void)
{
  const struct { const char *key, *path; } files[] = {
    { "profile", strchr (profile_name, '/') ? profile_name : NULL },
    { "file", file }, { "trace", trace_path }, { "stats", stats_path },
  };
  const size_t n = sizeof files / sizeof files[0];
  struct stat st[4];

  for (size_t i = 0; i < n; i++) {
    st[i].st_ino = 0;
    if (files[i].path == NULL || stat (files[i].path, &st[i]) == -1 ||
        !S_ISREG (st[i].st_mode))
      st[i].st_ino = 0;
    for (size_t k = 0; k < i; k++)
      if (files[i].path && files[k].path &&
          (strcmp (files[i].path, files[k].path) == 0 ||
           (st[i].st_ino != 0 && st[i].st_ino == st[k].st_ino &&
            st[i].st_dev == st[k].st_dev))) {
        nbdkit_error ("%s=%s is the same file as %s=%s", files[i].key,
                      files[i].path, files[k].key, files[k].path);
        return -1;
      }
  }
  return 0;
}

/* Files to be written.  What has to disappear again comes last. */
static int
open_outputs (void)
{
  if (check_outputs () == -1)
    return -1;
  if (trace_path) {
    drive.trace = trace_open (trace_path);
    if (drive.trace == NULL) {
      nbdkit_error ("trace=%s: %m", trace_path);
      return -1;
    }
  }
  if (stats_path && strcmp (stats_path, "-") != 0) {
    stats_fp = fopen (stats_path, "we");
    if (stats_fp == NULL) {
      nbdkit_error ("stats=%s: %m", stats_path);
      return -1;
    }
  }
  if (clock_kind->prepare (&drive, clock_page) == -1)
    return -1;
  return control_path ? control_prepare (control_path) : 0;
}

static int
open_backing (void)
{
  return in_memory ? backing_open_memory (&drive.backing, size)
    : uri ? backing_nbd_open (&drive.backing, uri, size)
    : backing_open (&drive.backing, file, size);
}

static int
spindle_get_ready (void)
{
  /* A limit on the size of files is an error of the write that meets it. */
  signal (SIGXFSZ, SIG_IGN);
  drive.profile = &profile;
  drive.seed = seed;
  drive.sync = sync_backing;
  drive.clock = clock_kind;
  if (open_backing () == -1)
    return -1;
  if (drive_init (&drive) == -1) {
    nbdkit_error ("cannot make the drive: %m");
    return -1;
  }
  if (bad_sectors_add (&drive, bad_sectors, n_bad_sectors) == -1)
    return -1;
  return open_outputs ();
}

static int
spindle_after_fork (void)
{
  if (drive.trace)
    trace_begin (drive.trace, &profile, seed, overrides, n_overrides);
  if (clock_kind->start (&drive) == -1)
    return -1;
  return control_start (&drive);
}

/* All connections are closed: end the threads. */
static void
spindle_cleanup (void)
{
  control_stop ();
  clock_kind->stop (&drive);
}

static void
write_stats (void)
{
  FILE *fp = stats_fp ? stats_fp : stderr;

  if (stats_path == NULL)
    return;
  stats_print (fp, &drive);
  if (stats_fp && fclose (stats_fp) == EOF)
    nbdkit_error ("stats=%s: %m", stats_path);
}

static void
spindle_unload (void)
{
  /* A command line without a drive to serve also comes here. */
  if (drive.profile) {
    spindle_cleanup ();
    write_stats ();
    if (trace_close (drive.trace) == -1)
      nbdkit_error ("trace=%s is not complete: %m", trace_path);
    drive_free (&drive);
    backing_close (&drive.backing);
    owned_remove_all ();
  }
  change_end ();
  free (overrides);
  free (bad_sectors);
  free (file);
  free (clock_page);
  free (trace_path);
  free (stats_path);
  free (control_path);
}

static void *
spindle_open (int readonly)
{
  if (drive.backing.readonly && !readonly) {
    nbdkit_error ("file=%s cannot be written; nbdkit -r serves it read-only",
                  file);
    return NULL;
  }
  return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t
spindle_get_size (void *handle)
{
  return size;
}

static int
spindle_block_size (void *handle, uint32_t *minimum, uint32_t *preferred,
                    uint32_t *maximum)
{
  *minimum = DISK_SECTOR_SIZE;
  *preferred = 4096;
  *maximum = MAX_REQUEST;
  return 0;
}

static int
spindle_is_rotational (void *handle)
{
  return 1;
}

/* Also for a drive that has no such command.  Its model does nothing then,
 * but QEMU must ask: what it answers by itself it answers in host time.
 */
static int
spindle_can_flush (void *handle)
{
  return 1;
}

/* Every drive can write through its cache, whether or not it has a command
 * for that: the host's driver turns the cache off.
 */
static int
spindle_can_fua (void *handle)
{
  return NBDKIT_FUA_NATIVE;
}

static int
spindle_can_trim (void *handle)
{
  return profile.interface.trim;
}

static int
spindle_can_extents (void *handle)
{
  return 0;
}

static int
spindle_can_cache (void *handle)
{
  return NBDKIT_CACHE_NONE;
}

/* One drive, whatever the number of connections. */
static int
spindle_can_multi_conn (void *handle)
{
  return 1;
}

static int
spindle_pread (void *handle, void *buf, uint32_t count, uint64_t offset,
               uint32_t flags)
{
  return drive_read (&drive, buf, count, offset);
}

static int
spindle_pwrite (void *handle, const void *buf, uint32_t count,
                uint64_t offset, uint32_t flags)
{
  return drive_write (&drive, buf, count, offset, flags & NBDKIT_FLAG_FUA);
}

static int
spindle_flush (void *handle, uint32_t flags)
{
  return drive_flush (&drive);
}

static int
spindle_trim (void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
  return drive_trim (&drive, count, offset, flags & NBDKIT_FLAG_FUA);
}

static struct nbdkit_plugin plugin = {
  .name = "spindle",
  .longname = "emulated hard disk",
  .version = SPINDLE_VERSION,
  .description = "A disk with the timing of a named historical drive",
  .unload = spindle_unload,
  .config = spindle_config,
  .config_complete = spindle_config_complete,
  .config_help = spindle_config_help,
  .magic_config_key = "profile",
  .dump_plugin = spindle_dump_plugin,
  .get_ready = spindle_get_ready,
  .after_fork = spindle_after_fork,
  .cleanup = spindle_cleanup,
  .open = spindle_open,
  .get_size = spindle_get_size,
  .block_size = spindle_block_size,
  .is_rotational = spindle_is_rotational,
  .can_flush = spindle_can_flush,
  .can_fua = spindle_can_fua,
  .can_trim = spindle_can_trim,
  .can_extents = spindle_can_extents,
  .can_cache = spindle_can_cache,
  .can_multi_conn = spindle_can_multi_conn,
  .pread = spindle_pread,
  .pwrite = spindle_pwrite,
  .flush = spindle_flush,
  .trim = spindle_trim,
  .errno_is_preserved = 1,
};

NBDKIT_REGISTER_PLUGIN (plugin)
