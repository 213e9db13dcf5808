#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# How much faster than real time a guest runs that waits for its disk, at
# shift 3: virtual seconds a real second from the first transfer to the last,
# with the host as it is and with a busy loop on each CPU.

set -u
BUILD=${BUILD:-build}
work=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
burn=()
finish () {
  [ ${#burn[@]} = 0 ] || kill "${burn[@]}"
  wait
  rm -rf "$work"
} 2>/dev/null
trap finish EXIT
trap 'exit 1' INT TERM HUP

now_ns () {
  echo "${EPOCHREALTIME/./}000"
}

# until_said EVENT: on the guest's console; fails when the run has ended.
until_said () {
  until grep -qsa "\"event\":\"$1\"" "$work"/keep/*/console.log; do
    kill -0 "$run" 2>/dev/null || return 1
    sleep 0.05
  done
}

# measure HOST WHAT STEP
measure () {
  local start ns requests

  cat >"$work/speed.cfg" <<END
name = "speed";
host = { machine = "ide"; shift = 3; };
drive = { profile = "maxtor-6y120p0"; };
steps = ( { name = "$2"; read = "direct"; $3 } );
END
  rm -rf "$work/keep"
  "$BUILD/spindle" run --keep "$work/keep" "$work/speed.cfg" \
    >"$work/out" 2>"$work/err" &
  run=$!
  if until_said identify && start=$(now_ns) && until_said result; then
    start=$(($(now_ns) - start))
    wait "$run"
    ns=$(sed -n 's/.*"result".*"ns":\([0-9]*\).*/\1/p' \
      "$work"/keep/*/console.log)
    requests=$(sed -n 's/.*"result".*"requests":\([0-9]*\).*/\1/p' \
      "$work"/keep/*/console.log)
    awk -v v="$ns" -v r="$start" -v n="$requests" -v host="$1" -v what="$2" '
      BEGIN { printf "%-6s %-10s %5.1f virtual s per real s, " \
                     "%5.0f requests per real s\n", host, what, v / r,
                     n / r * 1e9 }'
  else
    cat "$work/err" >&2
    exit 1
  fi
}

both () {
  measure "$1" random 'pattern = "random"; block-kib = 4; requests = 5000;'
  measure "$1" sequential 'block-kib = 64; requests = 3000;'
}

both as-is
for ((i = $(nproc); i > 0; i--)); do
  while :; do :; done &
  burn+=($!)
done
both busy
