/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every key a profile file may have.  profiles/README.md is made from this
 * table by print-keys.
 */
#include <stdio.h>
#include <string.h>

#include "loader-impl.h"

#define AT(member) \
  offsetof (struct load, member), sizeof (((struct load *) 0)->member)
#define P(member) AT (profile.member)

/* Bounds in the units of the kinds. */
#define MS(n) ((int64_t) (n) * 1000000)
#define RPM(n) ((int64_t) (n) * 100)
#define MBPS(n) ((int64_t) (n) * 1000)
#define KIB(n) ((int64_t) (n) * 10)
#define NS(n) ((int64_t) (n) * 1000)
#define S(n) ((int64_t) (n) * 1000000000)

/* The size of the field is what limits text; \0 is not counted. */
#define TEXT(member) P (member), 0, sizeof (((struct profile *) 0)->member) - 1

static const char *const curve_names[] =
  { "none", "three-point", "table", "power", "two-piece", NULL };
static const char *const interrupt_names[] =
  { "abort", "finish", "track", "elsewhere", NULL };
static const char *const limit_names[] =
  { "bytes", "track", "cylinder", NULL };
static const char *const tail_of_names[] = { "ring", "track", NULL };
static const char *const queue_names[] =
  { "fcfs", "sstf", "c-look", "sptf", NULL };
static const char *const order_names[] = { "arrival", "elevator", "sptf", NULL };

#define AFTER_WRITE(name, member) \
  { name "-after-write-ms", KEY_MS, P (member), 0, MS (1000), NEED_NO, "0", \
    NULL, "the same when the command before was a write; 0 = no different" }

/* The keys of one seek curve; which of them it needs, checks.c knows. */
#define CURVE(group, curve, need, fallback, what) \
  { group "curve", KEY_CHOICE, P (curve.kind), 0, 0, need, fallback, \
    curve_names, what }, \
  { group "track-ms", KEY_MS, P (curve.track_ns), 0, MS (1000), NEED_NO, \
    "0", NULL, "three-point, power: to the next cylinder, settling " \
    "included" }, \
  { group "average-ms", KEY_MS, P (curve.average_ns), 0, MS (1000), \
    NEED_NO, "0", NULL, "three-point: mean over random pairs of tracks" }, \
  { group "full-ms", KEY_MS, P (curve.full_ns), 0, MS (1000), NEED_NO, \
    "0", NULL, "three-point, power: over the whole stroke" }, \
  { group "exponent", KEY_SHARE, P (curve.exponent_permille), 1, 4000, \
    NEED_NO, NULL, NULL, "power: of the distance" }, \
  { group "knee-cylinders", KEY_COUNT, P (curve.knee_cylinders), 1, \
    100000000, NEED_NO, NULL, NULL, "two-piece: where the straight line " \
    "begins" }, \
  { group "low-ms", KEY_MS, P (curve.low_ns), -MS (1000), MS (1000), \
    NEED_NO, "0", NULL, "two-piece, below the knee: constant" }, \
  { group "low-root-ms", KEY_MS, P (curve.low_root_ns), 0, MS (1000), \
    NEED_NO, "0", NULL, "two-piece, below the knee: times the root of the " \
    "distance in cylinders" }, \
  { group "high-ms", KEY_MS, P (curve.high_ns), -MS (1000), MS (1000), \
    NEED_NO, "0", NULL, "two-piece, from the knee on: constant" }, \
  { group "high-ns-per-cylinder", KEY_NS, P (curve.high_ps), 0, \
    NS (1000000), NEED_NO, "0", NULL, "two-piece, from the knee on: times " \
    "the distance" }, \
  { group "table", KEY_SEEK_TABLE, P (curve), 0, 0, NEED_NO, NULL, NULL, \
    "table, and the shortest distances of two-piece: points ( cylinders, " \
    "ms ), straight lines between them" }

/* What is said of the drive, for comparison. */
#define PUBLISHED(name, kind, member, max, text) \
  { "published." name, kind, P (published.member), 0, max, NEED_NO, "0", \
    NULL, text }

