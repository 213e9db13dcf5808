/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a drive's profile: finding the file, checking every figure in it,
 * and handing the result over as a struct profile.
 */
#ifndef SPINDLE_LOADER_H
#define SPINDLE_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

/* Fill *profile from a profile file.
 *
 * name_or_path is a path when it has a '/' or ends in ".cfg"; otherwise it
 * is a name that is looked up as NAME.cfg (see profile_list).  overrides
 * are "KEY=VALUE" with keys as in the file ("buffer.segments=4"); values
 * are bare, without mark and source, and the last one for a key wins.
 *
 * Returns 0.  On failure returns -1, leaves *profile alone and sets *error
 * to a malloc'ed message of one line without a newline:
 * "FILE:LINE: KEY: VALUE: what is allowed" or "set=KEY=VALUE: ...".
 * *error is NULL if there was no memory for it.
 */
extern int profile_load (const char *name_or_path,
                         const char *const *overrides, size_t n_overrides,
                         struct profile *profile, char **error);

/* Call fn for every profile that can be loaded by name, sorted by name.
 * Directories are searched in this order, and the first that has a name
 * wins: those in SPINDLE_PATH (separated by colons; DIR/profiles and DIR),
 * $XDG_CONFIG_HOME/spindle/profiles (~/.config if that is not set), the
 * source tree if this program or plugin lies in its build directory, and
 * the data directory chosen at build time.
 * Returns how many there were, or -1 when memory is short.
 */
extern int profile_list (void (*fn) (void *opaque, const char *name,
                                     const char *path),
                         void *opaque);

/* One key of a profile, with where its value comes from. */
struct profile_value {
  const char *path;             /* "seek.average-ms" */
  const char *value;            /* as in a file; a list may be long; "" is
                                   an empty text or a list that is not there */
  bool given;                   /* in the file, or overridden; else default */
  const char *mark, *source, *note; /* NULL if there is none */
  const char *text;             /* what it is */
};

struct profile_visitor {
  /* Either may be NULL.  The strings last until it returns. */
  void (*value) (void *opaque, const struct profile_value *value);
  void (*source) (void *opaque, const char *id, const char *text,
                  const char *url); /* url may be NULL */
};

/* Load a profile as profile_load does and go through its keys, in the order
 * of the documentation, and its sources.  profile may be NULL.
 */
extern int profile_describe (const char *name_or_path,
                             const char *const *overrides,
                             size_t n_overrides, struct profile *profile,
                             const struct profile_visitor *visitor,
                             void *opaque, char **error);

/* One key of the file format, in words. */
struct profile_key {
  const char *path;             /* "seek.average-ms" */
  const char *allowed;          /* "milliseconds from 0 to 100 ..." */
  const char *fallback;         /* default, or "required", or "-" */
  const char *text;             /* what it is */
  bool mark;                    /* a figure: needs its mark and source */
};

/* Call fn for every key, in the order of the documentation.  The strings
 * last until fn returns.
 */
extern void profile_keys (void (*fn) (void *opaque,
                                      const struct profile_key *key),
                          void *opaque);

#endif /* SPINDLE_LOADER_H */
