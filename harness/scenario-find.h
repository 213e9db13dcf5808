/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where scenarios are found by name.
 */
#ifndef SPINDLE_SCENARIO_FIND_H
#define SPINDLE_SCENARIO_FIND_H

#include "words.h"

/* The file of scenario WORD: WORD itself if there is a slash in it or it
 * ends in .cfg, else NAME.cfg in the folders `scenarios' of SPINDLE_PATH and
 * of the user's configuration, then in FOLDER, where our own are.  Free it.
 * NULL after a message.
 */
char *scenario_find (const char *word, const char *folder);

/* The files of all of them.  Returns -1 after a message. */
int scenario_find_all (const struct words *scenarios, struct words *files);

/* The files of all that can be found, in order of name; of two of one name
 * the one that is run.  Returns -1 after a message.
 */
int scenario_list (struct words *files);

#endif /* SPINDLE_SCENARIO_FIND_H */
