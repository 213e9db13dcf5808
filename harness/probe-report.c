/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was found, in words and as JSON.
 */
#include <inttypes.h>

#include "json.h"
#include "probe.h"
#include "table.h"

static const char *const commands[] = {
  [INTERRUPT_ABORT] = "abort", [INTERRUPT_FINISH] = "finish",
  [INTERRUPT_TRACK] = "track", [INTERRUPT_ELSEWHERE] = "elsewhere",
};
static const char *const limits[] = {
  [AHEAD_BYTES] = "bytes", [AHEAD_TRACK] = "track",
  [AHEAD_CYLINDER] = "cylinder",
};
static const char *const statuses[] = {
  [PROBE_DONE] = "done", [PROBE_TOO_SMALL] = "too small",
  [PROBE_NOT_ROTATING] = "not a rotating disk", [PROBE_UNCLEAR] = "unclear",
};

static double
ms (double ns)
{
  return ns * 1e-6;
}

static double
bus_mb_s (const struct probe_result *r)
{
  return r->bus_ps_per_byte > 0 ? 1e6 / r->bus_ps_per_byte : 0;
}

static void
print_zones (const struct probe_result *r, FILE *fp)
{
  struct table t = { .columns = 6 };
  static const char *const heads[] = {
    "zone", "from LBA", "sectors/track", "head skew", "cylinder skew", "MB/s"
  };

  for (int i = 0; i < 6; i++)
    table_cell (&t, "%s", heads[i]);
  for (int i = 0; i < r->n_zones; i++) {
    const struct probe_zone *z = &r->zones[i];

    table_cell (&t, "%d", i);
    table_cell (&t, "%" PRIi64, z->first);
    table_cell (&t, "%.0f", z->sectors_per_track);
    table_cell (&t, "%.1f", z->head_skew);
    table_cell (&t, "%.1f", z->cylinder_skew);
    table_cell (&t, "%.1f", z->mb_s);
  }
  table_print (&t, 0, fp);
}

static void
print_buffer (const struct probe_result *r, FILE *fp)
{
  if (!r->has_buffer) {
    fprintf (fp, "buffer: none to be seen\n");
    return;
  }
  fprintf (fp, "overhead: %.3f ms for a hit, %.3f ms for a miss; bus %.1f "
           "MB/s\n", ms (r->read_hit_ns), ms (r->read_miss_ns), bus_mb_s (r));
  if (r->segments > 0)
    fprintf (fp, "buffer: %d stream%s", r->segments,
             r->segments == 1 ? "" : "s");
  else
    fprintf (fp, "buffer: more streams than were tried");
  if (r->segment_sectors > 0)
    fprintf (fp, " of %.1f KiB", (double) r->segment_sectors / 2);
  if (r->ahead_sectors == 0)
    fprintf (fp, "; no look-ahead\n");
  else
    fprintf (fp, "; look-ahead of %.1f KiB%s%s%s, %s\n",
             (double) r->ahead_sectors / 2,
             r->ahead_limit == AHEAD_BYTES ? "" : " or so, to the end of the ",
             r->ahead_limit == AHEAD_BYTES ? "" : limits[r->ahead_limit],
             r->sequential_only ? ", from a second command on" : "",
             r->on_command == INTERRUPT_FINISH ||
             r->on_command == INTERRUPT_TRACK
             ? "which holds other commands up" : "which other commands stop");
}

static void
print_writes (const struct probe_result *r, FILE *fp)
{
  if (!r->wrote)
    return;
  fprintf (fp, "write cache: %s", r->write_cache ? "on" : "off");
  if (r->write_cache)
    fprintf (fp, ", %.3f ms a write, room for %d or more; flush after that "
             "%.0f ms", ms (r->write_ns), r->write_extents, ms (r->flush_ns));
  if (r->sync_iops > 0)
    fprintf (fp, "; %.0f synchronous writes a second, settling %.2f ms",
             r->sync_iops, ms (r->write_settle_ns));
  fprintf (fp, "\n");
}

