/* SPDX-License-Identifier: BSD-3-Clause
 *
 * DiskSim's own parameter files: .diskspecs or .parv, with the model and
 * the seek curve they name.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "import-impl.h"
#include "spindle.h"

struct reader {
  struct import *in;
  int dir;
  const struct import_node *disk; /* the only one */
};

/* Messages are about this node from here on. */
static void
at (struct import *in, const struct import_node *node)
{
  in->file = node->file;
  in->line = node->line;
}

/* Is it a block of this type? */
static bool
is_block (const struct import_node *node, const char *type)
{
  size_t n = strlen (type);

  return node->kind == NODE_BLOCK && strncmp (node->text, type, n) == 0 &&
    (node->text[n] == '\0' || node->text[n] == ' ');
}

static int
wrong_kind (struct import *in, const struct import_node *node,
            const char *allowed)
{
  at (in, node);
  return import_fail (in, node->key ? node->key : "list",
                      node->kind == NODE_LIST ? "[ ... ]" :
                      node->kind == NODE_BLOCK ? "{ ... }" : node->text,
                      "%s is allowed", allowed);
}

static int
need_block (struct import *in, const struct import_node *node,
            const char *type)
{
  return is_block (node, type) ? 0 : wrong_kind (in, node, type);
}

/* ---- lists ---- */

static int
list_of (struct import *in, const struct import_node *list,
         int (*put) (struct import *in, const char *text))
{
  if (list->kind != NODE_LIST)
    return wrong_kind (in, list, "a list");
  for (const struct import_node *n = list->child; n; n = n->next) {
    at (in, n);
    if (n->kind != NODE_TEXT)
      return wrong_kind (in, n, "a number");
    if (put (in, n->text) == -1)
      return -1;
  }
  return 0;
}

static int
put_slip (struct import *in, const char *text)
{
  return import_put_slip (in, &in->drive.zone[in->drive.n_zones - 1], text);
}

static int
count_defect (struct import *in, const char *text)
{
  (void) text;
  in->drive.zone[in->drive.n_zones - 1].n_defects++;
  return 0;
}

/* ---- zones ---- */

static int
zone_member (struct import *in, struct import_zone *zone,
             const struct import_node *n, unsigned *seen)
{
  if (strcmp (n->key, "slips") == 0)
    return list_of (in, n, put_slip);
  if (strcmp (n->key, "defects") == 0)
    return list_of (in, n, count_defect);
  at (in, n);
  for (int i = 0; import_zone_names[i]; i++)
    if (strcmp (n->key, import_zone_names[i]) == 0) {
      if (n->kind != NODE_TEXT)
        return wrong_kind (in, n, "a number");
      if (*seen & 1U << i)
        return import_fail (in, n->key, n->text, "is there twice");
      *seen |= 1U << i;
      return import_put_zone (in, zone, i, n->text);
    }
  import_note (in, "%s: not a parameter of a zone spindle knows", n->key);
  return 0;
}

static int
read_zone (struct import *in, const struct import_node *node)
{
  struct import_zone *zone;
  unsigned seen = 0;

  if (need_block (in, node, "dm_layout_g1_zone") == -1)
    return -1;
  at (in, node);
  zone = import_add_zone (in);
  if (zone == NULL)
    return -1;
  for (const struct import_node *n = node->child; n; n = n->next)
    if (zone_member (in, zone, n, &seen) == -1)
      return -1;
  at (in, node);
  for (int i = 0; import_zone_names[i]; i++)
    if (!(seen & 1U << i))
      return import_fail (in, import_zone_names[i], NULL,
                          "is missing in this zone");
  return 0;
}

static int
read_zones (struct import *in, const struct import_node *list)
{
  if (list->kind != NODE_LIST)
    return wrong_kind (in, list, "a list");
  for (const struct import_node *n = list->child; n; n = n->next)
    if (read_zone (in, n) == -1)
      return -1;
  return 0;
}

/* ---- the seek curve ---- */

static int
read_curve (struct reader *r, const struct import_node *node)
{
  struct import *in = r->in;
  const char *slash;
  char *text;
  int result;

  if (node->kind != NODE_TEXT)
    return wrong_kind (in, node, "the name of a file");
  at (in, node);
  text = import_named_text (in, node->key, node->text, r->dir);
  if (text == NULL)
    return -1;
  slash = strrchr (node->text, '/');
  in->file = slash ? slash + 1 : node->text;
  result = import_seek_text (in, text);
  free (text);
  return result;
}

