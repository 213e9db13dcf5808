/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for XML and HTML.
 */
#ifndef SPINDLE_MARKUP_H
#define SPINDLE_MARKUP_H

#include <stdio.h>

/* S (or nothing, for NULL) so that it is only text, also in quotes. */
void markup_text (FILE *fp, const char *s);

/* Likewise what a format makes. */
void markup_format (FILE *fp, const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));

#endif /* SPINDLE_MARKUP_H */
