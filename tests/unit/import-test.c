/* SPDX-License-Identifier: BSD-3-Clause
 *
 * DiskSim's parameters: both readers, every sparing scheme and type of seek,
 * bad input, and the fuzzer's corpus.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/import-impl.h"
#include "harness/spindle.h"

#define MS(x) ((int64_t) ((x) * 1000000 + 0.5))
#define CORPUS "tests/fuzz/corpus/import"

#define LAYOUT(blocks, scheme, zones) \
  "name: Test Drive\nheads: 2\ncylinders: 100\nblocks: " blocks "\n" \
  "rpm: 6000\nhead_switch_ms: 0.5\nwrite_settle_extra_ms: 0.25\n" \
  "sparing_scheme: " scheme "\n" \
  "zones (first last spt offset front track cylinder spares):\n" zones

#define SEEK "seek_type: extracted\nseek_curve (cylinders ms):\n" \
  "  1 1.5\n  10 2.125\n  99 5\n"

#define CONTROLLER \
  "disksim_disk parameters (times in ms):\n" \
  "  Bulk sector transfer time = 0.1\n" \
  "  Number of buffer segments = 3\n" \
  "  Segment size (in blks) = 65\n" \
  "  Buffer continuous read = 3\n" \
  "  Maximum read-ahead (blks) = 65\n" \
  "  Fast write level = 1\n" \
  "  Read hit over. after read = 0.1\n" \
  "  Read hit over. after write = 0.2\n" \
  "  Read miss over. after read = 0.3\n" \
  "  Read miss over. after write = 0.4\n" \
  "  Write hit over. after read = 0.5\n" \
  "  Write hit over. after write = 0.6\n" \
  "  Write miss over. after read = 0.7\n" \
  "  Write miss over. after write = 0.0\n"

#define ONE_ZONE "  0 9 20 0 0 0 0 0\n"

static int
file_of (const char *text)
{
  int fd = memfd_create ("import", MFD_CLOEXEC);

  assert_true (fd != -1);
  assert_int_equal (write (fd, text, strlen (text)),
                    (ssize_t) strlen (text));
  assert_int_equal (lseek (fd, 0, SEEK_SET), 0);
  return fd;
}

/* Read and map TEXT, with SLIPS and the files in DIR. */
static int
import_from (struct import *in, const char *text, const char *slips, int dir,
             struct profile *p)
{
  int fd = file_of (text), r;

  import_init (in, "P");
  r = import_read (in, fd, dir);
  close (fd);
  if (r == 0 && slips) {
    fd = file_of (slips);
    r = import_read_slips (in, fd, "S");
    close (fd);
  }
  return r == 0 ? import_map (in, p) : r;
}

static struct import in;
static struct profile profile;

static const struct profile *
good (const char *text, const char *slips)
{
  if (import_from (&in, text, slips, -1, &profile) == -1)
    fail_msg ("%s", in.error);
  return &profile;
}

static bool
noted (const char *beginning)
{
  for (size_t i = 0; i < in.notes.n; i++)
    if (strncmp (in.notes.word[i], beginning, strlen (beginning)) == 0)
      return true;
  return false;
}

static void
bad (const char *text, const char *slips, const char *expected)
{
  assert_int_equal (import_from (&in, text, slips, -1, &profile), -1);
  assert_non_null (in.error);
  assert_string_equal (in.error, expected);
  import_free (&in);
}

static void
hole (const struct profile *p, uint32_t i, uint32_t zone, int64_t first,
      uint32_t sectors)
{
  assert_true (i < p->geometry.n_holes);
  assert_int_equal (p->geometry.holes[i].zone, zone);
  assert_int_equal (p->geometry.holes[i].first, first);
  assert_int_equal (p->geometry.holes[i].sectors, sectors);
}

/* ---- numbers ---- */

static int64_t
number (const char *text, int decimals)
{
  int64_t r;

  import_init (&in, "P");
  if (import_number (&in, "k", text, decimals, -INT64_MAX, INT64_MAX, &r) ==
      -1)
    fail_msg ("%s", in.error);
  return r;
}

