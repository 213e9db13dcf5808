#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# CPU names: what they become, and that the documentation has the table.

. tests/guest/run-lib.sh
spindle=$BUILD/spindle

# text NAME: what a run says of it.
text () {
  truncate -s 20020396032 "$work/disk" &&
    "$spindle" vm --profile wd200bb --print --cpu "$1" "$work/disk" |
    grep -o 'shift=[0-9]*'
}
is_shift () {
  [ "$(text "$1")" = "shift=$2" ]
}
refused () {
  ! "$spindle" vm --profile wd200bb --print --cpu "$1" / 2>"$work/err" &&
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q "$2" "$work/err"
}

check "Duron 750" is_shift 'Duron 750' 1
check "Athlon 1477" is_shift 'Athlon 1477' 0
check "duron 528" is_shift 'duron 528' 1
check "Duron 527" is_shift 'Duron 527' 2
check "486 66" is_shift '486 66' 5
check "386 16" is_shift '386 16' 8
check "386 1" is_shift '386 1' 10
check "Core 2 2400" is_shift 'Core 2 2400' 0
check "a slip" refused 'Durun 750' 'did you mean Duron?'
check "a model number" refused 'Athlon XP 1800+' 'clock rate in MHz'
check "a model that looks like a rate" refused 'Pentium 4' 'clock rate in MHz'
check "no rate" refused 'Duron' 'clock rate in MHz'
check "an unknown one" refused 'ARM 100' 'spindle vm --cpu help'
check "docs/host-cpu.md has the table" diff <("$spindle" vm --cpu help) \
  <(sed '1,/^<!-- spindle vm --cpu help/d; /^<!-- end/,$d' docs/host-cpu.md)
finish
