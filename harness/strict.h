/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a libconfig file that may hold nothing but what is expected.
 *
 * The first thing wrong is kept in `error' as one line,
 * "FILE:LINE: KEY: VALUE: what is allowed"; every function returns -1 when
 * there is one.  A key that is absent leaves the result as it was.
 */
#ifndef SPINDLE_STRICT_H
#define SPINDLE_STRICT_H

#include <stdbool.h>
#include <stdint.h>

#include <libconfig.h>

struct strict {
  config_t config;
  const char *path;
  char *error;                  /* NULL: none so far.  Free it. */
};

int strict_open (struct strict *s, const char *path);
void strict_close (struct strict *s);

/* Complain about SETTING (or, with NULL, about the file). */
int strict_fail (struct strict *s, const config_setting_t *setting,
                 const char *fmt, ...)
  __attribute__ ((format (printf, 3, 4)));

/* GROUP may only have these KEYS (ends with NULL). */
int strict_keys (struct strict *s, const config_setting_t *group,
                 const char *const *keys);

/* The member KEY of GROUP: NULL and an error if it is not there. */
config_setting_t *strict_need (struct strict *s, config_setting_t *group,
                               const char *key);

/* SETTING is a list of at least MIN groups. */
int strict_groups (struct strict *s, const config_setting_t *setting,
                   int min);

/* One member of GROUP. */
int strict_int (struct strict *s, config_setting_t *group, const char *key,
                int64_t min, int64_t max, int64_t *r);
int strict_number (struct strict *s, config_setting_t *group,
                   const char *key, double min, double max, double *r);
int strict_bool (struct strict *s, config_setting_t *group, const char *key,
                 bool *r);
int strict_string (struct strict *s, config_setting_t *group,
                   const char *key, char **r);

/* A string that is one of CHOICES (ends with NULL); its index. */
int strict_choice (struct strict *s, config_setting_t *group,
                   const char *key, const char *const *choices, int *r);

#endif /* SPINDLE_STRICT_H */
