/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cpu.h"
#include "spindle.h"

#define MIN_MHZ 1
#define MAX_MHZ 10000

/* Shifts that the table shows. */
#define TABLE_SHIFTS 6

/* Instructions per 100 clocks of kernel and copying code.  The reasoning is
 * in docs/host-cpu.md; only the Duron's is calibrated.
 */
static const struct family {
  const char *name, *years;
  int per_100;
} families[] = {
  { "386", "1985-1993", 20 },
  { "486", "1989-1997", 45 },
  { "Pentium", "1993-1997", 55 },
  { "Pentium MMX", "1997-1999", 60 },
  { "K6", "1997-2001", 55 },
  { "Cyrix 6x86", "1996-1999", 50 },
  { "VIA C3", "2001-2006", 35 },
  { "Pentium Pro", "1995-1998", 60 },
  { "Pentium II", "1997-1999", 60 },
  { "Celeron", "1998-2002", 60 },
  { "Pentium III", "1999-2002", 60 },
  { "Athlon", "1999-2002", 67 },
  { "Athlon XP", "2001-2005", 67 },
  { "Duron", "2000-2004", 67 },
  { "Pentium 4", "2000-2006", 40 },
  { "Pentium M", "2003-2006", 75 },
  { "Athlon 64", "2003-2008", 80 },
  { "Opteron", "2003-2008", 80 },
  { "Core 2", "2006-2010", 100 },
};
#define N_FAMILIES (sizeof families / sizeof families[0])

double
cpu_shift_mips (int64_t shift)
{
  return 1000. / ((int64_t) 1 << shift);
}

/* The nearest as a ratio: the border between two shifts is where both are
 * off by the square root of two.
 */
static int64_t
nearest_shift (double mips)
{
  int64_t shift = 0;

  while (shift < CPU_MAX_SHIFT &&
         2 * mips * mips < cpu_shift_mips (shift) * cpu_shift_mips (shift))
    shift++;
  return shift;
}

static double
mips_of (const struct family *f, int64_t mhz)
{
  return mhz * f->per_100 / 100.;
}

/* The words of NAME but the last, which is *RATE. */
static char *
split (const char *name, const char **rate)
{
  const char *blank = strrchr (name, ' ');

  if (blank == NULL)
    return NULL;
  *rate = blank + 1;
  return format ("%.*s", (int) (blank - name), name);
}

static const struct family *
family_called (const char *name)
{
  size_t i;

  for (i = 0; i < N_FAMILIES; ++i)
    if (strcasecmp (families[i].name, name) == 0)
      return &families[i];
  return NULL;
}

/* Or the name is one without a rate. */
static char *
what_is_allowed (const char *name, const char *family)
{
  const char *names[N_FAMILIES + 1], *near;
  size_t i;

  for (i = 0; i < N_FAMILIES; ++i)
    names[i] = families[i].name;
  names[N_FAMILIES] = NULL;
  if (family_called (name) || (family && family_called (family)))
    return format ("a CPU and its clock rate in MHz, \"Duron 750\"");
  near = nearest_word (family ? family : name, names);
  if (near)
    return format ("unknown CPU; did you mean %s?", near);
  return format ("unknown CPU; spindle vm --cpu help lists them");
}

int
cpu_find (const char *name, struct cpu *cpu, char **error)
{
  const char *rate = NULL;
  char *family = split (name, &rate);
  const struct family *f = family ? family_called (family) : NULL;
  int64_t mhz;
  int r = -1;

  /* "Pentium 4" is not a Pentium of 4 MHz. */
  if (f && family_called (name) == NULL &&
      parse_number (rate, MIN_MHZ, MAX_MHZ, &mhz) == 0) {
    *cpu = (struct cpu) { .mips = mips_of (f, mhz) };
    snprintf (cpu->name, sizeof cpu->name, "%s %lld", f->name,
              (long long) mhz);
    cpu->shift = nearest_shift (cpu->mips);
    r = 0;
  }
  else
    *error = what_is_allowed (name, family);
  free (family);
  return r;
}

char *
cpu_text (const struct cpu *cpu)
{
  const double mips = cpu_shift_mips (cpu->shift);

  if (cpu->name[0] == '\0')
    return format ("shift %lld, %.4g MIPS", (long long) cpu->shift, mips);
  return format ("%s, about %.3g MIPS, as shift %lld, %.4g MIPS: %.2f of it",
                 cpu->name, cpu->mips, (long long) cpu->shift, mips,
                 mips / cpu->mips);
}

/* The slowest clock rate that gets this shift or a smaller one. */
static int64_t
slowest_mhz (const struct family *f, int64_t shift)
{
  int64_t mhz = MIN_MHZ;

  while (mhz < MAX_MHZ && nearest_shift (mips_of (f, mhz)) > shift)
    ++mhz;
  return mhz;
}

void
cpu_print_table (FILE *fp)
{
  size_t i;
  int64_t shift;

  fprintf (fp, "| CPU | years | instructions a clock |");
  for (shift = 0; shift < TABLE_SHIFTS; ++shift)
    fprintf (fp, " shift %lld from |", (long long) shift);
  fprintf (fp, "\n|---|---|---:|");
  for (shift = 0; shift < TABLE_SHIFTS; ++shift)
    fprintf (fp, "---:|");
  fputc ('\n', fp);
  for (i = 0; i < N_FAMILIES; ++i) {
    const struct family *f = &families[i];

    fprintf (fp, "| %s | %s | %.2f |", f->name, f->years, f->per_100 / 100.);
    for (shift = 0; shift < TABLE_SHIFTS; ++shift)
      fprintf (fp, " %lld MHz |", (long long) slowest_mhz (f, shift));
    fputc ('\n', fp);
  }
}
