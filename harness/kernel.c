/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel.h"
#include "script.h"
#include "spindle.h"

SCRIPT_FILE (fetch_script, "harness/fetch-kernel.sh");

/* The version in a bzImage: its first word is the release.  The header has
 * the magic "HdrS" at 0x202 and, at 0x20e, where the version is, less 0x200.
 */
static char *
release_of_bzimage (const unsigned char *head, size_t n)
{
  size_t at;

  if (n < 0x210 || memcmp (head + 0x202, "HdrS", 4) != 0)
    return NULL;
  at = (head[0x20e] | head[0x20f] << 8) + 0x200;
  if (at >= n || memchr (head + at, '\0', n - at) == NULL)
    return NULL;
  return format ("%.*s", (int) strcspn ((char *) head + at, " "), head + at);
}

/* An ELF vmlinux says "Linux version RELEASE (" somewhere. */
static char *
release_of_elf (FILE *fp)
{
  static const char mark[] = "Linux version ";
  char release[128];
  size_t matched = 0, n = 0;
  int c;

  rewind (fp);
  while ((c = getc (fp)) != EOF) {
    if (matched == sizeof mark - 1) {
      if (c > ' ' && c < 127 && c != '%' && n < sizeof release - 1) {
        release[n++] = c;
        continue;
      }
      if (n > 0)
        return format ("%.*s", (int) n, release);
      matched = 0;
    }
    matched = c == mark[matched] ? matched + 1 : c == mark[0];
  }
  return NULL;
}

static uint64_t
number_at (const unsigned char *p, int bytes)
{
  uint64_t n = 0;

  while (bytes-- > 0)
    n = n << 8 | p[bytes];
  return n;
}

/* Where in the guest's memory a bzImage ends once it is unpacked: where it
 * wants to lie (0x258) and what it needs there (0x260), since version 2.10
 * of the boot protocol.
 */
static uint64_t
end_of_bzimage (const unsigned char *head)
{
  return number_at (head + 0x206, 2) < 0x20a ? 0
    : number_at (head + 0x258, 8) + number_at (head + 0x260, 4);
}

/* Likewise of an ELF file: the program headers are near its beginning. */
static uint64_t
end_of_elf (const unsigned char *head, size_t n)
{
  const bool wide = head[EI_CLASS] == ELFCLASS64;
  const size_t size = wide ? sizeof (Elf64_Phdr) : sizeof (Elf32_Phdr);
  const size_t address = wide ? offsetof (Elf64_Phdr, p_paddr)
    : offsetof (Elf32_Phdr, p_paddr);
  const size_t bytes = wide ? offsetof (Elf64_Phdr, p_memsz)
    : offsetof (Elf32_Phdr, p_memsz);
  uint64_t at = wide ? number_at (head + offsetof (Elf64_Ehdr, e_phoff), 8)
    : number_at (head + offsetof (Elf32_Ehdr, e_phoff), 4);
  uint64_t left = wide ? number_at (head + offsetof (Elf64_Ehdr, e_phnum), 2)
    : number_at (head + offsetof (Elf32_Ehdr, e_phnum), 2);
  uint64_t end, last = 0;

  for (; left > 0 && at <= n - size; left--, at += size)
    if (number_at (head + at, 4) == PT_LOAD) {
      end = number_at (head + at + address, wide ? 8 : 4)
        + number_at (head + at + bytes, wide ? 8 : 4);
      last = end > last ? end : last;
    }
  return last;
}

/* The release, and what the image takes of the guest's memory. */
static char *
read_head (const char *image, int *end_mib, char **error)
{
  static unsigned char head[65536];
  FILE *fp = fopen (image, "rb");
  uint64_t end = 0;
  char *release;
  size_t n;

  if (fp == NULL) {
    set_error (error, "%s: %s", image, strerror (errno));
    return NULL;
  }
  n = fread (head, 1, sizeof head, fp);
  if (n > sizeof (Elf64_Phdr) + sizeof (Elf64_Ehdr)
      && memcmp (head, ELFMAG, SELFMAG) == 0) {
    release = release_of_elf (fp);
    end = end_of_elf (head, n);
  }
  else {
    release = release_of_bzimage (head, n);
    if (release && n >= 0x264)
      end = end_of_bzimage (head);
  }
  fclose (fp);
  if (release == NULL)
    set_error (error, "%s: not a Linux kernel for x86 (bzImage or vmlinux)",
               image);
  *end_mib = end >> 20 < INT_MAX ? (int) ((end + 0xfffff) >> 20) : INT_MAX;
  return release;
}

/* lib/modules/RELEASE near the image. */
static char *
find_modules (const char *image, const char *release)
{
  const char *slash = strrchr (image, '/');
  char *folder = slash ? format ("%.*s", (int) (slash - image), image)
    : format (".");
  char *places[] = {
    format ("%s/lib/modules/%s", folder, release),
    format ("%s/../lib/modules/%s", folder, release),
    format ("/lib/modules/%s", release),
  };
  char *found = NULL;

  for (int i = 0; i < 3; i++) {
    if (found == NULL && access (places[i], R_OK | X_OK) == 0)
      found = places[i];
    else
      free (places[i]);
  }
  free (folder);
  return found;
}

static int
describe (const char *image, struct kernel *k, char **error)
{
  k->release = read_head (image, &k->end_mib, error);
  if (k->release == NULL)
    return -1;
  k->image = format ("%s", image);
  k->module_dir = find_modules (image, k->release);
  return 0;
}

