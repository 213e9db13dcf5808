/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "spindle.h"

const char *const machine_kinds[] = { "ide", "ahci", NULL };
const char *const accel_names[] = { "tcg", "kvm", "auto", NULL };

static const char *const config_files[] = { "pc-ide.cfg", "q35-ahci.cfg" };

/* QEMU keeps up to 16 requests in flight on a connection, and each waits in
 * a thread of nbdkit's; one more for the end of the connection.
 */
#define NBDKIT_THREADS "17"

void
machine_nbdkit (struct words *argv, const struct pieces *pieces,
                const struct machine *m, const struct drive_server *d)
{
  size_t i;

  words_add (argv, nbdkit_program ());
  words_add (argv, "-f");
  words_add (argv, "-U");
  words_add (argv, d->socket);
  words_add (argv, "-P");
  words_add (argv, d->pidfile);
  words_add (argv, "-t");
  words_add (argv, NBDKIT_THREADS);
  words_add (argv, pieces->plugin);
  words_addf (argv, "profile=%s", d->profile);
  for (i = 0; d->set && i < d->set->n; ++i)
    words_addf (argv, "set=%s", d->set->word[i]);
  words_addf (argv, "seed=%lld", (long long) d->seed);
  if (d->image)
    words_addf (argv, "file=%s", d->image);
  if (d->image_socket)
    words_addf (argv, "uri=nbd+unix:///?socket=%s", d->image_socket);
  for (i = 0; d->parameters && i < d->parameters->n; ++i)
    words_add (argv, d->parameters->word[i]);
  if (m->virtual_clock) {
    words_add (argv, "clock=virtual");
    words_addf (argv, "clock-page=%s", d->clock_page);
  }
  else {
    words_add (argv, "clock=real");
    if (m->floor_ns >= 1000)
      words_addf (argv, "floor=%lld", (long long) m->floor_ns / 1000);
    if (m->late_limit_us)
      words_addf (argv, "late-limit=%lld", (long long) m->late_limit_us);
  }
  if (d->trace)
    words_addf (argv, "trace=%s", d->trace);
  if (d->stats)
    words_addf (argv, "stats=%s", d->stats);
  if (d->control)
    words_addf (argv, "control=%s", d->control);
}

/* VALUE as it must be written in a QEMU option: commas twice. */
static char *
option_value (const char *value)
{
  char *r = allocate (strlen (value) * 2 + 1, 1), *p = r;

  for (; *value; ++value) {
    if (*value == ',')
      *p++ = ',';
    *p++ = *value;
  }
  return r;
}

static void
append_option (char **options, const char *key, const char *value)
{
  char *escaped = option_value (value);
  char *longer = format ("%s,%s=%s", *options, key, escaped);

  free (escaped);
  free (*options);
  *options = longer;
}

static void
append_number (char **options, const char *key, uint32_t value)
{
  char *text = format ("%u", value);

  append_option (options, key, text);
  free (text);
}

/* -device ide-hd,...: what QEMU itself can say in IDENTIFY. */
static char *
disk_device (const struct machine *m, const struct profile_identify *id,
             unsigned place)
{
  char *r = m->kind == MACHINE_IDE
    ? format ("ide-hd,drive=drive%u,bus=ide.%u,unit=%u", place, place / 2,
              place % 2)
    : format ("ide-hd,drive=drive%u,bus=ide.%u", place, place);

  if (id->model[0])
    append_option (&r, "model", id->model);
  if (id->firmware[0])
    append_option (&r, "ver", id->firmware);
  if (id->serial[0])
    append_option (&r, "serial", id->serial);
  if (id->cylinders && id->heads && id->sectors) {
    append_number (&r, "cyls", id->cylinders);
    append_number (&r, "heads", id->heads);
    append_number (&r, "secs", id->sectors);
  }
  if (id->rotation_rate)
    append_number (&r, "rotation_rate", id->rotation_rate);
  return r;
}

char *
machine_scsi_address (const struct machine *m, unsigned place)
{
  return m->kind == MACHINE_IDE
    ? format ("%u:0:%u:0", place / 2, place % 2)
    : format ("%u:0:0:0", place);
}

static void
add_drive (struct words *argv, const struct machine *m,
           const struct machine_drive *d, unsigned place)
{
  char *device = disk_device (m, &d->profile->identify, place);
  char *escaped = option_value (d->socket);

  words_add (argv, "-blockdev");
  words_addf (argv, "driver=nbd,node-name=drive%u,server.type=unix,"
              "server.path=%s%s", place, escaped,
              d->profile->interface.trim ? ",discard=unmap" : "");
  words_add (argv, "-device");
  words_add (argv, device);
  free (device);
  free (escaped);
}