static void
numbers_are_exact (void **state)
{
  char buf[IMPORT_DECIMAL];

  (void) state;
  assert_int_equal (number ("0.65", 6), 650000);
  assert_int_equal (number ("-0.642000", 6), -642000);
  assert_int_equal (number (".0059", 9), 5900000);
  assert_int_equal (number ("12.", 3), 12000);
  assert_int_equal (number ("5400.000", 0), 5400);
  assert_int_equal (number ("0.0000004", 6), 0);
  assert_int_equal (number ("0.0000005", 6), 1);
  assert_int_equal (number ("-0.0000015", 6), -2);
  assert_int_equal (number ("9223372036854775807", 0), INT64_MAX);
  assert_string_equal (import_decimal (buf, -642000, 6), "-0.642");
  assert_string_equal (import_decimal (buf, 5000000, 6), "5");
  assert_string_equal (import_decimal (buf, 1, 9), "0.000000001");
  assert_string_equal (import_decimal (buf, INT64_MIN, 0),
                       "-9223372036854775808");
}

static void
numbers_are_checked (void **state)
{
  static const char *const wrong[] = {
    "", "-", ".", "1e3", "0x10", "1.2.3", "+1", "--1", "1 2", "nan", "101",
    "-1", "9223372036854775808", "99999999999999999999999", "0.5"
  };
  int64_t r;

  (void) state;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    import_init (&in, "P");
    assert_int_equal (import_number (&in, "k", wrong[i], 0, 0, 100, &r), -1);
    import_free (&in);
  }
}

/* ---- layouts ---- */

static void
no_sparing (void **state)
{
  const struct profile *p;

  (void) state;
  p = good (LAYOUT ("500", "0", "  0 4 20 0 0 3.5 41 7\n"
                    "  6 20 15 14.9996 0 2 3 0\n") SEEK CONTROLLER,
            "0,slip,5,\n");
  assert_string_equal (p->title, "Test Drive (DiskSim parameters)");
  assert_int_equal (p->geometry.n_holes, 0);
  assert_int_equal (p->geometry.n_zones, 2);
  assert_int_equal (p->geometry.zones[0].cylinders, 5);
  assert_int_equal (p->geometry.zones[0].track_skew_x1000, 3500);
  /* 41 sectors are two turns and one sector. */
  assert_int_equal (p->geometry.zones[0].cylinder_skew_x1000, 1000);
  assert_int_equal (p->geometry.zones[0].skip_cylinders, 0);
  assert_int_equal (p->geometry.zones[1].skip_cylinders, 1);
  assert_int_equal (p->geometry.zones[1].offset_x1000, 0);
  /* 200 + 30 n >= 500 */
  assert_int_equal (p->geometry.zones[1].cylinders, 10);
  assert_int_equal (p->geometry.sectors, 500);
  assert_true (noted ("Block count = 500: the zones hold 150 more; 5 "));
  import_free (&in);
}

/* Whole tracks: 20 of 20 sectors, 2 of them spare, one of those used. */
static void
spare_tracks (void **state)
{
  const struct profile *p;

  (void) state;
  p = good (LAYOUT ("320", "1", "  0 9 20 0 40 0 0 2\n") SEEK CONTROLLER,
            "zone,kind,a,b\n0,slip,7,\n");
  assert_int_equal (p->geometry.n_holes, 3);
  hole (p, 0, 0, 0, 40);
  hole (p, 1, 0, 140, 20);
  hole (p, 2, 0, 380, 20);
  assert_int_equal (p->geometry.sectors, 320);
  assert_false (noted ("Block count"));
  import_free (&in);
}

static void
slips_only (void **state)
{
  const struct profile *p;

  (void) state;
  p = good (LAYOUT ("397", "7", ONE_ZONE) SEEK CONTROLLER,
            "0,slip,11,\n0,slip,10,\n0,slip,399,\n");
  assert_int_equal (p->geometry.n_holes, 2);
  hole (p, 0, 0, 10, 2);
  hole (p, 1, 0, 399, 1);
  assert_false (noted ("Number of spares"));
  import_free (&in);
}

/* The slip among the spares takes nothing; the one in front moves on what
 * follows, so the empty space ends one sector later.
 */
static void
spares_at_zone_end (void **state)
{
  const struct profile *p;

  (void) state;
  p = good (LAYOUT ("660", "9", "  0 9 20 0 30 0 0 10\n"
                    "  10 19 15 0 0 0 0 0\n") SEEK CONTROLLER,
            "0,slip,12,\n0,slip,100,\n0,slip,396,\n");
  assert_int_equal (p->geometry.n_holes, 3);
  hole (p, 0, 0, 0, 31);
  hole (p, 1, 0, 100, 1);
  hole (p, 2, 0, 392, 8);
  assert_int_equal (p->geometry.sectors, 660);
  import_free (&in);
}

