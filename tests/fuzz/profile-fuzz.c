/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profile loader, and the model made from what it accepted, for
 * libFuzzer.  Whatever the loader lets through must be a drive that works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "disk.h"
#include "fixed.h"
#include "loader.h"

extern int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Commands of every kind all over the drive: they end, and in order. */
static void
use_drive (const struct profile *p)
{
  struct disk *d = disk_new (p, 1);
  struct disk_completion c;
  uint64_t random = 1;
  int64_t now = 0;

  if (d == NULL)
    return;
  for (int i = 0; i < 60; i++) {
    int64_t sectors = 1 + (int64_t) (splitmix64 (&random) % 300);
    struct disk_request r = {
      .op = (enum disk_op) (splitmix64 (&random) % 4),
      .flags = splitmix64 (&random) % 4 == 0 ? DISK_FUA : 0,
      .sectors = sectors < p->geometry.sectors ? sectors : 1,
    };

    r.lba = (int64_t) (splitmix64 (&random) %
                       (uint64_t) (p->geometry.sectors - r.sectors + 1));
    if (i % 3 == 0)
      r.lba = 0;
    if (disk_submit (d, now, &r) == -1)
      abort ();
    if (i % 5 < 2)
      continue;
    while (disk_next_event (d) != DISK_NEVER) {
      int64_t next = disk_next_event (d);

      if (next < now || !disk_advance (d, next, &c))
        abort ();
      now = next;
    }
  }
  disk_free (d);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  int fd = memfd_create ("profile.cfg", MFD_CLOEXEC);
  struct profile *p = malloc (sizeof *p);
  char path[64], *error = NULL;

  if (p == NULL || fd == -1 || write (fd, data, size) != (ssize_t) size)
    abort ();
  snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
  if (profile_load (path, NULL, 0, p, &error) == 0)
    use_drive (p);
  else if (error == NULL || *error == '\0')
    abort ();
  free (error);
  free (p);
  close (fd);
  return 0;
}
