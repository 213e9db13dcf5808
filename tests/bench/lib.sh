# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# For the benchmarks of this folder: servers side by side.  To be sourced.

set -u
BUILD=${BUILD:-build}
plugin=$BUILD/nbdkit-spindle-plugin.so
bench=$BUILD/tests/bench/nbd-bench
dir=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
pids=
trap 'kill $pids 2>/dev/null; wait; rm -rf "$dir"' EXIT
missed=0

# On a busy host everybody waits for a CPU, and that is all one can see.  So
# servers and client go before the rest, if we may.
before=
if chrt --rr 1 true 2>/dev/null; then
  before='chrt --rr 1'
fi
host () {
  echo "# $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)," \
    "${before:-ordinary priority}"
}

# serve NAME NBDKIT-WORDS...: listens on $dir/NAME.
serve () {
  local name=$1
  shift
  $before nbdkit -f -U "$dir/$name" "$@" &
  last=$!
  pids="$pids $last"
  for _ in $(seq 200); do
    [ ! -S "$dir/$name" ] || return 0
    sleep 0.05
  done
  echo "nbdkit $* does not start" >&2
  exit 1
}

# end PID: so that its files are complete.
end () {
  kill "$1"
  wait "$1" 2>/dev/null
  pids=${pids// $1/}
}

# verdict NAME CONDITION FIGURES: the condition is awk's.
verdict () {
  local word=ok
  if ! awk "BEGIN { exit !($2) }"; then
    word=MISSED
    missed=1
  fi
  printf '%-7s %-28s %s\n' "$word" "$1" "$3"
}