static void
more_slips_than_spares (void **state)
{
  const struct profile *p;

  (void) state;
  p = good (LAYOUT ("399", "9", "  0 9 20 0 0 0 0 1\n") SEEK CONTROLLER,
            "0,slip,12,\n0,slip,100,\n");
  assert_int_equal (p->geometry.n_holes, 2);
  assert_int_equal (p->geometry.sectors, 398);
  assert_true (noted ("Number of spares"));
  assert_true (noted ("Block count = 399: the zones hold 1 fewer"));
  import_free (&in);
}

/* Ranges of 3 cylinders, 120 sectors; the tenth cylinder has no spares. */
static void
spares_in_ranges (void **state)
{
  const struct profile *p;

  (void) state;
  p = good (LAYOUT ("388", "8\nrange_size: 3", "  0 9 20 0 0 0 0 4\n") SEEK
            CONTROLLER, "0,slip,0,\n0,slip,119,\n0,slip,130,\n");
  assert_int_equal (p->geometry.n_holes, 5);
  hole (p, 0, 0, 0, 1);
  hole (p, 1, 0, 117, 3);
  hole (p, 2, 0, 130, 1);
  hole (p, 3, 0, 237, 3);
  hole (p, 4, 0, 356, 4);
  assert_int_equal (p->geometry.sectors, 388);
  assert_false (noted ("Rangesize"));
  import_free (&in);
}

/* 400 - 4 * floor (10 / R) >= 390: R = 4. */
static void
range_is_guessed (void **state)
{
  const struct profile *p;

  (void) state;
  p = good (LAYOUT ("390", "8", "  0 9 20 0 0 0 0 4\n") SEEK CONTROLLER,
            NULL);
  assert_true (noted ("Rangesize for sparing: not given; 4 cylinders "));
  assert_int_equal (p->geometry.n_holes, 2);
  hole (p, 0, 0, 156, 4);
  hole (p, 1, 0, 316, 4);
  import_free (&in);
}

static void
unknown_sparing (void **state)
{
  const struct profile *p;

  (void) state;
  p = good (LAYOUT ("400", "2", "  0 9 20 0 0 0 0 6 3 1\n") SEEK CONTROLLER,
            NULL);
  assert_int_equal (p->geometry.n_holes, 0);
  assert_true (noted ("Sparing scheme used = 2: not known"));
  assert_true (noted ("slips: 3 slipped"));
  assert_true (noted ("defects: 1 have"));
  import_free (&in);
}

static void
serpentine_mapping (void **state)
{
  static const char *const schemes[] = { "0", "1", "2", "3" };
  static const char rest[] =
    LAYOUT ("388", "0", ONE_ZONE) SEEK CONTROLLER;
  char text[sizeof rest + 40];

  (void) state;
  for (int i = 0; i < 4; i++) {
    const struct profile *p;

    snprintf (text, sizeof text, "mapping_scheme: %s\n%s", schemes[i], rest);
    p = good (text, NULL);
    assert_int_equal (p->geometry.serpentine, i == 1 || i == 2);
    assert_int_equal (noted ("LBN-to-PBN mapping scheme = "), i == 1 || i == 3);
    import_free (&in);
  }
}

/* The last zone holds nothing that is needed. */
static void
zones_are_left_out (void **state)
{
  const struct profile *p;

  (void) state;
  p = good (LAYOUT ("401", "9", "  0 9 20 0 0 0 0 0\n  10 19 20 0 0 0 0 390\n"
                    "  20 29 15 0 0 0 0 0\n") SEEK CONTROLLER, NULL);
  assert_int_equal (p->geometry.n_zones, 2);
  assert_int_equal (p->geometry.zones[1].cylinders, 10);
  assert_int_equal (p->geometry.n_holes, 1);
  hole (p, 0, 1, 10, 390);
  import_free (&in);

  /* 2 cylinders of 4 are enough; one is gone with spares only. */
  p = good (LAYOUT ("10", "9", "  0 3 20 0 60 0 0 50\n") SEEK CONTROLLER,
            NULL);
  assert_int_equal (p->geometry.sectors, 10);
  assert_int_equal (p->geometry.zones[0].cylinders, 2);
  assert_int_equal (p->geometry.n_holes, 1);
  hole (p, 0, 0, 0, 60);
  import_free (&in);
}

