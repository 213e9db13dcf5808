#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# FILES (1000) that nobody has written with care, for each reader in
# proportion to how fast it is.  Needs the fuzzers, see rules.mk.

. tests/tap.sh
FILES=${FILES:-1000}
BUILD=${BUILD:-build}

# fuzz NAME PERCENT
fuzz () {
  local log=$TMPDIR/log runs=$((FILES * $2 / 100)) done

  tests/fuzz/fuzz "$1" -runs=$runs -verbosity=1 -print_final_stats=1 \
    >"$log" 2>&1
  local status=$?
  done=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  [ $status = 0 ] && [ "${done:-0}" -ge $runs ]
  result "$1: $runs files (${done:-0})" $? "$(tail -n 40 "$log")"
  rm -f "$log"
}

fuzz profile 41
fuzz scenario 32
fuzz import 25
fuzz trace 2
echo "1..$n"
exit $bad
