/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the table of keys for profiles/README.md.
 */
#include <stdio.h>

#include "loader.h"

static void
print_row (void *opaque, const struct profile_key *key)
{
  (void) opaque;
  printf ("| `%s` | %s | %s | %s | %s |\n", key->path, key->allowed,
          key->fallback, key->mark ? "yes" : "", key->text);
}

int
main (void)
{
  printf ("| key | allowed | default | mark | what it is |\n"
          "|---|---|---|---|---|\n");
  profile_keys (print_row, NULL);
  return 0;
}
