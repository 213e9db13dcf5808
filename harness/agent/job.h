// SPDX-License-Identifier: BSD-3-Clause
//
// One step of the job: a verb and its key=value words.

#ifndef AGENT_JOB_H
#define AGENT_JOB_H

#include <stdbool.h>
#include <stdint.h>

enum { STEP_KEYS = 24, STEP_TEXT = 512 };

struct step {
  char text[STEP_TEXT];         /* as written, for messages */
  char words[STEP_TEXT];        /* the same, cut into pieces */
  const char *verb;
  struct {
    const char *key, *value;
    bool used;
  } keys[STEP_KEYS];
  int n_keys;
  const char *problem;          /* what is wrong with the step, or NULL */
};

/* Cut a line up.  Gives false for an empty line or a comment; a line that
 * cannot be understood has its problem set. */
bool step_parse (struct step *step, const char *line);

/* The value of a key, marked as used; NULL when it is absent. */
const char *step_text (struct step *step, const char *key);
/* A number of at least min and at most max; fallback when absent.  A bad one,
 * or an absent one where fallback is below min, sets the problem. */
int64_t step_number (struct step *step, const char *key, int64_t fallback,
                     int64_t min, int64_t max);
/* One of several words; gives its index.  fallback -1: it must be there. */
int step_choice (struct step *step, const char *key,
                 const char *const *choices, int fallback);
/* After all keys were asked for: sets the problem if one was not. */
void step_check_unknown (struct step *step);

#endif
