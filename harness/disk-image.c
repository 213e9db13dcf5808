/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk-image.h"
#include "fixed.h"
#include "script.h"
#include "spindle.h"

SCRIPT_FILE (disk_script, "harness/disk-image.sh");

#define SECTOR 512

/* What mke2fs had as a default in those years: bytes of the file system for
 * each inode.
 */
#define BYTES_PER_INODE 8192

static int64_t
blocks_of (const struct scenario_disk *d, int64_t bytes)
{
  return (bytes + d->block_bytes - 1) / d->block_bytes;
}

/* Give a file its blocks FROM to END - 1. */
static void
print_blocks (FILE *fp, const char *name, int64_t from, int64_t end)
{
  if (from < end)
    fprintf (fp, "fallocate %s %lld %lld\n", name, (long long) from,
             (long long) end - 1);
}

static void
print_new (FILE *fp, const char *name)
{
  fprintf (fp, "write /dev/null %s\n", name);
}

static void
print_size (FILE *fp, const char *name, int64_t bytes)
{
  fprintf (fp, "set_inode_field %s size %lld\n", name, (long long) bytes);
}

/* "cat{n}" and 3: "cat3".  Free it. */
static char *
file_name (const struct scenario_files *f, int64_t n)
{
  const char *hole = strstr (f->name, "{n}");

  return hole ? format ("%.*s%lld%s", (int) (hole - f->name), f->name,
                        (long long) n, hole + 3)
    : format ("%s", f->name);
}

/* A chunk of each file in turn, or, in one piece, one file after the other.
 */
static void
print_flat (FILE *fp, const struct scenario_disk *d,
            const struct scenario_files *f)
{
  const int64_t blocks = blocks_of (d, f->bytes);
  int64_t chunk = f->layout == LAYOUT_INTERLEAVED
    ? blocks_of (d, f->chunk_bytes) : blocks, from, n;
  char **names = allocate (f->count, sizeof *names);

  for (n = 0; n < f->count; ++n) {
    names[n] = file_name (f, n);
    print_new (fp, names[n]);
    print_size (fp, names[n], f->bytes);
  }
  for (from = 0; from < blocks; from += chunk)
    for (n = 0; n < f->count; ++n)
      print_blocks (fp, names[n], from,
                    from + chunk < blocks ? from + chunk : blocks);
  for (n = 0; n < f->count; ++n)
    free (names[n]);
  free (names);
}

/* Sizes of a tree's files in eighths of the average: many are small, one in
 * eight has half of the bytes.
 */
static int64_t
tree_bytes (const struct scenario_files *f, int64_t n)
{
  static const int eighths[] = { 4, 1, 32, 2, 8, 4, 2, 11 };
  const int64_t bytes = f->bytes * eighths[n % 8] / 8;

  return bytes ? bytes : 1;
}

/* In which order a tree's files are made: folder by folder, or as if they
 * had come and gone for years.
 */
static int64_t *
tree_order (const struct scenario_files *f)
{
  int64_t *order = allocate (f->count, sizeof *order), n, other, t;
  uint64_t state = 1;

  for (n = 0; n < f->count; ++n)
    order[n] = n;
  for (n = f->count - 1; n > 0 && f->layout == LAYOUT_SHUFFLED; --n) {
    other = splitmix64 (&state) % (n + 1);
    t = order[n];
    order[n] = order[other];
    order[other] = t;
  }
  return order;
}

/* In as many places as the whole file would have, and on as much of the
 * drive: what is between them belongs to another.
 */
static void
print_spread (FILE *fp, const struct scenario_disk *d,
              const struct scenario_files *f)
{
  const int64_t blocks = blocks_of (d, f->bytes);
  const int64_t chunk = blocks_of (d, f->chunk_bytes);
  const int64_t gap = chunk * (f->scale - 1);
  char *between = format ("%s.gaps", f->name);
  int64_t i, from = 0;

  print_new (fp, f->name);
  print_size (fp, f->name, f->bytes);
  print_new (fp, between);
  for (i = 0; from < blocks; ++i, from += chunk) {
    print_blocks (fp, f->name, from,
                  from + chunk < blocks ? from + chunk : blocks);
    print_blocks (fp, between, i * gap, (i + 1) * gap);
  }
  print_size (fp, between, i * gap * d->block_bytes);
  free (between);
}

