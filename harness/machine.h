/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The emulated computer: from a few settings and a drive to the command
 * lines of nbdkit and QEMU.
 */
#ifndef SPINDLE_MACHINE_H
#define SPINDLE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu.h"
#include "pieces.h"
#include "profile.h"
#include "words.h"

enum machine_kind { MACHINE_IDE, MACHINE_AHCI };
extern const char *const machine_kinds[]; /* "ide", "ahci", NULL */

/* What runs the guest's code.  AUTO must be decided before (accel.h). */
enum accel { ACCEL_TCG, ACCEL_KVM, ACCEL_AUTO };
extern const char *const accel_names[]; /* "tcg", "kvm", "auto", NULL */

struct machine {
  int kind;
  bool virtual_clock;
  enum accel accel;             /* with the real clock */
  int64_t floor_ns;             /* likewise: what the transport takes */
  int64_t late_limit_us;        /* likewise: the run is invalid beyond it */
  struct cpu cpu;
  int64_t memory_mib;
};
#define MACHINE_DEFAULT \
  { .kind = MACHINE_IDE, .virtual_clock = true, .cpu.shift = 1, \
    .memory_mib = 128, .late_limit_us = 10000 }
#define MACHINE_MAX_MEMORY_MIB 65536

/* Two channels with a master and a slave, or ports. */
#define MACHINE_MAX_DRIVES 4

/* A drive in the machine. */
struct machine_drive {
  const struct profile *profile;
  char *socket, *clock_page;
  const char *image;            /* raw file, or NULL for an empty drive */
  const struct words *parameters; /* more of nbdkit's, or NULL */
};

/* The drive's side of a machine: what nbdkit is started with. */
struct drive_server {
  const char *profile;          /* name or path, for the plugin */
  const struct words *set;      /* KEY=VALUE overrides */
  int64_t seed;
  const char *image;            /* raw file, or NULL for an empty drive */
  const char *image_socket;     /* instead: the NBD server that has it */
  const struct words *parameters; /* KEY=VALUE for the plugin, or NULL */
  const char *socket, *pidfile;
  const char *clock_page;       /* virtual clock only */
  const char *trace, *stats, *control; /* or NULL */
};

/* nbdkit's command line. */
void machine_nbdkit (struct words *argv, const struct pieces *pieces,
                     const struct machine *m, const struct drive_server *d);

/* QEMU's command line: the machine and its drives, nothing to boot yet. */
void machine_qemu (struct words *argv, const struct pieces *pieces,
                   const struct machine *m,
                   const struct machine_drive *drives, unsigned n);

/* What QEMU's environment needs on top: the bridge and its settings.
 * STATS is the file it leaves at the end, or NULL.
 */
void machine_environment (struct words *env, const struct pieces *pieces,
                          const struct machine *m,
                          const struct machine_drive *drives, unsigned n,
                          const char *stats);

/* Linux's SCSI address of the drive at this place: "1:0:0:0".  Free it. */
char *machine_scsi_address (const struct machine *m, unsigned place);

#endif /* SPINDLE_MACHINE_H */
