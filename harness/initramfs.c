/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "initramfs.h"
#include "kernel-modules.h"
#include "script.h"

SCRIPT_FILE (ext2_script, "harness/ext2-initrd.sh");

const char *const initramfs_default_modules[] = {
  "sd_mod", "ata_piix", "ahci", NULL
};

/* All that goes in, read before anything is written. */
struct content {
  char *agent;
  size_t agent_bytes;
  struct kernel_modules modules;
  char *order;
};

struct cpio {
  FILE *out;
  unsigned inode;
};

static int
fail (char **error, const char *path)
{
  return set_error (error, "%s: %s", path, strerror (errno));
}

static char *
read_file (const char *path, size_t *bytes, char **error)
{
  FILE *in = fopen (path, "rb");
  char *data = NULL;
  FILE *mem;
  int c;

  if (in == NULL || (mem = open_memstream (&data, bytes)) == NULL) {
    fail (error, path);
    if (in != NULL)
      fclose (in);
    return NULL;
  }
  while ((c = getc (in)) != EOF)
    putc (c, mem);
  fclose (mem);
  if (ferror (in)) {
    fail (error, path);
    free (data);
    data = NULL;
  }
  fclose (in);
  return data;
}

static void
free_content (struct content *c)
{
  free (c->agent);
  free (c->order);
  kernel_modules_free (&c->modules);
}

static int
read_content (struct content *c, const struct initramfs_options *options,
              char **error)
{
  size_t bytes;
  FILE *order;

  *c = (struct content) { .agent = NULL };
  c->agent = read_file (options->agent_path, &c->agent_bytes, error);
  if (c->agent == NULL)
    return -1;
  if (options->module_dir != NULL
      && kernel_modules_resolve (options->module_dir,
                                 options->modules != NULL
                                 ? options->modules
                                 : initramfs_default_modules,
                                 &c->modules, error) == -1) {
    free_content (c);
    return -1;
  }
  order = open_memstream (&c->order, &bytes);
  for (size_t i = 0; i < c->modules.count; i++)
    fprintf (order, "%s\n", c->modules.list[i].file);
  fclose (order);
  return 0;
}

static void
pad (struct cpio *cpio)
{
  while (ftell (cpio->out) % 4 != 0)
    putc (0, cpio->out);
}

/* One member; fields as in the kernel's
 * Documentation/driver-api/early-userspace/buffer-format.rst. */
static void
put (struct cpio *cpio, const char *name, unsigned mode, unsigned major,
     unsigned minor, const void *data, size_t bytes)
{
  const unsigned fields[13] = {
    [0] = ++cpio->inode, [1] = mode, [4] = S_ISDIR (mode) ? 2 : 1,
    [6] = bytes, [9] = major, [10] = minor, [11] = strlen (name) + 1,
  };

  fputs ("070701", cpio->out);
  for (int i = 0; i < 13; i++)
    fprintf (cpio->out, "%08x", fields[i]);
  fwrite (name, 1, strlen (name) + 1, cpio->out);
  pad (cpio);
  if (bytes != 0)
    fwrite (data, 1, bytes, cpio->out);
  pad (cpio);
}

static void
put_content (struct cpio *cpio, const struct content *c, const char *job)
{
  static const char *const dirs[] = { "dev", "proc", "sys", "modules" };

  for (int i = 0; i < 4; i++)
    put (cpio, dirs[i], S_IFDIR | 0755, 0, 0, NULL, 0);
  put (cpio, "dev/console", S_IFCHR | 0600, 5, 1, NULL, 0);
  for (size_t i = 0; i < c->modules.count; i++) {
    const struct kernel_module *m = &c->modules.list[i];
    char name[128];

    snprintf (name, sizeof name, "modules/%s", m->file);
    put (cpio, name, S_IFREG | 0644, 0, 0, m->data, m->size);
  }
  put (cpio, "modules/order", S_IFREG | 0644, 0, 0, c->order,
       strlen (c->order));
  put (cpio, "job", S_IFREG | 0644, 0, 0, job, strlen (job));
  put (cpio, "init", S_IFREG | 0755, 0, 0, c->agent, c->agent_bytes);
  put (cpio, "TRAILER!!!", 0, 0, 0, NULL, 0);
}

int
initramfs_build (const char *out_path,
                 const struct initramfs_options *options, char **error)
{
  struct content content;
  struct cpio cpio = { .inode = 0 };
  int result = 0;

  if (read_content (&content, options, error) == -1)
    return -1;
  cpio.out = fopen (out_path, "wb");
  if (cpio.out == NULL)
    result = fail (error, out_path);
  else {
    int bad;

    put_content (&cpio, &content, options->job);
    bad = ferror (cpio.out);
    if (fclose (cpio.out) != 0 || bad) {
      result = fail (error, out_path);
      unlink (out_path);
    }
  }
  free_content (&content);
  return result;
}

static int
stage (const char *dir, const char *name, const void *data, size_t bytes,
       mode_t mode, char **error)
{
  char path[4096];
  FILE *out;

  snprintf (path, sizeof path, "%s/%s", dir, name);
  out = fopen (path, "wb");
  if (out == NULL || fwrite (data, 1, bytes, out) != bytes
      || fchmod (fileno (out), mode) == -1 || fclose (out) != 0)
    return fail (error, path);
  return 0;
}

/* The script copies what is in a directory into the image. */
static int
stage_content (const char *dir, const struct content *c, const char *job,
               char **error)
{
  int result = stage (dir, "init", c->agent, c->agent_bytes, 0755, error);

  if (result == 0)
    result = stage (dir, "job", job, strlen (job), 0644, error);
  if (result == 0)
    result = stage (dir, "order", c->order, strlen (c->order), 0644, error);
  for (size_t i = 0; i < c->modules.count && result == 0; i++)
    result = stage (dir, c->modules.list[i].file, c->modules.list[i].data,
                    c->modules.list[i].size, 0644, error);
  return result;
}

int
ext2_initrd_build (const char *out_path,
                   const struct initramfs_options *options, int *size_kib,
                   char **error)
{
  const char *tmp = getenv ("TMPDIR");
  char dir[4096];
  const char *const args[] = { dir, out_path, NULL };
  struct content content;
  char *output;
  int result;

  snprintf (dir, sizeof dir, "%s/spindle-initrd.XXXXXX",
            tmp != NULL ? tmp : "/tmp");
  if (mkdtemp (dir) == NULL)
    return fail (error, dir);
  result = read_content (&content, options, error);
  if (result == 0) {
    result = stage_content (dir, &content, options->job, error);
    free_content (&content);
  }
  if (result == 0)
    result = script_run (ext2_script, args, &output, NULL, error);
  if (result == 0) {
    *size_kib = atoi (output);
    free (output);
  }
  remove_tree (dir);
  return result;
}
