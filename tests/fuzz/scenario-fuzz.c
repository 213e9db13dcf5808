/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reader of scenarios, and what is made of those that it accepts, for
 * libFuzzer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/job.h"
#include "harness/scenario.h"
#include "harness/sweep.h"
#include "loader.h"

extern int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const struct profile flush = { .interface.flush = true };

/* The guest's job is lines, and every step belongs to some sweep or none. */
static void
use (const struct scenario *sc)
{
  struct machine_drive d[MACHINE_MAX_DRIVES];
  unsigned i;
  char *job;

  for (i = 0; i < MACHINE_MAX_DRIVES; i++)
    d[i] = (struct machine_drive) { .profile = &flush };
  if (sc->n_drives == 0 || sc->n_steps == 0)
    abort ();
  job = job_text (sc, d, sc->together ? sc->n_drives : 1);
  if (job[0] == '\0' || job[strlen (job) - 1] != '\n')
    abort ();
  free (job);
  for (i = 0; i < sc->n_steps; i++)
    sweep_at (sc, sc->drives[0].name, i);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  int fd = memfd_create ("scenario.cfg", MFD_CLOEXEC);
  struct scenario_pick pick = { .full = size % 2 };
  unsigned guests = 1;
  char path[64];

  if (fd == -1 || write (fd, data, size) != (ssize_t) size)
    abort ();
  snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
  for (; pick.guest < guests; pick.guest++) {
    char *error = NULL;
    struct scenario *sc = scenario_load (path, &pick, &error);

    if (sc == NULL) {
      if (error == NULL || *error == '\0' || strchr (error, '\n'))
        abort ();
      free (error);
      break;
    }
    use (sc);
    guests = sc->n_guests;
    scenario_free (sc);
  }
  close (fd);
  return 0;
}
