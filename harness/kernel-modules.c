/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel-modules.h"
#include "script.h"
#include "spindle.h"

enum { NAME_BYTES = 64, MAX_MODULES = 256, MAX_DEPTH = 32 };

struct entry {
  char name[NAME_BYTES];        /* with '_' for '-' */
  char *path;
  bool taken;
};

struct resolver {
  const char *dir;
  struct entry *index;
  size_t n_index;
  char *builtin;                /* modules.builtin, or "" */
  struct kernel_modules *out;
  char **error;
};

/* "…/crc-t10dif.ko.xz" gives "crc_t10dif"; false for other files. */
static bool
module_name (const char *path, char name[NAME_BYTES])
{
  const char *base = strrchr (path, '/');
  const char *end;

  base = base == NULL ? path : base + 1;
  end = strstr (base, ".ko");
  if (end == NULL || (end[3] != '\0' && end[3] != '.')
      || end - base >= NAME_BYTES)
    return false;
  for (; base < end; base++)
    *name++ = *base == '-' ? '_' : *base;
  *name = '\0';
  return true;
}

static int
compare_entries (const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  int order = strcmp (x->name, y->name);

  return order != 0 ? order : strcmp (x->path, y->path);
}

static int
make_index (struct resolver *r)
{
  char *paths[] = { (char *) r->dir, NULL };
  FTS *fts = fts_open (paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  size_t room = 0;
  FTSENT *e;

  while (fts != NULL && (e = fts_read (fts)) != NULL) {
    struct entry entry = { .taken = false };

    if (e->fts_info != FTS_F || !module_name (e->fts_path, entry.name))
      continue;
    if (r->n_index == room) {
      room = room * 2 + 256;
      r->index = reallocate (r->index, room, sizeof *r->index);
    }
    entry.path = format ("%s", e->fts_path);
    r->index[r->n_index++] = entry;
  }
  if (fts != NULL)
    fts_close (fts);
  if (r->n_index == 0) {
    set_error (r->error, "%s: no kernel modules there", r->dir);
    return -1;
  }
  qsort (r->index, r->n_index, sizeof *r->index, compare_entries);
  return 0;
}

static struct entry *
find (struct resolver *r, const char *name)
{
  for (size_t i = 0; i < r->n_index; i++)
    if (strcmp (r->index[i].name, name) == 0)
      return &r->index[i];
  return NULL;
}

static bool
is_builtin (const struct resolver *r, const char *name)
{
  const char *line = r->builtin;
  char path[512], other[NAME_BYTES];

  while (*line != '\0') {
    size_t length = strcspn (line, "\n");

    snprintf (path, sizeof path, "%.*s", (int) length, line);
    if (module_name (path, other) && strcmp (other, name) == 0)
      return true;
    line += length + (line[length] == '\n');
  }
  return false;
}

/* A signature costs the guest two seconds of virtual time to check (sha256
 * and RSA) and nothing here asks for it.  Layout: data, signature, struct
 * module_signature (12 bytes, the last 4 its size, big endian), magic. */
static void
strip_signature (struct kernel_module *m)
{
  static const char magic[] = "~Module signature appended~\n";
  const size_t tail = sizeof magic - 1 + 12;
  const unsigned char *s;
  size_t bytes;

  if (m->size < tail || memcmp (m->data + m->size - (sizeof magic - 1), magic,
                                sizeof magic - 1) != 0)
    return;
  s = (unsigned char *) m->data + m->size - tail + 8;
  bytes = (size_t) s[0] << 24 | s[1] << 16 | s[2] << 8 | s[3];
  if (bytes <= m->size - tail)
    m->size -= tail + bytes;
}

static int
read_module (struct resolver *r, const struct entry *e,
             struct kernel_module *m)
{
  static const char *const readers[][2] = {
    { ".ko", "cat -- \"$1\"" }, { ".xz", "xz -dc -- \"$1\"" },
    { ".gz", "gzip -dc -- \"$1\"" }, { ".zst", "zstd -qdc -- \"$1\"" },
  };
  const char *const args[] = { e->path, NULL };
  const char *suffix = strrchr (e->path, '.');

  for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
    if (strcmp (suffix, readers[i][0]) == 0) {
      if (script_run (readers[i][1], args, &m->data, &m->size, r->error)
          == -1)
        return -1;
      strip_signature (m);
      m->file = format ("%s.ko", e->name);
      return 0;
    }
  set_error (r->error, "%s: unknown compression", e->path);
  return -1;
}

/* A string of the module's .modinfo section, like "depends=a,b": a copy of
 * what follows the '=', or NULL. */
static char *
modinfo (const struct kernel_module *m, const char *key)
{
  const char *p = m->data, *end = m->data + m->size;
  const size_t length = strlen (key);

  while ((p = memmem (p, end - p, key, length)) != NULL) {
    const char *value = p + length;

    /* The end of a longer word, or a text without end, is something else. */
    if ((p == m->data || !isalnum ((unsigned char) p[-1]))
        && memchr (value, '\0', end - value) != NULL)
      return format ("%s", value);
    p = value;
  }
  return NULL;
}

static int add (struct resolver *r, const char *name, int depth);

static int
add_dependencies (struct resolver *r, const char *name, char *depends,
                  int depth)
{
  char *save, *word;

  for (word = strtok_r (depends, ", ", &save); word != NULL;
       word = strtok_r (NULL, ", ", &save)) {
    int result = add (r, word, depth + 1);

    if (result == -1)
      return -1;
    if (result == 1) {
      set_error (r->error, "%s: module %s, needed by %s, is not there",
                    r->dir, word, name);
      return -1;
    }
  }
  return 0;
}

/* "pre: crypto-crc32c crc64 post: x": what would be good to have before.  Such
 * names may be aliases; the ones that matter here are the plain C versions
 * of checksums, which are called NAME_generic. */
static int
add_soft_dependencies (struct resolver *r, char *softdep, int depth)
{
  bool before = false;
  char *save, *word;

  for (word = strtok_r (softdep, ", ", &save); word != NULL;
       word = strtok_r (NULL, ", ", &save)) {
    char generic[NAME_BYTES];
    int result;

    if (word[strlen (word) - 1] == ':') {
      before = strcmp (word, "pre:") == 0;
      continue;
    }
    if (!before)
      continue;
    if (strncmp (word, "crypto-", 7) == 0)
      word += 7;
    snprintf (generic, sizeof generic, "%s_generic", word);
    result = add (r, word, depth + 1);
    if (result == 1)
      result = add (r, generic, depth + 1);
    if (result == -1)
      return -1;
  }
  return 0;
}

/* Gives 0, also when the module is built in or already there; 1 when it
 * exists nowhere; -1 with an error. */
static int
add (struct resolver *r, const char *wanted, int depth)
{
  struct kernel_module m = { .file = NULL };
  char name[NAME_BYTES];
  char *depends, *softdep;
  struct entry *e;
  int result = 0;

  snprintf (name, sizeof name, "%s", wanted);
  for (char *p = name; *p != '\0'; p++)
    if (*p == '-')
      *p = '_';
  e = find (r, name);
  if (e == NULL)
    return is_builtin (r, name) ? 0 : 1;
  if (e->taken)
    return 0;
  if (depth > MAX_DEPTH || r->out->count == MAX_MODULES) {
    set_error (r->error, "%s: too many modules", r->dir);
    return -1;
  }
  e->taken = true;
  if (read_module (r, e, &m) == -1)
    return -1;
  softdep = modinfo (&m, "softdep=");
  depends = modinfo (&m, "depends=");
  if (softdep != NULL)
    result = add_soft_dependencies (r, softdep, depth);
  if (result == 0 && depends != NULL)
    result = add_dependencies (r, name, depends, depth);
  free (softdep);
  free (depends);
  r->out->list[r->out->count++] = m;
  return result;
}

int
kernel_modules_resolve (const char *dir, const char *const *wanted,
                        struct kernel_modules *modules, char **error)
{
  struct resolver r = { .dir = dir, .out = modules, .error = error };
  const char *const args[] = { dir, NULL };
  int result = 0;

  modules->count = 0;
  modules->list = allocate (MAX_MODULES + MAX_DEPTH + 1,
                          sizeof *modules->list);
  if (make_index (&r) == -1
      || script_run ("cat -- \"$1/modules.builtin\" 2>/dev/null || :", args,
                     &r.builtin, NULL, error) == -1)
    result = -1;
  for (; result == 0 && *wanted != NULL; wanted++) {
    int found = add (&r, *wanted, 0);

    if (found == 1)
      complain ("%s: no module %s, left out", dir, *wanted);
    if (found == -1)
      result = -1;
  }
  for (size_t i = 0; i < r.n_index; i++)
    free (r.index[i].path);
  free (r.index);
  free (r.builtin);
  if (result == -1)
    kernel_modules_free (modules);
  return result;
}

void
kernel_modules_free (struct kernel_modules *modules)
{
  for (size_t i = 0; i < modules->count; i++) {
    free (modules->list[i].file);
    free (modules->list[i].data);
  }
  free (modules->list);
  *modules = (struct kernel_modules) { .list = NULL };
}
