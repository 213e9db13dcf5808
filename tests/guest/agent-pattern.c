/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent-pattern IMAGE OFFSET BYTES SEED: look at what the agent's write steps
 * left in a part of a disk.  Prints how many sectors hold the pattern of that
 * seed and how many are zero; fails when any holds something else.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512 };

/* As in harness/agent/README.md. */
static bool
has_pattern (const unsigned char *sector, uint64_t lba, uint64_t seed)
{
  uint32_t words[SECTOR / 4];

  for (uint32_t i = 0; i < SECTOR / 4; i++)
    words[i] = (i + (uint32_t) seed) * 2654435761U;
  memcpy (words, &lba, sizeof lba);
  memcpy (words + 2, &seed, sizeof seed);
  return memcmp (sector, words, SECTOR) == 0;
}

int
main (int argc, char **argv)
{
  static const unsigned char zeros[SECTOR];
  unsigned char sector[SECTOR];
  uint64_t offset, bytes, seed, written = 0, zero = 0, other = 0;
  FILE *fp;

  if (argc != 5 || (fp = fopen (argv[1], "rb")) == NULL) {
    fprintf (stderr, "usage: agent-pattern IMAGE OFFSET BYTES SEED\n");
    return EXIT_FAILURE;
  }
  offset = strtoull (argv[2], NULL, 10);
  bytes = strtoull (argv[3], NULL, 10);
  seed = strtoull (argv[4], NULL, 10);
  fseeko (fp, offset, SEEK_SET);
  for (uint64_t i = 0; i < bytes / SECTOR; i++) {
    if (fread (sector, SECTOR, 1, fp) != 1)
      other++;
    else if (has_pattern (sector, offset / SECTOR + i, seed))
      written++;
    else if (memcmp (sector, zeros, SECTOR) == 0)
      zero++;
    else
      other++;
  }
  fclose (fp);
  printf ("%" PRIu64 " written %" PRIu64 " zero\n", written, zero);
  return other == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
