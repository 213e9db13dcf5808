/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profile file.
 */
#include <inttypes.h>
#include <string.h>

#include "import-impl.h"

struct writer {
  const struct import *in;
  const struct profile *profile;
  FILE *fp;
  const char *mark;             /* of figures taken over as they are */
};

static void
put_text (FILE *fp, const char *text)
{
  putc ('"', fp);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      putc ('\\', fp);
    putc (*text < ' ' || *text > '~' ? '?' : *text, fp);
  }
  putc ('"', fp);
}

/* libconfig wants an L behind what has more than 31 bits. */
static void
put_number (FILE *fp, int64_t value, int decimals)
{
  char buf[IMPORT_DECIMAL];

  fputs (import_decimal (buf, value, decimals), fp);
  if (!strchr (buf, '.') && strlen (buf) > 9)
    putc ('L', fp);
}

static void
put_mark (struct writer *w, const char *mark, const char *note)
{
  const char *source = strcmp (mark, "estimated") == 0 ? "S1" : "D1";

  fprintf (w->fp, ", \"%s\", \"%s\", ", mark, source);
  put_text (w->fp, note);
}

static void
figure (struct writer *w, const char *key, int64_t value, int decimals,
        const char *mark, const char *note)
{
  fprintf (w->fp, "  %s = ( ", key);
  put_number (w->fp, value, decimals);
  put_mark (w, mark, note);
  fputs (" );\n", w->fp);
}

static void
derived (struct writer *w, const char *key, int64_t value, int decimals,
         const char *note)
{
  figure (w, key, value, decimals, "derived", note);
}

/* One that comes from DiskSim's parameter FROM, if it says anything. */
static void
taken (struct writer *w, const char *key, int64_t value, int decimals,
       enum import_key from)
{
  if (w->in->drive.given[from])
    figure (w, key, value, decimals, w->mark, import_keys[from].name);
}

static void
ms (struct writer *w, const char *key, int64_t ns, enum import_key from)
{
  taken (w, key, ns, 6, from);
}

/* In KiB, which may have a half. */
static void
size (struct writer *w, const char *key, int64_t bytes, const char *note)
{
  derived (w, key, bytes * 10 / 1024, 1, note);
}

/* Text and truth need neither mark nor source. */
static void
setting (struct writer *w, const char *key, const char *value)
{
  fprintf (w->fp, "  %s = %s;\n", key, value);
}

static void
truth (struct writer *w, const char *key, bool value)
{
  setting (w, key, value ? "true" : "false");
}

static void
begin (struct writer *w, const char *group)
{
  fprintf (w->fp, "\n%s = {\n", group);
}

static void
end (struct writer *w)
{
  fputs ("};\n", w->fp);
}

/* ---- the groups ---- */

static const char *
base_name (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash ? slash + 1 : path;
}

static void
put_head (struct writer *w)
{
  const struct import *in = w->in;

  fputs ("# Made by spindle profile import.\n\ntitle = ", w->fp);
  put_text (w->fp, w->profile->title);
  fputs (";\n\nsources = (\n  { id = \"D1\";\n    text = ", w->fp);
  put_text (w->fp, base_name (in->path));
  fputs ("\n      \": parameters of DiskSim 4\"", w->fp);
  for (size_t i = 0; i < in->files.n; i++) {
    fputs ("\n      \", ", w->fp);
    fputs (i == 0 ? "with \" " : "\" ", w->fp);
    put_text (w->fp, base_name (in->files.word[i]));
  }
  fputs ("; },\n"
         "  { id = \"S1\";\n"
         "    text = \"spindle's rules for DiskSim's parameters, which "
         "reproduce four drives measured for its validation\"; }\n"
         ");\n", w->fp);
}

static void
put_zones (struct writer *w)
{
  const struct profile_geometry *g = &w->profile->geometry;
  FILE *fp = w->fp;

  fputs ("  zones = ( (\n", fp);
  for (uint32_t i = 0; i < g->n_zones; i++) {
    const struct profile_zone *z = &g->zones[i];

    fprintf (fp, "    { cylinders = %" PRIu32 "; sectors-per-track = %"
             PRIu32 "; ", z->cylinders, z->sectors_per_track);
    if (z->skip_cylinders)
      fprintf (fp, "skip-cylinders = %" PRIu32 "; ", z->skip_cylinders);
    fputs ("track-skew-sectors = ", fp);
    put_number (fp, z->track_skew_x1000, 3);
    fputs ("; cylinder-skew-sectors = ", fp);
    put_number (fp, z->cylinder_skew_x1000, 3);
    fputs ("; offset-sectors = ", fp);
    put_number (fp, z->offset_x1000, 3);
    fputs (i + 1 < g->n_zones ? "; },\n" : "; } )", fp);
  }
  put_mark (w, "derived", "dm_layout_g1_zone; no more cylinders than the "
            "capacity needs");
  fputs (" );\n", fp);
}

