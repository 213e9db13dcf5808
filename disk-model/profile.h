/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A drive described by numbers.  This is what the model is created from.
 * It is plain data: profiles/ holds the loader that reads it from a
 * libconfig file, checks every range and fills this struct.
 *
 * Units are in the names.  0 means "not there" unless said otherwise.
 */
#ifndef SPINDLE_PROFILE_H
#define SPINDLE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_MAX_ZONES 64
#define PROFILE_MAX_SEEK_POINTS 512
#define PROFILE_MAX_SEGMENTS 256
#define PROFILE_MAX_HOLES 4096
#define PROFILE_MAX_REMAPS 256

/* What the guest is told by IDENTIFY DEVICE. */
struct profile_identify {
  char model[41];
  char firmware[9];
  char serial[21];
  uint32_t cylinders, heads, sectors; /* CHS, words 1 3 6 */
  uint32_t rotation_rate;       /* word 217; 0 = not reported */
  bool lba48;
  uint32_t buffer_kib;          /* word 21, 0 = leave alone */
  uint32_t track_bytes;         /* word 4, "TrkSize" */
  uint32_t sector_bytes;        /* word 5, "SectSize" */
  uint32_t ecc_bytes;           /* word 22 */
  uint32_t udma_max;            /* highest UDMA mode, word 88 */
  bool exact;                   /* make words 4 5 21 22 80-88 100-103 so */
};

/* Skews and offsets are in thousandths of a sector of their zone. */
#define PROFILE_SKEW_AUTO UINT32_MAX

struct profile_zone {
  uint32_t cylinders;
  uint32_t sectors_per_track;
  uint32_t track_skew_x1000;    /* to the next head; auto = hides the switch */
  uint32_t cylinder_skew_x1000; /* to the next cylinder; auto likewise */
  uint32_t offset_x1000;        /* angle of the first sector; auto = a
                                   cylinder skew on from the zone before */
  uint32_t skip_cylinders;      /* without data, before the zone */
};

/* Sectors without an LBA: slipped defects, spares, reserved space. */
struct profile_hole {
  uint32_t zone;
  uint32_t sectors;
  int64_t first;                /* counted from the start of the zone */
};

/* A defect whose sector was moved to a spare one. */
struct profile_remap {
  int64_t lba;
  uint32_t zone;                /* where the spare is: a sector without an */
  int64_t sector;               /* LBA, counted from the start of the zone */
};

struct profile_geometry {
  int64_t sectors;              /* capacity */
  uint32_t heads;
  uint32_t rpm_x100;            /* hundredths of a turn per minute */
  uint32_t physical_sectors;    /* in one on the media: 8 = 512e; 0 is 1 */
  bool serpentine;              /* every other cylinder from the last head to
                                   the first */
  uint32_t n_zones;
  struct profile_zone zones[PROFILE_MAX_ZONES]; /* outermost first */
  uint32_t n_holes;             /* in order, not overlapping */
  struct profile_hole holes[PROFILE_MAX_HOLES];
  uint32_t n_remaps;            /* in order of LBA */
  struct profile_remap remaps[PROFILE_MAX_REMAPS];
};

/* A seek curve: time against distance in cylinders, settling included. */
enum profile_curve_kind {
  SEEK_CURVE_NONE,              /* the arm takes no time */
  SEEK_CURVE_THREE_POINT,       /* track-to-track, average, full stroke */
  SEEK_CURVE_TABLE,             /* measured points, linear between them */
  SEEK_CURVE_POWER,             /* track + (full - track) x^exponent */
  SEEK_CURVE_TWO_PIECE,         /* a square root below the knee, a straight
                                   line from it on */
};

struct profile_seek_point {
  uint32_t cylinders;
  int64_t time_ns;
};

struct profile_curve {
  enum profile_curve_kind kind;
  int64_t track_ns, average_ns, full_ns;
  uint32_t exponent_permille;   /* power */
  uint32_t knee_cylinders;      /* two-piece: below, low + low_root sqrt (d) */
  int64_t low_ns, low_root_ns;
  int64_t high_ns, high_ps;     /* from it on, high + high_ps d */
  uint32_t n_points;            /* table; two-piece: the shortest distances */
  struct profile_seek_point points[PROFILE_MAX_SEEK_POINTS];
};

