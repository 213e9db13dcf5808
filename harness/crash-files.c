/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/pattern.h"
#include "crash-files.h"
#include "spindle.h"

static const char *
kind_of (unsigned file)
{
  return pattern_is_log ((int) file) ? "log" : "doc";
}

static int
take_line (struct crash_files *f, const char *line)
{
  long long generation = 0;
  unsigned file;
  char what;
  int n = sscanf (line, "%c %u %lld", &what, &file, &generation);

  if (n < 2 || file >= f->n || generation < 0 || (what != 'x' && n < 3))
    return -1;
  switch (what) {
  case 't': f->file[file].tried = generation; return 0;
  case 'a': f->file[file].acknowledged = generation; return 0;
  case 'f': f->file[file].found = generation; return 0;
  case 'x': f->file[file].found = -1; return 0;
  }
  return -1;
}

int
crash_read_record (struct crash_files *f, const char *path)
{
  FILE *fp = fopen (path, "r");
  char line[80];
  int r = 0;

  if (fp == NULL) {
    complain ("%s: %s", path, strerror (errno));
    return -1;
  }
  /* The end may come in the middle of the last line. */
  while (r == 0 && fgets (line, sizeof line, fp) && strchr (line, '\n'))
    r = take_line (f, line);
  fclose (fp);
  if (r == -1)
    complain ("%s: not a record: %s", path, line);
  return r;
}

/* Returns false if there is no such file. */
static bool
read_file (const char *folder, unsigned file, int64_t *found)
{
  struct pattern_reading reading = { .file = (int) file };
  char *path = format ("%s/%s%u", folder, kind_of (file), file);
  FILE *fp = fopen (path, "rb");
  uint32_t block[PATTERN_WORDS];
  size_t n;

  free (path);
  if (fp == NULL)
    return false;
  while ((n = fread (block, 1, sizeof block, fp)) == sizeof block)
    pattern_take (&reading, block);
  if (n > 0)
    reading.broken = true;
  fclose (fp);
  *found = pattern_found (&reading);
  return true;
}

void
crash_read_files (struct crash_files *f, const char *folder)
{
  unsigned i;

  for (i = 0; i < f->n; ++i)
    if (!read_file (folder, i, &f->file[i].found))
      f->file[i].found = 0;
}

int64_t
crash_acknowledged (const struct crash_files *f)
{
  int64_t sum = 0;
  unsigned i;

  for (i = 0; i < f->n; ++i)
    sum += f->file[i].acknowledged;
  return sum;
}

static bool
is_broken (const struct crash_file *f)
{
  return f->found < 0 || f->found > f->tried;
}

static int64_t
lost (const struct crash_file *f)
{
  if (is_broken (f))
    return 1;
  return f->found < f->acknowledged ? f->acknowledged - f->found : 0;
}

int64_t
crash_lost (const struct crash_files *f)
{
  int64_t sum = 0;
  unsigned i;

  for (i = 0; i < f->n; ++i)
    sum += lost (&f->file[i]);
  return sum;
}

static void
describe (FILE *fp, const struct crash_file *f)
{
  if (f->found < 0)
    fprintf (fp, "is no generation of itself");
  else if (f->found > f->tried)
    fprintf (fp, "has %lld, which was never written", (long long) f->found);
  else if (f->found + 1 == f->acknowledged)
    fprintf (fp, "lost %lld", (long long) f->acknowledged);
  else
    fprintf (fp, "lost %lld-%lld", (long long) f->found + 1,
             (long long) f->acknowledged);
}

char *
crash_describe (const struct crash_files *f)
{
  char *text = NULL;
  size_t size;
  FILE *fp = open_memstream (&text, &size);
  const char *separator = "";
  unsigned i;

  if (fp == NULL)
    abort ();
  for (i = 0; i < f->n; ++i)
    if (lost (&f->file[i]) > 0) {
      fprintf (fp, "%s%s%u ", separator, kind_of (i), i);
      describe (fp, &f->file[i]);
      separator = ", ";
    }
  if (fclose (fp) == EOF)
    abort ();
  return text;
}