/* ---- blocks ---- */

static int read_block (struct reader *r, const struct import_node *block);

static int
read_inner (struct reader *r, const struct import_node *node,
            const char *type)
{
  return need_block (r->in, node, type) == -1 ? -1 : read_block (r, node);
}

static int
read_member (struct reader *r, const struct import_node *node)
{
  struct import *in = r->in;
  enum import_key key = import_find (node->key, false);

  if (key != IMPORT_NO_KEY) {
    if (node->kind != NODE_TEXT)
      return wrong_kind (in, node, "one value");
    at (in, node);
    return import_put (in, key, node->key, node->text);
  }
  if (strcmp (node->key, "Model") == 0)
    return read_inner (r, node, "dm_disk");
  if (strcmp (node->key, "Layout Model") == 0)
    return read_inner (r, node, "dm_layout_g1");
  if (strcmp (node->key, "Mechanical Model") == 0)
    return read_inner (r, node, "dm_mech_g1");
  if (strcmp (node->key, "Zones") == 0)
    return read_zones (in, node);
  if (strcmp (node->key, "Full seek curve") == 0)
    return read_curve (r, node);
  if (strcmp (node->key, "HPL seek equation values") == 0)
    return list_of (in, node, import_put_hpl);
  if (strcmp (node->key, "First ten seek times") == 0)
    return list_of (in, node, import_put_first_ten);
  if (!import_beside_the_point (node->key))
    import_note (in, "%s: not a parameter spindle knows", node->key);
  return 0;
}

static int
read_block (struct reader *r, const struct import_node *block)
{
  for (const struct import_node *n = block->child; n; n = n->next)
    if (read_member (r, n) == -1)
      return -1;
  return 0;
}

static int
read_bus (struct import *in, const struct import_node *bus)
{
  for (const struct import_node *n = bus->child; n; n = n->next)
    if (n->kind == NODE_TEXT) {
      at (in, n);
      if (import_put_bus (in, n->key, n->text) == -1)
        return -1;
    }
  return 0;
}

static int
read_top (struct reader *r, const struct import_node *node)
{
  struct import *in = r->in;

  if (is_block (node, "disksim_bus"))
    return read_bus (in, node);
  if (!is_block (node, "disksim_disk"))
    return 0;
  at (in, node);
  if (r->disk)
    return import_fail (in, node->text, NULL, "a second drive: one is "
                        "allowed");
  r->disk = node;
  if (strchr (node->text, ' '))
    in->drive.name = format ("%s", strchr (node->text, ' ') + 1);
  return read_block (r, node);
}

static int
read_tree (struct reader *r, const struct import_tree *tree)
{
  struct import *in = r->in;
  bool bus = false;

  for (const struct import_node *n = tree->first; n; n = n->next) {
    bus |= is_block (n, "disksim_bus");
    if (read_top (r, n) == -1)
      return -1;
  }
  in->file = in->path;
  in->line = 0;
  if (r->disk == NULL)
    return import_fail (in, "disksim_disk", NULL, "is missing; of DiskSim's "
                        "files, the .diskspecs or .parv is wanted, not the "
                        ".model");
  if (!bus)
    import_note (in, "disksim_bus: none in this file (a .parv has it): only "
                 "the drive's own speed limits the bus");
  return 0;
}

int
import_disksim (struct import *in, const char *text, int dir)
{
  struct reader r = { .in = in, .dir = dir };
  struct import_tree tree;
  int result = import_parse (in, text, dir, &tree);

  if (result == 0)
    result = read_tree (&r, &tree);
  import_tree_free (&tree);
  return result;
}

/* A condensed file begins with a line that has a colon. */
static bool
is_condensed (const char *text)
{
  size_t n;

  for (;;) {
    text += strspn (text, " \t\r\n");
    if (*text != '#')
      break;
    text += strcspn (text, "\n");
  }
  n = strcspn (text, ":{=[\n");
  return text[n] == ':';
}

int
import_read (struct import *in, int fd, int dir)
{
  char *text = import_text (in, fd);
  int r;

  if (text == NULL)
    return -1;
  r = is_condensed (text) ? import_condensed (in, text)
                          : import_disksim (in, text, dir);
  free (text);
  /* in->file may have been part of the tree. */
  in->file = in->path;
  in->line = 0;
  return r;
}
