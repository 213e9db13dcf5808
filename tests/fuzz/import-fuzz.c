/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The readers of DiskSim's parameters, the mapping and the writer, for
 * libFuzzer; what is written must be what the loader accepts.  The first
 * byte of the input says what the rest is: '0' parameters, '1' a seek
 * curve, '2' slips.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/import-impl.h"
#include "harness/spindle.h"
#include "profiles/loader.h"

extern int LLVMFuzzerInitialize (int *argc, char ***argv);
extern int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* What parameters may name: m.model, s.seek. */
static char directory[] = "/tmp/import-fuzz-XXXXXX";
static int dir;

static const char model[] =
  "dm_disk M { Number of data surfaces = 2, Block count = 1000, Layout Model "
  "= dm_layout_g1 { Sparing scheme used = 9, Zones = [ dm_layout_g1_zone { "
  "First cylinder number = 0, Last cylinder number = 99, Blocks per track = "
  "20, Offset of first block = 0, Empty space at zone front = 3, Skew for "
  "track switch = 1, Skew for cylinder switch = 2, Number of spares = 9, "
  "slips = [ 5, 77 ] } ] }, Mechanical Model = dm_mech_g1 { Seek type = "
  "extracted, Full seek curve = s.seek, Head switch time = 1, Rotation speed "
  "(in rpms) = 7200 } }";
static const char curve[] = "1 1\n90 5\n";

static void
put (const char *name, const char *text)
{
  int fd = openat (dir, name, O_WRONLY | O_CREAT, 0666);

  if (fd == -1 || write (fd, text, strlen (text)) != (ssize_t) strlen (text))
    abort ();
  close (fd);
}

static void
remove_directory (void)
{
  unlinkat (dir, "m.model", 0);
  unlinkat (dir, "s.seek", 0);
  rmdir (directory);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  (void) argc;
  (void) argv;
  if (mkdtemp (directory) == NULL ||
      (dir = open (directory, O_RDONLY | O_DIRECTORY)) == -1)
    abort ();
  put ("m.model", model);
  put ("s.seek", curve);
  atexit (remove_directory);
  return 0;
}

static int
file_of (const void *data, size_t size)
{
  int fd = memfd_create ("fuzz", MFD_CLOEXEC);

  if (fd == -1 || write (fd, data, size) != (ssize_t) size ||
      lseek (fd, 0, SEEK_SET) == -1)
    abort ();
  return fd;
}

#define same(member) \
  if (memcmp (&loaded.member, &p->member, sizeof p->member) != 0) { \
    fprintf (stderr, "%s\n%s differs\n", text, #member); \
    abort (); \
  }

/* The loader takes it for the same drive. */
static void
write_and_load (const struct import *in, const struct profile *p)
{
  static struct profile loaded;
  char *text = NULL, *error, name[32];
  size_t size;
  FILE *fp = open_memstream (&text, &size);
  int fd;

  import_write (in, p, fp);
  fclose (fp);
  fd = file_of (text, size);
  snprintf (name, sizeof name, "/proc/self/fd/%d", fd);
  if (profile_load (name, NULL, 0, &loaded, &error) == -1) {
    fprintf (stderr, "%s\n%s\n", error, text);
    abort ();
  }
  same (geometry);
  same (seek.read);
  same (overhead);
  same (interface.bus_ps_per_byte);
  same (interface.write_bus_ps_per_byte);
  same (buffer.size_bytes);
  same (buffer.segment_bytes);
  same (lookahead.limit_bytes);
  close (fd);
  free (text);
}

static int
read_as (struct import *in, char kind, int fd)
{
  char *text;
  int r;

  switch (kind) {
  case '1':
    text = import_text (in, fd);
    r = text ? import_seek_text (in, text) : -1;
    free (text);
    return r;
  case '2':
    in->drive.n_zones = 3;
    return import_read_slips (in, fd, "S");
  }
  r = import_read (in, fd, dir);
  return r;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static struct import in;
  static struct profile profile;
  int fd;

  if (size < 1 || data[0] < '0' || data[0] > '2')
    return -1;
  fd = file_of (data + 1, size - 1);
  import_init (&in, "P");
  if (read_as (&in, (char) data[0], fd) == 0 && data[0] == '0' &&
      import_map (&in, &profile) == 0)
    write_and_load (&in, &profile);
  else if (in.error && strchr (in.error, '\n'))
    abort ();
  close (fd);
  import_free (&in);
  return 0;
}
