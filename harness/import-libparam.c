/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The syntax of DiskSim's parameter files, as a tree:
 *
 *   type name { Key with blanks = value, Other = [ 1, 2 ], # comment
 *               Inner = type { ... }, From elsewhere = source file }
 *   source file
 *   instantiate [ name ] as type
 *   topology type name [ ... ]
 *
 * The last two describe computers, not drives, and are skipped.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import-impl.h"
#include "spindle.h"

#define MAX_NESTING 32
#define MAX_SOURCES 8             /* of files in files */
#define MAX_FILES 32
#define CHUNK 65536

/* What the tree is made of. */
struct chunk {
  struct chunk *next;
  size_t used, size;
  _Alignas (max_align_t) char data[];
};

struct parser {
  struct import *in;
  struct import_tree *tree;
  const char *at;
  int dir, nesting, sources;
};

static void *
tree_allocate (struct import_tree *tree, size_t size)
{
  struct chunk *c = tree->chunks;
  void *p;

  size = (size + 15) & ~(size_t) 15;
  if (c == NULL || c->size - c->used < size) {
    size_t room = size > CHUNK ? size : CHUNK;

    c = allocate (1, sizeof *c + room);
    c->size = room;
    c->next = tree->chunks;
    tree->chunks = c;
  }
  p = c->data + c->used;
  c->used += size;
  return p;
}

void
import_tree_free (struct import_tree *tree)
{
  while (tree->chunks) {
    struct chunk *next = tree->chunks->next;

    free (tree->chunks);
    tree->chunks = next;
  }
}

/* ---- words ---- */

static char
peek (struct parser *p)
{
  for (; *p->at; p->at++) {
    if (*p->at == '#')
      p->at += strcspn (p->at, "\n");
    if (*p->at == '\n')
      p->in->line++;
    else if (!isspace ((unsigned char) *p->at))
      break;
  }
  return *p->at;
}

/* What stands here up to a line's end or a special character, with single
 * blanks in it.
 */
static char *
words_here (struct parser *p)
{
  size_t n = 0, length;
  char *words;

  peek (p);
  length = strcspn (p->at, ",{}[]=#\n");
  words = tree_allocate (p->tree, length + 1);
  for (size_t i = 0; i < length; i++)
    if (!isspace ((unsigned char) p->at[i]))
      words[n++] = p->at[i];
    else if (n > 0 && words[n - 1] != ' ')
      words[n++] = ' ';
  while (n > 0 && words[n - 1] == ' ')
    n--;
  words[n] = '\0';
  p->at += length;
  return words;
}

static int
expected (struct parser *p, const char *key, const char *what)
{
  char here[2] = { peek (p), '\0' };

  return import_fail (p->in, key ? key : "file", *here ? here : "its end",
                      "%s is allowed here", what);
}

/* ---- values ---- */

static int parse_value (struct parser *p, struct import_node *node);
static int parse_top (struct parser *p, struct import_node **link);

static struct import_node *
new_node (struct parser *p, const char *key)
{
  struct import_node *node = tree_allocate (p->tree, sizeof *node);

  peek (p);
  *node = (struct import_node) {
    .key = key, .file = p->in->file, .line = p->in->line
  };
  return node;
}

/* Members up to CLOSE. */
static int
parse_members (struct parser *p, struct import_node *node, char close)
{
  struct import_node **link = &node->child;

  p->at++;
  if (++p->nesting > MAX_NESTING)
    return import_fail (p->in, "file", NULL, "nested more than %d deep",
                        MAX_NESTING);
  while (peek (p) != close) {
    const char *key = close == '}' ? words_here (p) : NULL;

    if (key && (*key == '\0' || peek (p) != '='))
      return expected (p, *key ? key : node->key,
                       "a parameter, KEY = VALUE");
    p->at += key != NULL;
    *link = new_node (p, key);
    if (parse_value (p, *link) == -1)
      return -1;
    link = &(*link)->next;
    if (peek (p) == ',')
      p->at++;
    else if (*p->at != close)
      return expected (p, key ? key : node->key,
                       close == '}' ? "a comma or a }"
                                    : "a comma or a ]");
  }
  p->at++;
  p->nesting--;
  return 0;
}

