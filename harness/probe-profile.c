/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profile of what was found.
 */
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "fixed.h"
#include "probe.h"

struct writer {
  const struct probe_result *r;
  FILE *fp;
};

/* A figure that was measured, with so many decimals and no zeros behind. */
static void
measured (struct writer *w, const char *key, double value, int decimals)
{
  fprintf (w->fp, "  %s = ( %.*f, \"measured\", \"P\" );\n", key, decimals,
           value);
}

static void
with_note (struct writer *w, const char *key, double value, int decimals,
           const char *mark, const char *note)
{
  fprintf (w->fp, "  %s = ( %.*f, \"%s\", \"P\", \"%s\" );\n", key, decimals,
           value, mark, note);
}

static void
whole (struct writer *w, const char *key, int64_t value)
{
  fprintf (w->fp, "  %s = ( %" PRIi64 "%s, \"measured\", \"P\" );\n", key,
           value, value > INT32_MAX ? "L" : "");
}

/* Names in a comment or a string: nothing that ends them. */
static void
put_name (FILE *fp, const char *name)
{
  for (int n = 0; *name && n < 80; name++, n++)
    fputc (*name < ' ' || *name > '~' || *name == '"' || *name == '\\'
           ? '?' : *name, fp);
}

/* The zones must hold the capacity, with less than a cylinder to spare. */
static void
put_zones (struct writer *w)
{
  const struct probe_result *r = w->r;
  int64_t left = r->sectors;

  fprintf (w->fp, "  zones = ( (\n");
  for (int i = 0; i < r->n_zones; i++) {
    const struct probe_zone *z = &r->zones[i];
    const int64_t spt = llround (z->sectors_per_track);
    const bool last = i == r->n_zones - 1;
    int64_t cylinders = last ? div_up (left, spt * r->heads) : z->cylinders;

    left -= cylinders * spt * r->heads;
    fprintf (w->fp, "    { cylinders = %" PRIi64 "; sectors-per-track = %"
             PRIi64 ";", cylinders, spt);
    if (r->heads > 1 && z->cylinder_skew > 0)
      fprintf (w->fp, " track-skew-sectors = %.3f;", z->head_skew);
    if (z->cylinder_skew > 0)
      fprintf (w->fp, " cylinder-skew-sectors = %.3f;", z->cylinder_skew);
    fprintf (w->fp, " }%s\n", last ? " ), \"measured\", \"P\" );" : ",");
  }
}

static void
put_geometry (struct writer *w)
{
  const struct probe_result *r = w->r;

  fprintf (w->fp, "\ngeometry = {\n");
  whole (w, "sectors", r->sectors);
  if (r->heads_guessed)
    with_note (w, "heads", r->heads, 0, "estimated",
               "nothing told the heads apart");
  else
    whole (w, "heads", r->heads);
  measured (w, "rpm", 60e9 / r->turn_ns, 2);
  put_zones (w);
  fprintf (w->fp, "};\n");
}

/* A switch that takes a little longer than its skew allows would lose a turn
 * on every track, which the drive was not seen to do: it is as accurate as
 * it was measured.
 */
static double
within_skew (const struct probe_result *r, double ns, bool cylinder)
{
  double least_ns = ns;

  for (int i = 0; i < r->n_zones; i++) {
    const struct probe_zone *z = &r->zones[i];
    double skew = floor ((cylinder ? z->cylinder_skew : z->head_skew) * 1e3) /
      1e3;

    if (skew > 0)
      least_ns = fmin (least_ns, skew / z->sectors_per_track * r->turn_ns);
  }
  /* In ten thousandths of a millisecond, as they are written. */
  return least_ns > 0.97 * ns ? floor (least_ns / 100) * 100 : ns;
}

static void
put_seek (struct writer *w)
{
  const struct probe_result *r = w->r;
  double before_ns = 0;

  fprintf (w->fp, "\n# Track to track %.2f, average %.2f, full stroke %.2f "
           "ms.\nseek = {\n  curve = \"table\";\n  table = ( (",
           r->track_ns * 1e-6, r->average_ns * 1e-6, r->full_ns * 1e-6);
  for (int i = 0; i < r->n_points; i++) {
    before_ns = fmax (before_ns, i == 0
                      ? within_skew (r, r->points[0].ns, true)
                      : r->points[i].ns);
    fprintf (w->fp, "%s ( %" PRIi64 ", %.4f )%s", i % 4 ? "" : "\n   ",
             r->points[i].cylinders, before_ns * 1e-6,
             i + 1 < r->n_points ? "," : "");
  }
  fprintf (w->fp, " ),\n    \"measured\", \"P\" );\n");
  measured (w, "head-switch-ms",
            within_skew (r, r->head_switch_ns, r->heads == 1) * 1e-6, 4);
  if (r->wrote && r->sync_iops > 0)
    measured (w, "write-settle-ms", r->write_settle_ns * 1e-6, 3);
  fprintf (w->fp, "};\n");
}

static void
put_interface (struct writer *w)
{
  const struct probe_result *r = w->r;
  double mb_s = r->bus_ps_per_byte > 0 ? 1e6 / r->bus_ps_per_byte : 0;

  fprintf (w->fp, "\ninterface = {\n");
  if (mb_s >= 1 && mb_s <= 100000)
    measured (w, "bus", mb_s, 3);
  else
    fprintf (w->fp, "  bus = ( \"none\", \"measured\", \"P\" );\n");
  fprintf (w->fp, "};\n\noverhead = {\n");
  measured (w, "read-hit-ms", r->read_hit_ns * 1e-6, 4);
  measured (w, "read-miss-ms", r->read_miss_ns * 1e-6, 4);
  if (r->wrote && r->write_cache)
    measured (w, "write-ms", fmax (r->write_ns, 0) * 1e-6, 4);
  else
    with_note (w, "write-ms", r->read_miss_ns * 1e-6, 4, "estimated",
               "not measured: as for a miss");
  fprintf (w->fp, "};\n");
}

