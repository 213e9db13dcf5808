/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Results as a page that needs nothing but itself: HTML with the pictures
 * in it, no script, no network.
 */
#ifndef SPINDLE_PAGE_H
#define SPINDLE_PAGE_H

#include <stdio.h>

#include "record.h"

/* The pictures are read from where R was. */
void page_write (FILE *fp, const struct records *r);

/* Parts of it, for other pages. */
void page_start (FILE *fp, const char *title);
void page_end (FILE *fp, const char *version);
void page_picture (FILE *fp, const char *svg, const char *what);

#endif /* SPINDLE_PAGE_H */
