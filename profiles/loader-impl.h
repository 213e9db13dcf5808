/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of the loader share.
 */
#ifndef SPINDLE_LOADER_IMPL_H
#define SPINDLE_LOADER_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libconfig.h>

#include "loader.h"

enum key_kind {
  KEY_TEXT,
  KEY_BOOL,
  KEY_CHOICE,                   /* one of a list of names */
  KEY_COUNT,                    /* a whole number */
  KEY_SKEW,                     /* sectors, kept in thousandths, or "auto" */
  KEY_SHARE,                    /* a plain number, kept in thousandths */
  KEY_MS,                       /* milliseconds; kept as nanoseconds */
  KEY_NS,                       /* nanoseconds; kept as picoseconds */
  KEY_RPM,                      /* kept in hundredths */
  KEY_KIB,                      /* kept in bytes */
  KEY_S,                        /* seconds; kept as nanoseconds */
  KEY_MB_S,                     /* MB/s; kept as 1000 bytes a second */
  KEY_BUS,                      /* transfer mode or MB/s; kept as ps/byte */
  KEY_ZONES,
  KEY_HOLES,
  KEY_REMAPS,
  KEY_SEEK_TABLE,
  KEY_SOURCES,
};

enum key_need {
  NEED_NO,                      /* has a default, or checks.c decides */
  NEED_TIMED,                   /* required, except for an instant drive */
  NEED_ALWAYS,
};

/* One row per key: the parser, the checks and the documentation.  Bounds
 * are in the unit of the file times 10^decimals of the kind.
 */
struct key {
  const char *path;
  enum key_kind kind;
  size_t offset, width;         /* of the field in struct load */
  int64_t min, max;
  enum key_need need;
  const char *fallback;         /* as it would be given in an override */
  const char *const *names;     /* of a choice; the index is the value */
  const char *text;
};

#define MAX_KEYS 256

/* A linear zone layout, before checks.c turns it into zones. */
struct zone_table {
  uint32_t count, outer, inner, track_skew, cylinder_skew;
};

/* Where a key's value came from: a line, an override, or neither. */
struct origin {
  unsigned line;
  const char *override;         /* "KEY=VALUE" */
};

struct load {
  struct profile profile;
  struct zone_table zone_table;
  const char *file;
  char *found;                  /* the same, if it was looked for */
  config_t config;
  struct origin origin[MAX_KEYS];
  char *error;
};

/* keys.c */
extern const struct key keys[];
extern const size_t n_keys;
/* Returns NULL if there is no such key. */
extern const struct key *key_find (const char *path);
/* Is this the name of a group that has keys in it? */
extern bool key_is_group (const char *path);
extern bool key_wants_mark (const struct key *key);
/* How many decimals a number of this kind may have. */
extern int key_decimals (enum key_kind kind);
/* In words.  Returns buf. */
extern char *key_allowed (const struct key *key, char *buf, size_t size);
/* Transfer mode to ps per byte, or -1. */
extern int64_t bus_mode_find (const char *name);
/* The reverse, or NULL. */
extern const char *bus_mode_name (int64_t ps_per_byte);

/* loader.c */
/* Set the error message, as from printf; always returns -1. */
extern int fail (struct load *load, const char *format, ...)
  __attribute__ ((format (printf, 2, 3)));
/* The same, starting with where the key's value came from.  value may be
 * NULL.
 */
extern int fail_key (struct load *load, const struct key *key,
                     const char *value, const char *format, ...)
  __attribute__ ((format (printf, 4, 5)));
extern bool key_given (const struct load *load, const char *path);
/* All of a profile; NULL with the message in *error. */
extern struct load *load_new (const char *name_or_path,
                              const char *const *overrides,
                              size_t n_overrides, char **error);
extern void load_free (struct load *load);

/* scan.c */
/* Refuse what libconfig 1.5 would misread in silence: integers that it
 * wraps, @include, NUL bytes, and nesting so deep that only an attack needs
 * it.
 */
extern int scan_text (struct load *load, const char *text, size_t len);

/* value.c: one value, from the file or from an override. */
struct value {
  enum {
    VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_BOOL, VALUE_OTHER
  } type;
  int64_t integer;              /* also of a bool */
  double real;
  const char *text;
  bool bare;                    /* text that may stand for any type */
  char shown[64];               /* for messages; "" when bare */
};
extern void value_from_setting (struct value *value,
                                const config_setting_t *setting);
extern void value_from_text (struct value *value, const char *text);
/* Check a value against its key and store it in its field.  Use
 * load->origin for messages.
 */
extern int value_put (struct load *load, const struct key *key,
                      const struct value *value);
/* Turn it into a number as the key wants it: times 10^decimals. */
enum number { NUMBER_OK, NUMBER_NOT, NUMBER_RANGE, NUMBER_DECIMALS };
extern enum number value_number (const struct value *value, int decimals,
                                 int64_t *scaled);

/* lists.c: the keys that are lists. */
extern int list_bad (struct load *load, const struct key *key,
                     const config_setting_t *setting);
extern int list_zones (struct load *load, const struct key *key,
                       const config_setting_t *list);
extern int list_holes (struct load *load, const struct key *key,
                       const config_setting_t *list);
extern int list_remaps (struct load *load, const struct key *key,
                        const config_setting_t *list);
extern int list_seek_points (struct load *load, const struct key *key,
                             const config_setting_t *list);

/* checks.c */
/* Lay out the zones and check what one key alone cannot show. */
extern int check_profile (struct load *load);

/* nearest.c: the candidate most like a word. */
struct nearest {
  const char *word;
  size_t distance;
  char best[80];                /* "" = nothing is near */
  char hint[104];
};
extern void nearest_start (struct nearest *nearest, const char *word);
extern void nearest_offer (struct nearest *nearest, const char *candidate);
/* "; did you mean \"...\"?" or "".  Lasts as long as *nearest. */
extern const char *nearest_hint (struct nearest *nearest);

/* search.c */
/* A malloc'ed path, or NULL after fail (). */
extern char *profile_find (struct load *load, const char *name);

#endif /* SPINDLE_LOADER_IMPL_H */