static void
print_tree (FILE *fp, const struct scenario_disk *d,
            const struct scenario_files *f)
{
  int64_t *order = tree_order (f), i, in = -1;

  fprintf (fp, "mkdir %s\ncd %s\n", f->name, f->name);
  for (i = 0; i * f->per_folder < f->count; ++i)
    fprintf (fp, "mkdir d%lld\n", (long long) i);
  for (i = 0; i < f->count; ++i) {
    const int64_t bytes = tree_bytes (f, order[i]);
    const int64_t folder = order[i] / f->per_folder;
    char name[32];

    if (folder != in)
      fprintf (fp, "cd /%s/d%lld\n", f->name, (long long) folder);
    in = folder;
    snprintf (name, sizeof name, "f%lld", (long long) order[i]);
    print_new (fp, name);
    print_blocks (fp, name, 0, blocks_of (d, bytes));
    print_size (fp, name, bytes);
  }
  fprintf (fp, "cd /\n");
  free (order);
}

static int
write_commands (const char *path, const struct scenario_disk *d, char **error)
{
  FILE *fp = fopen (path, "w");
  unsigned i;

  for (i = 0; fp && i < d->n_files; ++i)
    if (d->files[i].per_folder)
      print_tree (fp, d, &d->files[i]);
    else if (d->files[i].layout == LAYOUT_SPREAD)
      print_spread (fp, d, &d->files[i]);
    else
      print_flat (fp, d, &d->files[i]);
  if (fp == NULL || fclose (fp) == EOF)
    return set_error (error, "%s: %s", path, strerror (errno));
  return 0;
}

/* A table with one Linux partition.  Where a place has no cylinder, head and
 * sector of 255 heads and 63 sectors, the largest stands for it.
 */
static int
write_table (const char *path, int64_t lba, int64_t sectors, char **error)
{
  unsigned char block[SECTOR] = { [510] = 0x55, [511] = 0xaa };
  unsigned char *entry = block + 446;
  int fd = open (path, O_WRONLY|O_CLOEXEC), i, r = 0;
  static const unsigned char far[] = { 0xfe, 0xff, 0xff };

  memcpy (entry + 1, far, 3);
  entry[4] = 0x83;
  memcpy (entry + 5, far, 3);
  for (i = 0; i < 4; ++i) {
    entry[8 + i] = lba >> 8 * i & 0xff;
    entry[12 + i] = sectors >> 8 * i & 0xff;
  }
  if (fd == -1 || pwrite (fd, block, SECTOR, 0) != SECTOR)
    r = set_error (error, "%s: %s", path, strerror (errno));
  if (fd != -1)
    close (fd);
  return r;
}

/* Words for mke2fs. */
static char *
file_system_words (const struct scenario_disk *d)
{
  char *journal = strcmp (d->file_system, "ext3") == 0
    ? format (" -J size=%lld", (long long) d->journal_mib) : format ("%s", "");
  char *r = format ("-b %lld -I %lld -i %d%s",
                    (long long) d->block_bytes, (long long) d->inode_bytes,
                    BYTES_PER_INODE, journal);

  free (journal);
  return r;
}

static int
make_file_system (const char *path, const struct scenario_disk *d,
                  int64_t sectors, const char *folder, char **error)
{
  const bool journal = strcmp (d->file_system, "ext3") == 0;
  char *offset = format ("%lld", (long long) d->partition_lba * SECTOR);
  char *blocks = format ("%lld",
                         (long long) (sectors * SECTOR / d->block_bytes));
  char *words = file_system_words (d);
  char *features = format ("%s%s", d->features ? d->features
                           : d->revision ? "filetype,sparse_super" : "none",
                           journal ? ",has_journal" : "");
  char *files = format ("%s/files", folder);
  const char *const args[] = {
    path, offset, blocks, words, features, folder, d->revision ? "1" : "0",
    NULL
  };
  int r = write_commands (files, d, error);

  if (r == 0)
    r = script_run (disk_script, args, NULL, NULL, error);
  free (offset);
  free (blocks);
  free (words);
  free (features);
  free (files);
  return r;
}

int
disk_image_make (const char *path, const struct scenario_disk *d,
                 int64_t drive_sectors, const char *folder, char **error)
{
  int64_t sectors = drive_sectors - d->partition_lba;
  int fd, r = 0;

  if (d->partition_mib)
    sectors = d->partition_mib * 2048;
  if (sectors <= 0 || d->partition_lba + sectors > drive_sectors)
    return set_error (error, "disk: the partition reaches beyond the end of "
                      "the drive, at sector %lld", (long long) drive_sectors);
  fd = open (path, O_CREAT|O_EXCL|O_WRONLY|O_CLOEXEC, 0600);
  if (fd == -1 || ftruncate (fd, drive_sectors * SECTOR) == -1)
    r = set_error (error, "%s: %s", path, strerror (errno));
  if (fd != -1)
    close (fd);
  if (r == 0 && d->file_system)
    r = make_file_system (path, d, sectors, folder, error);
  if (r == 0 && d->partition_lba)
    r = write_table (path, d->partition_lba, sectors, error);
  return r;
}
