// SPDX-License-Identifier: BSD-3-Clause

#include "text.h"

/* The compiler calls these for structure copies and initialisers. */
void *memcpy (void *to, const void *from, size_t n);
void *memset (void *to, int c, size_t n);

void *
memcpy (void *to, const void *from, size_t n)
{
  void *d = to;

  __asm__ volatile ("rep movsb" : "+D" (d), "+S" (from), "+c" (n)
                    : : "memory");
  return to;
}

void *
memset (void *to, int c, size_t n)
{
  void *d = to;

  __asm__ volatile ("rep stosb" : "+D" (d), "+c" (n) : "a" (c) : "memory");
  return to;
}

size_t
text_length (const char *s)
{
  size_t n = 0;

  while (s[n] != '\0')
    n++;
  return n;
}

bool
text_equal (const char *a, const char *b)
{
  while (*a != '\0' && *a == *b)
    a++, b++;
  return *a == *b;
}

bool
text_starts (const char *s, const char *prefix)
{
  while (*prefix != '\0')
    if (*s++ != *prefix++)
      return false;
  return true;
}

bool
text_copy (char *to, size_t size, const char *from)
{
  to[0] = '\0';
  return text_append (to, size, from);
}

bool
text_append (char *to, size_t size, const char *from)
{
  size_t n = text_length (to);

  while (*from != '\0' && n + 1 < size)
    to[n++] = *from++;
  to[n] = '\0';
  return *from == '\0';
}

char *
text_line (char **next)
{
  char *line = *next, *p = line;

  if (*line == '\0')
    return NULL;
  while (*p != '\0' && *p != '\n')
    p++;
  if (*p != '\0')
    *p++ = '\0';
  *next = p;
  return line;
}

static bool
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

char *
text_word (char **next)
{
  char *p = *next, *word;

  while (is_blank (*p))
    p++;
  if (*p == '\0')
    return NULL;
  word = p;
  while (*p != '\0' && !is_blank (*p))
    p++;
  if (*p != '\0')
    *p++ = '\0';
  *next = p;
  return word;
}

bool
text_number (const char *s, int64_t *value)
{
  int64_t v = 0;

  if (*s == '\0')
    return false;
  for (; *s != '\0'; s++) {
    if (*s < '0' || *s > '9' || v > 922337203685477579LL)
      return false;
    v = v * 10 + (*s - '0');
  }
  *value = v;
  return true;
}

const char *
text_decimal (int64_t value, char buf[TEXT_DIGITS])
{
  uint64_t v = value < 0 ? -(uint64_t) value : (uint64_t) value;
  char *p = buf + TEXT_DIGITS - 1;
  uint32_t digit;

  *p = '\0';
  do {
    v = text_divide (v, 10, &digit);
    *--p = '0' + digit;
  } while (v != 0);
  if (value < 0)
    *--p = '-';
  return p;
}

uint64_t
text_divide (uint64_t n, uint32_t d, uint32_t *remainder)
{
  uint32_t hi = n >> 32, lo = (uint32_t) n, rest = hi % d;

  hi /= d;
  /* rest < d, so the quotient of (rest, lo) fits 32 bits. */
  __asm__ ("divl %2" : "+a" (lo), "+d" (rest) : "r" (d) : "cc");
  *remainder = rest;
  return (uint64_t) hi << 32 | lo;
}
