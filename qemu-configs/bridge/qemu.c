/* SPDX-License-Identifier: BSD-3-Clause */

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "qemu-configs/bridge/qemu.h"

struct qemu qemu;

#define FIELD(field) offsetof (struct qemu, field)

/* Names in QEMU 7.2; other is the name since 9.0 where it changed. */
static const struct symbol {
  size_t field;
  const char *name, *other;
  bool optional;
} symbols[] = {
  { FIELD (clock_get_ns), "qemu_clock_get_ns", NULL, false },
  { FIELD (timer_init_full), "timer_init_full", NULL, false },
  { FIELD (timer_mod), "timer_mod", NULL, false },
  { FIELD (timer_del), "timer_del", NULL, false },
  { FIELD (aio_poll), "aio_poll", NULL, false },
  { FIELD (aio_bh_poll), "aio_bh_poll", NULL, false },
  { FIELD (get_aio_context), "qemu_get_aio_context", NULL, false },
  { FIELD (runstate_is_running), "runstate_is_running", NULL, false },
  { FIELD (bql_locked), "qemu_mutex_iothread_locked", "bql_locked", false },
  { FIELD (get_cpu), "qemu_get_cpu", NULL, false },
  { FIELD (async_run_on_cpu), "async_run_on_cpu", NULL, false },
  { FIELD (in_vcpu_thread), "qemu_in_vcpu_thread", NULL, false },
  { FIELD (cpu_is_stopped), "cpu_is_stopped", NULL, false },
  { FIELD (icount_to_ns), "icount_to_ns", NULL, false },
  { FIELD (bql_lock), "qemu_bql_mutex_lock_func", "bql_mutex_lock_func",
    false },
  { FIELD (use_icount), "use_icount", NULL, false },
  { FIELD (query_version), "qmp_query_version", NULL, true },
  { FIELD (notify_event), "qemu_notify_event", NULL, true },
};

bool
qemu_is_here (void)
{
  const char *prefix = "qemu-system-";

  return strncmp (program_invocation_short_name, prefix,
                  strlen (prefix)) == 0 ||
    dlsym (RTLD_DEFAULT, "qemu_clock_get_ns") != NULL;
}

const char *
qemu_find_symbols (void)
{
  const struct symbol *s;
  void *p;

  for (s = symbols; s < symbols + sizeof symbols / sizeof *symbols; s++) {
    p = dlsym (RTLD_DEFAULT, s->name);
    if (p == NULL && s->other != NULL)
      p = dlsym (RTLD_DEFAULT, s->other);
    if (p == NULL && !s->optional)
      return s->name;
    memcpy ((char *) &qemu + s->field, &p, sizeof p);
  }
  return NULL;
}

const char *
qemu_version (void)
{
  /* As in QEMU's QAPI schema, which is a stable interface. */
  struct triple { int64_t major, minor, micro; };
  struct info { struct triple *qemu; char *package; };
  static char version[64];
  const struct info *info;

  if (version[0] == '\0' && qemu.query_version != NULL) {
    info = qemu.query_version (NULL);
    if (info != NULL)
      snprintf (version, sizeof version, "%" PRIi64 ".%" PRIi64 ".%" PRIi64,
                info->qemu->major, info->qemu->minor, info->qemu->micro);
  }
  return version;
}