/* Go on in another file, with what FN parses, and come back. */
static int
parse_source (struct parser *p, const char *key, const char *name,
              int (*fn) (struct parser *p, void *to), void *to)
{
  struct parser inner = *p;
  const char *file = p->in->file;
  unsigned line = p->in->line;
  char *text;
  int r;

  if (++inner.sources > MAX_SOURCES)
    return import_fail (p->in, key, name, "files in files in files: at most "
                        "%d", MAX_SOURCES);
  text = import_named_text (p->in, key, name, p->dir);
  if (text == NULL)
    return -1;
  p->tree->bytes += strlen (text);
  /* The name is a copy in the tree, as nodes keep it. */
  p->in->file = name;
  p->in->line = 1;
  inner.at = text;
  if (p->tree->bytes > IMPORT_MAX_BYTES)
    r = import_fail (p->in, "file", NULL, "more than %d MiB altogether",
                     IMPORT_MAX_BYTES >> 20);
  else
    r = fn (&inner, to);
  free (text);
  if (r == -1)
    return -1;
  p->in->file = file;
  p->in->line = line;
  return 0;
}

static int
source_value (struct parser *p, void *to)
{
  if (parse_value (p, to) == -1)
    return -1;
  return peek (p) ? expected (p, NULL, "nothing more") : 0;
}

static int
source_top (struct parser *p, void *to)
{
  return parse_top (p, to);
}

/* The file's name if TEXT is "source NAME". */
static const char *
source_name (const char *text)
{
  return strncmp (text, "source ", 7) == 0 ? text + 7 : NULL;
}

static int
parse_value (struct parser *p, struct import_node *node)
{
  const char *key = node->key ? node->key : "list";

  if (peek (p) == '[') {
    node->kind = NODE_LIST;
    return parse_members (p, node, ']');
  }
  node->text = words_here (p);
  if (*node->text == '\0')
    return expected (p, key, "a value");
  if (source_name (node->text))
    return parse_source (p, key, source_name (node->text), source_value,
                         node);
  if (peek (p) != '{')
    return 0;
  node->kind = NODE_BLOCK;
  return parse_members (p, node, '}');
}

/* ---- outside of blocks ---- */

static int
skip_brackets (struct parser *p)
{
  int depth = 0;

  if (peek (p) != '[')
    return expected (p, NULL, "a [");
  do {
    depth += *p->at == '[';
    depth -= *p->at == ']';
    p->at++;
  } while (depth > 0 && peek (p));
  return depth > 0 ? expected (p, NULL, "a ]") : 0;
}

/* One item; *link is moved on to where the next one goes. */
static int
parse_item (struct parser *p, struct import_node ***link)
{
  struct import_node *node = new_node (p, NULL);

  node->text = words_here (p);
  if (source_name (node->text)) {
    if (parse_source (p, "source", source_name (node->text), source_top,
                      *link) == -1)
      return -1;
    while (**link)
      *link = &(**link)->next;
    return 0;
  }
  if (strcmp (node->text, "instantiate") == 0) {
    if (skip_brackets (p) == -1)
      return -1;
    words_here (p);             /* as TYPE */
    return 0;
  }
  if (strncmp (node->text, "topology ", 9) == 0)
    return skip_brackets (p);
  if (*node->text == '\0' || peek (p) != '{')
    return expected (p, *node->text ? node->text : NULL, "a block, TYPE "
                     "NAME { ... },");
  node->kind = NODE_BLOCK;
  **link = node;
  *link = &node->next;
  return parse_members (p, node, '}');
}

static int
parse_top (struct parser *p, struct import_node **link)
{
  while (peek (p))
    if (parse_item (p, &link) == -1)
      return -1;
  return 0;
}

int
import_parse (struct import *in, const char *text, int dir,
              struct import_tree *tree)
{
  struct parser p = { .in = in, .tree = tree, .at = text, .dir = dir };

  *tree = (struct import_tree) { .bytes = strlen (text) };
  in->line = 1;
  return parse_top (&p, &tree->first);
}

/* Only regular files, and only in one directory: a parameter file from
 * elsewhere decides about the name.
 */
char *
import_named_text (struct import *in, const char *key, const char *name,
                   int dir)
{
  const char *slash = strrchr (name, '/'), *file = in->file;
  const char *base = slash ? slash + 1 : name;
  unsigned line = in->line;
  struct stat st;
  char *text = NULL;
  int fd;

  if (in->files.n == MAX_FILES) {
    import_fail (in, key, name, "at most %d files are allowed", MAX_FILES);
    return NULL;
  }
  fd = openat (dir, base, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd == -1) {
    import_fail (in, key, name, "%s", strerror (errno));
    return NULL;
  }
  if (fstat (fd, &st) == -1 || !S_ISREG (st.st_mode))
    import_fail (in, key, name, "not a regular file");
  else {
    in->file = base;
    text = import_text (in, fd);
    words_add (&in->files, base);
    if (text) {
      in->file = file;
      in->line = line;
    }
  }
  close (fd);
  return text;
}