const struct key keys[] = {
  { "title", KEY_TEXT, TEXT (title), NEED_ALWAYS, NULL, NULL,
    "maker, model, year and size, for people" },
  { "instant", KEY_BOOL, P (instant), 0, 1, NEED_NO, "false", NULL,
    "no time at all and no queue; only geometry.sectors is then needed" },
  { "sources", KEY_SOURCES, 0, 0, 0, 0, NEED_NO, NULL, NULL,
    "what the marks refer to" },

  { "identify.model", KEY_TEXT, TEXT (identify.model), NEED_NO, "", NULL,
    "model number; empty = the emulator's own" },
  { "identify.firmware", KEY_TEXT, TEXT (identify.firmware), NEED_NO, "",
    NULL, "firmware revision; empty = the emulator's own" },
  { "identify.serial", KEY_TEXT, TEXT (identify.serial), NEED_NO, "", NULL,
    "serial number; empty = the emulator's own" },
  { "identify.cylinders", KEY_COUNT, P (identify.cylinders), 0, 65535,
    NEED_NO, "0", NULL, "word 1, the CHS the drive reports; 0 = emulator's" },
  { "identify.heads", KEY_COUNT, P (identify.heads), 0, 16, NEED_NO, "0",
    NULL, "word 3" },
  { "identify.sectors", KEY_COUNT, P (identify.sectors), 0, 255, NEED_NO,
    "0", NULL, "word 6" },
  { "identify.track-bytes", KEY_COUNT, P (identify.track_bytes), 0, 65535,
    NEED_NO, "0", NULL, "word 4, unformatted bytes per track (TrkSize)" },
  { "identify.sector-bytes", KEY_COUNT, P (identify.sector_bytes), 0, 65535,
    NEED_NO, "0", NULL, "word 5, unformatted bytes per sector (SectSize)" },
  { "identify.buffer-kib", KEY_COUNT, P (identify.buffer_kib), 0, 32767,
    NEED_NO, "0", NULL, "word 21, buffer size; 0 = leave alone" },
  { "identify.ecc-bytes", KEY_COUNT, P (identify.ecc_bytes), 0, 65535,
    NEED_NO, "0", NULL, "word 22" },
  { "identify.udma-max", KEY_COUNT, P (identify.udma_max), 0, 6, NEED_NO,
    "5", NULL, "word 88, highest UDMA mode the drive offers" },
  { "identify.rotation-rate", KEY_COUNT, P (identify.rotation_rate), 0,
    65534, NEED_NO, "0", NULL,
    "word 217, turns per minute; 0 = not reported" },
  { "identify.lba48", KEY_BOOL, P (identify.lba48), 0, 1, NEED_NO, "true",
    NULL, "has the 48-bit commands, of more than 256 sectors" },
  { "identify.exact", KEY_BOOL, P (identify.exact), 0, 1, NEED_NO, "false",
    NULL, "change words 4, 5, 21, 22, 80-88 and 100-103 in the guest's "
    "drive to what this profile says" },

  { "geometry.sectors", KEY_COUNT, P (geometry.sectors), 1,
    INT64_C (1) << 48, NEED_ALWAYS, NULL, NULL,
    "capacity in sectors of 512 bytes" },
  { "geometry.heads", KEY_COUNT, P (geometry.heads), 1, 255, NEED_TIMED,
    NULL, NULL, "surfaces with data" },
  { "geometry.rpm", KEY_RPM, P (geometry.rpm_x100), RPM (60), RPM (100000),
    NEED_TIMED, NULL, NULL, "turns per minute" },
  { "geometry.physical-sectors", KEY_COUNT, P (geometry.physical_sectors), 1,
    128, NEED_NO, "1", NULL,
    "sectors of 512 bytes in one on the media; 8 = 512e" },
  { "geometry.serpentine", KEY_BOOL, P (geometry.serpentine), 0, 1, NEED_NO,
    "false", NULL, "every other cylinder's tracks follow each other from the "
    "last head to the first" },
  { "geometry.zones", KEY_ZONES, 0, 0, 0, 0, NEED_NO, NULL, NULL,
    "the zones, outermost first; or use geometry.zone-table" },
  { "geometry.holes", KEY_HOLES, 0, 0, 0, 0, NEED_NO, NULL, NULL,
    "sectors without an LBA: defects slipped over, spares" },
  { "geometry.remaps", KEY_REMAPS, 0, 0, 0, 0, NEED_NO, NULL, NULL,
    "defects whose sector was moved to a spare" },
  { "geometry.zone-table.count", KEY_COUNT, AT (zone_table.count), 1,
    PROFILE_MAX_ZONES, NEED_NO, NULL, NULL, "number of equally wide zones" },
  { "geometry.zone-table.outer", KEY_COUNT, AT (zone_table.outer), 1, 1000000,
    NEED_NO, NULL, NULL, "sectors per track in the first zone" },
  { "geometry.zone-table.inner", KEY_COUNT, AT (zone_table.inner), 1, 1000000,
    NEED_NO, NULL, NULL, "sectors per track in the last zone" },
  { "geometry.zone-table.track-skew-sectors", KEY_SKEW,
    AT (zone_table.track_skew), 0, 1000000000, NEED_NO, "auto", NULL,
    "sectors from one head's first sector to the next head's" },
  { "geometry.zone-table.cylinder-skew-sectors", KEY_SKEW,
    AT (zone_table.cylinder_skew), 0, 1000000000, NEED_NO, "auto", NULL,
    "the same from the last head to the next cylinder" },

  CURVE ("seek.", seek.read, NEED_TIMED, NULL,
         "how the time of a seek follows from its distance"),
  CURVE ("seek.write.", seek.write, NEED_NO, "none",
         "the same for a seek before a write; none = as for reading"),
  CURVE ("seek.quiet.", seek.quiet_read, NEED_NO, "none",
         "the same for all seeks when seek.quiet-mode is on"),
  { "seek.quiet-mode", KEY_BOOL, P (seek.quiet), 0, 1, NEED_NO, "false",
    NULL, "acoustic management is set to quiet" },
  { "seek.head-switch-ms", KEY_MS, P (seek.head_switch_ns), 0, MS (100),
    NEED_TIMED, NULL, NULL, "to continue on the next track of a cylinder" },
  { "seek.write-settle-ms", KEY_MS, P (seek.write_settle_ns), -MS (100),
    MS (100), NEED_NO, "0", NULL, "added to a seek or switch before a write" },
  { "seek.write-switch-ms", KEY_MS, P (seek.write_switch_ns), 0, MS (100),
    NEED_NO, "0", NULL, "added to a switch inside a write" },
  { "seek.write-minimum-ms", KEY_MS, P (seek.write_minimum_ns), 0, MS (100),
    NEED_NO, "0", NULL, "no positioning for a write is shorter" },
  { "seek.spread-ms", KEY_MS, P (seek.spread_ns), 0, MS (100), NEED_NO, "0",
    NULL, "standard deviation of each seek" },

  { "interface.bus", KEY_BUS, P (interface.bus_ps_per_byte), MBPS (1),
    MBPS (100000), NEED_TIMED, NULL, NULL, "speed of the cable" },
  { "interface.write-bus", KEY_BUS, P (interface.write_bus_ps_per_byte),
    MBPS (1), MBPS (100000), NEED_NO, "none", NULL,
    "the same for writes; none = as for reads" },
  { "interface.overlap", KEY_BOOL, P (interface.overlap), 0, 1, NEED_NO,
    "true", NULL, "bus and media move data at the same time" },
  { "interface.flush", KEY_BOOL, P (interface.flush), 0, 1, NEED_NO, "true",
    NULL, "has FLUSH CACHE; without it a flush does nothing" },
  { "interface.fua", KEY_BOOL, P (interface.fua), 0, 1, NEED_NO, "true",
    NULL, "a write can be forced to the media, by the drive (WRITE FUA) or "
    "by the host" },
  { "interface.trim", KEY_BOOL, P (interface.trim), 0, 1, NEED_NO, "false",
    NULL, "has TRIM" },
  { "interface.prepare-ms", KEY_MS, P (interface.prepare_ns), 0, MS (100),
    NEED_NO, "0", NULL, "before data are moved over the bus" },
  { "interface.reselect-ms", KEY_MS, P (interface.reselect_ns), 0, MS (100),
    NEED_NO, "0", NULL, "before that, if the bus was let go while the media "
    "were at work" },
  { "interface.watermark", KEY_SHARE, P (interface.watermark_permille), 0,
    1000, NEED_NO, "0", NULL,
    "share of a read that is in the buffer when the bus is taken again" },
  { "interface.write-lead-sectors", KEY_COUNT,
    P (interface.write_lead_sectors), 0, 65536, NEED_NO, "0", NULL,
    "of a write, in the buffer before the media are written" },

  { "overhead.read-hit-ms", KEY_MS, P (overhead.read_hit_ns), 0, MS (1000),
    NEED_TIMED, NULL, NULL, "controller time of a read from the buffer" },
  { "overhead.read-miss-ms", KEY_MS, P (overhead.read_miss_ns), 0,
    MS (1000), NEED_TIMED, NULL, NULL,
    "controller time of a read that needs the media" },
  { "overhead.write-ms", KEY_MS, P (overhead.write_ns), 0, MS (1000),
    NEED_TIMED, NULL, NULL, "controller time of a write" },
  AFTER_WRITE ("overhead.read-hit", overhead.read_hit_after_write_ns),
  AFTER_WRITE ("overhead.read-miss", overhead.read_miss_after_write_ns),
  AFTER_WRITE ("overhead.write", overhead.write_after_write_ns),
  { "overhead.through-ms", KEY_MS, P (overhead.through_ns), 0, MS (1000),
    NEED_NO, "0", NULL, "controller time of a write to the media; 0 = as "
    "one to the cache" },
  AFTER_WRITE ("overhead.through", overhead.through_after_write_ns),
  { "overhead.read-done-ms", KEY_MS, P (overhead.read_done_ns), 0, MS (1000),
    NEED_NO, "0", NULL, "controller time of a read after the data" },
  { "overhead.write-done-ms", KEY_MS, P (overhead.write_done_ns), 0,
    MS (1000), NEED_NO, "0", NULL, "controller time of a write after the "
    "data" },
  { "overhead.flush-ms", KEY_MS, P (overhead.flush_ns), 0, MS (1000),
    NEED_NO, "0", NULL, "controller time of a flush" },
  { "overhead.trim-ms", KEY_MS, P (overhead.trim_ns), 0, MS (1000), NEED_NO,
    "0", NULL, "controller time of a trim" },

  { "buffer.size-kib", KEY_KIB, P (buffer.size_bytes), 0, KIB (4194304),
    NEED_TIMED, NULL, NULL, "memory for data, the firmware's share not "
    "counted" },
  { "buffer.segments", KEY_COUNT, P (buffer.segments), 0,
    PROFILE_MAX_SEGMENTS, NEED_TIMED, NULL, NULL, "read streams remembered" },
  { "buffer.segment-kib", KEY_KIB, P (buffer.segment_bytes), 0, KIB (4194304),
    NEED_NO, "0", NULL, "size of one; 0 = buffer / segments" },
  { "buffer.keep-written", KEY_BOOL, P (buffer.keep_written), 0, 1, NEED_NO,
    "false", NULL, "written data can be read from a segment" },
  { "buffer.read-on-arrival", KEY_BOOL, P (buffer.read_on_arrival), 0, 1,
    NEED_NO, "false", NULL, "a read takes the sectors of its first track in "
    "the order in which they pass (zero-latency read)" },
  { "buffer.write-on-arrival", KEY_BOOL, P (buffer.write_on_arrival), 0, 1,
    NEED_NO, "false", NULL, "a write likewise" },

  { "buffer.adaptive", KEY_BOOL, P (buffer.adaptive), 0, 1, NEED_NO, "false",
    NULL, "the buffer is shared by as many segments as there are streams, "
    "up to buffer.segments" },

  { "lookahead.enabled", KEY_BOOL, P (lookahead.enabled), 0, 1, NEED_NO,
    "true", NULL, "the drive reads on after a read" },
  { "lookahead.limit", KEY_CHOICE, P (lookahead.limit), 0, 0, NEED_NO,
    "bytes", limit_names, "where it ends: lookahead.limit-kib after the "
    "command, at the end of the track (of the next one, for a stream that "
    "began before it), or of the cylinder; and at the segment's end" },
  { "lookahead.limit-kib", KEY_KIB, P (lookahead.limit_bytes), 0, KIB (4194304),
    NEED_NO, "0", NULL, "how far past the last command's end; 0 = segment" },
  { "lookahead.keep-behind-kib", KEY_KIB, P (lookahead.keep_behind_bytes), 0,
    KIB (4194304), NEED_NO, "0", NULL,
    "part of the segment that holds data already sent" },
  { "lookahead.sequential-only", KEY_BOOL, P (lookahead.sequential_only), 0,
    1, NEED_NO, "false", NULL, "begins with a stream's second command" },
  { "lookahead.resume-any", KEY_BOOL, P (lookahead.resume_any), 0, 1,
    NEED_NO, "false", NULL, "a hit resumes it in any segment, not only in "
    "the one read last" },
  { "lookahead.on-command", KEY_CHOICE, P (lookahead.on_command), 0, 0,
    NEED_NO, "abort", interrupt_names,
    "what look-ahead does when a command of another stream comes: stop at "
    "the sector's end, go on to its limit or to the track's end, or stop "
    "unless the command is for the track under the head" },
  { "lookahead.restart-rotates", KEY_BOOL, P (lookahead.restart_rotates), 0,
    1, NEED_NO, "true", NULL,
    "look-ahead that had stopped resumes when the sector comes round" },
  { "lookahead.tail.enabled", KEY_BOOL, P (lookahead.tail.enabled), 0, 1,
    NEED_NO, "false", NULL, "the tail rule, explained below" },
  { "lookahead.tail.min-command-sectors", KEY_COUNT,
    P (lookahead.tail.min_command_sectors), 0, 65536, NEED_NO, "0", NULL,
    "it concerns commands of at least so many sectors" },
  { "lookahead.tail.tail-sectors", KEY_COUNT,
    P (lookahead.tail.tail_sectors), 0, 1000000, NEED_NO, "0", NULL,
    "that end with fewer than this left" },
  { "lookahead.tail.period-sectors", KEY_COUNT,
    P (lookahead.tail.period_sectors), 0, 1000000, NEED_NO, "0", NULL,
    "in a period of this length" },
  { "lookahead.tail.of", KEY_CHOICE, P (lookahead.tail.of_track), 0, 0,
    NEED_NO, "ring", tail_of_names, "what the period is counted in" },

  { "write-cache.enabled", KEY_BOOL, P (write_cache.enabled), 0, 1, NEED_NO,
    "true", NULL, "a write is complete when its data are in the buffer" },
  { "write-cache.size-kib", KEY_KIB, P (write_cache.size_bytes), 0, KIB (4194304),
    NEED_NO, "0", NULL, "share of the buffer; 0 = all of it" },
  { "write-cache.max-extents", KEY_COUNT, P (write_cache.max_extents), 1,
    65536, NEED_NO, "32", NULL, "entries of the write command stack" },
  { "write-cache.order", KEY_CHOICE, P (write_cache.order), 0, 0, NEED_NO,
    "elevator", order_names, "in which order they reach the media" },
  { "write-cache.delay-ms", KEY_MS, P (write_cache.delay_ns), 0, MS (60000),
    NEED_NO, "0", NULL, "how long the drive waits before it destages" },
  { "write-cache.destage-ms", KEY_MS, P (write_cache.destage_ns), 0,
    MS (1000), NEED_NO, "0", NULL, "controller time of each destage" },
  { "write-cache.unit-sectors", KEY_COUNT, P (write_cache.unit_sectors), 1,
    65536, NEED_NO, "128", NULL,
    "a read may cut into a destage at multiples of this" },
  { "write-cache.blocks-hits", KEY_BOOL, P (write_cache.blocks_hits), 0, 1,
    NEED_NO, "false", NULL, "not even hits are served during a destage" },

  { "power.spin-up-ms", KEY_MS, P (power.spin_up_ns), 0, MS (600000), NEED_NO,
    "0", NULL, "from power-on, or standby, until a command is served" },
  { "power.unload-after-ms", KEY_MS, P (power.unload.after_ns), 0,
    MS (86400000), NEED_NO, "0", NULL, "left alone for so long, the drive "
    "takes its heads off the platters; 0 = never" },
  { "power.load-ms", KEY_MS, P (power.unload.back_ns), 0, MS (600000),
    NEED_NO, "0", NULL, "until they are back" },
  { "power.slow-after-ms", KEY_MS, P (power.slow.after_ns), 0, MS (86400000),
    NEED_NO, "0", NULL, "likewise, and the platters turn more slowly" },
  { "power.fast-ms", KEY_MS, P (power.slow.back_ns), 0, MS (600000), NEED_NO,
    "0", NULL, "until all is back as it was" },
  { "power.standby-after-ms", KEY_MS, P (power.standby_after_ns), 0,
    MS (86400000), NEED_NO, "0", NULL, "likewise, and they stop: spin-up-ms" },
  { "power.scan-after-ms", KEY_MS, P (power.scan_after_ns), 0, MS (86400000),
    NEED_NO, "0", NULL, "left alone for so long, the drive reads its media "
    "until the next command; 0 = never" },

  { "media.retries", KEY_COUNT, P (media.retries), 0, 100000, NEED_NO, "10",
    NULL, "of a sector that does not read, each a revolution" },
  { "media.timeout-ms", KEY_MS, P (media.timeout_ns), 0, MS (600000), NEED_NO,
    "0", NULL, "the drive gives up on it after so long (TLER, ERC); 0 = when "
    "the retries are used up" },
  { "media.stall-every-ms", KEY_MS, P (media.stall_every_ns), 0,
    MS (86400000), NEED_NO, "0", NULL, "the drive stops so often, as for "
    "thermal recalibration; 0 = never" },
  { "media.stall-ms", KEY_MS, P (media.stall_for_ns), 0, MS (600000), NEED_NO,
    "0", NULL, "for so long" },
  { "media.worn-head", KEY_COUNT, P (media.worn_head), 0, 255, NEED_NO, "0",
    NULL, "a head that has become weak, from 1; 0 = none" },
  { "media.worn-share", KEY_SHARE, P (media.worn_permille), 0, 1000, NEED_NO,
    "0", NULL, "of its reads need another revolution, and again" },

  { "smr.enabled", KEY_BOOL, P (smr.enabled), 0, 1, NEED_NO, "false", NULL,
    "drive-managed shingled recording, as an approximation" },
  { "smr.cache-kib", KEY_KIB, P (smr.cache_bytes), 0, KIB (4294967296), NEED_NO,
    "0", NULL, "the persistent cache at the outer edge" },
  { "smr.band-kib", KEY_KIB, P (smr.band_bytes), 0, KIB (4194304), NEED_NO,
    "0", NULL, "what can only be rewritten whole" },
  { "smr.map-entries", KEY_COUNT, P (smr.map_entries), 0, 1000000, NEED_NO,
    "0", NULL, "runs the persistent cache can keep track of" },
  { "smr.map-ms", KEY_MS, P (smr.map_ns), 0, MS (1000), NEED_NO, "0", NULL,
    "to note one, with each destage" },
  { "smr.idle-ms", KEY_MS, P (smr.idle_ns), 0, MS (3600000), NEED_NO, "0",
    NULL, "cleaning begins after so much idleness" },

  { "queue.depth", KEY_COUNT, P (queue.depth), 0, 256, NEED_NO, "0", NULL,
    "commands the drive holds (TCQ, NCQ); 0 or 1 = one at a time" },
  { "queue.order", KEY_CHOICE, P (queue.order), 0, 0, NEED_NO, "fcfs",
    queue_names, "which is served next: the oldest, the one with the fewest "
    "cylinders to go, the next one upwards, or the one positioned soonest" },
  { "queue.age-limit-ms", KEY_MS, P (queue.age_limit_ns), 0, MS (60000),
    NEED_NO, "0", NULL, "a command older than this goes first; 0 = never" },
  { "queue.awareness", KEY_SHARE, P (queue.awareness_permille), 0, 1000,
    NEED_NO, "1", NULL, "how well the firmware knows the angle of the "
    "platters: 1 = exactly, 0 = not at all" },

  PUBLISHED ("sustained-outer-mb-s", KEY_MB_S, sustained_outer_kb_s,
             MBPS (100000), "sustained rate of reading, outermost"),
  PUBLISHED ("sustained-middle-mb-s", KEY_MB_S, sustained_middle_kb_s,
             MBPS (100000), "the same in the middle of the LBAs"),
  PUBLISHED ("sustained-inner-mb-s", KEY_MB_S, sustained_inner_kb_s,
             MBPS (100000), "the same, innermost"),
  PUBLISHED ("average-mb-s", KEY_MB_S, average_kb_s, MBPS (100000),
             "mean of the rates over all LBAs"),
  PUBLISHED ("track-seek-ms", KEY_MS, track_seek_ns, MS (1000),
             "seek to the next track, reading"),
  PUBLISHED ("average-seek-ms", KEY_MS, average_seek_ns, MS (1000),
             "mean over random pairs of tracks, reading"),
  PUBLISHED ("full-stroke-ms", KEY_MS, full_stroke_ns, MS (1000),
             "seek over the whole stroke, reading"),
  PUBLISHED ("write-track-seek-ms", KEY_MS, write_track_seek_ns, MS (1000),
             "seek to the next track, writing"),
  PUBLISHED ("write-average-seek-ms", KEY_MS, write_average_seek_ns,
             MS (1000), "mean over random pairs of tracks, writing"),
  PUBLISHED ("write-full-stroke-ms", KEY_MS, write_full_stroke_ns, MS (1000),
             "seek over the whole stroke, writing"),
  PUBLISHED ("random-read-ms", KEY_MS, random_read_ns, MS (1000),
             "mean time of a random read of one sector or few, rotation and "
             "overhead included"),
  PUBLISHED ("full-access-ms", KEY_MS, full_access_ns, MS (1000),
             "the same between the first and the last sector"),
  PUBLISHED ("half-access-ms", KEY_MS, half_access_ns, MS (1000),
             "between a quarter and three quarters of the LBAs"),
  PUBLISHED ("quarter-access-ms", KEY_MS, quarter_access_ns, MS (1000),
             "between a quarter and a half"),
  PUBLISHED ("cached-read-ms", KEY_MS, cached_read_ns, MS (1000),
             "read of one sector that is in the buffer"),
  PUBLISHED ("random-read-iops", KEY_COUNT, random_iops, 1000000,
             "random reads of 4 KiB per second, one at a time"),
  PUBLISHED ("random-read-32-iops", KEY_COUNT, random_iops_32, 1000000,
             "the same with 32 outstanding"),
  PUBLISHED ("random-write-iops", KEY_COUNT, write_iops, 1000000,
             "random writes of 4 KiB per second, one at a time, the write "
             "cache as it is"),
  PUBLISHED ("sync-write-iops", KEY_COUNT, sync_write_iops, 1000000,
             "sequential writes of 4 KiB per second that wait for the "
             "media"),
  PUBLISHED ("sequential-16mib-outer-s", KEY_S, outer_16mib_ns, S (1000),
             "IBM's figure: 16 MiB by 128 commands in the first zone, their "
             "margin of 5 % included"),
  PUBLISHED ("sequential-16mib-inner-s", KEY_S, inner_16mib_ns, S (1000),
             "the same in the last zone"),
  PUBLISHED ("random-4096-s", KEY_S, random_4096_ns, S (1000),
             "IBM's figure: 4096 random reads of one sector, their margin "
             "of 5 % included"),
};
const size_t n_keys = sizeof keys / sizeof keys[0];
_Static_assert (sizeof keys / sizeof keys[0] <= MAX_KEYS, "raise MAX_KEYS");

