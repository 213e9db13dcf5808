/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The root a guest boots into: the agent as init, its job, kernel modules.
 */
#ifndef SPINDLE_INITRAMFS_H
#define SPINDLE_INITRAMFS_H

struct initramfs_options {
  const char *agent_path;       /* the built agent */
  const char *job;              /* text of the job, see agent/README.md */
  const char *module_dir;       /* lib/modules/RELEASE; NULL: no modules */
  const char *const *modules;   /* names, ends with NULL; NULL: the default */
};

/* What a guest needs for a disk on PIIX IDE or AHCI. */
extern const char *const initramfs_default_modules[];

/* Write a cpio archive (newc, not compressed) for `-initrd`.  The same input
 * gives the same bytes.  Gives 0, or -1 with one line in *error (to be freed)
 * and no file. */
int initramfs_build (const char *out_path,
                     const struct initramfs_options *options, char **error);

/* The same root as a gzipped ext2 image, for kernels before 2.6 and the first
 * of 2.6: boot with `root=/dev/ram0 rw init=/init ramdisk_size=KIB` where KIB
 * is at least *size_kib.  Needs mke2fs, debugfs and gzip, but not root. */
int ext2_initrd_build (const char *out_path,
                       const struct initramfs_options *options,
                       int *size_kib, char **error);

#endif