static void
bad_layouts (void **state)
{
  (void) state;
  bad (LAYOUT ("10", "0", "") SEEK CONTROLLER, NULL,
       "P: zones: are missing");
  bad (LAYOUT ("10", "0", "  5 4 20 0 0 0 0 0\n") SEEK CONTROLLER, NULL,
       "P: zone 0: its last cylinder comes before its first");
  bad (LAYOUT ("10", "0", ONE_ZONE "  9 19 20 0 0 0 0 0\n") SEEK CONTROLLER,
       NULL, "P: zone 1: its first cylinder does not come after the zone "
       "before");
  bad (LAYOUT ("10", "9", "  0 9 20 0 0 0 0 400\n") SEEK CONTROLLER, NULL,
       "P: zone 0: not more sectors than spares");
  bad (LAYOUT ("10", "9", "  0 9 20 0 400 0 0 0\n") SEEK CONTROLLER, NULL,
       "P: zone 0: not more sectors than empty space");
  bad (LAYOUT ("10", "9", ONE_ZONE) SEEK CONTROLLER, "0,slip,400\n",
       "P: zone 0: a slip is a sector beyond its end");
  bad (LAYOUT ("10", "1", ONE_ZONE) SEEK CONTROLLER, "0,slip,20\n",
       "P: zone 0: a slip is a track beyond its end");
  bad (LAYOUT ("10", "9", ONE_ZONE) SEEK CONTROLLER, "0,slip,4\n0,slip,4\n",
       "P: zone 0: a slip is there twice");
  bad (LAYOUT ("10", "8\nrange_size: 1", "  0 9999 20 0 0 0 0 1\n") SEEK
       CONTROLLER, NULL, "P: zones: more than 4096 slips and groups of "
       "spares");
  bad (LAYOUT ("10", "8\nrange_size: 1", "  0 9999 20 0 0 0 0 40\n") SEEK
       CONTROLLER, NULL, "P: zone 0: not more sectors than spares");
  /* As long as it takes. */
  bad (LAYOUT ("10", "8\nrange_size: 1", "  0 99999999 1000000 0 0 0 0 1\n")
       SEEK CONTROLLER, NULL, "P: zones: more than 4096 slips and groups of "
       "spares");
  bad (LAYOUT ("10", "9", ONE_ZONE) SEEK CONTROLLER, "1,slip,4\n",
       "S:1: zone: 1: a whole number from 0 to 0");
  bad (LAYOUT ("10", "9", ONE_ZONE) SEEK CONTROLLER, "0,hole,4\n",
       "S:1: kind: hole: slip or defect");
  bad (LAYOUT ("10", "9", ONE_ZONE) SEEK CONTROLLER, "zone\n0,slip\n",
       "S:2: slips: 0: ZONE,KIND,SECTOR is allowed");
}

/* ---- seeks ---- */

#define MECH(seek) LAYOUT ("400", "0", ONE_ZONE) seek CONTROLLER

static void
seek_types (void **state)
{
  const struct profile_curve *c = &profile.seek.read;

  (void) state;
  good (MECH (SEEK), NULL);
  assert_int_equal (c->kind, SEEK_CURVE_TABLE);
  assert_int_equal (c->n_points, 3);
  assert_int_equal (c->points[1].cylinders, 10);
  assert_int_equal (c->points[1].time_ns, MS (2.125));
  import_free (&in);

  good (MECH ("seek_type: curve\nsingle_cylinder_seek_ms: 1\n"
              "average_seek_ms: 5\nfull_stroke_seek_ms: 9.5\n"), NULL);
  assert_int_equal (c->kind, SEEK_CURVE_THREE_POINT);
  assert_int_equal (c->average_ns, MS (5));
  import_free (&in);

  good (MECH ("seek_type: curve\nsingle_cylinder_seek_ms: 1\n"
              "average_seek_ms: 1.1\nfull_stroke_seek_ms: 9.5\n"), NULL);
  assert_int_equal (c->kind, SEEK_CURVE_TABLE);
  assert_int_equal (c->n_points, 3);
  assert_true (noted ("Seek type = curve"));
  import_free (&in);

  good (MECH ("seek_type: linear\nsingle_cylinder_seek_ms: 1\n"
              "average_seek_ms: 5\nfull_stroke_seek_ms: 9.5\n"), NULL);
  assert_int_equal (c->kind, SEEK_CURVE_TABLE);
  assert_int_equal (c->points[1].cylinders, 33);
  assert_int_equal (c->points[2].cylinders, 99);
  import_free (&in);

  good (MECH ("seek_type: constant\nconstant_seek_ms: 4\n"), NULL);
  assert_int_equal (c->kind, SEEK_CURVE_THREE_POINT);
  assert_int_equal (c->track_ns, MS (4));
  assert_int_equal (c->full_ns, MS (4));
  import_free (&in);
}

