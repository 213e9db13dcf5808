#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 14400
#
# The power is cut under ext4.  With barriers nothing that was fsynced is
# lost; without them, and with a write cache, something is; and the same
# seed loses the same again.
#
#   tests/guest/crash.sh [SEEDS=1]

. tests/guest/run-lib.sh
SEEDS=1
for word; do
  case $word in
    SEEDS=*) SEEDS=${word#SEEDS=} ;;
    *) echo "usage: crash.sh [SEEDS=1]" >&2; exit 2 ;;
  esac
done
need_kernel

# crash STATUS OPTION...: output in $work/out.
crash () {
  local want=$1 status=0
  shift
  "$BUILD/spindle" crash --profile hitachi-7k250 "$@" >"$work/out" \
    2>"$work/err" || status=$?
  sed 's/^/# /' "$work/out" | grep -v '^#   '
  [ $status = "$want" ] || {
    echo "# status $status"
    sed 's/^/# /' "$work/err"
    return 1
  }
}

lost () {
  sed -n 's/.*: \([0-9]*\) cuts lost some.*/\1/p' "$work/out"
}

check "barriers: nothing is lost" crash 0 --seeds "$SEEDS"
check "it was $SEEDS cuts" grep -q ": $SEEDS cuts, [1-9]" "$work/out"
check "no barriers: something is lost, twice the same" \
  crash 1 --mount barrier=0 --seeds "$SEEDS" --again
check "in more than half of the cuts" [ "$(($(lost) * 2))" -gt "$SEEDS" ]
check "every one of them was the same again" \
  grep -qx "\([0-9]*\) of \1 were the same the second time" "$work/out"

# The line that is printed finds the same.
line=$(grep -m 1 -A 1 '^seed' "$work/out")
command=${line##*  spindle }
if [ "$SEEDS" -gt 2 ]; then
  # shellcheck disable=SC2086 # a list of words
  "$BUILD"/spindle $command >"$work/again" 2>&1
  check "the line that was printed finds the same" \
    grep -qxF -- "${line%%$'\n'*}" "$work/again"
  check "the guest's kernel recovers it: barriers" crash 0 --boot \
    --seeds $((SEEDS / 10 + 1))
  check "the guest's kernel recovers it: none" crash 1 --boot \
    --mount barrier=0 --seeds $((SEEDS / 10 + 1))
  check "without a write cache no barriers are needed" crash 0 \
    --mount barrier=0 --set write-cache.enabled=false \
    --seeds $((SEEDS / 10 + 1))
  check "ext3" crash 0 --fs ext3 --mount barrier=1 \
    --seeds $((SEEDS / 10 + 1))
fi
finish
