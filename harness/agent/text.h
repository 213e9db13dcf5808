// SPDX-License-Identifier: BSD-3-Clause
//
// Strings and numbers, in place of a libc.

#ifndef AGENT_TEXT_H
#define AGENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t text_length (const char *s);
bool text_equal (const char *a, const char *b);
/* Does s start with prefix? */
bool text_starts (const char *s, const char *prefix);
/* Copy, cut to fit size bytes with the NUL; gives false when it was cut. */
bool text_copy (char *to, size_t size, const char *from);
bool text_append (char *to, size_t size, const char *from);

/* Cut the line that starts at *next out of a text (a NUL replaces the line
 * feed) and move *next behind it.  NULL at the end. */
char *text_line (char **next);
/* The same for a word of a line: blanks and tabs separate. */
char *text_word (char **next);

/* A non-negative decimal number, whole string, below 2^63. */
bool text_number (const char *s, int64_t *value);
/* Decimal digits of a number; gives the start, which is inside buf. */
enum { TEXT_DIGITS = 24 };
const char *text_decimal (int64_t value, char buf[TEXT_DIGITS]);

/* n / d; the compiler's own helper is in a library that may be missing. */
uint64_t text_divide (uint64_t n, uint32_t d, uint32_t *remainder);

#endif