#define HPL "hpl_seek_equation [V1..V6]: [300, 3.81, 0.33, 7.75, 0.0059, "

static void
hpl_seeks (void **state)
{
  const struct profile_curve *c = &profile.seek.read;

  (void) state;
  good (MECH ("seek_type: hplplus10\n" HPL "-1.0]\nfirst_ten_seek_ms: "
              "[2.89, 3.68, 3.81, 3.98, 4.27, 4.65, 4.52, 4.65, 4.82, "
              "4.99]\n"), NULL);
  assert_int_equal (c->kind, SEEK_CURVE_TWO_PIECE);
  assert_int_equal (c->knee_cylinders, 300);
  assert_int_equal (c->low_ns, MS (3.81));
  assert_int_equal (c->low_root_ns, MS (0.33));
  assert_int_equal (c->high_ns, MS (7.75));
  assert_int_equal (c->high_ps, 5900000);
  assert_int_equal (c->n_points, 10);
  assert_int_equal (c->points[9].cylinders, 10);
  assert_int_equal (c->points[9].time_ns, MS (4.99));
  import_free (&in);

  good (MECH ("seek_type: hpl\n" HPL "-1]\n"), NULL);
  assert_int_equal (c->n_points, 0);
  import_free (&in);

  good (MECH ("seek_type: hpl\n" HPL "2.5]\n"), NULL);
  assert_int_equal (c->n_points, 2);
  assert_int_equal (c->points[0].time_ns, MS (2.5));
  assert_in_range (c->points[1].time_ns, 4276680, 4276691);
  import_free (&in);
}

static void
bad_seeks (void **state)
{
  (void) state;
  bad (MECH ("seek_type: extracted\n"), NULL, "P: seek curve: is missing");
  bad (MECH ("seek_type: extracted\nseek_curve:\n  1 1\n"), NULL,
       "P: seek curve: two points are needed");
  bad (MECH ("seek_type: extracted\nseek_curve:\n  5 1\n  5 2\n"), NULL,
       "P:14: seek curve: 5: a distance above the one before, 5");
  bad (MECH ("seek_type: linear\n"), NULL, "P: Single cylinder seek time: is "
       "missing: the type of seek needs it");
  bad (MECH ("seek_type: hpl\n"), NULL,
       "P: HPL seek equation values: 6 values are needed");
  bad (MECH ("seek_type: hplplus10\n" HPL "-1]\nfirst_ten_seek_ms: [1]\n"),
       NULL, "P: First ten seek times: ten values are needed");
  bad (MECH ("seek_type: hpl\nhpl_seek_equation: [300, -5, 0.1, 1, 1, -1]\n"),
       NULL, "P: HPL seek equation values: a seek would take less than no "
       "time");
  bad (MECH ("seek_type: fast\n"), NULL, "P:11: seek_type: fast: linear, "
       "curve, constant, hpl, hplplus10 or extracted");
}

/* ---- the controller ---- */

