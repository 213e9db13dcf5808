/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive-trace.h"
#include "spindle.h"

#define LINE_BYTES 1024

const char *const trace_part_names[] = {
  "queue", "overhead", "actuator", "seek", "settle", "rotation", "media",
  "bus"
};

const char *const trace_class_names[] = {
  "from the buffer", "look-ahead", "media, no seek", "media after a seek",
  "write, cached", "write, media", "flush, trim"
};

static enum trace_class
class_of (const char *op, const char *hit, const struct trace_command *c)
{
  if (strcmp (op, "read") == 0) {
    if (strcmp (hit, "hit") == 0 || strcmp (hit, "dirty") == 0)
      return CLASS_BUFFER;
    if (strcmp (hit, "miss") != 0)
      return CLASS_LOOKAHEAD;
    return c->part_ns[PART_SEEK] > 0 ? CLASS_SEEK : CLASS_MEDIA;
  }
  if (strcmp (op, "write") == 0)
    return strcmp (hit, "cached") == 0 ? CLASS_CACHED : CLASS_WRITTEN;
  return CLASS_OTHER;
}

static int
parse (const char *line, struct trace_command *c)
{
  char op[8], hit[10], *comma;
  int64_t *part = c->part_ns;
  int at = 0;

  /* seq,arrival,start,complete,op,lba,sectors,flags,hit,segment,parts... */
  if (sscanf (line, "%*d,%" SCNd64 ",%" SCNd64 ",%" SCNd64
              ",%7[a-z],%" SCNd64 ",%*d,%n", &c->arrival_ns, &c->start_ns,
              &c->complete_ns, op, &c->lba, &at) != 5 || at == 0)
    return -1;
  comma = strchr (line + at, ',');      /* after the flags, often none */
  if (comma == NULL ||
      sscanf (comma, ",%9[a-z],%*d,%" SCNd64 ",%" SCNd64 ",%" SCNd64
              ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64,
              hit, &part[0], &part[1], &part[2], &part[3], &part[4],
              &part[5], &part[6], &part[7]) != 1 + N_PARTS)
    return -1;
  c->class = class_of (op, hit, c);
  return 0;
}

static int
load (FILE *fp, struct drive_trace *t)
{
  char line[LINE_BYTES];
  size_t room = 0;

  if (fgets (line, sizeof line, fp) == NULL ||
      strcmp (line, "# spindle-trace 1\n") != 0)
    return -1;
  while (fgets (line, sizeof line, fp)) {
    if (line[0] < '0' || line[0] > '9')
      continue;
    if (t->n == room) {
      room = room ? 2 * room : 1024;
      t->command = reallocate (t->command, room, sizeof *t->command);
    }
    if (parse (line, &t->command[t->n++]) == -1)
      return -1;
  }
  return 0;
}

int
drive_trace_load (const char *path, struct drive_trace *t)
{
  FILE *fp = fopen (path, "re");
  int r;

  *t = (struct drive_trace) { 0 };
  if (fp == NULL) {
    complain ("%s: %s", path, strerror (errno));
    return -1;
  }
  r = load (fp, t);
  fclose (fp);
  if (r == -1) {
    complain ("%s: not a trace of spindle's", path);
    drive_trace_free (t);
  }
  return r;
}

void
drive_trace_free (struct drive_trace *t)
{
  free (t->command);
  *t = (struct drive_trace) { 0 };
}

void
drive_trace_sum (const struct drive_trace *t, int64_t part_ns[N_PARTS])
{
  memset (part_ns, 0, N_PARTS * sizeof part_ns[0]);
  for (size_t i = 0; i < t->n; ++i)
    for (int p = 0; p < N_PARTS; ++p)
      part_ns[p] += t->command[i].part_ns[p];
}
