/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Child processes that cannot outlive us, and the signals that tell us
 * about them.
 */
#ifndef SPINDLE_CHILD_H
#define SPINDLE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "words.h"

struct child {
  const char *name;             /* for messages */
  pid_t pid;                    /* 0 = never started, or reaped */
  bool ended;
  int status;                   /* as from waitpid, once ended */
};

/* From here on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD only arrive in
 * signals_wait, and SIGPIPE is ignored.  Children get the defaults.
 */
void signals_take_over (void);

/* Wait until a signal comes or MS have passed.  Returns the number of the
 * signal that asks us to end, now or earlier, or 0.
 */
int signals_wait (int ms);

/* Start ARGV[0] (looked up in PATH) with ENV added to our environment (or
 * NULL).  OUTPUT is the file that takes stdout and stderr; with NULL the
 * child shares our terminal and process group, else it gets its own group
 * and /dev/null as stdin.  It is killed when we die, however that happens.
 * Returns -1 after a message.
 */
int child_start (struct child *c, const char *name, const struct words *argv,
                 const struct words *env, const char *output);

/* Wait until it has made FILE.  Returns -1, without a message, if it ends
 * before, if that takes LIMIT_MS, or if a signal asks us to end.
 */
int child_wait_for (struct child *c, const char *file, int limit_ms);

/* Has it ended?  Does not wait. */
bool child_ended (struct child *c);

/* SIGTERM, then SIGKILL after GRACE_MS.  Returns when it is gone. */
void child_stop (struct child *c, int grace_ms);

/* "ended with status 1", "was killed by signal 9 (Killed)".  Free it. */
char *child_fate (const struct child *c);

#endif /* SPINDLE_CHILD_H */
