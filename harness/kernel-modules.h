/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which modules of a kernel a guest needs, in which order.
 */
#ifndef SPINDLE_KERNEL_MODULES_H
#define SPINDLE_KERNEL_MODULES_H

#include <stddef.h>

struct kernel_module {
  char *file;                   /* "ata_piix.ko" */
  char *data;                   /* not compressed, without signature */
  size_t size;
};

struct kernel_modules {
  struct kernel_module *list;   /* what a module needs comes before it */
  size_t count;
};

/* The wanted modules (names, ends with NULL) and all they need from a
 * directory like /lib/modules/RELEASE.  depmod's files are not used: a
 * package that is only unpacked has none, so what a module needs is read from
 * itself.  A wanted module that exists nowhere is named on standard error and
 * left out.  Gives 0, or -1 with one line in *error (to be freed). */
int kernel_modules_resolve (const char *dir, const char *const *wanted,
                            struct kernel_modules *modules, char **error);
void kernel_modules_free (struct kernel_modules *modules);

#endif