/* A word of two bytes per cycle: PIO and MWDMA from the cycle times of
 * ATA-2 to ATA-4, UDMA from the two transfers per strobe cycle of ATA-4 to
 * ATA-7; SATA from its line rate with 8b/10b coding.
 */
static const struct {
  const char *name;
  int64_t ps_per_byte;
} bus_modes[] = {
  { "none", 0 },
  { "pio0", 600000 / 2 }, { "pio1", 383000 / 2 }, { "pio2", 240000 / 2 },
  { "pio3", 180000 / 2 }, { "pio4", 120000 / 2 },
  { "mwdma0", 480000 / 2 }, { "mwdma1", 150000 / 2 },
  { "mwdma2", 120000 / 2 },
  { "udma0", 120000 / 2 }, { "udma1", 80000 / 2 }, { "udma2", 60000 / 2 },
  { "udma3", 45000 / 2 }, { "udma4", 30000 / 2 }, { "udma5", 20000 / 2 },
  { "udma6", 15000 / 2 },
  { "sata150", 6667 }, { "sata300", 3333 }, { "sata600", 1667 },
};

int64_t
bus_mode_find (const char *name)
{
  for (size_t i = 0; i < sizeof bus_modes / sizeof bus_modes[0]; i++)
    if (strcmp (bus_modes[i].name, name) == 0)
      return bus_modes[i].ps_per_byte;
  return -1;
}

