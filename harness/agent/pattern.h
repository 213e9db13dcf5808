// SPDX-License-Identifier: BSD-3-Clause
//
// What is in the files of a `files` step, so that whoever reads them later
// can tell how far it had come.  Also used outside the guest.

#ifndef AGENT_PATTERN_H
#define AGENT_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

enum { PATTERN_BLOCK = 4096, PATTERN_WORDS = PATTERN_BLOCK / 4 };
#define PATTERN_MAGIC 0x6c697053U

// Files with an even number are logs: generation N appends block N - 1.  The
// others are replaced as a whole, by writing another file and renaming it.
static inline bool
pattern_is_log (int file)
{
  return file % 2 == 0;
}

// The blocks of a generation of a file that is replaced.
static inline uint32_t
pattern_blocks (uint32_t generation)
{
  return 1 + generation % 4;
}

static inline uint32_t
pattern_word (int file, uint32_t generation, uint32_t index, uint32_t i)
{
  return (i + (uint32_t) file * 8191 + generation * 131 + index)
    * 2654435761U;
}

static inline void
pattern_fill (uint32_t *words, int file, uint32_t generation, uint32_t index)
{
  words[0] = PATTERN_MAGIC;
  words[1] = (uint32_t) file;
  words[2] = generation;
  words[3] = index;
  for (uint32_t i = 4; i < PATTERN_WORDS; i++)
    words[i] = pattern_word (file, generation, index, i);
}

static inline bool
pattern_holds (const uint32_t *words, int file, uint32_t generation,
               uint32_t index)
{
  if (words[0] != PATTERN_MAGIC || words[1] != (uint32_t) file
      || words[2] != generation || words[3] != index)
    return false;
  for (uint32_t i = 4; i < PATTERN_WORDS; i++)
    if (words[i] != pattern_word (file, generation, index, i))
      return false;
  return true;
}

// A file that is being read, a whole block at a time.
struct pattern_reading {
  int file;
  uint32_t generation, blocks;
  bool broken;                  // holds something else from here on
};

static inline void
pattern_take (struct pattern_reading *r, const uint32_t *words)
{
  const uint32_t index = r->blocks++;

  if (!pattern_is_log (r->file)) {
    if (index == 0)
      r->generation = words[2];
    r->broken |= !pattern_holds (words, r->file, r->generation, index);
  }
  else if (!r->broken && pattern_holds (words, r->file, index + 1, index))
    r->generation = index + 1;
  else
    r->broken = true;
}

// Its generation when all has been read: 0 for none, -1 for a file that is
// no generation of itself.
static inline int64_t
pattern_found (const struct pattern_reading *r)
{
  if (pattern_is_log (r->file))
    return r->generation;
  return r->broken || r->blocks != pattern_blocks (r->generation)
    ? -1 : (int64_t) r->generation;
}

#endif
