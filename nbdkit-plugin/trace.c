/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace.h"

struct trace {
  FILE *fp;
};

struct trace *
trace_open (const char *path)
{
  struct trace *t = malloc (sizeof *t);

  if (t == NULL)
    return NULL;
  t->fp = fopen (path, "we");
  if (t->fp == NULL) {
    free (t);
    return NULL;
  }
  return t;
}

void
trace_begin (struct trace *t, const struct profile *profile, uint64_t seed,
             const char *const *overrides, size_t n_overrides)
{
  fprintf (t->fp,
           "# spindle-trace 1\n"
           "# profile=%s\n"
           "# seed=%" PRIu64 "\n"
           "# sectors=%" PRIi64 "\n",
           profile->name, seed, profile->geometry.sectors);
  for (size_t i = 0; i < n_overrides; i++)
    fprintf (t->fp, "# set=%s\n", overrides[i]);
  fputs ("seq,arrival_ns,start_ns,complete_ns,op,lba,sectors,flags,hit,"
         "segment,queue_ns,overhead_ns,actuator_ns,seek_ns,settle_ns,"
         "rotation_ns,media_ns,bus_ns,background,error\n", t->fp);
}

void
trace_completion (struct trace *t, const struct disk_completion *c)
{
  const struct disk_request *r = &c->request;
  const struct disk_times *at = &c->times;

  fprintf (t->fp,
           "%" PRIu64 ",%" PRIi64 ",%" PRIi64 ",%" PRIi64
           ",%s,%" PRIi64 ",%" PRIi64 ",%s,%s,%d,"
           "%" PRIi64 ",%" PRIi64 ",%" PRIi64 ",%" PRIi64 ","
           "%" PRIi64 ",%" PRIi64 ",%" PRIi64 ",%" PRIi64 ",%u,%d\n",
           r->tag, c->arrival_ns, c->start_ns, c->complete_ns,
           disk_op_name (r->op), r->lba, r->sectors,
           r->flags & DISK_FUA ? "fua" : "", disk_hit_name (c->hit),
           c->segment,
           at->queue_ns, at->overhead_ns, at->actuator_ns, at->seek_ns,
           at->settle_ns, at->rotation_ns, at->media_ns, at->bus_ns,
           c->background, c->error);
}

void
trace_power_cut (struct trace *t, int64_t at_ns, int64_t torn_lba,
                 int64_t lost_sectors, int64_t failed_commands)
{
  fprintf (t->fp, "# power=off at_ns=%" PRIi64 " torn_lba=%" PRIi64
           " lost_sectors=%" PRIi64 " failed_commands=%" PRIi64 "\n",
           at_ns, torn_lba, lost_sectors, failed_commands);
}

void
trace_power_on (struct trace *t, int64_t at_ns)
{
  fprintf (t->fp, "# power=on at_ns=%" PRIi64 "\n", at_ns);
}

int
trace_close (struct trace *t)
{
  int bad, err;

  if (t == NULL)
    return 0;
  errno = 0;
  bad = ferror (t->fp);         /* errno of that time is gone */
  if (fclose (t->fp) == EOF)
    bad = 1;
  err = errno ? errno : EIO;
  free (t);
  errno = err;
  return bad ? -1 : 0;
}