static void
put_holes (struct writer *w)
{
  const struct profile_geometry *g = &w->profile->geometry;
  FILE *fp = w->fp;

  if (g->n_holes == 0)
    return;
  fputs ("  holes = ( (", fp);
  for (uint32_t i = 0; i < g->n_holes; i++) {
    const struct profile_hole *h = &g->holes[i];

    fprintf (fp, "%s( %" PRIu32 ", ", i % 3 ? " " : "\n    ", h->zone);
    put_number (fp, h->first, 0);
    fputs (", ", fp);
    put_number (fp, h->sectors, 0);
    fputs (i + 1 < g->n_holes ? " )," : " ) )", fp);
  }
  put_mark (w, "derived", "Sparing scheme used, slips, Number of spares, "
            "Empty space at zone front");
  fputs (" );\n", fp);
}

static void
put_geometry (struct writer *w)
{
  const struct profile_geometry *g = &w->profile->geometry;

  begin (w, "geometry");
  if (g->sectors == w->in->drive.value[IMPORT_BLOCKS])
    taken (w, "sectors", g->sectors, 0, IMPORT_BLOCKS);
  else
    derived (w, "sectors", g->sectors, 0, "what the zones hold");
  taken (w, "heads", g->heads, 0, IMPORT_HEADS);
  taken (w, "rpm", g->rpm_x100, 2, IMPORT_RPM);
  if (g->serpentine)
    truth (w, "serpentine", true);
  put_zones (w);
  put_holes (w);
  end (w);
}

static void
put_table (struct writer *w, const struct profile_curve *c, const char *note)
{
  FILE *fp = w->fp;

  if (c->n_points == 0)
    return;
  fputs ("  table = ( (", fp);
  for (uint32_t i = 0; i < c->n_points; i++) {
    fprintf (fp, "%s( %" PRIu32 ", ", i % 5 ? " " : "\n    ",
             c->points[i].cylinders);
    put_number (fp, c->points[i].time_ns, 6);
    fputs (i + 1 < c->n_points ? " )," : " ) )", fp);
  }
  put_mark (w, w->mark, note);
  fputs (" );\n", fp);
}

static void
put_curve (struct writer *w)
{
  static const char hpl[] = "HPL seek equation values";
  const struct profile_curve *c = &w->profile->seek.read;

  switch (c->kind) {
  case SEEK_CURVE_TWO_PIECE:
    setting (w, "curve", "\"two-piece\"");
    figure (w, "knee-cylinders", c->knee_cylinders, 0, w->mark, hpl);
    figure (w, "low-ms", c->low_ns, 6, w->mark, hpl);
    figure (w, "low-root-ms", c->low_root_ns, 6, w->mark, hpl);
    figure (w, "high-ms", c->high_ns, 6, w->mark, hpl);
    figure (w, "high-ns-per-cylinder", c->high_ps, 3, w->mark, hpl);
    put_table (w, c, w->in->drive.n_first_ten ? "First ten seek times" : hpl);
    break;
  case SEEK_CURVE_THREE_POINT:
    setting (w, "curve", "\"three-point\"");
    derived (w, "track-ms", c->track_ns, 6, "Seek type, Single cylinder or "
             "Constant seek time");
    derived (w, "average-ms", c->average_ns, 6, "Seek type, Average or "
             "Constant seek time");
    derived (w, "full-ms", c->full_ns, 6, "Seek type, Full strobe or "
             "Constant seek time");
    break;
  default:
    setting (w, "curve", "\"table\"");
    put_table (w, c, w->in->drive.value[IMPORT_SEEK_TYPE] ==
               IMPORT_SEEK_EXTRACTED ? "Full seek curve" : "Seek type and "
               "Single cylinder, Average and Full strobe seek time");
    break;
  }
}

static void
put_seek (struct writer *w)
{
  const struct profile_seek *s = &w->profile->seek;

  begin (w, "seek");
  put_curve (w);
  ms (w, "head-switch-ms", s->head_switch_ns, IMPORT_SWITCH);
  ms (w, "write-settle-ms", s->write_settle_ns, IMPORT_SETTLE);
  ms (w, "write-switch-ms", s->write_switch_ns, IMPORT_SETTLE);
  ms (w, "write-minimum-ms", s->write_minimum_ns, IMPORT_MINIMUM);
  end (w);
}

