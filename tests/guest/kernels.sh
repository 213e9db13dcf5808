#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 7200
#
# The agent is init of every kernel in SPINDLE_KERNELS: of a computer with 64
# MiB, where a kernel that is larger gets what it needs, and with 2 GiB; on IDE
# and on AHCI.

. tests/guest/run-lib.sh
spindle=$BUILD/spindle

# boot KERNEL MACHINE MIB: its exit status.
boot () {
  cat >"$work/boot.cfg" <<END
name = "boot";
host = { machine = "$2"; shift = 1; memory-mib = $3; };
drive = { profile = "wd200bb"; };
limits = { real-s = 900; };
disk = { partition-lba = 63; partition-mib = 64; file-system = "ext3"; journal-mib = 4;
         files = ( { name = "file"; mib = 1; } ); };
steps = (
  { name = "direct"; read = "direct"; block-kib = 64; mib = 1; },
  { name = "buffered"; read = "buffered"; file = "file"; block-kib = 4; }
);
END
  "$spindle" run --kernel "$1" "$work/boot.cfg" >"$work/out" 2>"$work/err"
}

# What was read is told, and was read in exact time.
works () {
  boot "$@" && grep -q '^direct  *[0-9]' "$work/out" &&
    grep -q '^buffered  *[0-9]' "$work/out" &&
    grep -q '^exact: .* 0 late, 0 forced' "$work/out" && return
  sed 's/^/# /' "$work/err"
  return 1
}

# works_small KERNEL MACHINE: with 64 MiB, or with more and saying so.
works_small () {
  works "$1" "$2" 64 || return
  sed -n 's/^memory: /# &/p' "$work/out"
}

kernels=$(find "${SPINDLE_KERNELS:?}" -maxdepth 1 -name 'vmlinu[xz]-*' \
  -printf '%f\n' | sed 's/^vmlinu.-//' | sort -Vu)
check "there are kernels in $SPINDLE_KERNELS" [ -n "$kernels" ]
for kernel in $kernels; do
  for machine in ide ahci; do
    check "$kernel, $machine, little memory" works_small "$kernel" $machine
    check "$kernel, $machine, 2 GiB" works "$kernel" $machine 2048
  done
done
finish
