#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Drives, figures, seeds and folders of results side by side.

. tests/guest/run-lib.sh
. tests/guest/matrix-lib.sh

compare () {
  "$spindle" compare "$@" >"$work/out" 2>"$work/err"
}

# The table's row is this, for awk.
row () {
  awk "\$1 == \"reads\" { ok = $1 } END { exit !ok }" "$work/out" ||
    { cat "$work/out" "$work/err" >&2; false; }
}

check "three of them" compare --scenario "$work/many.cfg" --keep "$work/kept" \
  wd200bb hitachi-7k250 wd200bb,seed=7,lookahead.enabled=false
check "each has its own figure" row \
  '$3 > 9 && $4 < $3 && $6 != $3 && NF == 7 && $5 == sprintf ("%.2f", $4 / $3)'
check "a picture and a page" eval \
  '[ -s "$work/kept/compare.svg" ] && grep -q "<svg" "$work/kept/compare.html"'
check "the scenario's drive, changed" compare --scenario "$work/many.cfg" \
  seed=1 seed=2
check "differs" row '$3 != $4 && NF == 5'
"$spindle" run --keep "$work/one" "$work/many.cfg" >/dev/null 2>&1
check "a folder and a drive" compare --scenario "$work/many.cfg" \
  "$work/one" wd200bb
check "are the same when they are the same" row '$3 == $4 && $5 == "1.00"'
check "folders alone" compare "$work/one" "$work/kept"
check "all runs of them" row 'NF == 9'
check "as JSON" compare --json "$work/one" "$work/one"
check "with a value each" grep -q '"values": \[' "$work/out"
check "no scenario" gives 2 '--scenario is wanted' compare wd200bb
check "no such drive" gives 3 'wd200bc' \
  compare --scenario "$work/many.cfg" wd200bc
check "no such figure" gives 3 'buffer.segmnets' \
  compare --scenario "$work/many.cfg" wd200bb,buffer.segmnets=3
finish
