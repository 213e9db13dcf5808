/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include "owned.h"

static struct {
  const char *path;
  int fd;
} owned[2];                     /* the clock page, the control socket */
static size_t n_owned;

/* In the parent after a fork: what is there now belongs to the child. */
static void
disown (void)
{
  while (n_owned > 0)
    close (owned[--n_owned].fd);
}

int
owned_add (const char *path, int fd)
{
  static int watching;
  int err;

  if (n_owned == sizeof owned / sizeof owned[0]) {
    errno = ENOSPC;
    return -1;
  }
  if (!watching) {
    err = pthread_atfork (NULL, disown, NULL);
    if (err) {
      errno = err;
      return -1;
    }
    watching = 1;
  }
  owned[n_owned].path = path;
  owned[n_owned++].fd = fd;
  return 0;
}

__attribute__ ((destructor))
void
owned_remove_all (void)
{
  while (n_owned > 0)
    unlink (owned[--n_owned].path);
}
