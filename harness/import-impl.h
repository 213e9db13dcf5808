/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of the import share.
 */
#ifndef SPINDLE_IMPORT_IMPL_H
#define SPINDLE_IMPORT_IMPL_H

#include "import.h"

/* ---- import-text.c ---- */

/* Keep "FILE:LINE: KEY: VALUE: what is allowed"; always returns -1.  VALUE
 * may be NULL.
 */
int import_fail (struct import *in, const char *key, const char *value,
                 const char *fmt, ...)
  __attribute__ ((format (printf, 4, 5)));

void import_note (struct import *in, const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));

/* TEXT, plain decimal, times 10^decimals, the rest rounded.  Without
 * decimals it has to be whole.
 */
int import_number (struct import *in, const char *key, const char *text,
                   int decimals, int64_t min, int64_t max, int64_t *r);

/* The other way round, without trailing zeros.  Returns BUF. */
#define IMPORT_DECIMAL 32
char *import_decimal (char buf[IMPORT_DECIMAL], int64_t value, int decimals);

/* Read a whole text, gunzipped if need be.  Free it. */
char *import_text (struct import *in, int fd);

/* Cut the next line off *text, NULL at the end: without leading and
 * trailing white space, comments or empty lines.  *indented says whether
 * there was white space before it.
 */
char *import_line (struct import *in, char **text, bool *indented);

/* ---- import-keys.c ---- */

/* The parameter of this name; condensed files have other names for some. */
enum import_key import_find (const char *name, bool condensed);
/* A parameter that says nothing about the drive's times. */
bool import_beside_the_point (const char *name);
int import_put (struct import *in, enum import_key key, const char *name,
                const char *text);

/* What the compound parameters have in common.  KEY is for messages. */
int import_put_point (struct import *in, const char *cylinders,
                      const char *ms);
int import_put_hpl (struct import *in, const char *text);
int import_put_first_ten (struct import *in, const char *text);
int import_put_slip (struct import *in, struct import_zone *zone,
                     const char *text);
int import_put_bus (struct import *in, const char *name, const char *text);
struct import_zone *import_add_zone (struct import *in);

/* The numbers of a zone, in the order of a condensed file's columns. */
#define IMPORT_ZONE_COLUMNS 8
extern const char *const import_zone_names[IMPORT_ZONE_COLUMNS + 1];
int import_put_zone (struct import *in, struct import_zone *zone, int column,
                     const char *text);

/* ---- the readers ---- */
int import_condensed (struct import *in, char *text);
int import_disksim (struct import *in, const char *text, int dir);
int import_seek_text (struct import *in, char *text);

/* ---- import-libparam.c: DiskSim's own files as a tree ---- */

enum import_node_kind { NODE_TEXT, NODE_BLOCK, NODE_LIST };

struct import_node {
  enum import_node_kind kind;
  const char *key;              /* NULL in a list and outside of blocks */
  const char *text;             /* the value; of a block, type and name */
  struct import_node *child, *next;
  const char *file;
  unsigned line;
};

struct import_tree {
  struct import_node *first;
  struct chunk *chunks;
  size_t bytes;                 /* of text read so far */
};

/* Parse TEXT and the files it names.  The tree is to be freed even after
 * an error.
 */
int import_parse (struct import *in, const char *text, int dir,
                  struct import_tree *tree);
void import_tree_free (struct import_tree *tree);

/* The text of the file that is named in a parameter. */
char *import_named_text (struct import *in, const char *key, const char *name,
                         int dir);

/* ---- import-holes.c ---- */

/* The zones' holes after DiskSim's sparing scheme, and no more cylinders
 * than the capacity needs.
 */
int import_layout (struct import *in, struct profile_geometry *geometry);

/* ---- import-map.c ---- */

/* The bus's speed as the profile has it.  What takes no time goes at the
 * largest there is.
 */
#define IMPORT_FASTEST_BUS 100000000
int64_t import_bus_kb_per_s (const struct import *in, bool write);

/* ---- import-notes.c ---- */

/* Note every parameter that has a value the model does not follow. */
void import_notes (struct import *in);

#endif /* SPINDLE_IMPORT_IMPL_H */