static void
controller (void **state)
{
  const struct profile *p;

  (void) state;
  p = good (MECH (SEEK) "  Extra write disconnect = 1\n"
            "  High (read) water mark = 0.75\n"
            "  Read-ahead on idle hit = 0\n"
            "  Preseeking level = 0\n"
            "  Scheduling policy = 1  Cylinder mapping strategy = 0\n"
            "bus BUS0 type = 1; Read block transfer time = 0.2; "
            "Write block transfer time = 0.05\n", NULL);
  assert_int_equal (p->geometry.rpm_x100, 600000);
  assert_int_equal (p->seek.head_switch_ns, MS (0.5));
  assert_int_equal (p->seek.write_settle_ns, MS (0.25));
  assert_int_equal (p->seek.write_switch_ns, MS (0.25));
  assert_int_equal (p->overhead.read_hit_after_write_ns, MS (0.2));
  assert_int_equal (p->overhead.write_ns, MS (0.5));
  assert_int_equal (p->overhead.through_ns, MS (0.7));
  /* In a profile 0 would be "as after a read". */
  assert_int_equal (p->overhead.through_after_write_ns, 1);
  /* 2.56 and 5.12 MB/s */
  assert_int_equal (p->interface.bus_ps_per_byte, 390625);
  assert_int_equal (p->interface.write_bus_ps_per_byte, 195313);
  assert_int_equal (p->interface.write_lead_sectors, 10);
  assert_int_equal (p->interface.watermark_permille, 750);
  assert_int_equal (p->buffer.segments, 2);
  assert_int_equal (p->buffer.segment_bytes, 65 * 512);
  assert_int_equal (p->buffer.size_bytes, 3 * 65 * 512);
  assert_int_equal (p->lookahead.limit, AHEAD_BYTES);
  assert_int_equal (p->lookahead.limit_bytes, 0);
  assert_true (p->write_cache.enabled);
  assert_true (noted ("Read-ahead on idle hit = 0: overridden"));
  assert_false (noted ("Preseeking"));
  assert_false (noted ("Scheduling"));
  import_free (&in);
}

static void
bad_keys (void **state)
{
  (void) state;
  bad ("", NULL, "P: disksim_disk: is missing; of DiskSim's files, the "
       ".diskspecs or .parv is wanted, not the .model");
  bad ("heads: 0\n", NULL, "P:1: heads: 0: a whole number from 1 to 255");
  bad ("heads: 2\nheads: 2\n", NULL, "P:2: heads: 2: is there twice");
  bad ("head: 2\n", NULL, "P:1: head: unknown; did you mean heads?");
  bad ("heads: 2\n  1 2\n", NULL,
       "P:2: line: 1 2: is indented outside of a section");
  bad ("heads: 2\nrpm\n", NULL, "P:2: line: rpm: KEY: VALUE is allowed");
  bad ("heads: 2\n", NULL, "P: Block count: is missing");
  bad ("layout_type: dm_layout_g4\n", NULL,
       "P:1: layout_type: dm_layout_g4: only dm_layout_g1 is allowed");
  bad ("disksim_disk:\n  Fast write level = 9\n", NULL,
       "P:2: Fast write level: 9: a whole number from 0 to 2");
  bad ("disksim_disk:\n  \033[2J\n", NULL,
       "P:2: line: ?[2J: NAME = VALUE is allowed");
  bad ("zones:\n  1 2\n", NULL,
       "P:2: Blocks per track: : a whole number from 1 to 1000000");
}

/* ---- DiskSim's own files ---- */

static const char specs[] =
  "\n# a comment\n"
  "disksim_disk TEST {\n"
  "   Model = source t.model,\n"
  "   Scheduler = disksim_ioqueue { Timeout time/weight = 6 },\n"
  "   Bulk sector transfer time = 0.100000, # of 512 bytes\n"
  "   Print stats = 1,\n"
  "   Number of buffer segments = 3,\n"
  "   Segment size (in blks) = 65,\n"
  "   Buffer continuous read = 3,\n"
  "   Maximum read-ahead (blks) = 65,\n"
  "   Fast write level = 1,\n"
  "   Read hit over. after read = 0.1, Read hit over. after write = 0.2,\n"
  "   Read miss over. after read = 0.3, Read miss over. after write = 0.4,\n"
  "   Write hit over. after read = 0.5, Write hit over. after write = 0.6,\n"
  "   Write miss over. after read=0.7,Write miss over. after write=0.000\n"
  "} # end\n";

static const char model[] =
  "dm_disk M {\n"
  "  Number of data surfaces = 2, Number of cylinders = 100,\n"
  "  Block count = 388,\n"
  "  Layout Model = dm_layout_g1 {\n"
  "    LBN-to-PBN mapping scheme = 0,\n"
  "    Sparing scheme used = 8, Rangesize for sparing = 3,\n"
  "    Zones = [ dm_layout_g1_zone {\n"
  "      First cylinder number = 0, Last cylinder number = 9,\n"
  "      Blocks per track = 20, Offset of first block = 0.000000,\n"
  "      Empty space at zone front = 0, Skew for track switch = 0.0,\n"
  "      Skew for cylinder switch = 0, Number of spares = 4,\n"
  "      slips = [ 0,\n 119, # last\n 130 ], defects = [] } ] },\n"
  "  Mechanical Model = dm_mech_g1 {\n"
  "    Access time type = trackSwitchPlusRotation, Seek type = extracted,\n"
  "    Full seek curve = /elsewhere/t.seek,\n"
  "    Add. write settling delay = 0.25, Head switch time = 0.5,\n"
  "    Rotation speed (in rpms) = 6000, Percent error in rpms = 0.0 } }\n";

