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

/* scenario-steps.c */
int scenario_steps (struct strict *s, config_setting_t *root,
                    struct scenario *sc);
/* NULL if there is none. */
struct scenario_step *scenario_step_called (const struct scenario *sc,
                                            const char *name);

/* scenario-reported.c; the steps must be there. */
int scenario_reports (struct strict *s, config_setting_t *root,
                      struct scenario *sc);

#endif /* SPINDLE_SCENARIO_IMPL_H */
