#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 900
#
# A scenario gives the same figures and, byte for byte, the same trace each
# time: alone, with every CPU of the host busy, and two at once.

. tests/guest/run-lib.sh
need_kernel

run () {
  "$BUILD/spindle" run --late-limit 0 --keep "$work/$1" "$work/$2.cfg" \
    >"$work/$1.out" 2>"$work/$1.err"
}

# The same as the first run, down to the trace and the page.
same () {
  cmp "$work/alone/small.wd200bb/trace.txt" \
      "$work/$1/small.wd200bb/trace.txt" &&
    diff "$work/alone/results.json" "$work/$1/results.json" &&
    cmp "$work/alone/report.html" "$work/$1/report.html"
} >&2

# results.json of run A has these lines.
has () {
  local file=$work/$1/results.json line
  shift
  for line; do
    grep -q "^ *\"$line,*\$" "$file" || {
      echo "no $line in $file:"
      cat "$file"
      return 1
    } >&2
  done
}

exact () {
  has "$1" 'exact": true' 'late": 0' 'forced": 0'
}

scenario small 2
check "a scenario runs" run alone small
check "it is exact" exact alone
check "IDENTIFY is the drive's" has alone 'patched": true' \
  'guest": {.*"model":"WDC WD200BB-53AUA1".*"track_size":57600.*"lba48":false.*'

burn=
for _ in $(seq "$(nproc)"); do
  while :; do :; done &
  burn+=" $!"
done
check "again, with all CPUs busy" run busy small
# shellcheck disable=SC2086 # a list of words
kill $burn
wait 2>/dev/null
check "it is exact" exact busy
check "figures and trace are the same" same busy

run left small &
left=$!
check "two at once: right" run right small
check "two at once: left" wait "$left"
check "right is exact" exact right
check "left is exact" exact left
check "right has the same figures and trace" same right
check "left has the same figures and trace" same left

machine=ahci
scenario ahci 2
check "a scenario runs on AHCI" run ahci ahci
check "it is exact" exact ahci

sed -i 's/machine = "ahci"; shift = 3/clock = "real"/; s/name = "ahci"/name = "real"/' \
  "$work/ahci.cfg"
check "and with the real clock" run real ahci
check "which is called not exact" has real 'exact": false' 'clock": "real"'
finish
