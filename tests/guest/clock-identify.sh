#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The guest sees the IDENTIFY words the bridge was told to set, from the
# same instant in every run, and still after the guest set a transfer mode.
# time limit: 100

. tests/guest/clock-lib.sh
plan 8
image d clock-identify.s

one () {
  serve d
  guest spindle-clock.so 3 d -- -machine pc
  stop "$server"
}

# word BLOCK N: word N of the block-th (0, 1) IDENTIFY, in hexadecimal.
word () {
  od -An -v -t x2 -j $(($1 * 512 + $2 * 2)) -N 2 "$dir/tsc" | tr -d ' '
}

one
ok "nothing patched unless asked" is patched false exact true
before=$(word 0 21)
udma=$(word 1 88)

export SPINDLE_IDENTIFY='model=SPINDLE TEST;w4=57600;w5=600;w21=4096;w22=40'
SPINDLE_IDENTIFY+=';w83&=0x4bff;w86&=0xdbff;w88&=0xff1f'
one
ok "patched, one copy" is patched true copies 1 exact true
at=$(stat_of virtual_ns)
ok "buffer size" eval '[ "$before" != 1000 ] && [ "$(word 0 21)" = 1000 ]'
ok "track, sector and ECC bytes" \
   [ "$(word 0 4) $(word 0 5) $(word 0 22)" = "e100 0258 0028" ]
ok "no LBA48" eval '(( (0x$(word 0 83) & 0x400) == 0 ))'
ok "UDMA 4 at most, selection kept" \
   eval '[ "$udma" = 043f ] && [ "$(word 1 88)" = 041f ]'
one
ok "at the same instant" is virtual_ns "$at"

SPINDLE_IDENTIFY='model=SPINDLE TEST;w300=1'
one
ok "a wrong setting ends QEMU" \
   eval '[ "$status" = 1 ] && grep -q "w300=1" "$dir/qemu.err"'
done_testing
