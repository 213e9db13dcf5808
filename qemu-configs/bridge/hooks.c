/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The way in: what runs when the bridge is loaded, and the C library
 * functions it stands in for.
 */

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "qemu-configs/bridge/cure.h"
#include "qemu-configs/bridge/drive.h"
#include "qemu-configs/bridge/identify.h"
#include "qemu-configs/bridge/qemu.h"
#include "qemu-configs/bridge/real.h"
#include "qemu-configs/bridge/report.h"

#define EXPORT __attribute__ ((visibility ("default")))
/* Sleeps with the big lock held are cut to this while a reply is due. */
#define SLICE_NS 200000000L

/* The function of this name in the next library.  Other libraries'
 * constructors may call before ours has run.
 */
#define REAL(name)                                                      \
  ({                                                                    \
    static __typeof__ (&name) real_;                                    \
                                                                        \
    if (real_ == NULL)                                                  \
      real_ = (__typeof__ (&name)) dlsym (RTLD_NEXT, #name);            \
    real_;                                                              \
  })

static bool active;

/* What QEMU starts is not QEMU. */
static void
hide_from_children (void)
{
  const char *preload = getenv ("LD_PRELOAD");
  Dl_info self;

  if (preload != NULL && dladdr (&active, &self) != 0 &&
      strcmp (preload, self.dli_fname) == 0)
    unsetenv ("LD_PRELOAD");
}

/* Setting the variables is asking for it, so from here on anything missing
 * is the end.  secure_getenv: nothing of this in a set-uid program.
 */
__attribute__ ((constructor)) static void
start (void)
{
  const char *config = secure_getenv ("SPINDLE_CLOCK");
  const char *identify = secure_getenv ("SPINDLE_IDENTIFY");
  const char *missing;

  if (config == NULL || !qemu_is_here ())
    return;
  missing = qemu_find_symbols ();
  if (missing != NULL)
    bridge_fatal ("this QEMU does not export %s: a distribution's QEMU, built"
                  " with loadable modules, does", missing);
  report_open ();
  if (identify != NULL)
    identify_configure (identify);
  drives_attach (config);
  hide_from_children ();
  cure_install ();
  active = true;
}

__attribute__ ((destructor)) static void
end (void)
{
  if (active)
    report_close ();
}

EXPORT int
connect (int fd, const struct sockaddr *address, socklen_t length)
{
  struct drive *drive = active ? drive_by_address (address) : NULL;
  int r;

  r = REAL (connect) (fd, address, length);
  if (drive != NULL && (r == 0 || errno == EINPROGRESS)) {
    drive_connected (drive, fd);
    identify_start ();
  }
  return r;
}

EXPORT int
close (int fd)
{
  struct drive *drive = active ? drive_by_fd (fd) : NULL;

  if (drive != NULL)
    drive_disconnected (drive);
  return REAL (close) (fd);
}

ssize_t
real_sendmsg (int fd, const struct msghdr *msg, int flags)
{
  return REAL (sendmsg) (fd, msg, flags);
}

EXPORT ssize_t
sendmsg (int fd, const struct msghdr *msg, int flags)
{
  struct drive *drive = active ? drive_by_fd (fd) : NULL;

  if (drive != NULL)
    return drive_send (drive, msg, flags);
  return real_sendmsg (fd, msg, flags);
}

ssize_t
real_recvmsg (int fd, struct msghdr *msg, int flags)
{
  return REAL (recvmsg) (fd, msg, flags);
}

EXPORT ssize_t
recvmsg (int fd, struct msghdr *msg, int flags)
{
  struct drive *drive = active ? drive_by_fd (fd) : NULL;

  if (drive != NULL)
    return drive_receive (drive, msg, flags);
  return real_recvmsg (fd, msg, flags);
}

static bool
is_sleep (const struct timespec *timeout)
{
  return timeout == NULL || timeout->tv_sec != 0 || timeout->tv_nsec != 0;
}

/* Sleeping with the big lock held: our own pumping, or something in QEMU
 * that waits for requests (drain, reset, cancel).
 */
static int
poll_with_lock (struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                const sigset_t *mask)
{
  const struct timespec none = { 0 }, slice = { .tv_nsec = SLICE_NS };
  int r;

  if (!drives_reply_due () && drives_busy ()) {
    r = REAL (ppoll) (fds, n, &none, mask);
    if (r != 0)
      return r;
    drives_force ();
  }
  if (drives_reply_due () &&
      (timeout == NULL || timeout->tv_sec != 0 ||
       timeout->tv_nsec > SLICE_NS))
    timeout = &slice;
  return REAL (ppoll) (fds, n, timeout, mask);
}

EXPORT int
ppoll (struct pollfd *fds, nfds_t n, const struct timespec *timeout,
       const sigset_t *mask)
{
  if (active && is_sleep (timeout) && qemu.bql_locked ())
    return poll_with_lock (fds, n, timeout, mask);
  return REAL (ppoll) (fds, n, timeout, mask);
}

EXPORT int
pthread_mutex_unlock (pthread_mutex_t *mutex)
{
  if (active)
    cure_unlocking (mutex);
  return REAL (pthread_mutex_unlock) (mutex);
}
