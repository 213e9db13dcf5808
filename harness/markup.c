/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdlib.h>

#include "markup.h"
#include "spindle.h"

void
markup_text (FILE *fp, const char *s)
{
  for (; s && *s; ++s)
    switch (*s) {
    case '&': fputs ("&amp;", fp); break;
    case '<': fputs ("&lt;", fp); break;
    case '>': fputs ("&gt;", fp); break;
    case '"': fputs ("&quot;", fp); break;
    default:
      /* XML has no other control characters. */
      if ((unsigned char) *s >= ' ' || *s == '\n' || *s == '\t')
        fputc (*s, fp);
      else
        fputc ('?', fp);
    }
}

void
markup_format (FILE *fp, const char *fmt, ...)
{
  va_list args;
  char *text;

  va_start (args, fmt);
  text = format_args (fmt, args);
  va_end (args);
  markup_text (fp, text);
  free (text);
}