const char *
bus_mode_name (int64_t ps_per_byte)
{
  for (size_t i = 0; i < sizeof bus_modes / sizeof bus_modes[0]; i++)
    if (bus_modes[i].ps_per_byte == ps_per_byte)
      return bus_modes[i].name;
  return NULL;
}

const struct key *
key_find (const char *path)
{
  for (size_t i = 0; i < n_keys; i++)
    if (strcmp (keys[i].path, path) == 0)
      return &keys[i];
  return NULL;
}

bool
key_is_group (const char *path)
{
  const size_t len = strlen (path);

  for (size_t i = 0; i < n_keys; i++)
    if (strncmp (keys[i].path, path, len) == 0 && keys[i].path[len] == '.')
      return true;
  return false;
}

bool
key_wants_mark (const struct key *key)
{
  switch (key->kind) {
  case KEY_TEXT: case KEY_BOOL: case KEY_CHOICE: case KEY_SOURCES:
    return false;
  default:
    return true;
  }
}

int
key_decimals (enum key_kind kind)
{
  switch (kind) {
  case KEY_MS: return 6;
  case KEY_S: return 9;
  case KEY_KIB: return 1;
  case KEY_RPM: return 2;
  case KEY_SKEW: case KEY_NS: case KEY_SHARE: case KEY_BUS: case KEY_MB_S:
    return 3;
  default: return 0;
  }
}

