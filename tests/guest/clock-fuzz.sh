#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Threads of QEMU delayed at random where they meet: with the cure for idle
# jumps the run is what it is undisturbed, without it replies are late.
# time limit: 300

. tests/guest/clock-lib.sh
plan 4
image d clock-ide.s --defsym COUNT=150 --defsym WRITES=3 --defsym POLLS=0 \
  --defsym MASK=0xffff

one () {
  serve d
  guest "$2" 3 d -- -machine pc
  stop "$server"
  keep "$1" d
}

one plain spindle-clock.so
ok "exact undisturbed" is timed 151 late 0 forced 0 exact true
one fuzz tests/spindle-clock-fuzz.so
ok "exact when disturbed" is timed 151 late 0 forced 0 exact true
ok "the same when disturbed" same plain fuzz d
one no-cure tests/spindle-clock-fuzz-no-cure.so
ok "late without the cure" eval '[ "$(stat_of late)" -gt 0 ] &&
                                 is exact false'
done_testing
