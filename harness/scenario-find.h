/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where scenarios are found by name.
 */
#ifndef SPINDLE_SCENARIO_FIND_H
#define SPINDLE_SCENARIO_FIND_H

/* The file of scenario WORD: WORD itself if there is a slash in it or it
 * ends in .cfg, else NAME.cfg in the folders `scenarios' of SPINDLE_PATH and
 * of the user's configuration, then in FOLDER, where our own are.  Free it.
 * NULL after a message.
 */
char *scenario_find (const char *word, const char *folder);

#endif /* SPINDLE_SCENARIO_FIND_H */