static const char *
unit (enum key_kind kind)
{
  switch (kind) {
  case KEY_MS: return "milliseconds";
  case KEY_NS: return "nanoseconds";
  case KEY_S: return "seconds";
  case KEY_MB_S: return "MB/s";
  case KEY_SHARE: return "a number";
  case KEY_RPM: return "turns per minute";
  case KEY_KIB: return "KiB";
  case KEY_BUS: return "udma4 or another mode (pio0-4, mwdma0-2, udma0-6, "
      "sata150, sata300, sata600, none), or MB/s";
  case KEY_SKEW: return "\"auto\" (hides the switch) or sectors";
  default: return "a whole number";
  }
}

static void
print_bounds (const struct key *key, char *buf, size_t size)
{
  double one = 1;

  for (int i = 0; i < key_decimals (key->kind); i++)
    one *= 10;
  snprintf (buf, size, "%s from %.15g to %.15g", unit (key->kind),
            (double) key->min / one, (double) key->max / one);
}

static void
print_names (const struct key *key, char *buf, size_t size)
{
  size_t used = 0;

  for (size_t i = 0; key->names[i] && used < size; i++)
    used += snprintf (buf + used, size - used, "%s\"%s\"",
                      i == 0 ? "" : key->names[i + 1] ? ", " : " or ",
                      key->names[i]);
}