static void
put_bus (struct writer *w, const char *key, bool write)
{
  int64_t kb_per_s = import_bus_kb_per_s (w->in, write);

  /* For writing "none" means "as for reading". */
  if (kb_per_s < IMPORT_FASTEST_BUS || write) {
    derived (w, key, kb_per_s, 3, "512 bytes in the longer of Bulk sector "
             "transfer time and the bus's block transfer time");
    return;
  }
  fprintf (w->fp, "  %s = ( \"none\"", key);
  put_mark (w, "derived", "Bulk sector transfer time is 0, and so is the "
            "bus's, if known");
  fputs (" );\n", w->fp);
}

static void
put_interface (struct writer *w)
{
  const struct profile_interface *i = &w->profile->interface;

  begin (w, "interface");
  put_bus (w, "bus", false);
  put_bus (w, "write-bus", true);
  truth (w, "overlap", i->overlap);
  truth (w, "flush", i->flush);
  truth (w, "fua", i->fua);
  ms (w, "prepare-ms", i->prepare_ns, IMPORT_PREPARE);
  ms (w, "reselect-ms", i->reselect_ns, IMPORT_RESELECT);
  taken (w, "watermark", i->watermark_permille, 3, IMPORT_HIGH_MARK);
  figure (w, "write-lead-sectors", i->write_lead_sectors, 0, "estimated",
          "10 with Extra write disconnect, else 1");
  end (w);
}

static void
put_overhead (struct writer *w)
{
  const struct profile_overhead *o = &w->profile->overhead;

  begin (w, "overhead");
  ms (w, "read-hit-ms", o->read_hit_ns, IMPORT_READ_HIT);
  ms (w, "read-hit-after-write-ms", o->read_hit_after_write_ns,
      IMPORT_READ_HIT_W);
  ms (w, "read-miss-ms", o->read_miss_ns, IMPORT_READ_MISS);
  ms (w, "read-miss-after-write-ms", o->read_miss_after_write_ns,
      IMPORT_READ_MISS_W);
  ms (w, "write-ms", o->write_ns, IMPORT_WRITE_HIT);
  ms (w, "write-after-write-ms", o->write_after_write_ns, IMPORT_WRITE_HIT_W);
  ms (w, "through-ms", o->through_ns, IMPORT_WRITE_MISS);
  ms (w, "through-after-write-ms", o->through_after_write_ns,
      IMPORT_WRITE_MISS_W);
  ms (w, "read-done-ms", o->read_done_ns, IMPORT_READ_DONE);
  ms (w, "write-done-ms", o->write_done_ns, IMPORT_WRITE_DONE);
  end (w);
}

static void
put_buffer (struct writer *w)
{
  const struct profile_buffer *b = &w->profile->buffer;

  begin (w, "buffer");
  size (w, "size-kib", b->size_bytes,
        "the segments, and one for the write cache");
  derived (w, "segments", b->segments, 0,
           "Number of buffer segments, less one for writes");
  size (w, "segment-kib", b->segment_bytes, "Segment size (in blks)");
  truth (w, "keep-written", b->keep_written);
  end (w);
}

static void
put_lookahead (struct writer *w)
{
  static const char *const limits[] = {
    [AHEAD_BYTES] = "\"bytes\"", [AHEAD_TRACK] = "\"track\"",
    [AHEAD_CYLINDER] = "\"cylinder\"",
  };
  const struct profile_lookahead *a = &w->profile->lookahead;

  begin (w, "lookahead");
  truth (w, "enabled", a->enabled);
  setting (w, "limit", limits[a->limit]);
  if (a->limit_bytes)
    size (w, "limit-kib", a->limit_bytes, "Maximum read-ahead (blks)");
  truth (w, "resume-any", a->resume_any);
  setting (w, "on-command", "\"abort\"");
  truth (w, "restart-rotates", a->restart_rotates);
  end (w);
}

static void
put_write_cache (struct writer *w)
{
  const struct profile_write_cache *c = &w->profile->write_cache;

  begin (w, "write-cache");
  truth (w, "enabled", c->enabled);
  size (w, "size-kib", c->size_bytes, "one segment");
  figure (w, "max-extents", c->max_extents, 0, "estimated",
          "DiskSim has no such limit");
  setting (w, "order", "\"arrival\"");
  figure (w, "unit-sectors", c->unit_sectors, 0, "estimated",
          "a read waits for the end of a destage");
  truth (w, "blocks-hits", c->blocks_hits);
  end (w);
}

void
import_write (const struct import *in, const struct profile *profile,
              FILE *fp)
{
  struct writer w = {
    .in = in, .profile = profile, .fp = fp,
    /* Curves are extracted from a drive by DIXtrac, with all the rest. */
    .mark = in->drive.value[IMPORT_SEEK_TYPE] == IMPORT_SEEK_EXTRACTED
      ? "measured" : "derived",
  };

  put_head (&w);
  put_geometry (&w);
  put_seek (&w);
  put_interface (&w);
  put_overhead (&w);
  put_buffer (&w);
  put_lookahead (&w);
  put_write_cache (&w);
}
