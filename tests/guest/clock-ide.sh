#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Bus-master DMA on PIIX: the drive's times reach the guest exactly, and the
# same in every run, also when the host is busy and whatever the replies.
# time limit: 300

. tests/guest/clock-lib.sh
plan 12
image d clock-ide.s --defsym COUNT=400 --defsym WRITES=3 --defsym POLLS=8 \
  --defsym MASK=0xffff

# one NAME SHIFT [nbdkit-options]
one () {
  local name=$1 shift=$2
  shift 2
  serve d "$@"
  guest spindle-clock.so "$shift" d -- -machine pc
  stop "$server"
  keep "$name" d
}

# The BIOS reads the boot sector, timed; before, QEMU reads it, untimed: once,
# or three times from QEMU 10 on.
exact () {
  local untimed=1
  [[ $(stat_of qemu) != '"'[1-9][0-9].* ]] || untimed=3
  is timed 401 untimed $untimed late 0 forced 0 lost 0 reconnects 0 exact true
}

one first 3
ok "exact" exact
ok "a time stamp for each command" [ "$(wc -c <"$dir/tsc")" = 1600 ]
ok "a trace line for each command" \
   [ "$(grep -c '^[0-9]' "$dir/first.d")" = 401 ]
one second 3
ok "second run exact" exact
ok "second run the same" same first second d

hogs=
for i in 1 2 3; do
  (while :; do :; done) &
  hogs="$hogs $!"
  pids="$pids $!"
done
one busy 3
for i in $hogs; do stop "$i"; done
ok "exact on a busy host" exact
ok "the same on a busy host" same first busy d

one simple 3 --no-sr
ok "exact with simple replies" exact
ok "the same with simple replies" same first simple d

one slow-cpu 9
ok "exact with a slow CPU" exact
one fast-cpu 0
ok "exact with a fast CPU" exact
ok "another CPU makes another trace" eval '! cmp -s $dir/first.d $dir/fast-cpu.d'
done_testing
