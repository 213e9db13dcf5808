/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Results as JUnit XML, as Ant defined it and CI systems read it: a suite
 * a run, a case a figure.
 */
#ifndef SPINDLE_JUNIT_H
#define SPINDLE_JUNIT_H

#include <stdio.h>

#include "record.h"

void junit_write (FILE *fp, const struct records *r);

#endif /* SPINDLE_JUNIT_H */
