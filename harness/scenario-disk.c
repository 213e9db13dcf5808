/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a scenario wants to be on the drive.
 */
#include <stdlib.h>
#include <string.h>

#include "scenario-impl.h"
#include "spindle.h"

#define MAX_FILES 1000000
#define MAX_FILE_BYTES (INT64_C (1) << 40)
#define MIB (INT64_C (1024) * 1024)

const char *const files_layouts[] = {
  "contiguous", "interleaved", "shuffled", "spread", NULL
};

/* A name on the disk: as others, but for the number in it. */
static int
check_file_name (struct strict *s, config_setting_t *group,
                 const struct scenario_files *f)
{
  config_setting_t *setting = config_setting_get_member (group, "name");
  const char *hole = strstr (f->name, "{n}");
  char *rest;
  int r;

  if (f->per_folder ? hole != NULL : (f->count > 1) != (hole != NULL))
    return strict_fail (s, setting, f->per_folder
                        ? "a tree has no {n} in its name"
                        : hole ? "{n} is for several: count is missing"
                        : "must contain {n}, as there are several");
  rest = hole ? format ("%.*s%s", (int) (hole - f->name), f->name, hole + 3)
    : format ("%s", f->name);
  r = strlen (rest) == 0 && hole ? 0
    : scenario_check_name (s, setting, rest);
  free (rest);
  return r;
}

/* One of mib, kib and bytes. */
static int
load_size (struct strict *s, config_setting_t *group, int64_t *bytes)
{
  static const struct { const char *key; int64_t unit; } keys[] = {
    { "mib", MIB }, { "kib", 1024 }, { "bytes", 1 }
  };
  int64_t n;
  int i;

  for (i = 0; i < 3; ++i) {
    n = 0;
    if (strict_int (s, group, keys[i].key, 1, MAX_FILE_BYTES / keys[i].unit,
                    &n) == -1)
      return -1;
    if (n && *bytes)
      return strict_fail (s, group, "only one of mib, kib and bytes");
    *bytes += n * keys[i].unit;
  }
  return *bytes ? 0 : strict_fail (s, group, "mib (or kib, or bytes) is "
                                   "missing");
}

/* Only a part of it is done: fewer files of a tree or a film, else smaller
 * ones.
 */
static int
shrink (struct strict *s, config_setting_t *group, int64_t scale,
        struct scenario_files *f)
{
  static const char *const shrinks[] = { "size", "count", "nothing", NULL };
  int which = f->per_folder ? 1 : 0;
  int64_t *what;

  if (strict_choice (s, group, "shrink", shrinks, &which) == -1)
    return -1;
  if (which == 2)
    return 0;
  what = which ? &f->count : &f->bytes;
  *what = *what / scale > 0 ? *what / scale : 1;
  return 0;
}

static int
load_files (struct strict *s, config_setting_t *group, struct scenario *sc)
{
  static const char *const keys[] = {
    "name", "count", "mib", "kib", "bytes", "layout", "chunk-kib",
    "per-folder", "shrink", NULL
  };
  struct scenario_disk *d = &sc->disk;
  struct scenario_files *f;
  int64_t chunk_kib = 64;

  d->files = reallocate (d->files, d->n_files + 1, sizeof *f);
  f = &d->files[d->n_files++];
  *f = (struct scenario_files) { .count = 1, .scale = sc->scale };
  if (strict_keys (s, group, keys) == -1 ||
      strict_need (s, group, "name") == NULL)
    return -1;
  strict_string (s, group, "name", &f->name);
  strict_int (s, group, "count", 1, MAX_FILES, &f->count);
  strict_int (s, group, "per-folder", 1, 10000, &f->per_folder);
  strict_int (s, group, "chunk-kib", 4, 1048576, &chunk_kib);
  f->chunk_bytes = chunk_kib * 1024;
  if (strict_choice (s, group, "layout", files_layouts, &f->layout) == -1 ||
      load_size (s, group, &f->bytes) == -1 ||
      check_file_name (s, group, f) == -1)
    return -1;
  if (f->layout != LAYOUT_CONTIGUOUS &&
      (f->layout == LAYOUT_SHUFFLED) != (f->per_folder != 0))
    return strict_fail (s, config_setting_get_member (group, "layout"),
                        f->per_folder ? "\"contiguous\" or \"shuffled\""
                        : "\"contiguous\", \"interleaved\" or "
                        "\"spread\"");
  if (f->layout == LAYOUT_SPREAD && f->count > 1)
    return strict_fail (s, config_setting_get_member (group, "layout"),
                        "\"spread\" is for one file");
  return shrink (s, group, sc->scale, f);
}

