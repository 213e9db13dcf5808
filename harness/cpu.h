/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The computer's CPU: names of the past, and what -icount can do.
 */
#ifndef SPINDLE_CPU_H
#define SPINDLE_CPU_H

#include <stdint.h>
#include <stdio.h>

#define CPU_MAX_SHIFT 10
#define CPU_NAME_MAX 40

struct cpu {
  char name[CPU_NAME_MAX];      /* "Duron 750"; "" = only a shift was given */
  double mips;                  /* what it did, about; 0 without a name */
  int64_t shift;                /* an instruction takes 2^shift ns */
};

/* Find "FAMILY MHZ".  On failure returns -1, and in *ERROR what is allowed;
 * free it.
 */
int cpu_find (const char *name, struct cpu *cpu, char **error);

/* What the shift does, in millions of instructions a second. */
double cpu_shift_mips (int64_t shift);

/* "Duron 750, about 500 MIPS, as shift 1, 500 MIPS: 1.00 of it", or
 * "shift 1, 500 MIPS".  Free it.
 */
char *cpu_text (const struct cpu *cpu);

/* The families, and for each the clock rates of each shift: the table of
 * docs/host-cpu.md.
 */
void cpu_print_table (FILE *fp);

#endif /* SPINDLE_CPU_H */
