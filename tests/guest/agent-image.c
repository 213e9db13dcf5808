/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent-image AGENT JOB OUT: write the initramfs of Debian's kernel with the
 * job of a file.  Prints what to boot: one line with the kernel, one with its
 * arguments.  Exits with 77 when there is no kernel to be had.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness/initramfs.h"
#include "harness/kernel.h"

static char *
read_text (const char *path)
{
  char *text = NULL;
  size_t room = 0;
  FILE *fp = fopen (path, "r");

  if (fp == NULL || getdelim (&text, &room, '\0', fp) == -1) {
    perror (path);
    exit (EXIT_FAILURE);
  }
  fclose (fp);
  return text;
}

int
main (int argc, char **argv)
{
  struct initramfs_options options = { .agent_path = argv[1] };
  struct kernel kernel;
  char *job, *error = NULL;
  int r;

  if (argc != 4) {
    fprintf (stderr, "usage: agent-image AGENT JOB OUT\n");
    return EXIT_FAILURE;
  }
  if (kernel_find (getenv ("SPINDLE_TEST_KERNEL"), &kernel, &error) == -1) {
    fprintf (stderr, "%s\n", error);
    free (error);
    return 77;
  }
  job = read_text (argv[2]);
  options.job = job;
  options.module_dir = kernel.module_dir;
  r = initramfs_build (argv[3], &options, &error);
  if (r == -1)
    fprintf (stderr, "%s\n", error);
  else
    printf ("%s\n%s\n", kernel.image, KERNEL_ARGUMENTS);
  free (job);
  free (error);
  kernel_free (&kernel);
  return r == -1 ? EXIT_FAILURE : EXIT_SUCCESS;
}
