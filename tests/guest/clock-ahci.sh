#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two drives on AHCI, read through the BIOS in turn.
# time limit: 200

. tests/guest/clock-lib.sh
plan 4
image a clock-int13.s --defsym COUNT=200
cp "$dir/a.img" "$dir/b.img"

one () {
  local first second
  serve a
  first=$server
  serve b
  second=$server
  guest spindle-clock.so 8 a b -- -machine q35
  stop "$first"
  stop "$second"
  keep "$1" a b
}

exact () {
  is late 0 forced 0 exact true && [ "$(wc -c <"$dir/tsc")" = 800 ] &&
    [ "$(grep -c '^[0-9]' "$dir/b.trace")" -ge 100 ]
}

one first
ok "exact" exact
one second
ok "again" exact
ok "the same" same first second a b
one third
ok "and again" same first third a b
done_testing