void
probe_print (const struct probe_result *r, const char *target, FILE *fp)
{
  fprintf (fp, "%s: %" PRIi64 " sectors, %.1f GB\n", target, r->sectors,
           (double) r->sectors * 512e-9);
  if (r->status != PROBE_DONE) {
    fprintf (fp, "%s\n", r->reason);
    return;
  }
  fprintf (fp, "speed: %.2f rpm\nheads: %d%s, %" PRIi64 " cylinders\n",
           60e9 / r->turn_ns, r->heads,
           r->heads_guessed ? " (a guess: nothing tells them apart)" : "",
           r->cylinders);
  fprintf (fp, "seek: track to track %.2f, average %.2f, full stroke %.2f "
           "ms; head switch %.2f ms\n", ms (r->track_ns), ms (r->average_ns),
           ms (r->full_ns), ms (r->head_switch_ns));
  print_buffer (r, fp);
  fprintf (fp, "random reads of 4 KiB: %.0f a second, %.0f several at once",
           r->iops, r->queued_iops);
  if (r->queue_depth > 1)
    fprintf (fp, " (up to %d)", r->queue_depth);
  fprintf (fp, "\n");
  print_writes (r, fp);
  print_zones (r, fp);
  fprintf (fp, "%" PRIi64 " commands, %.1f s of the disk's time\n",
           r->commands, r->elapsed_s);
}

static void
json_zones (struct json *j, const struct probe_result *r)
{
  json_open (j, "zones", '[');
  for (int i = 0; i < r->n_zones; i++) {
    const struct probe_zone *z = &r->zones[i];

    json_open (j, NULL, '{');
    json_int (j, "first_lba", z->first);
    json_int (j, "cylinders", z->cylinders);
    json_double (j, "sectors_per_track", z->sectors_per_track);
    json_double (j, "head_skew_sectors", z->head_skew);
    json_double (j, "cylinder_skew_sectors", z->cylinder_skew);
    json_double (j, "sustained_mb_s", z->mb_s);
    json_close (j, '}');
  }
  json_close (j, ']');
}

static void
json_seeks (struct json *j, const struct probe_result *r)
{
  json_double (j, "track_seek_ms", ms (r->track_ns));
  json_double (j, "average_seek_ms", ms (r->average_ns));
  json_double (j, "full_stroke_ms", ms (r->full_ns));
  json_double (j, "head_switch_ms", ms (r->head_switch_ns));
  json_open (j, "seeks", '[');
  for (int i = 0; i < r->n_points; i++) {
    json_open (j, NULL, '{');
    json_int (j, "cylinders", r->points[i].cylinders);
    json_double (j, "ms", ms (r->points[i].ns));
    json_close (j, '}');
  }
  json_close (j, ']');
}

static void
json_buffer (struct json *j, const struct probe_result *r)
{
  json_bool (j, "buffer", r->has_buffer);
  if (!r->has_buffer)
    return;
  json_double (j, "read_hit_ms", ms (r->read_hit_ns));
  json_double (j, "read_miss_ms", ms (r->read_miss_ns));
  json_double (j, "bus_mb_s", bus_mb_s (r));
  json_int (j, "segments", r->segments);
  json_double (j, "segment_kib", (double) r->segment_sectors / 2);
  json_double (j, "lookahead_kib", (double) r->ahead_sectors / 2);
  json_bool (j, "lookahead_sequential_only", r->sequential_only);
  json_string (j, "lookahead_limit", limits[r->ahead_limit]);
  json_string (j, "lookahead_on_command", commands[r->on_command]);
  json_bool (j, "lookahead_restart_rotates", r->restart_rotates);
}

static void
json_writes (struct json *j, const struct probe_result *r)
{
  if (!r->wrote)
    return;
  json_bool (j, "write_cache", r->write_cache);
  json_double (j, "write_ms", ms (r->write_ns));
  json_int (j, "write_extents", r->write_extents);
  json_double (j, "flush_ms", ms (r->flush_ns));
  json_double (j, "write_settle_ms", ms (r->write_settle_ns));
  json_double (j, "sync_write_iops", r->sync_iops);
}

void
probe_print_json (const struct probe_result *r, const char *target, FILE *fp)
{
  struct json j = { .fp = fp };

  json_open (&j, NULL, '{');
  json_string (&j, "target", target);
  json_string (&j, "status", statuses[r->status]);
  if (r->status != PROBE_DONE)
    json_string (&j, "reason", r->reason);
  json_int (&j, "sectors", r->sectors);
  json_double (&j, "coherence", r->coherence);
  if (r->status == PROBE_DONE) {
    json_double (&j, "rpm", 60e9 / r->turn_ns);
    json_int (&j, "heads", r->heads);
    json_bool (&j, "heads_guessed", r->heads_guessed);
    json_int (&j, "cylinders", r->cylinders);
    json_zones (&j, r);
    json_seeks (&j, r);
    json_buffer (&j, r);
    json_double (&j, "random_read_iops", r->iops);
    json_double (&j, "queued_read_iops", r->queued_iops);
    json_int (&j, "queue_depth", r->queue_depth);
    json_writes (&j, r);
    json_int (&j, "commands", r->commands);
    json_double (&j, "elapsed_s", r->elapsed_s);
  }
  json_close (&j, '}');
}