static void
put_lookahead (struct writer *w)
{
  static const char *const commands[] = {
    [INTERRUPT_ABORT] = "abort", [INTERRUPT_FINISH] = "finish",
    [INTERRUPT_TRACK] = "track", [INTERRUPT_ELSEWHERE] = "elsewhere",
  };
  const struct probe_result *r = w->r;

  fprintf (w->fp, "\nlookahead = {\n  enabled = %s;\n",
           r->ahead_sectors > 0 ? "true" : "false");
  if (r->ahead_sectors > 0) {
    if (r->ahead_limit == AHEAD_BYTES)
      measured (w, "limit-kib", (double) r->ahead_sectors / 2, 1);
    else
      fprintf (w->fp, "  limit = ( \"%s\", \"measured\", \"P\" );\n",
               r->ahead_limit == AHEAD_TRACK ? "track" : "cylinder");
    fprintf (w->fp, "  sequential-only = %s;\n  on-command = ( \"%s\", "
             "\"measured\", \"P\" );\n  restart-rotates = %s;\n",
             r->sequential_only ? "true" : "false", commands[r->on_command],
             r->restart_rotates ? "true" : "false");
  }
  fprintf (w->fp, "};\n");
}

static void
put_buffer (struct writer *w)
{
  const struct probe_result *r = w->r;
  int segments = r->segments > 0 ? r->segments : 256;
  int64_t each = r->segment_sectors > 0 ? r->segment_sectors
    : r->ahead_sectors + 128;

  /* The loader wants the limit to fit in the segment. */
  each = each < r->ahead_sectors ? r->ahead_sectors : each;
  if (!r->has_buffer)
    segments = 1, each = 1;
  fprintf (w->fp, "\nbuffer = {\n");
  with_note (w, "size-kib", (double) (segments * each) / 2, 1, "derived",
             "all streams together");
  if (r->has_buffer && r->segments == 0)
    with_note (w, "segments", segments, 0, "estimated",
               "more than were tried");
  else
    whole (w, "segments", segments);
  fprintf (w->fp, "};\n");
  put_lookahead (w);
}

static void
put_writes (struct writer *w)
{
  const struct probe_result *r = w->r;

  fprintf (w->fp, "\n");
  if (!r->wrote)
    fprintf (w->fp, "# Not measured: spindle probe --write would.\n");
  fprintf (w->fp, "write-cache = {\n  enabled = %s;\n",
           r->wrote && !r->write_cache ? "false" : "true");
  if (r->wrote && r->write_extents > 0)
    with_note (w, "max-extents", r->write_extents, 0, "estimated",
               "a burst of random writes found room for so many");
  fprintf (w->fp, "};\n");
}

/* What the host sees of a queue is how much faster it gets. */
static void
put_queue (struct writer *w)
{
  const struct probe_result *r = w->r;

  if (r->queue_depth < 2)
    return;
  fprintf (w->fp, "\nqueue = {\n");
  with_note (w, "depth", r->queue_depth, 0, "estimated",
             "more at once did not make it faster");
  with_note (w, "awareness", 1, 0, "estimated", "not measured");
  fprintf (w->fp, "  order = ( \"sptf\", \"estimated\", \"P\", \"not "
           "measured; random reads: %.0f a second, %.0f when queued\" );\n"
           "};\n", r->iops, r->queued_iops);
}

static void
put_published (struct writer *w)
{
  const struct probe_result *r = w->r;

  fprintf (w->fp, "\npublished = {\n");
  measured (w, "sustained-outer-mb-s", r->zones[0].mb_s, 2);
  measured (w, "sustained-inner-mb-s", r->zones[r->n_zones - 1].mb_s, 2);
  measured (w, "average-seek-ms", r->average_ns * 1e-6, 3);
  measured (w, "full-stroke-ms", r->full_ns * 1e-6, 3);
  whole (w, "random-read-iops", llround (r->iops));
  if (r->queue_depth > 1)
    whole (w, "random-read-32-iops", llround (r->queued_iops));
  fprintf (w->fp, "};\n");
}

void
probe_write_profile (const struct probe_result *r, const char *target,
                     FILE *fp)
{
  struct writer w = { .r = r, .fp = fp };
  time_t now = time (NULL);
  char date[32];

  strftime (date, sizeof date, "%Y-%m-%d", gmtime (&now));
  fprintf (fp, "# Made by spindle probe, which saw the disk from outside.\n"
           "# What it could not see has the loader's default.\n\ntitle = \"");
  put_name (fp, target);
  fprintf (fp, ", %.1f GB, %.0f rpm\";\n\nsources = (\n  { id = \"P\"; text = "
           "\"spindle probe of ", (double) r->sectors * 512e-9,
           60e9 / r->turn_ns);
  put_name (fp, target);
  fprintf (fp, ", %s\"; }\n);\n", date);
  put_geometry (&w);
  put_seek (&w);
  put_interface (&w);
  put_buffer (&w);
  put_writes (&w);
  put_queue (&w);
  put_published (&w);
}
