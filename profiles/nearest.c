/* SPDX-License-Identifier: BSD-3-Clause
 *
 * "Did you mean": the candidate with the smallest edit distance.
 */
#include <stdio.h>
#include <string.h>

#include "loader-impl.h"

#define MAX_WORD 79

/* Insertions, deletions and replacements that turn a into b. */
static size_t
edit_distance (const char *a, const char *b)
{
  const size_t a_len = strlen (a), b_len = strlen (b);
  size_t row[MAX_WORD + 1];

  for (size_t j = 0; j <= b_len; j++)
    row[j] = j;
  for (size_t i = 1; i <= a_len; i++) {
    size_t diagonal = row[0];

    row[0] = i;
    for (size_t j = 1; j <= b_len; j++) {
      const size_t above = row[j];
      size_t best = diagonal + (a[i - 1] != b[j - 1]);

      if (above + 1 < best)
        best = above + 1;
      if (row[j - 1] + 1 < best)
        best = row[j - 1] + 1;
      row[j] = best;
      diagonal = above;
    }
  }
  return row[b_len];
}

void
nearest_start (struct nearest *nearest, const char *word)
{
  const size_t len = strlen (word);

  nearest->word = word;
  nearest->best[0] = '\0';
  /* Half of it wrong is no longer a slip of the pen. */
  nearest->distance = len > MAX_WORD ? 0 : len / 2 + 1;
}

void
nearest_offer (struct nearest *nearest, const char *candidate)
{
  size_t distance;

  if (nearest->distance == 0 || strlen (candidate) > MAX_WORD)
    return;
  distance = edit_distance (nearest->word, candidate);
  if (distance >= nearest->distance)
    return;
  nearest->distance = distance;
  snprintf (nearest->best, sizeof nearest->best, "%s", candidate);
}

const char *
nearest_hint (struct nearest *nearest)
{
  nearest->hint[0] = '\0';
  if (nearest->best[0] != '\0')
    snprintf (nearest->hint, sizeof nearest->hint, "; did you mean \"%s\"?",
              nearest->best);
  return nearest->hint;
}
