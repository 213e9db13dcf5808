/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profile loader: exact values of good files, and one line of message
 * for everything that can be wrong with a bad one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader.h"

#define MS(n) ((int64_t) ((n) * 1000000))

static char path[4096];         /* of the profile under test */

/* The smallest file that describes a drive with a time: 1000 cylinders of
 * two tracks of 100 sectors.  Tests replace parts of it.
 */
static const char *const base[] = {
  "title = \"Test\";",
  "sources = ( { id = \"A\"; text = \"a\"; }, { id = \"B1\"; text = \"b\"; "
  "url = \"http://b\"; } );",
  "geometry = {",
  "  sectors = ( 200000, \"measured\", \"A\" );",
  "  heads = ( 2, \"spec\", \"A, B1\" );",
  "  rpm = ( 7200, \"spec-sibling\", \"A B1\" );",
  "  zones = ( ( { cylinders = 1000; sectors-per-track = 100; } ), "
  "\"measured\", \"A\" );",
  "};",
  "seek = {",
  "  curve = \"three-point\";",
  "  track-ms = ( 2, \"spec\", \"A\" );",
  "  average-ms = ( 8.9, \"spec\", \"A\" );",
  "  full-ms = ( 17.0, \"estimated\", \"A\", \"why\" );",
  "  head-switch-ms = ( 1.2, \"spec\", \"A\" );",
  "};",
  "interface = {",
  "  bus = ( \"udma4\", \"spec\", \"A\" );",
  "};",
  "overhead = {",
  "  read-hit-ms = ( 0.215, \"spec\", \"A\" );",
  "  read-miss-ms = ( 0.3, \"spec\", \"A\" );",
  "  write-ms = ( .3, \"spec\", \"A\" );",
  "};",
  "buffer = {",
  "  size-kib = ( 2048, \"spec\", \"A\" );",
  "  segments = ( 8, \"spec\", \"A\" );",
  "};",
};
#define BASE_LINES (sizeof base / sizeof base[0])

static void
write_text (const char *text, size_t len)
{
  FILE *f = fopen (path, "w");

  assert_non_null (f);
  assert_int_equal (fwrite (text, 1, len, f), len);
  assert_int_equal (fclose (f), 0);
}

/* The base with the line that starts with `from` (blanks aside) replaced;
 * with an empty `from`, `to` comes after the end.
 */
static void
write_changed (const char *from, const char *to)
{
  FILE *f = fopen (path, "w");
  bool found = *from == '\0';

  assert_non_null (f);
  for (size_t i = 0; i < BASE_LINES; i++) {
    const char *line = base[i] + strspn (base[i], " ");

    if (*from && strncmp (line, from, strlen (from)) == 0) {
      fprintf (f, "%s\n", to);
      found = true;
    } else
      fprintf (f, "%s\n", base[i]);
  }
  if (*from == '\0')
    fprintf (f, "%s\n", to);
  assert_int_equal (fclose (f), 0);
  assert_true (found);
}

static void
load_good (struct profile *profile, const char *override)
{
  char *error = NULL;
  int r = profile_load (path, &override, override != NULL, profile, &error);

  if (r == -1)
    print_error ("%s\n", error);
  free (error);
  assert_int_equal (r, 0);
}

/* The message must start so (after the file's path) and hold the words. */
static void
expect_error (const char *override, const char *start, const char *words)
{
  struct profile profile, before;
  char *error = NULL;
  const char *message;

  memset (&profile, 0x5a, sizeof profile);
  before = profile;
  assert_int_equal (profile_load (path, &override, override != NULL,
                                  &profile, &error), -1);
  assert_non_null (error);
  message = error;
  if (strncmp (message, path, strlen (path)) == 0)
    message += strlen (path);
  if (strncmp (message, start, strlen (start)) != 0 ||
      strstr (message, words) == NULL || strchr (message, '\n')) {
    print_error ("got: %s\nwant: %s ... %s\n", message, start, words);
    fail ();
  }
  assert_memory_equal (&profile, &before, sizeof profile);
  free (error);
}

static void
expect_bad (const char *from, const char *to, const char *start,
            const char *words)
{
  write_changed (from, to);
  expect_error (NULL, start, words);
}

static void
expect_bad_override (const char *override, const char *words)
{
  char start[128];

  write_changed ("title", base[0]);
  snprintf (start, sizeof start, "set=%s: ", override);
  expect_error (override, start, words);
}

static int
set_up (void **state)
{
  const char *dir = getenv ("TMPDIR");

  (void) state;
  snprintf (path, sizeof path, "%s/test.cfg", dir ? dir : "/tmp");
  return 0;
}

static int
tear_down (void **state)
{
  (void) state;
  unlink (path);
  return 0;
}

/* ---- good files ---- */