struct profile_seek {
  struct profile_curve read;
  struct profile_curve write;   /* kind none: as read */
  struct profile_curve quiet_read; /* for both, when quiet is on */
  bool quiet;                   /* acoustic management */
  int64_t head_switch_ns;
  int64_t write_settle_ns;      /* added to a seek or switch before a write;
                                   may be negative */
  int64_t write_switch_ns;      /* added to a switch inside a write */
  int64_t write_minimum_ns;     /* no positioning for a write is shorter */
  int64_t spread_ns;            /* standard deviation of each seek */
};

struct profile_interface {
  int64_t bus_ps_per_byte;      /* 15000 = UDMA4; 0 = takes no time */
  int64_t write_bus_ps_per_byte; /* 0 = the same */
  bool overlap;                 /* bus and media move data together */
  bool flush;                   /* has FLUSH CACHE; else a flush does nothing */
  bool fua;                     /* WRITE FUA, or the host's substitute */
  bool trim;
  /* A bus that is let go while the media are at work (SCSI). */
  int64_t prepare_ns;           /* before data are moved */
  int64_t reselect_ns;          /* before that, after waiting for the media */
  uint32_t watermark_permille;  /* share of a read in the buffer when it is */
  uint32_t write_lead_sectors;  /* in the buffer before the media write */
};

/* Controller time by kind of command.  Those ending in after_write hold
 * when the command before was a write; 0 = no difference.
 */
struct profile_overhead {
  int64_t read_hit_ns, read_hit_after_write_ns;
  int64_t read_miss_ns, read_miss_after_write_ns;
  int64_t write_ns, write_after_write_ns; /* into the write cache */
  int64_t through_ns, through_after_write_ns; /* 0 = as write */
  int64_t read_done_ns, write_done_ns; /* after the data */
  int64_t flush_ns, trim_ns;
};

struct profile_buffer {
  int64_t size_bytes;
  uint32_t segments;            /* for reads */
  int64_t segment_bytes;        /* 0 = size / segments */
  bool adaptive;                /* the buffer is shared by as many segments
                                   as there are streams, up to `segments` */
  bool keep_written;            /* written data can be read from a segment */
  bool read_on_arrival;         /* a read begins with whatever sector of it */
  bool write_on_arrival;        /* comes first, a write likewise: also called
                                   zero-latency access */
};

/* What look-ahead under way does when a command of another stream comes. */
enum profile_interrupt {
  INTERRUPT_ABORT,              /* stop at the end of the sector */
  INTERRUPT_FINISH,             /* go on to the limit */
  INTERRUPT_TRACK,              /* go on to the end of the track */
  INTERRUPT_ELSEWHERE,          /* stop, unless the command is for the track
                                   under the head */
};

enum profile_ahead_limit {
  AHEAD_BYTES,                  /* limit_bytes past the command's end */
  AHEAD_TRACK,                  /* to the end of the track; of the next one,
                                   for a stream that began before it */
  AHEAD_CYLINDER,               /* to the end of the cylinder */
};

struct profile_lookahead {
  bool enabled;
  enum profile_ahead_limit limit;
  int64_t limit_bytes;          /* past the last command's end; 0 = segment */
  int64_t keep_behind_bytes;    /* of the segment, for data already sent */
  bool sequential_only;         /* begins with a stream's second command */
  bool resume_any;              /* a hit resumes it in any segment, not only
                                   in the one the head read last */
  enum profile_interrupt on_command;
  bool restart_rotates;         /* resuming waits for the sector to come */
  struct {                      /* see profiles/README.md */
    bool enabled;
    uint32_t min_command_sectors;
    uint32_t tail_sectors;
    uint32_t period_sectors;
    bool of_track;              /* count in the track, not in a ring */
  } tail;
};

enum profile_destage_order {
  DESTAGE_ARRIVAL,
  DESTAGE_ELEVATOR,             /* upwards, then from the start again */
  DESTAGE_SPTF,                 /* shortest positioning time */
};