static const char *const prefixes[] = {
  "", "vmlinux-", "vmlinuz-", "bzImage-"
};
#define N_PREFIXES (sizeof prefixes / sizeof prefixes[0])

/* The image of a name in $SPINDLE_KERNELS, or NULL.  Free it. */
static char *
image_named (const char *name)
{
  const char *folder = getenv ("SPINDLE_KERNELS");
  struct stat st;
  size_t i;

  for (i = 0; folder && i < N_PREFIXES; i++) {
    char *image = format ("%s/%s%s", folder, prefixes[i], name);

    if (stat (image, &st) == 0 && S_ISREG (st.st_mode))
      return image;
    free (image);
  }
  return NULL;
}

static int
find_named (const char *name, struct kernel *k, char **error)
{
  const char *folder = getenv ("SPINDLE_KERNELS");
  char *image = image_named (name);
  int r;

  if (folder == NULL)
    return set_error (error, "kernel %s: SPINDLE_KERNELS, the folder to "
                      "look in, is not set", name);
  r = image ? describe (image, k, error)
    : set_error (error, "kernel %s: not found in %s", name, folder);
  free (image);
  return r;
}

bool
kernel_is_there (const char *wanted)
{
  char *image;
  bool there;

  if (strcmp (wanted, "debian") == 0)
    return true;
  if (strchr (wanted, '/'))
    return access (wanted, R_OK) == 0;
  image = image_named (wanted);
  there = image != NULL;
  free (image);
  return there;
}

/* For qsort: 2.6.9 before 2.6.10. */
static int
by_version (const void *a, const void *b)
{
  return strverscmp (*(char *const *) a, *(char *const *) b);
}

int
kernel_names (struct words *names, char **error)
{
  const char *folder = getenv ("SPINDLE_KERNELS");
  DIR *dir = folder ? opendir (folder) : NULL;
  struct dirent *entry;
  size_t i;

  if (dir == NULL)
    return folder ? set_error (error, "%s: %s", folder, strerror (errno))
      : set_error (error, "SPINDLE_KERNELS, the folder of the kernels, is "
                   "not set");
  while ((entry = readdir (dir)) != NULL) {
    const char *name = entry->d_name;
    char *path = format ("%s/%s", folder, name), *image;

    for (i = 1; i < N_PREFIXES; i++)
      if (strncmp (name, prefixes[i], strlen (prefixes[i])) == 0)
        name += strlen (prefixes[i]);
    image = name[0] == '.' ? NULL : image_named (name);
    /* Not the other one of a vmlinux-NAME and a vmlinuz-NAME. */
    if (image && strcmp (image, path) == 0)
      words_add (names, name);
    free (image);
    free (path);
  }
  closedir (dir);
  if (names->n == 0)
    return set_error (error, "%s: no kernel in it", folder);
  qsort (names->word, names->n, sizeof names->word[0], by_version);
  return 0;
}

/* Every folder on the way to PATH. */
static void
make_parents (const char *path)
{
  for (const char *p = strchr (path + 1, '/'); p; p = strchr (p + 1, '/')) {
    char *folder = format ("%.*s", (int) (p - path), path);

    mkdir (folder, 0777);
    free (folder);
  }
}

/* The folder appears complete or not at all.  Whoever is second throws away
 * what it has fetched.
 */
static int
fetch (const char *folder, char **error)
{
  char *temp = format ("%s.XXXXXX", folder);
  const char *const args[] = { temp, NULL };
  int r;

  make_parents (folder);
  if (mkdtemp (temp) == NULL) {
    r = set_error (error, "%s: %s", temp, strerror (errno));
    free (temp);
    return r;
  }
  complain ("fetching Debian's kernel, once");
  r = script_run (fetch_script, args, NULL, NULL, error);
  if (r == 0 && chmod (temp, 0755) == 0 && rename (temp, folder) == -1
      && errno != EEXIST && errno != ENOTEMPTY)
    r = set_error (error, "%s: %s", folder, strerror (errno));
  remove_tree (temp);
  free (temp);
  return r;
}

static char *
cache_folder (char **error)
{
  const char *xdg = getenv ("XDG_CACHE_HOME"), *home = getenv ("HOME");

  if (xdg && xdg[0] == '/')
    return format ("%s/spindle/kernels/debian-amd64", xdg);
  if (home && home[0] == '/')
    return format ("%s/.cache/spindle/kernels/debian-amd64", home);
  set_error (error, "neither XDG_CACHE_HOME nor HOME is set: nowhere to "
             "keep a kernel");
  return NULL;
}

static int
find_debian (struct kernel *k, char **error)
{
  char *folder = cache_folder (error), *compressed, *image;
  int r = 0;

  if (folder == NULL)
    return -1;
  compressed = format ("%s/boot/vmlinuz", folder);
  image = format ("%s/boot/vmlinux", folder);
  if (access (compressed, R_OK) == -1)
    r = fetch (folder, error);
  if (r == 0)
    r = describe (access (image, R_OK) == 0 ? image : compressed, k, error);
  free (folder);
  free (compressed);
  free (image);
  return r;
}

int
kernel_find (const char *wanted, struct kernel *k, char **error)
{
  *k = (struct kernel) { .image = NULL };
  if (wanted == NULL)
    return find_debian (k, error);
  if (strchr (wanted, '/'))
    return describe (wanted, k, error);
  return find_named (wanted, k, error);
}

void
kernel_free (struct kernel *k)
{
  free (k->image);
  free (k->release);
  free (k->module_dir);
  *k = (struct kernel) { .image = NULL };
}