static void
test_base (void **state)
{
  struct profile p;

  (void) state;
  write_changed ("title", base[0]);
  load_good (&p, NULL);
  assert_string_equal (p.name, "test");
  assert_string_equal (p.title, "Test");
  assert_int_equal (p.geometry.sectors, 200000);
  assert_int_equal (p.geometry.heads, 2);
  assert_int_equal (p.geometry.rpm_x100, 720000);
  assert_int_equal (p.geometry.n_zones, 1);
  assert_int_equal (p.geometry.zones[0].cylinders, 1000);
  assert_int_equal (p.geometry.zones[0].sectors_per_track, 100);
  assert_int_equal (p.geometry.zones[0].track_skew_x1000,
                    PROFILE_SKEW_AUTO);
  assert_int_equal (p.seek.read.kind, SEEK_CURVE_THREE_POINT);
  assert_int_equal (p.seek.read.track_ns, MS (2));
  assert_int_equal (p.seek.read.average_ns, 8900000);
  assert_int_equal (p.seek.read.full_ns, MS (17));
  assert_int_equal (p.seek.head_switch_ns, 1200000);
  assert_int_equal (p.interface.bus_ps_per_byte, 15000);
  assert_int_equal (p.overhead.read_hit_ns, 215000);
  assert_int_equal (p.overhead.write_ns, 300000);
  assert_int_equal (p.buffer.size_bytes, 2048 * 1024);
  assert_int_equal (p.buffer.segments, 8);
}

static void
test_defaults (void **state)
{
  struct profile p;

  (void) state;
  write_changed ("title", base[0]);
  load_good (&p, NULL);
  assert_string_equal (p.identify.model, "");
  assert_int_equal (p.identify.udma_max, 5);
  assert_true (p.identify.lba48);
  assert_false (p.identify.exact);
  assert_true (p.interface.overlap && p.interface.flush && p.interface.fua);
  assert_false (p.interface.trim);
  assert_true (p.lookahead.enabled && p.lookahead.restart_rotates);
  assert_int_equal (p.lookahead.on_command, INTERRUPT_ABORT);
  assert_false (p.lookahead.tail.enabled);
  assert_true (p.write_cache.enabled);
  assert_int_equal (p.write_cache.order, DESTAGE_ELEVATOR);
  assert_int_equal (p.write_cache.max_extents, 32);
  assert_int_equal (p.write_cache.unit_sectors, 128);
  assert_int_equal (p.queue.depth, 0);
  assert_int_equal (p.queue.awareness_permille, 1000);
}

static int64_t
capacity_of_zones (const struct profile_geometry *g)
{
  int64_t sum = 0;

  for (uint32_t i = 0; i < g->n_zones; i++)
    sum += (int64_t) g->zones[i].cylinders * g->heads *
      g->zones[i].sectors_per_track;
  return sum;
}

static void
load_named (struct profile *p, const char *name)
{
  char *error = NULL;
  int r = profile_load (name, NULL, 0, p, &error);

  if (r == -1)
    print_error ("%s\n", error);
  free (error);
  assert_int_equal (r, 0);
}

static void
test_wd200bb (void **state)
{
  const struct profile_geometry *g;
  struct profile p;

  (void) state;
  load_named (&p, "wd200bb");
  g = &p.geometry;
  assert_string_equal (p.name, "wd200bb");
  assert_string_equal (p.identify.model, "WDC WD200BB-53AUA1");
  assert_int_equal (p.identify.track_bytes, 57600);
  assert_int_equal (p.identify.rotation_rate, 0);
  assert_false (p.identify.lba48);
  assert_int_equal (g->sectors, 39102336);
  assert_int_equal (g->n_zones, 14);
  assert_int_equal (g->zones[0].sectors_per_track, 650);
  assert_int_equal (g->zones[13].sectors_per_track, 396);
  assert_in_range (capacity_of_zones (g) - g->sectors, 0, 2 * 396 - 1);
  assert_int_equal (p.seek.read.average_ns, 8900000);
  assert_int_equal (p.seek.write_settle_ns, MS (2));
  assert_int_equal (p.overhead.read_hit_ns, 215000);
  assert_in_range (p.lookahead.limit_bytes, 116 * 1024, 256 * 1024);
  assert_true (p.lookahead.tail.enabled && ! p.lookahead.tail.of_track);
  assert_int_equal (p.lookahead.tail.min_command_sectors, 256);
  assert_int_equal (p.lookahead.tail.tail_sectors, 64);
  assert_int_equal (p.lookahead.tail.period_sectors, 576);
  assert_false (p.interface.flush);
}

/* The media rate that the profile was made for, from its own figures. */
static void
test_maxtor (void **state)
{
  struct profile p;
  int64_t cylinder_ns, rate;

  (void) state;
  load_named (&p, "maxtor-6y120p0");
  assert_int_equal (p.geometry.sectors, 240121728);
  assert_int_equal (p.buffer.size_bytes, 7936 * 1024);
  assert_false (p.lookahead.tail.enabled);
  assert_in_range (capacity_of_zones (&p.geometry) - p.geometry.sectors, 0,
                   4 * 493 - 1);
  cylinder_ns = 4 * 8333333 + 4 * p.seek.head_switch_ns;
  rate = INT64_C (1000000) * 4 * 512 * p.geometry.zones[0].sectors_per_track
    / cylinder_ns;              /* bytes per ms */
  assert_in_range (rate, 48400, 48600);
}

static void
test_ideal (void **state)
{
  struct profile p;

  (void) state;
  load_named (&p, "ideal");
  assert_true (p.instant);
  assert_int_equal (p.geometry.sectors, 39062500);
}