struct profile_write_cache {
  bool enabled;
  int64_t size_bytes;           /* 0 = the whole buffer */
  uint32_t max_extents;         /* entries of the write command stack */
  enum profile_destage_order order;
  int64_t delay_ns;             /* the drive waits this long before destaging */
  int64_t destage_ns;           /* overhead of each destage */
  uint32_t unit_sectors;        /* a read may cut in at multiples of this */
  bool blocks_hits;             /* not even hits are served during a destage */
};

/* A state that the drive enters when it has been left alone for so long, and
 * how long the arm then is not to be had.  after_ns = 0: never.
 */
struct profile_rest {
  int64_t after_ns, back_ns;
};

struct profile_power {
  int64_t spin_up_ns;           /* from power-on, or standby, to ready */
  struct profile_rest unload;   /* the heads are off the platters */
  struct profile_rest slow;     /* and these turn more slowly */
  int64_t standby_after_ns;     /* or not at all */
  int64_t scan_after_ns;        /* the media are read for bad sectors; 0 =
                                   never */
};

struct profile_media {
  uint32_t retries;             /* of a sector that does not read, each a
                                   revolution */
  int64_t timeout_ns;           /* the drive gives up after so long; 0 = when
                                   the retries are used up */
  int64_t stall_every_ns;       /* the drive stops so often, 0 = never, */
  int64_t stall_for_ns;         /* for so long: thermal recalibration */
  uint32_t worn_head;           /* a head that has become weak, counted from
                                   1; 0 = none */
  uint32_t worn_permille;       /* of its reads need another revolution */
};

/* Drive-managed shingling, as an approximation: see disk-model/smr.h. */
struct profile_smr {
  bool enabled;
  int64_t cache_bytes;          /* the persistent cache at the outer edge */
  int64_t band_bytes;
  uint32_t map_entries;         /* runs the cache can keep track of */
  int64_t map_ns;               /* to note a run, per destage */
  int64_t idle_ns;              /* cleaning begins after so much idleness */
};

/* Which of the waiting commands is served next. */
enum profile_order {
  ORDER_FCFS,                   /* arrival */
  ORDER_SSTF,                   /* fewest cylinders */
  ORDER_C_LOOK,                 /* upwards, then from the start again */
  ORDER_SPTF,                   /* shortest positioning time */
};

struct profile_queue {
  uint32_t depth;               /* commands the drive holds; 0 or 1 = no NCQ */
  enum profile_order order;
  int64_t age_limit_ns;         /* an older command goes first; 0 = never */
  uint32_t awareness_permille;  /* how well the firmware knows the angle:
                                   1000 = exactly, 0 = not at all */
};

/* What the maker says or somebody has measured, to compare the model with.
 * The model does not read it.
 */
struct profile_published {
  int64_t sustained_outer_kb_s, sustained_middle_kb_s; /* 10^3 bytes a second */
  int64_t sustained_inner_kb_s, average_kb_s;
  int64_t track_seek_ns, average_seek_ns, full_stroke_ns;
  int64_t write_track_seek_ns, write_average_seek_ns, write_full_stroke_ns;
  int64_t random_read_ns;       /* seek, rotation and all */
  int64_t full_access_ns, half_access_ns, quarter_access_ns; /* likewise */
  int64_t cached_read_ns;       /* a sector in the buffer */
  int64_t random_iops, random_iops_32, write_iops;
  int64_t sync_write_iops;
  int64_t outer_16mib_ns, inner_16mib_ns; /* by 128 commands */
  int64_t random_4096_ns;       /* 4096 sectors, one at a time */
};

struct profile {
  char name[64];
  char title[128];
  struct profile_identify identify;
  struct profile_geometry geometry;
  struct profile_seek seek;
  struct profile_interface interface;
  struct profile_overhead overhead;
  struct profile_buffer buffer;
  struct profile_lookahead lookahead;
  struct profile_write_cache write_cache;
  struct profile_queue queue;
  struct profile_smr smr;
  struct profile_power power;
  struct profile_media media;
  struct profile_published published;
  bool instant;                 /* no time at all, and no queue */
};

#endif /* SPINDLE_PROFILE_H */
