/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of the scenario loader share.  As in strict.h, everything
 * returns -1 after an error.
 */
#ifndef SPINDLE_SCENARIO_IMPL_H
#define SPINDLE_SCENARIO_IMPL_H

#include "scenario.h"
#include "strict.h"

/* scenario.c: NAME, the value of SETTING, is fit for a file name. */
int scenario_check_name (struct strict *s, const config_setting_t *setting,
                         const char *name);

/* scenario.c: GROUP.KEY is an array of strings, each KEY=VALUE. */
int scenario_words (struct strict *s, config_setting_t *group,
                    const char *key, struct words *r);

/* scenario-disk.c */
int scenario_load_disk (struct strict *s, config_setting_t *root,
                        struct scenario *sc);
void scenario_disk_free (struct scenario_disk *d);
/* Is there a file of that name ("{job}" stands for each of several)? */
bool scenario_disk_has (const struct scenario_disk *d, const char *name);

/* scenario-steps.c */
void scenario_step_free (struct scenario_step *step);
int scenario_steps (struct strict *s, config_setting_t *root,
                    struct scenario *sc);
/* NULL if there is none. */
struct scenario_step *scenario_step_called (const struct scenario *sc,
                                            const char *name);

/* scenario-reported.c; the steps must be there. */
int scenario_reports (struct strict *s, config_setting_t *root,
                      struct scenario *sc);

#endif /* SPINDLE_SCENARIO_IMPL_H */
