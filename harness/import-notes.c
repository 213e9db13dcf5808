/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What DiskSim's parameters say and a profile cannot, or does not.
 */
#include <stdlib.h>

#include "import-impl.h"
#include "spindle.h"

static const char not_modelled[] = "not in spindle's model";
static const char let_go[] =
  "the model's bus is let go while the media are at work";
static const char reconnection[] =
  "the model reconnects once, after the first reselect overhead";
static const char extra[] =
  "of an extra write disconnect, the model has only the sectors that must "
  "be in the buffer first";

/* A value of NEUTRAL (times 10^decimals) is what the model does anyhow. */
static const struct {
  enum import_key key;
  int64_t neutral;
  const char *why;
} notes[] = {
  { IMPORT_RPM_ERROR, 0, "not applied: in DiskSim it bounds a deviation "
    "chosen at random" },
  { IMPORT_OVERHEAD, 0, not_modelled },
  { IMPORT_SCALE, 1000000, "not applied to the overheads" },
  { IMPORT_HOLD_READ, 0, let_go },
  { IMPORT_HOLD_WRITE, 0, let_go },
  { IMPORT_ALMOST, 0, not_modelled },
  { IMPORT_SNEAKY_FULL, 0, not_modelled },
  { IMPORT_SNEAKY_PARTIAL, 0, not_modelled },
  { IMPORT_SNEAKY_MIDDLE, 0, not_modelled },
  { IMPORT_PREBUFFER, 0, not_modelled },
  { IMPORT_PRESEEK, 0, not_modelled },
  { IMPORT_NEVER, 0, not_modelled },
  { IMPORT_FREE_BLOCKS, 0, not_modelled },
  { IMPORT_IMMEDIATE_READ, 0, not_modelled },
  { IMPORT_IMMEDIATE_WRITE, 0, not_modelled },
  { IMPORT_DISCONNECT_SEEK, 0, not_modelled },
  { IMPORT_DIRECTLY, 1, not_modelled },
  { IMPORT_HITS_ON_WRITES, 0, "overridden by a rule of spindle's: written "
    "data are not read from the buffer (measured drives prefer it)" },
  { IMPORT_QUEUE, 1, "the profile has no queue (queue.depth can be set)" },
  { IMPORT_WRITE_SEGMENTS, 1, "the write cache is one segment" },
  { IMPORT_SEPARATE, 1, "a segment of its own belongs to the write cache" },
  { IMPORT_LOW_MARK, 0, "a write starts as soon as the bus will not be "
    "caught up with" },
  { IMPORT_MARK_OF_REQUEST, 1, "the watermark is a share of the request" },
  { IMPORT_MIN_AHEAD, 0, "look-ahead can be stopped at once" },
  { IMPORT_OVER, 1, "what was sent stays in the ring of the segment until "
    "it is read over" },
  { IMPORT_IDLE_HIT, 1, "overridden by a rule of spindle's: every full hit "
    "resumes look-ahead (measured drives prefer it)" },
  { IMPORT_STOP_IN_SECTOR, 0, "look-ahead stops at the end of the sector" },
  { IMPORT_HIT_STOPS, 1, "every write stops look-ahead" },
  { IMPORT_PARTIAL_HIT, 1, "what is in the buffer is sent at once" },
  { IMPORT_OTHER_RESELECT, 0, reconnection },
  { IMPORT_READ_DISC, 0, reconnection },
  { IMPORT_READ_DISC_W, 0, reconnection },
  { IMPORT_WRITE_DISC, 0, reconnection },
  { IMPORT_EXTRA_COMMAND, 0, extra },
  { IMPORT_EXTRA_DISC1, 0, extra },
  { IMPORT_EXTRA_DELAY, 0, extra },
  { IMPORT_EXTRA_DISC2, 0, extra },
  { IMPORT_EXTRA_DELTA, 0, extra },
};
#define N_NOTES (sizeof notes / sizeof notes[0])

/* The parameters from note i on that share a reason, as one note; returns
 * the first that does not.
 */
static size_t
note_group (struct import *in, size_t i)
{
  const struct import_drive *d = &in->drive;
  const char *why = notes[i].why;
  char value[IMPORT_DECIMAL], *said = NULL, *longer;

  for (; i < N_NOTES && notes[i].why == why; i++) {
    const struct import_key_def *def = &import_keys[notes[i].key];
    int64_t n = d->value[notes[i].key];

    if (!d->given[notes[i].key] || n == notes[i].neutral)
      continue;
    longer = format ("%s%s%s = %s", said ? said : "", said ? ", " : "",
                     def->name, import_decimal (value, n, def->decimals));
    free (said);
    said = longer;
  }
  if (said)
    import_note (in, "%s: %s", said, why);
  free (said);
  return i;
}

void
import_notes (struct import *in)
{
  const struct import_drive *d = &in->drive;

  for (size_t i = 0; i < N_NOTES; )
    i = note_group (in, i);
  if (d->given[IMPORT_ACCESS] &&
      d->value[IMPORT_ACCESS] != IMPORT_ACCESS_ROTATES)
    import_note (in, "Access time type = %s: the model always seeks and "
                 "waits for the platter",
                 import_keys[IMPORT_ACCESS].choices[d->value[IMPORT_ACCESS]]);
}
