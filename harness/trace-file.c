/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spindle.h"
#include "trace-reader.h"

enum { CSV, FIO, BLKPARSE, DISKSIM, VALIDATE };

const char *const trace_formats[] = {
  [CSV] = "csv",
  [FIO] = "fio",
  [BLKPARSE] = "blkparse",
  [DISKSIM] = "disksim",
  [VALIDATE] = "disksim-validate",
  NULL
};

static int (*const readers[]) (struct trace_reader *r) = {
  [CSV] = trace_read_csv,
  [FIO] = trace_read_fio,
  [BLKPARSE] = trace_read_blkparse,
  [DISKSIM] = trace_read_disksim,
  [VALIDATE] = trace_read_validate,
};

/* Is there nothing but these characters, and one of them, up to blank? */
static bool
word_of (const char *word, const char *characters)
{
  size_t n = strspn (word, characters);

  return n > 0 && (word[n] == '\0' || word[n] == ' ' || word[n] == '\t');
}

static int
guess (const char *line)
{
  const char *first = line + strspn (line, " \t");
  const char *second = first + strcspn (first, " \t");
  const char *comma = strchr (first, ',');

  second += strspn (second, " \t");
  if (strncmp (line, "fio version ", 12) == 0)
    return FIO;
  if (strncmp (line, "Input file ", 11) == 0)
    return BLKPARSE;
  if (word_of (first, "RW") && isalpha ((unsigned char) *second))
    return VALIDATE;
  if (isdigit ((unsigned char) *first)) {
    if (word_of (first, "0123456789.") && *second)
      return DISKSIM;
    if (*second && comma && comma < second)
      return BLKPARSE;          /* "8,0" */
  }
  if (*first == '#' || comma)
    return CSV;
  return -1;
}

static int
pick_reader (struct trace_reader *r, const char *format_name)
{
  int i, got = trace_line (r);

  if (got == 0)
    return trace_fail (r, "trace", NULL, "is empty");
  if (got == -1)
    return -1;
  r->again = true;
  if (format_name == NULL) {
    i = guess (r->text);
    if (i == -1)
      return trace_fail (r, "trace", r->text,
                         "a line that begins a format spindle knows "
                         "(csv, fio, blkparse, disksim, disksim-validate)");
    return i;
  }
  for (i = 0; trace_formats[i]; ++i)
    if (strcmp (trace_formats[i], format_name) == 0)
      return i;
  return trace_fail (r, "format", format_name, "one that spindle knows");
}

static int
compare_arrival (const void *a, const void *b)
{
  const struct trace_request *p = a, *q = b;

  if (p->arrival_ns != q->arrival_ns)
    return p->arrival_ns < q->arrival_ns ? -1 : 1;
  return (p->order > q->order) - (p->order < q->order);
}

/* Complete the times: q[0] and its successor q[1]. */
static void
fill_in (struct trace_file *t, struct trace_request *q)
{
  int64_t response_ns = q->response_ns == TRACE_UNKNOWN ? 0 : q->response_ns;
  int64_t gap_ns;

  if (t->timed) {
    gap_ns = q[1].arrival_ns - q[0].arrival_ns - response_ns;
    if (gap_ns < 0) {
      t->n_overlapping++;
      gap_ns = 0;
    }
    if (q->think_ns == TRACE_UNKNOWN)
      q->think_ns = gap_ns;
  }
  else {
    if (q->think_ns == TRACE_UNKNOWN)
      q->think_ns = 0;
    q[1].arrival_ns = q->arrival_ns + response_ns + q->think_ns;
  }
}

static int
complete (struct trace_reader *r)
{
  struct trace_file *t = r->trace;

  if (r->device && !r->has_devices && t->n > 0)
    return trace_fail (r, "trace", NULL, "does not name devices, and --device "
                       "%s asks for one", r->device);
  if (t->n == 0)
    return trace_fail (r, "trace", r->device,
                       r->device ? "has no request of this device"
                                 : "has no request");
  if (r->sort)
    qsort (t->request, t->n, sizeof *t->request, compare_arrival);
  for (size_t i = 0; i < t->n; ++i) {
    struct trace_request *q = &t->request[i];

    if (q->arrival_ns > TRACE_MAX_NS) {
      r->line = q->line;
      return trace_fail (r, "arrival", NULL, "within three years");
    }
    t->n_measured += q->response_ns != TRACE_UNKNOWN;
    if (i + 1 < t->n)
      fill_in (t, q);
    else if (q->think_ns == TRACE_UNKNOWN)
      q->think_ns = 0;
  }
  return 0;
}

static int
read_all (struct trace_reader *r, const char *format_name)
{
  int i = pick_reader (r, format_name);

  if (i == -1)
    return -1;
  r->trace->format = trace_formats[i];
  return readers[i] (r) == -1 ? -1 : complete (r);
}

int
trace_file_read_fd (int fd, const char *path, const char *format_name,
                    const char *device, struct trace_file *t, char **error)
{
  struct trace_reader *r = allocate (1, sizeof *r);
  int result = -1;

  *t = (struct trace_file) { .path = format ("%s", path) };
  r->trace = t;
  r->device = device;
  r->gz = gzdopen (fd, "r");
  if (r->gz == NULL) {
    close (fd);
    trace_fail (r, "cannot read", NULL, "out of memory");
  }
  else {
    result = read_all (r, format_name);
    gzclose (r->gz);
  }
  *error = r->error;
  if (result == -1)
    trace_file_free (t);
  free (r->first_device);
  free (r);
  return result;
}

int
trace_file_read (const char *path, const char *format_name,
                 const char *device, struct trace_file *t, char **error)
{
  bool input = strcmp (path, "-") == 0;
  int fd = input ? fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                 : open (path, O_RDONLY | O_CLOEXEC);

  if (fd == -1) {
    *error = format ("%s: %s", path, strerror (errno));
    return -1;
  }
  return trace_file_read_fd (fd, input ? "(standard input)" : path,
                             format_name, device, t, error);
}

void
trace_file_free (struct trace_file *t)
{
  free (t->path);
  free (t->request);
  *t = (struct trace_file) { 0 };
}

int
trace_file_fit (struct trace_file *t, int64_t sectors, bool wrap,
                char **error)
{
  for (size_t i = 0; i < t->n; ++i) {
    struct trace_request *q = &t->request[i];

    if (q->op == DISK_FLUSH ||
        (q->sectors <= sectors && q->lba <= sectors - q->sectors))
      continue;
    if (!wrap || q->sectors > sectors) {
      *error = format ("%s:%" PRIu32 ": request: %" PRIi64 " + %" PRIi64
                       ": the drive has %" PRIi64 " sectors%s", t->path,
                       q->line, q->lba, q->sectors, sectors,
                       wrap ? "" : "; --wrap folds what is beyond");
      return -1;
    }
    q->lba %= sectors;
    if (q->lba > sectors - q->sectors)
      q->lba = sectors - q->sectors;
  }
  return 0;
}