/* Every profile that comes with spindle, those of later days included. */
static void
load_listed (void *opaque, const char *name, const char *file)
{
  struct profile p;

  if (strncmp (file, getenv ("TMPDIR"), strlen (getenv ("TMPDIR"))) == 0)
    return;
  load_named (&p, name);
  ++*(int *) opaque;
}

static void
test_all_load (void **state)
{
  int n = 0;

  (void) state;
  assert_true (profile_list (load_listed, &n) >= 3);
  assert_true (n >= 3);
}

static void
test_zone_table (void **state)
{
  static const int64_t sizes[] = { 1, 399, 400, 401, 4000, 123457, 99999999 };
  struct profile p;
  char override[64];

  (void) state;
  write_changed ("zones", "zone-table = { count = ( 4, \"spec\", \"A\" ); "
                 "outer = ( 200, \"spec\", \"A\" ); "
                 "inner = ( 101, \"spec\", \"A\" ); };");
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    snprintf (override, sizeof override, "geometry.sectors=%lld",
              (long long) sizes[i]);
    load_good (&p, override);
    assert_in_range (capacity_of_zones (&p.geometry) - sizes[i], 0,
                     2 * p.geometry.zones[p.geometry.n_zones - 1]
                     .sectors_per_track - 1);
    assert_in_range (p.geometry.n_zones, 1, 4);
  }
  assert_int_equal (p.geometry.n_zones, 4);
  assert_int_equal (p.geometry.zones[1].sectors_per_track, 167);
  assert_int_equal (p.geometry.zones[2].sectors_per_track, 134);
}

static void
test_seek_table (void **state)
{
  struct profile p;

  (void) state;
  write_changed ("curve", "curve = \"table\"; table = ( ( ( 1, 2 ), "
                 "( 10, 2.5 ), ( 999, 17.123456 ) ), \"measured\", \"A\" );");
  load_good (&p, NULL);
  assert_int_equal (p.seek.read.kind, SEEK_CURVE_TABLE);
  assert_int_equal (p.seek.read.n_points, 3);
  assert_int_equal (p.seek.read.points[2].cylinders, 999);
  assert_int_equal (p.seek.read.points[2].time_ns, 17123456);
}

/* What the drives of the DiskSim collection need. */
static void
test_measured_drive (void **state)
{
  struct profile p;

  (void) state;
  write_changed ("zones", "zones = ( ( { cylinders = 500; sectors-per-track = "
                 "120; track-skew-sectors = 12.25; offset-sectors = 0.5; }, "
                 "{ cylinders = 500; sectors-per-track = 100; "
                 "cylinder-skew-sectors = 7; skip-cylinders = 3; } ), "
                 "\"measured\", \"A\" );\n"
                 "holes = ( ( ( 0, 100, 50 ), ( 0, 150, 19900 ), "
                 "( 1, 0, 50 ) ), \"measured\", \"A\" );");
  load_good (&p, NULL);
  assert_int_equal (p.geometry.zones[0].track_skew_x1000, 12250);
  assert_int_equal (p.geometry.zones[0].offset_x1000, 500);
  assert_int_equal (p.geometry.zones[1].cylinder_skew_x1000, 7000);
  assert_int_equal (p.geometry.zones[1].offset_x1000, PROFILE_SKEW_AUTO);
  assert_int_equal (p.geometry.zones[1].skip_cylinders, 3);
  assert_int_equal (p.geometry.n_holes, 3);
  assert_int_equal (p.geometry.holes[1].sectors, 19900);

  /* HP 97560, Ruemmler and Wilkes 1994. */
  write_changed ("curve", "curve = \"two-piece\"; "
                 "knee-cylinders = ( 383, \"spec\", \"A\" ); "
                 "low-ms = ( 3.24, \"spec\", \"A\" ); "
                 "low-root-ms = ( 0.4, \"spec\", \"A\" ); "
                 "high-ms = ( 8.0, \"spec\", \"A\" ); "
                 "high-ns-per-cylinder = ( 8000.5, \"spec\", \"A\" );");
  load_good (&p, "seek.write-settle-ms=-0.5");
  assert_int_equal (p.seek.read.kind, SEEK_CURVE_TWO_PIECE);
  assert_int_equal (p.seek.read.knee_cylinders, 383);
  assert_int_equal (p.seek.read.low_root_ns, 400000);
  assert_int_equal (p.seek.read.high_ps, 8000500);
  assert_int_equal (p.seek.write_settle_ns, -500000);
  assert_int_equal (p.seek.write.kind, SEEK_CURVE_NONE);

  write_changed ("curve", "curve = \"power\"; exponent = ( 0.42, \"spec\", "
                 "\"A\" ); write = { curve = \"table\"; table = ( ( ( 1, 2 "
                 "), ( 2, 3 ) ), \"spec\", \"A\" ); };");
  load_good (&p, "queue.awareness=0.12");
  assert_int_equal (p.seek.read.kind, SEEK_CURVE_POWER);
  assert_int_equal (p.seek.read.exponent_permille, 420);
  assert_int_equal (p.seek.write.kind, SEEK_CURVE_TABLE);
  assert_int_equal (p.seek.write.points[1].time_ns, MS (3));
  assert_int_equal (p.queue.awareness_permille, 120);
}

