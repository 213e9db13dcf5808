/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "bad-sectors.h"
#include "drive.h"

struct run {
  int64_t lba, sectors;
  uint32_t retries;
  int64_t from_command;
};

/* A decimal number of at most `last`; *at moves behind it. */
static int
parse_number (const char **at, int64_t last, int64_t *n)
{
  char *end;

  if (!isdigit ((unsigned char) **at))
    return -1;
  errno = 0;
  *n = strtoll (*at, &end, 10);
  *at = end;
  return errno || *n > last ? -1 : 0;
}

static int
parse (const char *text, struct run *run)
{
  int64_t retries;

  *run = (struct run) { .sectors = 1, .retries = DISK_FAULT_HARD };
  if (parse_number (&text, INT64_MAX, &run->lba) == -1)
    return -1;
  if (*text == '+') {
    text++;
    if (parse_number (&text, INT64_MAX, &run->sectors) == -1)
      return -1;
  }
  if (*text == ':') {
    text++;
    if (parse_number (&text, DISK_FAULT_HARD - 1, &retries) == -1)
      return -1;
    run->retries = (uint32_t) retries;
  }
  if (*text == '@') {
    text++;
    if (parse_number (&text, INT64_MAX, &run->from_command) == -1)
      return -1;
  }
  return *text == '\0' ? 0 : -1;
}

/* Returns NULL, or what is wrong. */
static const char *
add (struct drive *d, const char *text)
{
  struct run run;
  int r;

  if (parse (text, &run) == -1 || run.sectors == 0)
    return "must be LBA[+SECTORS][:RETRIES][@COMMAND]";
  if (d->disk == NULL)
    return "a drive that takes no time has no bad sectors";
  pthread_mutex_lock (&d->lock);
  r = disk_add_fault (d->disk, run.lba, run.sectors, run.retries,
                      run.from_command);
  pthread_mutex_unlock (&d->lock);
  if (r == 0)
    return NULL;
  return errno == ENOSPC ? "there are too many bad sectors" :
    "is not on the drive";
}

int
bad_sectors_add (struct drive *d, const char *const *texts, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const char *wrong = add (d, texts[i]);

    if (wrong) {
      nbdkit_error ("bad=%s: %s", texts[i], wrong);
      return -1;
    }
  }
  return 0;
}

void
bad_sectors_command (struct drive *d, const char *arg, FILE *reply)
{
  const char *wrong = add (d, arg);

  if (wrong)
    fprintf (reply, "error bad=%s: %s\n", arg, wrong);
  else
    fputs ("ok\n", reply);
}