void
machine_qemu (struct words *argv, const struct pieces *pieces,
              const struct machine *m, const struct machine_drive *drives,
              unsigned n)
{
  unsigned i;

  words_add (argv, qemu_program ());
  words_add (argv, "-no-user-config");
  words_add (argv, "-nodefaults");
  words_add (argv, "-readconfig");
  words_addf (argv, "%s/%s", pieces->configs, config_files[m->kind]);
  words_add (argv, "-m");
  words_addf (argv, "%lld", (long long) m->memory_mib);
  words_add (argv, "-accel");
  words_add (argv, accel_names[m->virtual_clock ? ACCEL_TCG : m->accel]);
  if (m->virtual_clock) {
    words_add (argv, "-icount");
    words_addf (argv, "shift=%lld,sleep=off", (long long) m->cpu.shift);
    words_add (argv, "-rtc");
    words_add (argv, "base=2004-01-01,clock=vm");
    words_add (argv, "-seed");
    words_add (argv, "1");
  }
  for (i = 0; i < n; ++i)
    add_drive (argv, m, &drives[i], i);
}

/* Words of IDENTIFY DEVICE that QEMU makes its own way, as settings for the
 * bridge.  Numbers and bits are those of ATA/ATAPI-6.
 */
static void
identify_words (FILE *fp, const struct profile *profile)
{
  const struct profile_identify *id = &profile->identify;
  const unsigned lba48_bits = 1 << 10, flush_ext = 1 << 13, flush = 1 << 12;
  unsigned absent = 0, modes;

  fprintf (fp, "model=%s", id->model);
  if (id->track_bytes)
    fprintf (fp, ";w4=%u", id->track_bytes & 0xffff);
  if (id->sector_bytes)
    fprintf (fp, ";w5=%u", id->sector_bytes & 0xffff);
  if (id->buffer_kib)
    fprintf (fp, ";w21=%u", id->buffer_kib * 2 & 0xffff);
  if (id->ecc_bytes)
    fprintf (fp, ";w22=%u", id->ecc_bytes & 0xffff);
  if (profile->lookahead.enabled)
    fprintf (fp, ";w82|=0x40;w85|=0x40");
  if (!id->lba48)
    absent |= lba48_bits | flush_ext;
  if (!profile->interface.flush)
    absent |= flush | flush_ext;
  if (absent)
    fprintf (fp, ";w83&=%u;w86&=%u", ~absent & 0xffff, ~absent & 0xffff);
  if (!id->lba48)
    /* ATA-2 to ATA-5; no 48-bit capacity. */
    fprintf (fp, ";w80=0x3e;w81=0;w100=0;w101=0;w102=0;w103=0");
  if (id->udma_max && id->udma_max < 6) {
    modes = (2u << id->udma_max) - 1;
    fprintf (fp, ";w88&=%u", modes | modes << 8);
  }
}

static bool
has_identify (const struct machine_drive *d)
{
  return d->profile->identify.exact && d->profile->identify.model[0];
}

/* Is there one before it that QEMU gives the same model name?  What is said
 * of a model is said of all of that name.
 */
static bool
model_seen (const struct machine_drive *drives, unsigned i)
{
  unsigned j;

  for (j = 0; j < i; ++j)
    if (has_identify (&drives[j]) &&
        strcmp (drives[j].profile->identify.model,
                drives[i].profile->identify.model) == 0)
      return true;
  return false;
}

/* NULL if there is nothing to say. */
static char *
identify_settings (const struct machine_drive *drives, unsigned n)
{
  char *r = NULL;
  size_t size;
  FILE *fp = open_memstream (&r, &size);
  unsigned i;
  bool any = false;

  if (fp == NULL)
    abort ();
  for (i = 0; i < n; ++i)
    if (has_identify (&drives[i]) && !model_seen (drives, i)) {
      fputs (any ? ";" : "", fp);
      identify_words (fp, drives[i].profile);
      any = true;
    }
  if (fclose (fp) == EOF)
    abort ();
  if (any)
    return r;
  free (r);
  return NULL;
}

void
machine_environment (struct words *env, const struct pieces *pieces,
                     const struct machine *m,
                     const struct machine_drive *drives, unsigned n,
                     const char *stats)
{
  char *clock, *settings;
  unsigned i;

  if (!m->virtual_clock)
    return;
  words_addf (env, "LD_PRELOAD=%s", pieces->bridge);
  clock = format ("SPINDLE_CLOCK=%s=%s", drives[0].socket,
                  drives[0].clock_page);
  for (i = 1; i < n; ++i) {
    char *longer = format ("%s;%s=%s", clock, drives[i].socket,
                           drives[i].clock_page);

    free (clock);
    clock = longer;
  }
  words_add (env, clock);
  free (clock);
  if (stats)
    words_addf (env, "SPINDLE_CLOCK_STATS=%s", stats);
  settings = identify_settings (drives, n);
  if (settings)
    words_addf (env, "SPINDLE_IDENTIFY=%s", settings);
  free (settings);
}