static void
test_measured_drive_errors (void **state)
{
  (void) state;
#define HOLES(holes) \
  "zones = ( ( { cylinders = 1010; sectors-per-track = 100; } ), \"spec\", " \
    "\"A\" );\nholes = ( ( " holes " ), \"spec\", \"A\" );"
  expect_bad ("zones", HOLES ("5"), ":8: geometry.holes: 5: ", "a list");
  expect_bad ("zones", HOLES ("( 0, 1, 0 )"), ":8: geometry.holes: 0: ",
              "from 1 to");
  expect_bad ("zones", HOLES ("( 1, 0, 1 )"), ":8: geometry.holes: hole 0",
              "its zone");
  expect_bad ("zones", HOLES ("( 0, 201999, 2 )"),
              ":8: geometry.holes: hole 0", "its zone");
  expect_bad ("zones", HOLES ("( 0, 0, 2 ), ( 0, 1, 1 )"),
              ":8: geometry.holes: hole 1", "after the one before");
  expect_bad ("zones", HOLES ("( 0, 0, 1800 )"), ":7: geometry.zones: ",
              "200 too many");
  write_changed ("zones", HOLES ("( 0, 0, 1801 )"));
  load_good (&(struct profile) { .instant = false }, NULL);

  expect_bad ("curve", "curve = \"two-piece\";", ": seek.knee-cylinders: ",
              "is missing");
  expect_bad ("curve", "curve = \"power\"; exponent = ( 0.4201, \"spec\", "
              "\"A\" );", ":10: seek.exponent: 0.4201: ",
              "at most 3 decimals");
  expect_bad ("curve", "curve = \"none\"; write = { curve = \"three-point\"; "
              "};", ": seek.write.track-ms: ", "is missing");
  expect_bad_override ("seek.quiet-mode=true", "no quiet mode");
  expect_bad_override ("lookahead.keep-behind-kib=256", "less than");
}

/* Every number of microseconds must come out exactly. */
static void
test_decimals (void **state)
{
  struct profile p;
  char line[128];

  (void) state;
  for (int us = 1; us < 100000; us += 997) {
    snprintf (line, sizeof line, "head-switch-ms = ( %d.%03d, \"spec\", "
              "\"A\" );", us / 1000, us % 1000);
    write_changed ("head-switch-ms", line);
    load_good (&p, NULL);
    assert_int_equal (p.seek.head_switch_ns, us * 1000);
    snprintf (line, sizeof line, "seek.head-switch-ms=%d.%03d", us / 1000,
              us % 1000);
    write_changed ("title", base[0]);
    load_good (&p, line);
    assert_int_equal (p.seek.head_switch_ns, us * 1000);
  }
}

static void
test_bus (void **state)
{
  static const struct { const char *name; int64_t ps; } modes[] = {
    { "none", 0 }, { "pio0", 300000 }, { "pio4", 60000 },
    { "mwdma1", 75000 }, { "mwdma2", 60000 }, { "udma0", 60000 },
    { "udma2", 30000 }, { "udma4", 15000 }, { "udma6", 7500 },
    { "sata150", 6667 }, { "66.667", 15000 }, { "100", 10000 },
  };
  struct profile p;
  char override[64];

  (void) state;
  write_changed ("title", base[0]);
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    snprintf (override, sizeof override, "interface.bus=%s", modes[i].name);
    load_good (&p, override);
    assert_int_equal (p.interface.bus_ps_per_byte, modes[i].ps);
  }
  write_changed ("bus", "bus = ( 66.667, \"spec\", \"A\" );");
  load_good (&p, NULL);
  assert_int_equal (p.interface.bus_ps_per_byte, 15000);
}

/* ---- bad files ---- */

static void
test_files (void **state)
{
  char *big = malloc (1024 * 1024 + 2);

  (void) state;
  unlink (path);
  expect_error (NULL, ": ", "No such file");
  assert_int_equal (mkdir (path, 0700), 0);
  expect_error (NULL, ": ", "not a regular file");
  rmdir (path);
  assert_int_equal (mkfifo (path, 0600), 0);
  expect_error (NULL, ": ", "not a regular file");
  unlink (path);
  memset (big, '\n', 1024 * 1024 + 1);
  write_text (big, 1024 * 1024 + 1);
  expect_error (NULL, ": ", "larger than 1 MiB");
  free (big);
  write_text ("a\0b", 3);
  expect_error (NULL, ": ", "NUL");
  write_text ("", 0);
  expect_error (NULL, ": title: ", "is missing");
}

static void
test_syntax (void **state)
{
  static const char deep[] = "a = ((((((((((((((((((((((((((((";

  (void) state;
  expect_bad ("curve", "curve = = ;", ":10: curve = = ;: ", "syntax error");
  expect_bad ("heads", "sectors = 1;", ":5: sectors = 1;: ", "duplicate");
  expect_bad ("", "@include \"/etc/passwd\"", ":28: @include", "one file");
  expect_bad ("", "/*\n\t@include \"x\"\n*/", ":29: @include", "one file");
  write_text (deep, sizeof deep - 1);
  expect_error (NULL, ":1: ", "nested");
  write_text ("a = \"", 5);
  expect_error (NULL, ":1: ", "closing quote");
}

