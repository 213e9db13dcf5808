/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every part of the spindle command shares.
 */
#ifndef SPINDLE_H
#define SPINDLE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum spindle_exit {
  EXIT_REPRODUCED = 0,          /* or simply: it worked */
  EXIT_NOT_REPRODUCED = 1,      /* an asserted figure came out differently */
  EXIT_USAGE = 2,
  EXIT_COULD_NOT_RUN = 3,
  EXIT_INVALID = 4,             /* real clock: the host was too slow */
};

/* Print one line, "spindle: ...", on standard error. */
void complain (const char *fmt, ...)
  __attribute__ ((format (printf, 1, 2)));

/* asprintf that does not fail: running out of memory ends the program.
 * The caller frees the result.
 */
char *format (const char *fmt, ...)
  __attribute__ ((format (printf, 1, 2)));

char *format_args (const char *fmt, va_list args)
  __attribute__ ((format (printf, 1, 0)));

/* calloc and realloc likewise. */
void *allocate (size_t n, size_t size);
void *reallocate (void *p, size_t n, size_t size);

/* FNV-1a of N bytes, or of the rest of a file; the first HASH is
 * HASH_START.
 */
#define HASH_START UINT64_C (0xcbf29ce484222325)
uint64_t hash_bytes (uint64_t hash, const void *data, size_t n);
uint64_t hash_file (uint64_t hash, FILE *fp);

/* The host's own time, from some moment on. */
int64_t monotonic_ns (void);
int64_t monotonic_ms (void);

/* The candidate nearest to WORD, or NULL when none is near.  CANDIDATES
 * ends with NULL.
 */
const char *nearest_word (const char *word, const char *const *candidates);

/* Parse a whole decimal number in MIN..MAX; -1 if TEXT is anything else. */
int parse_number (const char *text, int64_t min, int64_t max, int64_t *r);

/* The commands. */
int command_crash (int argc, char **argv);
int command_run (int argc, char **argv);
int command_vm (int argc, char **argv);
int command_calibrate (int argc, char **argv);
int command_ctl (int argc, char **argv);
int command_top (int argc, char **argv);
int command_demo (int argc, char **argv);
int command_fit (int argc, char **argv);
int command_list (int argc, char **argv);
int command_show (int argc, char **argv);
int command_compare (int argc, char **argv);
int command_plan (int argc, char **argv);
int command_merge (int argc, char **argv);
int command_replay (int argc, char **argv);
int command_probe (int argc, char **argv);
int command_profile (int argc, char **argv);

#endif /* SPINDLE_H */