char *
key_allowed (const struct key *key, char *buf, size_t size)
{
  switch (key->kind) {
  case KEY_TEXT:
    snprintf (buf, size, "text of at most %lld printable ASCII characters",
              (long long) key->max);
    break;
  case KEY_BOOL:
    snprintf (buf, size, "true or false");
    break;
  case KEY_CHOICE:
    print_names (key, buf, size);
    break;
  case KEY_ZONES:
    snprintf (buf, size, "a list of at most %d groups { cylinders = N; "
              "sectors-per-track = N; }", PROFILE_MAX_ZONES);
    break;
  case KEY_REMAPS:
    snprintf (buf, size, "a list of at most %d items ( lba, zone, sector "
              "in the zone )", PROFILE_MAX_REMAPS);
    break;
  case KEY_HOLES:
    snprintf (buf, size, "a list of at most %d holes ( zone from 0, first "
              "sector in the zone, sectors )", PROFILE_MAX_HOLES);
    break;
  case KEY_SEEK_TABLE:
    snprintf (buf, size, "a list of 2 to %d points ( cylinders, ms )",
              PROFILE_MAX_SEEK_POINTS);
    break;
  case KEY_SOURCES:
    snprintf (buf, size, "a list of groups { id = \"X1\"; text = \"...\"; "
              "url = \"...\"; }");
    break;
  default:
    print_bounds (key, buf, size);
  }
  return buf;
}

static const char *
fallback_words (const struct key *key)
{
  if (key->kind == KEY_TEXT && key->fallback)
    return "empty";
  if (key->need != NEED_NO)
    return "required";
  return key->fallback ? key->fallback : "-";
}

void
profile_keys (void (*fn) (void *opaque, const struct profile_key *key),
              void *opaque)
{
  char allowed[256];

  for (size_t i = 0; i < n_keys; i++) {
    const struct profile_key words = {
      .path = keys[i].path,
      .allowed = key_allowed (&keys[i], allowed, sizeof allowed),
      .fallback = fallback_words (&keys[i]),
      .text = keys[i].text,
      .mark = key_wants_mark (&keys[i]),
    };

    fn (opaque, &words);
  }
}