/* libconfig 1.5 would read all of these as something else. */
static void
test_wrapped_integers (void **state)
{
  (void) state;
  expect_bad ("sectors", "sectors = ( 5000000000, \"spec\", \"A\" );",
              ":4: 5000000000: ", "write 5000000000L");
  expect_bad ("sectors", "sectors = ( 2147483648, \"spec\", \"A\" );",
              ":4: 2147483648: ", "write 2147483648L");
  expect_bad ("sectors", "sectors = ( 0x100000000, \"spec\", \"A\" );",
              ":4: 0x100000000: ", "write 0x100000000L");
  expect_bad ("sectors", "sectors = ( -2147483649, \"spec\", \"A\" );",
              ":4: -2147483649: ", "needs an L");
  expect_bad ("sectors", "sectors = ( 99999999999999999999L, \"spec\", "
              "\"A\" );", ":4: 99999999999999999999L: ", "64 bits");
  expect_bad ("sectors", "sectors = ( 5000000000L, \"spec\", \"A\" );",
              ":7: geometry.zones: ", "4999800000 too few");
  expect_bad ("sectors", "sectors = ( 9000000000000000000L, \"spec\", "
              "\"A\" );", ":4: geometry.sectors: 9000000000000000000: ",
              "a whole number");
  expect_bad ("heads", "heads = ( 4294967298L, \"spec\", \"A\" );",
              ":5: geometry.heads: 4294967298: ", "from 1 to 255");
  /* In strings and comments they do no harm. */
  write_changed ("title", "title = \"5000000000\"; # 5000000000\n"
                 "// 5000000000\n/* 5000000000 */");
  load_good (&(struct profile) { .instant = false }, NULL);
}

static void
test_keys (void **state)
{
  (void) state;
  expect_bad ("heads", "haeds = ( 2, \"spec\", \"A\" );",
              ":5: geometry.haeds: ", "did you mean \"geometry.heads\"?");
  expect_bad ("", "segments = 4;", ":28: segments: unknown key",
              "did you mean \"buffer.segments\"?");
  expect_bad ("", "zzzzzzzzzzzzzz = 4;", ":28: zzzzzzzzzzzzzz: unknown key",
              "");
  expect_bad ("", "lookahead = 4;", ":28: lookahead: ", "a group");
  expect_bad ("title", "", ": title: ", "is missing");
  expect_bad ("heads", "", ": geometry.heads: ", "is missing");
  expect_bad ("average-ms", "", ": seek.average-ms: ", "is missing");
  expect_bad ("curve", "", ": seek.curve: ", "is missing");
  expect_bad ("curve", "curve = \"table\";", ": seek.table: ",
              "is missing: the curve needs it");
}

static void
test_values (void **state)
{
  (void) state;
  expect_bad ("title", "title = 5;", ":1: title: 5: ", "text");
  expect_bad ("title", "title = \"a\\nb\";", ":1: title: ", "printable");
  expect_bad ("", "identify = { firmware = \"123456789\"; };",
              ":28: identify.firmware: \"123456789\": ", "at most 8");
  expect_bad ("", "instant = 1;", ":28: instant: 1: ", "true or false");
  expect_bad ("", "instant = \"true\";", ":28: instant: \"true\": ",
              "true or false");
  expect_bad ("heads", "heads = ( 0, \"spec\", \"A\" );",
              ":5: geometry.heads: 0: ", "a whole number from 1 to 255");
  expect_bad ("heads", "heads = ( -2, \"spec\", \"A\" );",
              ":5: geometry.heads: -2: ", "from 1 to 255");
  expect_bad ("heads", "heads = ( 2.0, \"spec\", \"A\" );",
              ":5: geometry.heads: 2: ", "a whole number");
  expect_bad ("heads", "heads = ( \"2\", \"spec\", \"A\" );",
              ":5: geometry.heads: \"2\": ", "a whole number");
  expect_bad ("heads", "heads = ( true, \"spec\", \"A\" );",
              ":5: geometry.heads: true: ", "a whole number");
  expect_bad ("heads", "heads = ( { a = 1; }, \"spec\", \"A\" );",
              ":5: geometry.heads: { ... }: ", "a whole number");
  expect_bad ("average-ms", "average-ms = ( -1.0, \"spec\", \"A\" );",
              ":12: seek.average-ms: -1: ", "milliseconds from 0 to 1000");
  expect_bad ("average-ms", "average-ms = ( 1e300, \"spec\", \"A\" );",
              ":12: seek.average-ms: 1e+300: ", "milliseconds");
  expect_bad ("average-ms", "average-ms = ( 1e999, \"spec\", \"A\" );",
              ":12: seek.average-ms: inf: ", "milliseconds");
  expect_bad ("average-ms", "average-ms = ( 8.9000001, \"spec\", \"A\" );",
              ":12: seek.average-ms: 8.9000001: ", "at most 6 decimals");
  expect_bad ("rpm", "rpm = ( 7200.001, \"spec\", \"A\" );",
              ":6: geometry.rpm: 7200.001: ", "at most 2 decimals");
  expect_bad ("curve", "curve = \"tree-point\";",
              ":10: seek.curve: \"tree-point\": ",
              "did you mean \"three-point\"?");
  expect_bad ("bus", "bus = ( \"udma9\", \"spec\", \"A\" );",
              ":17: interface.bus: \"udma9\": ", "sata150");
}

