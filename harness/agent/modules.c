// SPDX-License-Identifier: BSD-3-Clause

#include "modules.h"
#include "report.h"
#include "sys.h"
#include "text.h"

/* Does name (a file like "ata_piix.ko") match the start of a parameter like
 * "ata-piix.x=1"?  Gives what follows the dot, or NULL.  To the kernel '-'
 * and '_' are the same here. */
static const char *
parameter_of (const char *name, const char *word)
{
  for (; !text_equal (name, ".ko"); name++, word++) {
    char a = *name == '-' ? '_' : *name, b = *word == '-' ? '_' : *word;

    if (a != b || a == '\0')
      return NULL;
  }
  return *word == '.' ? word + 1 : NULL;
}

static void
collect_parameters (const char *name, char *to, size_t size)
{
  static char cmdline[4096];
  char *next = cmdline, *word;

  to[0] = '\0';
  if (sys_read_file ("/proc/cmdline", cmdline, sizeof cmdline) < 0)
    return;
  while ((word = text_word (&next)) != NULL) {
    const char *parameter = parameter_of (name, word);

    if (parameter == NULL)
      continue;
    text_append (to, size, parameter);
    text_append (to, size, " ");
  }
}

/* Kernels before 3.8 cannot load from a descriptor. */
static long
load_from_memory (const char *path, const char *parameters)
{
  enum { LARGEST = 4 << 20 };
  static char *image;
  long n;

  if (image == NULL && (image = sys_map (LARGEST)) == NULL)
    return -SYS_E2BIG;
  n = sys_read_file (path, image, LARGEST);
  return n < 0 ? n : sys3 (SYS_INIT_MODULE, image, n, parameters);
}

static long
load (const char *name)
{
  char path[128], parameters[512];
  long error;
  int fd;

  text_copy (path, sizeof path, "/modules/");
  text_append (path, sizeof path, name);
  collect_parameters (name, parameters, sizeof parameters);
  fd = sys_open (path, O_RDONLY);
  if (fd < 0)
    return fd;
  error = sys3 (SYS_FINIT_MODULE, fd, parameters, 0);
  sys_close (fd);
  if (error == -SYS_ENOSYS)
    error = load_from_memory (path, parameters);
  return error == -SYS_EEXIST ? 0 : error;
}

long
modules_load (void)
{
  static char order[4096];
  char *next = order, *name;
  long error = sys_read_file ("/modules/order", order, sizeof order);

  if (error < 0)
    return error;
  while ((name = text_word (&next)) != NULL) {
    error = load (name);
    if (error < 0)
      report_error (name, -error, "the kernel refuses the module");
  }
  return 0;
}
