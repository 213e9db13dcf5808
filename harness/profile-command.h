/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands of spindle profile that look at profiles.
 */
#ifndef SPINDLE_PROFILE_COMMAND_H
#define SPINDLE_PROFILE_COMMAND_H

#include "words.h"

int command_profile_list (int argc, char **argv);
int command_profile_show (int argc, char **argv);
int command_profile_diff (int argc, char **argv);
int command_profile_check (int argc, char **argv);
int command_profile_plot (int argc, char **argv);

/* Add the names of all profiles to W.  Returns -1 after a message. */
int profile_names (struct words *w);

#endif /* SPINDLE_PROFILE_COMMAND_H */