static void
test_marks (void **state)
{
  (void) state;
  expect_bad ("heads", "heads = 2;", ":5: geometry.heads: 2: ",
              "heads = ( 2, \"mark\", \"source\" );");
  expect_bad ("heads", "heads = ( 2 );", ":5: geometry.heads: ",
              "not of the form");
  expect_bad ("heads", "heads = ( 2, \"spec\", \"A\", 5 );",
              ":5: geometry.heads: ", "not of the form");
  expect_bad ("heads", "heads = ( 2, \"spec\", \"A\", \"b\", \"c\" );",
              ":5: geometry.heads: ", "not of the form");
  expect_bad ("heads", "heads = ( 2, \"specs\", \"A\" );",
              ":5: geometry.heads: mark \"specs\": ",
              "did you mean \"spec\"?");
  expect_bad ("heads", "heads = ( 2, \"spec\", \"A C\" );",
              ":5: geometry.heads: source \"C\": ", "not in the list");
  expect_bad ("heads", "heads = ( 2, \"spec\", \" \" );",
              ":5: geometry.heads: ", "the source is empty");
  expect_bad ("heads", "heads = ( 2, \"estimated\", \"A\" );",
              ":5: geometry.heads: estimated ", "fourth item");
  expect_bad ("sources", "", ":4: geometry.sectors: source \"A\": ",
              "not in the list");
  expect_bad ("sources", "sources = 4;", ":2: sources: 4: ", "a list");
  expect_bad ("sources", "sources = ( 4 );", ":2: sources: 4: ", "a list");
  expect_bad ("sources", "sources = ( { id = \"A\"; } );",
              ":2: sources: { ... }: ", "a list");
  expect_bad ("sources", "sources = ( { id = \"A B\"; text = \"a\"; } );",
              ":2: sources: { ... }: ", "a list");
}

static void
test_zones (void **state)
{
  (void) state;
  expect_bad ("sectors", "sectors = ( 200001, \"spec\", \"A\" );",
              ":7: geometry.zones: the zones hold 200000 sectors, "
              "geometry.sectors is 200001: 1 too few; ",
              "1 more cylinders");
  expect_bad ("sectors", "sectors = ( 199800, \"spec\", \"A\" );",
              ":7: geometry.zones: ", "200 too many");
  write_changed ("sectors", "sectors = ( 199801, \"spec\", \"A\" );");
  load_good (&(struct profile) { .instant = false }, NULL);

  expect_bad ("zones", "zones = ( ( { cylinders = 1000; } ), \"spec\", \"A\" );",
              ":7: geometry.zones: { ... }: ", "sectors-per-track");
  expect_bad ("zones", "zones = ( ( ), \"spec\", \"A\" );", ":7: geometry.zones: ( ... ): ",
              "at most 64");
  expect_bad ("zones", "zones = ( ( 5 ), \"spec\", \"A\" );", ":7: geometry.zones: 5: ",
              "a list");
  expect_bad ("zones", "zones = ( 5, \"spec\", \"A\" );", ":7: geometry.zones: 5: ", "a list");
  expect_bad ("zones", "zones = ( ( { cylinders = 1000; spt = 100; } ), \"spec\", \"A\" );",
              ":7: geometry.zones: spt: ", "unknown in a zone");
  expect_bad ("zones", "zones = ( ( { cylinder = 1000; } ), \"spec\", "
              "\"A\" );", ":7: geometry.zones: cylinder: ",
              "did you mean \"cylinders\"?");
  expect_bad ("zones", "zones = ( ( { cylinders = -1; sectors-per-track = "
              "100; } ), \"spec\", \"A\" );", ":7: geometry.zones: -1: ", "cylinders");
  expect_bad ("zones", "zones = ( ( { cylinders = 1000; sectors-per-track = "
              "100; track-skew-sectors = 100; } ), \"spec\", \"A\" );", ":7: geometry.zones: ",
              "100.000 sectors on a track of 100");
  expect_bad ("geometry", "geometry = { zone-table = { count = ( 2, \"spec\","
              " \"A\" ); };", ":3: geometry.zone-table.count: ",
              "only one of the two");
}

static void
test_zone_table_errors (void **state)
{
#define TABLE(count, outer, inner) \
  "zone-table = { " count "outer = ( " outer ", \"spec\", \"A\" ); " \
    "inner = ( " inner ", \"spec\", \"A\" ); };"
#define COUNT(n) "count = ( " n ", \"spec\", \"A\" ); "
  (void) state;
  expect_bad ("zones", "", ": geometry.zones: ", "is missing");
  expect_bad ("zones", TABLE ("", "200", "100"),
              ": geometry.zone-table.count: ", "is missing");
  expect_bad ("zones", TABLE (COUNT ("65"), "200", "100"),
              ":7: geometry.zone-table.count: 65: ", "from 1 to 64");
  expect_bad ("zones", TABLE (COUNT ("4"), "100", "200"),
              ":7: geometry.zone-table.inner: ", "may not be larger");
  write_changed ("zones", TABLE (COUNT ("4"), "200", "100"));
  expect_error ("geometry.zone-table.track-skew-sectors=150",
                "set=geometry.zone-table.track-skew-sectors=150: ",
                "150.000 sectors on a track of 133");
  expect_error ("geometry.sectors=281474976710656",
                "set=geometry.sectors=281474976710656: ", "cylinders");
}

