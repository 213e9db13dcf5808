#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# spindle ctl and spindle top, with a drive and without one.

set -u
BUILD=${BUILD:-build}
spindle=$BUILD/spindle
nbdkit=${NBDKIT:-nbdkit}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ctl.XXXXXX") || exit 1
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$dir"' EXIT
. tests/tap.sh

# check NAME COMMAND...: its output is in out.
check () {
  local name=$1
  shift
  "$@"
  result "$name" $? "$(cat "$dir/out")"
}

# gives STATUS PATTERN COMMAND...
gives () {
  local status=$1 pattern=$2
  shift 2
  "$@" >"$dir/out" 2>&1 </dev/null
  [ $? = "$status" ] && grep -qE -- "$pattern" "$dir/out"
}

# soon STATUS PATTERN COMMAND...: on a busy host, not at the first look.
soon () {
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    gives "$@" && return
  done
  return 1
}

# Not through a terminal, and not on one.
check 'ctl without a command' gives 2 'a socket and a command' \
  "$spindle" ctl "$dir/control"
check 'top without a socket' gives 2 'no socket given' "$spindle" top
check 'no such socket' gives 3 'No such file' "$spindle" ctl "$dir/none" ping
check 'a path that is too long' gives 3 'may have 107 bytes' \
  "$spindle" top "$dir/$(printf '%0200d' 0)"

$nbdkit -f -U "$dir/sock" "$BUILD/nbdkit-spindle-plugin.so" wd200bb \
  memory=true size=64M control="$dir/control" >"$dir/log" 2>&1 &
pid=$!
for _ in $(seq 300); do
  [ ! -S "$dir/control" ] || [ ! -S "$dir/sock" ] || break
  sleep 0.1
done

check 'ping' gives 0 '^ok$' "$spindle" ctl "$dir/control" ping
check 'two words' gives 0 '^ok$' "$spindle" ctl "$dir/control" speed 2
check 'refused' gives 1 '^spindle: speed: 0: 0.001 to 1000' \
  "$spindle" ctl "$dir/control" speed 0
check 'two lines' gives 2 'one command, on one line' \
  "$spindle" ctl "$dir/control" $'ping\npause'
check 'stats' gives 0 '^\{.*"speed":2.000.*\}$' \
  "$spindle" ctl "$dir/control" stats
check 'stats --json' gives 0 '^\{.*\}$' \
  "$spindle" ctl "$dir/control" stats --json
check 'ping --json' gives 2 'only stats has --json' \
  "$spindle" ctl "$dir/control" ping --json

# Never killed: nbdkit 1.32 may die when a client leaves before its replies.
until [ -e "$dir/enough" ]; do
  nbdcopy --request-size=65536 "nbd+unix:///?socket=$dir/sock" null: \
    >/dev/null 2>&1
done &
load=$!
check 'top sees reads' soon 0 '^requests/s  [1-9][0-9]* read' \
  "$spindle" top --once "$dir/control"
check 'megabytes too' grep -qE '^MB/s +[0-9.]+ read' "$dir/out"
check 'and leaves no control characters' \
  eval '! grep -q "[[:cntrl:]]" "$dir/out"'
check 'as JSON' soon 0 '"reads_per_s": [1-9]' \
  "$spindle" top --once --json --interval 500 "$dir/control"
"$spindle" ctl "$dir/control" pause >/dev/null
check 'paused' gives 0 ', paused,' \
  "$spindle" top --once --interval 50 "$dir/control"
"$spindle" ctl "$dir/control" speed 1 >/dev/null
"$spindle" ctl "$dir/control" resume >/dev/null
touch "$dir/enough"
wait $load

# In a terminal it draws over itself until Ctrl-C or the drive's end.
if command -v script >/dev/null; then
  (sleep 2
   kill "$pid") &
  script -qec "$spindle top --interval 200 $dir/control" /dev/null \
    >"$dir/out" 2>&1 </dev/null
  status=$?
  wait "$pid"
  pid=
  check 'redrawn in a terminal' \
    eval '[ "$(grep -c "$(printf "\033\[H\033\[J")" "$dir/out")" -ge 2 ]'
  check 'ends when the drive does' \
    eval '[ $status = 3 ] && grep -q "the drive has gone" "$dir/out"'
else
  n=$((n + 1))
  echo "ok $n - redrawn in a terminal # SKIP no script"
fi
[ -z "$pid" ] || kill "$pid"
wait
pid=

echo "1..$n"
exit $bad
