/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "change.h"
#include "drive.h"
#include "loader.h"
#include "real-time.h"

static struct profile *current;
static bool had_write_cache;    /* there is room for one */
static char *name;              /* of the profile; a path is absolute */
static char **settings;         /* KEY=VALUE, all there have been */
static size_t n_settings;

/* Keys, or what they begin with.  disk_change knows the same ones. */
static const char *const may_change[] = {
  "lookahead.enabled=", "overhead.", "write-cache.enabled=",
};

/* With room for one more setting. */
static int
make_room (void)
{
  char **p = realloc (settings, (n_settings + 1) * sizeof p[0]);

  if (p == NULL)
    return -1;
  settings = p;
  return 0;
}

static int
add_setting (const char *text)
{
  if (make_room () == -1 || (settings[n_settings] = strdup (text)) == NULL)
    return -1;
  n_settings++;
  return 0;
}

int
change_prepare (struct profile *profile, const char *profile_name,
                const char *const *overrides, size_t n_overrides)
{
  const size_t n = strlen (profile_name);

  current = profile;
  had_write_cache = profile->write_cache.enabled;
  if (strchr (profile_name, '/') ||
      (n > 4 && strcmp (profile_name + n - 4, ".cfg") == 0))
    name = nbdkit_absolute_path (profile_name);
  else
    name = strdup (profile_name);
  if (name == NULL)
    return -1;
  for (size_t i = 0; i < n_overrides; i++)
    if (add_setting (overrides[i]) == -1) {
      nbdkit_error ("malloc: %m");
      return -1;
    }
  return 0;
}

void
change_end (void)
{
  for (size_t i = 0; i < n_settings; i++)
    free (settings[i]);
  free (settings);
  free (name);
  settings = NULL;
  name = NULL;
  n_settings = 0;
}

static bool
is_allowed (const char *setting)
{
  for (size_t i = 0; i < sizeof may_change / sizeof may_change[0]; i++)
    if (strncmp (setting, may_change[i], strlen (may_change[i])) == 0)
      return true;
  return false;
}

/* Give the drive its new values, unless it is at work. */
static int
apply (struct drive *d, const struct profile *profile)
{
  int r;

  pthread_mutex_lock (&d->write_lock);
  pthread_mutex_lock (&d->lock);
  real_time_catch_up (d);
  r = disk_change (d->disk, profile);
  if (r == 0)
    *current = *profile;
  pthread_mutex_unlock (&d->lock);
  pthread_mutex_unlock (&d->write_lock);
  return r;
}

static void
change (struct drive *d, FILE *reply)
{
  /* Large, and only used by the thread of the control socket. */
  static struct profile profile;
  char *error = NULL;

  if (profile_load (name, (const char *const *) settings, n_settings,
                    &profile, &error) == -1)
    fprintf (reply, "error %s\n", error ? error : "out of memory");
  else if (profile.write_cache.enabled && !had_write_cache)
    fputs ("error the drive was started without a write cache\n", reply);
  else if (apply (d, &profile) == -1)
    fputs (errno == EBUSY ? "error the drive is busy\n" :
           "error its write cache holds data; flush first\n", reply);
  else {
    fputs ("ok\n", reply);
    return;
  }
  free (error);
  free (settings[--n_settings]);
}

void
change_command (struct drive *d, const char *arg, FILE *reply)
{
  if (d->disk == NULL)
    fputs ("error this drive takes no time\n", reply);
  else if (!is_allowed (arg))
    fputs ("error set: overhead.*, lookahead.enabled or "
           "write-cache.enabled\n", reply);
  else if (add_setting (arg) == -1)
    fputs ("error out of memory\n", reply);
  else
    change (d, reply);
}