static void
test_seek (void **state)
{
  (void) state;
  expect_bad ("average-ms", "average-ms = ( 6.9, \"spec\", \"A\" );",
              ":12: seek.average-ms: ", "from 7.000000 to less than 17.0");
  expect_bad ("average-ms", "average-ms = ( 17.0, \"spec\", \"A\" );",
              ":12: seek.average-ms: ", "from 7.000000 to less than 17.0");
  expect_bad ("full-ms", "full-ms = ( 1.0, \"spec\", \"A\" );",
              ":12: seek.average-ms: ", "full stroke must take longer");
  write_changed ("average-ms", "average-ms = ( 7.0, \"spec\", \"A\" );");
  load_good (&(struct profile) { .instant = false }, NULL);

  expect_bad ("curve", "curve = \"table\"; table = ( ( ( 1, 2 ), ( 1, 3 ) ), "
              "\"spec\", \"A\" );", ":10: seek.table: 1 cylinders after 1: ",
              "larger");
  expect_bad ("curve", "curve = \"table\"; table = ( ( ( 1, 2 ) ), \"spec\", "
              "\"A\" );", ":10: seek.table: ", "2 to 512");
  expect_bad ("curve", "curve = \"table\"; table = ( ( ( 1, 2 ), 7 ), "
              "\"spec\", \"A\" );", ":10: seek.table: 7: ", "points");
  expect_bad ("curve", "curve = \"table\"; table = ( ( ( 0, 2 ), ( 1, 3 ) ), "
              "\"spec\", \"A\" );", ":10: seek.table: 0: ", "from 1");
  expect_bad ("curve", "curve = \"table\"; table = ( ( ( 1, -2 ), ( 2, 3 ) ),"
              " \"spec\", \"A\" );", ":10: seek.table: -2: ", "from 0");
}

static void
test_buffer (void **state)
{
  (void) state;
  expect_bad ("segments", "segments = ( 8, \"spec\", \"A\" ); segment-kib = "
              "( 257, \"spec\", \"A\" );", ":26: buffer.segments: ",
              "8 segments of 257 KiB do not fit in 2048 KiB");
  expect_bad_override ("buffer.size-kib=3", "each must hold a sector");
  expect_bad_override ("buffer.segments=0", "at least one segment");
  expect_bad_override ("lookahead.limit-kib=257", "at most the segment");
  expect_bad_override ("lookahead.tail.enabled=true", "period");
  expect_bad_override ("write-cache.size-kib=2049", "2048 KiB");
  expect_bad_override ("identify.lba48=maybe", "true or false");
}

/* ---- overrides ---- */

static void
test_overrides (void **state)
{
  static const char *const several[] = {
    "buffer.segments=4", "seek.average-ms=9", "buffer.segments=2",
    "instant=false", "interface.trim=true", "lookahead.on-command=finish",
    "title=a b=c",
  };
  struct profile p;
  char *error;

  (void) state;
  write_changed ("title", base[0]);
  assert_int_equal (profile_load (path, several,
                                  sizeof several / sizeof several[0], &p,
                                  &error), 0);
  assert_int_equal (p.buffer.segments, 2);
  assert_int_equal (p.seek.read.average_ns, MS (9));
  assert_true (p.interface.trim);
  assert_int_equal (p.lookahead.on_command, INTERRUPT_FINISH);
  assert_string_equal (p.title, "a b=c");
}

static void
test_bad_overrides (void **state)
{
  (void) state;
  expect_bad_override ("buffer.segments", "KEY=VALUE");
  expect_bad_override ("=4", "KEY=VALUE");
  expect_bad_override ("bufer.segments=4", "did you mean "
                       "\"buffer.segments\"?");
  expect_bad_override ("buffer.segments=", "a whole number");
  expect_bad_override ("buffer.segments=4x", "a whole number");
  expect_bad_override ("buffer.segments=0x4", "a whole number");
  expect_bad_override ("buffer.segments=257", "from 0 to 256");
  expect_bad_override ("buffer.segments=99999999999999999999999",
                       "from 0 to 256");
  expect_bad_override ("buffer.segments=18446744073709551620",
                       "from 0 to 256");
  expect_bad_override ("geometry.sectors=5000000000", "4999800000 too few");
  expect_bad_override ("geometry.zones=4", "only be given in the profile");
  expect_bad_override ("seek.average-ms=8.9.1", "milliseconds");
  expect_bad_override ("seek.average-ms=.", "milliseconds");
  expect_bad_override ("seek.average-ms=-8", "milliseconds");
  expect_bad_override ("seek.average-ms=8.0000001", "at most 6 decimals");
  expect_bad_override ("write-cache.order=elevators",
                       "did you mean \"elevator\"?");
  expect_bad_override ("instant=1", "true or false");
  expect_bad_override ("lookahead.tail=false", "is a group");
  write_changed ("title", base[0]);
  expect_error ("a\nb=4", "set=a?b=4: ", "unknown key");
}

/* ---- search ---- */