/* Words with commas: they become one word for mke2fs and the agent. */
static int
check_words (struct strict *s, config_setting_t *disk, const char *key,
             const char *words)
{
  if (words == NULL ||
      strspn (words, "abcdefghijklmnopqrstuvwxyz0123456789_-^,=")
        == strlen (words))
    return 0;
  return strict_fail (s, config_setting_get_member (disk, key),
                      "words with commas between them");
}

static int
load_file_system (struct strict *s, config_setting_t *disk,
                  struct scenario_disk *d)
{
  static const char *const types[] = { "ext2", "ext3", NULL };
  static const char *const block_sizes[] = { "1024", "2048", "4096", NULL };
  config_setting_t *block;
  int type = -1;

  strict_choice (s, disk, "file-system", types, &type);
  strict_int (s, disk, "block-bytes", 1024, 4096, &d->block_bytes);
  strict_int (s, disk, "inode-bytes", 128, 256, &d->inode_bytes);
  strict_int (s, disk, "revision", 0, 1, &d->revision);
  strict_int (s, disk, "journal-mib", 4, 1024, &d->journal_mib);
  strict_string (s, disk, "features", &d->features);
  if (strict_string (s, disk, "mount", &d->mount) == -1 ||
      check_words (s, disk, "features", d->features) == -1 ||
      check_words (s, disk, "mount", d->mount) == -1)
    return -1;
  if (type != -1)
    d->file_system = format ("%s", types[type]);
  block = config_setting_get_member (disk, "block-bytes");
  if (d->block_bytes & (d->block_bytes - 1))
    return strict_fail (s, block, "%s, %s or %s", block_sizes[0],
                        block_sizes[1], block_sizes[2]);
  if (d->inode_bytes & (d->inode_bytes - 1))
    return strict_fail (s, config_setting_get_member (disk, "inode-bytes"),
                        "128 or 256");
  return 0;
}

int
scenario_load_disk (struct strict *s, config_setting_t *root,
                    struct scenario *sc)
{
  static const char *const keys[] = {
    "partition-lba", "partition-mib", "file-system", "block-bytes",
    "inode-bytes", "revision", "journal-mib", "features", "mount", "files",
    NULL
  };
  config_setting_t *disk = config_setting_get_member (root, "disk"), *files;
  struct scenario_disk *d = &sc->disk;
  int i;

  *d = (struct scenario_disk) {
    .block_bytes = 4096, .inode_bytes = 128, .revision = 1,
    .journal_mib = 32,
  };
  if (disk == NULL)
    return s->error ? -1 : 0;
  if (!config_setting_is_group (disk))
    return strict_fail (s, disk, "a group, { ... }");
  if (strict_keys (s, disk, keys) == -1)
    return -1;
  strict_int (s, disk, "partition-lba", 1, UINT32_MAX, &d->partition_lba);
  strict_int (s, disk, "partition-mib", 8, 2097151, &d->partition_mib);
  if (load_file_system (s, disk, d) == -1)
    return -1;
  files = config_setting_get_member (disk, "files");
  if (files == NULL)
    return 0;
  if (d->file_system == NULL)
    return strict_fail (s, files, "files need a file-system");
  if (strict_groups (s, files, 1) == -1)
    return -1;
  for (i = 0; i < config_setting_length (files); ++i)
    if (load_files (s, config_setting_get_elem (files, i), sc) == -1)
      return -1;
  return 0;
}

/* NAME with HOLE in it replaced by N. */
static char *
filled (const char *name, const char *hole, int64_t n)
{
  const char *at = strstr (name, hole);

  return at ? format ("%.*s%lld%s", (int) (at - name), name, (long long) n,
                      at + strlen (hole))
    : format ("%s", name);
}

bool
scenario_disk_has (const struct scenario_disk *d, const char *name)
{
  char *first = filled (name, strstr (name, "{n}") ? "{n}" : "{job}", 0);
  char *other;
  bool found = false;
  unsigned i;
  int64_t n;

  for (i = 0; i < d->n_files && !found; ++i)
    for (n = 0; n < d->files[i].count && !found; ++n) {
      other = filled (d->files[i].name, "{n}", n);
      found = strcmp (first, other) == 0;
      free (other);
      if (d->files[i].per_folder)
        break;
    }
  free (first);
  return found;
}

void
scenario_disk_free (struct scenario_disk *d)
{
  unsigned i;

  for (i = 0; i < d->n_files; ++i)
    free (d->files[i].name);
  free (d->files);
  free (d->file_system);
  free (d->features);
  free (d->mount);
}
