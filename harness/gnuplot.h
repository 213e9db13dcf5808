/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gnuplot, where it is installed.
 */
#ifndef SPINDLE_GNUPLOT_H
#define SPINDLE_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* S as a string of gnuplot's. */
void gnuplot_quoted (FILE *fp, const char *s);

/* From here on plots go to the file SVG, with this TITLE. */
void gnuplot_svg (FILE *fp, const char *svg, const char *title);

/* Run a script.  What it says goes to LOG, which is removed if all went
 * well.  Returns -1 if not, without a message.
 */
int gnuplot_run (const char *script, const char *log);

/* Is it a whole picture?  gnuplot does not notice a full disk. */
bool gnuplot_whole (const char *svg);

/* gnuplot, to draw only this picture: print the script to what is returned,
 * or NULL after a message.  R is how that went; without a whole picture there
 * will be none.  Returns 0, or -1 after a message.
 */
FILE *gnuplot_begin (const char *svg);
int gnuplot_end (FILE *fp, const char *svg, int r);

#endif /* SPINDLE_GNUPLOT_H */