static void
note_path (void *opaque, const char *name, const char *file)
{
  if (strcmp (name, "test") == 0 || strcmp (name, "wd200bb") == 0)
    snprintf ((char *) opaque + strlen (opaque), 4096, "%s=%s\n", name, file);
}

static void
test_search (void **state)
{
  char dir[4096], list[16384] = "", other[4128], expected[8300];
  struct profile p;
  char *error;

  (void) state;
  snprintf (dir, sizeof dir, "%.*s", (int) (strrchr (path, '/') - path), path);
  write_changed ("title", base[0]);
  snprintf (other, sizeof other, "/nonexistent::%s", dir);
  setenv ("SPINDLE_PATH", other, 1);
  load_named (&p, "test");
  assert_string_equal (p.title, "Test");

  /* DIR/profiles comes before DIR, and both before the source tree. */
  snprintf (other, sizeof other, "%s/profiles", dir);
  assert_int_equal (mkdir (other, 0700), 0);
  snprintf (expected, sizeof expected, "test=%s/test.cfg\n"
            "wd200bb=%s/profiles/wd200bb.cfg\n", dir, dir);
  strcat (other, "/wd200bb.cfg");
  assert_int_equal (rename (path, other), 0);
  write_changed ("title", base[0]);
  assert_true (profile_list (note_path, list) >= 4);
  assert_string_equal (list, expected);
  load_named (&p, "wd200bb");
  assert_string_equal (p.title, "Test");
  unlink (other);
  unsetenv ("SPINDLE_PATH");
  load_named (&p, "wd200bb");
  assert_string_not_equal (p.title, "Test");

  setenv ("XDG_CONFIG_HOME", dir, 1);
  *strrchr (other, '/') = '\0';
  rmdir (other);
  snprintf (other, sizeof other, "%s/spindle", dir);
  mkdir (other, 0700);
  strcat (other, "/profiles");
  mkdir (other, 0700);
  strcat (other, "/test.cfg");
  assert_int_equal (rename (path, other), 0);
  load_named (&p, "test");
  unlink (other);
  *strrchr (other, '/') = '\0';
  rmdir (other);
  *strrchr (other, '/') = '\0';
  rmdir (other);
  unsetenv ("XDG_CONFIG_HOME");

  assert_int_equal (profile_load ("wd200b", NULL, 0, &p, &error), -1);
  assert_non_null (strstr (error, "profile=wd200b: no such profile"));
  assert_non_null (strstr (error, "did you mean \"wd200bb\"?"));
  free (error);
}

/* ---- hostile bytes ---- */

/* Whatever happens to a file, the loader answers with a message or a
 * profile.  Valgrind and the sanitizers watch.
 */
static void
test_mutations (void **state)
{
  static const char bytes[] = "\"(){}[];,=0123456789@/*\\#.e+-L \n\xff";
  static char text[8192], changed[8192];
  size_t len = 0;
  uint64_t random = 1;

  (void) state;
  for (size_t i = 0; i < BASE_LINES; i++)
    len += snprintf (text + len, sizeof text - len, "%s\n", base[i]);
  for (int i = 0; i < 3000; i++) {
    struct profile p;
    char *error = NULL;

    memcpy (changed, text, len);
    for (int j = 0; j < 3; j++) {
      random = random * UINT64_C (6364136223846793005) + 1442695040888963407;
      changed[(random >> 33) % len] =
        bytes[(random >> 20) % (sizeof bytes - 1)];
    }
    write_text (changed, i % 4 ? len : (random >> 40) % len);
    if (profile_load (path, NULL, 0, &p, &error) == -1)
      assert_non_null (error);
    free (error);
  }
}

/* ---- documentation ---- */

static void
check_row (void *opaque, const struct profile_key *key)
{
  char row[1024];

  snprintf (row, sizeof row, "| `%s` | %s | %s | %s | %s |\n", key->path,
            key->allowed, key->fallback, key->mark ? "yes" : "", key->text);
  if (strstr (opaque, row) == NULL) {
    print_error ("profiles/README.md lacks: %s"
                 "run make profiles-readme\n", row);
    fail ();
  }
}

static void
test_readme (void **state)
{
  static char text[65536];
  FILE *f = fopen ("profiles/README.md", "r");

  (void) state;
  assert_non_null (f);
  text[fread (text, 1, sizeof text - 1, f)] = '\0';
  fclose (f);
  profile_keys (check_row, text);
}

int
main (void)
{
#define TEST(name) cmocka_unit_test_setup_teardown (name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
    TEST (test_base), TEST (test_defaults), TEST (test_wd200bb),
    TEST (test_maxtor), TEST (test_ideal), TEST (test_all_load),
    TEST (test_zone_table), TEST (test_seek_table),
    TEST (test_measured_drive), TEST (test_measured_drive_errors),
    TEST (test_decimals),
    TEST (test_bus), TEST (test_files), TEST (test_syntax),
    TEST (test_wrapped_integers), TEST (test_keys), TEST (test_values),
    TEST (test_marks), TEST (test_zones), TEST (test_zone_table_errors),
    TEST (test_seek), TEST (test_buffer), TEST (test_overrides),
    TEST (test_bad_overrides), TEST (test_search), TEST (test_mutations),
    TEST (test_readme),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