static const char curve[] =
  "Seek distances measured: 3\n1,\t1.50000\n10, 2.125\n99 5\n";

static const char parv[] =
  "disksim_global Global { Stat definition file = statdefs\n\n}\n"
  "disksim_bus BUS0 { Arbitration time = 0.0,\n"
  " Read block transfer time = 0.0, Write block transfer time = 0.0, }\n"
  "source t.diskspecs\n"
  "instantiate [ disk0 .. disk3 ] as TEST\n"
  "topology disksim_iodriver driver0 [ disksim_disk disk0 [] # end ]\n ]\n"
  "disksim_syncset s { devices = [ disk0, [ ] ] }\n";

static void
write_at (int dir, const char *name, const char *text)
{
  int fd = openat (dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

  assert_true (fd != -1);
  assert_int_equal (write (fd, text, strlen (text)),
                    (ssize_t) strlen (text));
  close (fd);
}

static int
make_directory (char *path)
{
  const char *tmp = getenv ("TMPDIR");
  int dir;

  snprintf (path, 200, "%.180s/import-XXXXXX", tmp ? tmp : "/tmp");
  assert_non_null (mkdtemp (path));
  dir = open (path, O_RDONLY | O_DIRECTORY);
  assert_true (dir != -1);
  return dir;
}

static void
remove_directory (const char *path, int dir)
{
  static const char *const names[] = { "t.diskspecs", "t.model", "t.seek" };

  for (size_t i = 0; i < 3; i++)
    unlinkat (dir, names[i], 0);
  close (dir);
  assert_int_equal (rmdir (path), 0);
}

/* A condensed file and DiskSim's own say the same. */
static void
both_formats (void **state)
{
  struct profile *condensed = allocate (1, sizeof *condensed);
  char path[200];
  int dir = make_directory (path);

  (void) state;
  write_at (dir, "t.diskspecs", specs);
  write_at (dir, "t.model", model);
  write_at (dir, "t.seek", curve);
  *condensed = *good (LAYOUT ("388", "8\nrange_size: 3",
                              "  0 9 20 0 0 0 0 4\n") SEEK CONTROLLER,
                      "0,slip,0,\n0,slip,119,\n0,slip,130,\n");
  import_free (&in);

  if (import_from (&in, parv, NULL, dir, &profile) == -1)
    fail_msg ("%s", in.error);
  assert_int_equal (in.notes.n, 0);
  assert_int_equal (in.files.n, 3);
  assert_string_equal (profile.title, "TEST (DiskSim parameters)");
  memcpy (profile.title, condensed->title, sizeof profile.title);
  assert_memory_equal (&profile, condensed, sizeof profile);
  import_free (&in);

  if (import_from (&in, specs, NULL, dir, &profile) == -1)
    fail_msg ("%s", in.error);
  assert_true (noted ("disksim_bus: none in this file"));
  import_free (&in);
  remove_directory (path, dir);
  free (condensed);
}

static void
bad_at (int dir, const char *text, const char *expected)
{
  assert_int_equal (import_from (&in, text, NULL, dir, &profile), -1);
  assert_string_equal (in.error, expected);
  import_free (&in);
}

static void
bad_files (void **state)
{
  char path[200];
  int dir = make_directory (path);

  (void) state;
  bad_at (dir, specs, "P:4: Model: t.model: No such file or directory");
  write_at (dir, "t.model", "source t.model");
  bad_at (dir, specs, "t.model:1: Model: t.model: files in files in files: "
          "at most 8");
  write_at (dir, "t.model", "dm_disk M { a = 1 } }");
  bad_at (dir, specs, "t.model:1: file: }: nothing more is allowed here");
  write_at (dir, "t.model", "dm_disk M {\n\nZones = 1 }");
  bad_at (dir, specs, "t.model:3: Zones: 1: a list is allowed");
  write_at (dir, "t.model", "dm_disk M { Layout Model = dm_layout_g4 { } }");
  bad_at (dir, specs, "t.model:1: Layout Model: { ... }: dm_layout_g1 is "
          "allowed");
  write_at (dir, "t.model", "dm_disk M { Full seek curve = .. }");
  bad_at (dir, specs, "t.model:1: Full seek curve: ..: not a regular file");
  write_at (dir, "t.model", model);
  write_at (dir, "t.seek", "1, 2\n1, 3\n");
  bad_at (dir, specs, "t.seek:2: seek curve: 1: a distance above the one "
          "before, 1");
  /* Two to the eighth, if nobody counted. */
  write_at (dir, "t.model", "source t.model\nsource t.model\n");
  bad_at (dir, "source t.model\n", "t.model:1: source: t.model: files in "
          "files in files: at most 8");
  remove_directory (path, dir);
}

static void
bad_syntax (void **state)
{
  char deep[200] = "a b { k = ";
  size_t n = strlen (deep);

  (void) state;
  bad ("disksim_disk A {\n x\n}", NULL, "P:3: x: }: a parameter, KEY = VALUE "
       "is allowed here");
  bad ("disksim_disk A { x = 1 y = 2 }", NULL,
       "P:1: x: =: a comma or a } is allowed here");
  bad ("disksim_disk A { x = }", NULL, "P:1: x: }: a value is allowed here");
  bad ("disksim_disk A { x = [ { 1 } ] }", NULL,
       "P:1: list: {: a value is allowed here");
  bad ("disksim_disk A { x = [ 1, 2 }", NULL,
       "P:1: x: }: a comma or a ] is allowed here");
  bad ("disksim_disk A {", NULL, "P:1: file: its end: a parameter, KEY = "
       "VALUE is allowed here");
  bad ("disksim_disk", NULL, "P:1: disksim_disk: its end: a block, TYPE NAME "
       "{ ... }, is allowed here");
  bad ("topology a b [ [ ]", NULL, "P:1: file: its end: a ] is allowed here");
  bad ("disksim_disk A { }\ndisksim_disk B { }", NULL,
       "P:2: disksim_disk B: a second drive: one is allowed");
  bad ("disksim_disk A { Fast write level = [ ] }", NULL,
       "P:1: Fast write level: [ ... ]: one value is allowed");
  bad ("dm_disk A { }", NULL, "P: disksim_disk: is missing; of DiskSim's "
       "files, the .diskspecs or .parv is wanted, not the .model");
  memset (deep + n, '[', 100);
  bad (deep, NULL, "P:1: file: nested more than 32 deep");
}

/* ---- the corpus ---- */

/* What the fuzzer found worth keeping is read, whatever it says. */
static void
corpus (void **state)
{
  DIR *d = opendir (CORPUS);
  struct dirent *e;

  (void) state;
  assert_non_null (d);
  while ((e = readdir (d)) != NULL) {
    char *path = format ("%s/%s", CORPUS, e->d_name);
    int fd = open (path, O_RDONLY);

    free (path);
    if (e->d_name[0] != '.') {
      /* The first byte is for the fuzzer. */
      lseek (fd, 1, SEEK_SET);
      import_init (&in, "P");
      if (import_read (&in, fd, -1) == 0)
        import_map (&in, &profile);
      import_free (&in);
    }
    close (fd);
  }
  closedir (d);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (numbers_are_exact),
    cmocka_unit_test (numbers_are_checked),
    cmocka_unit_test (no_sparing),
    cmocka_unit_test (spare_tracks),
    cmocka_unit_test (slips_only),
    cmocka_unit_test (spares_at_zone_end),
    cmocka_unit_test (more_slips_than_spares),
    cmocka_unit_test (spares_in_ranges),
    cmocka_unit_test (range_is_guessed),
    cmocka_unit_test (unknown_sparing),
    cmocka_unit_test (serpentine_mapping),
    cmocka_unit_test (zones_are_left_out),
    cmocka_unit_test (bad_layouts),
    cmocka_unit_test (seek_types),
    cmocka_unit_test (hpl_seeks),
    cmocka_unit_test (bad_seeks),
    cmocka_unit_test (controller),
    cmocka_unit_test (bad_keys),
    cmocka_unit_test (both_formats),
    cmocka_unit_test (bad_files),
    cmocka_unit_test (bad_syntax),
    cmocka_unit_test (corpus),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
