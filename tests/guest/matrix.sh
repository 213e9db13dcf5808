#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 1200
#
# The same guest gives the same trace, byte for byte: on every controller,
# for every kind of I/O, whether the host's CPUs are idle or all busy, with
# each QEMU that can be had.  No request is late, none is forced.
#
#   tests/guest/matrix.sh [full] [REQUESTS=N] [REPEATS=N] [KEEP=FOLDER]
#
# Without "full" two cells for each QEMU, with few requests.  KEEP: a cell
# that is done there is not done again.

. tests/guest/run-lib.sh
size=small REQUESTS=500 REPEATS=2 KEEP=$work/cells
for word; do
  case $word in
    full) size=full REQUESTS=9600 REPEATS=3 ;;
    REQUESTS=*) REQUESTS=${word#*=} ;;
    REPEATS=*) REPEATS=${word#*=} ;;
    KEEP=*) KEEP=${word#*=} ;;
    *) sed -n 's/^#  *tests/usage: tests/p' "$0" >&2; exit 2 ;;
  esac
done
need_kernel
mkdir -p "$KEEP"

# The host's own QEMU, and version 10 if that is another.
qemus=("${SPINDLE_QEMU:-qemu-system-x86_64}")
if ten=$(tests/guest/fetch-qemu.sh 2>"$work/no-ten") &&
   [ "$ten" != "$(command -v "${qemus[0]}")" ]; then
  qemus+=("$ten")
fi
version () {
  "$1" --version | sed -n 's/.*version \([0-9]*\.[0-9]*\).*/\1/p'
}

# cell CONTROLLER WORKLOAD: its scenario, about REQUESTS at the drive.
cell () {
  local n=$REQUESTS host set='' jobs steps

  case $1 in
    ide) host='machine = "ide";' jobs=1 ;;
    ahci) host='machine = "ahci"; queue-depth = 1;' jobs=4 ;;
    ncq)
      host='machine = "ahci";' jobs=31
      set='"queue.depth=32", "queue.order=sptf"' ;;
  esac
  case $2 in
    buffered) steps="
  { name = \"read\"; read = \"buffered\"; readahead = 0; jobs = $jobs;
    pattern = \"random\"; block-kib = 4; requests = $((n * 7 / 10)); },
  { name = \"write\"; write = \"buffered\"; fsync = \"end\";
    pattern = \"random\"; block-kib = 4; requests = $((n * 3 / 10)); }" ;;
    direct) steps="
  { name = \"read\"; read = \"direct\"; jobs = $jobs;
    pattern = \"random\"; block-kib = 4; requests = $((n / 2)); },
  { name = \"write\"; write = \"direct\"; jobs = $jobs; block-kib = 64;
    requests = $((n / 2)); }" ;;
    # Of five transfers two are writes, each with a flush.
    mixed) steps="
  { name = \"mix\"; mix = \"direct\"; writes = 40; fsync = \"each\";
    jobs = $jobs; pattern = \"random\"; block-kib = 4;
    requests = $((n * 5 / 7)); }"
      set+="${set:+, }\"interface.flush=true\"" ;;
  esac
  cat <<END
name = "cell";
host = { $host shift = 3; };
limits = { real-s = 7200; };
drive = { profile = "maxtor-6y120p0"; name = "disk"; set = [$set]; };
steps = ($steps
);
END
}

burn=()
busy () {
  local i
  for ((i = $(nproc); i > 0; i--)); do
    while :; do :; done &
    burn+=($!)
  done
}
idle () {
  [ ${#burn[@]} = 0 ] || kill "${burn[@]}"
  wait
  burn=()
} 2>/dev/null
trap 'idle; rm -rf "$work"' EXIT

stat_of () {
  sed -n "s/.*\"$1\": \([^,} ]*\).*/\1/p" "$2/clock.json"
}

# run CONTROLLER WORKLOAD LOAD QEMU REPEAT: leaves clock.json and the sum of
# the trace in KEEP.
run () {
  local to=$KEEP/$1.$2.$3.$(version "$4").$5 keep=$work/keep

  [ -e "$to/sum" ] && return
  rm -rf "$keep"
  cell "$1" "$2" >"$work/cell.cfg"
  [ "$3" = idle ] || busy
  SPINDLE_QEMU=$4 "$BUILD/spindle" run --keep "$keep" "$work/cell.cfg" \
    >"$work/out" 2>"$work/err"
  idle
  mkdir -p "$to"
  if [ -s "$keep/cell.disk/clock.json" ]; then
    cp "$keep/cell.disk/clock.json" "$to"
    sha256sum <"$keep/cell.disk/trace.txt" >"$to/sum"
  else
    sed 's/^/# /' "$work/err"
  fi
}

row='%-5s %-9s %-5s %-5s %9s %6s %7s  %s\n'
total=0
# line CONTROLLER WORKLOAD LOAD QEMU: the table's, after its runs.
line () {
  local v requests=0 late=0 forced=0 same=same i to first
  v=$(version "$4")
  first=$KEEP/$1.$2.idle.$v.1
  [ -e "$first/sum" ] || first=$KEEP/$1.$2.$3.$v.1
  for ((i = 1; i <= REPEATS; i++)); do
    to=$KEEP/$1.$2.$3.$v.$i
    cmp -s "$to/sum" "$first/sum" || same=DIFFERENT
    [ -s "$to/clock.json" ] || { same=FAILED; continue; }
    requests=$((requests + $(stat_of timed "$to")))
    late=$((late + $(stat_of late "$to")))
    forced=$((forced + $(stat_of forced "$to")))
    [ "$(stat_of exact "$to")" = true ] || same="$same, not exact"
  done
  total=$((total + requests))
  # shellcheck disable=SC2059 # the format is a constant
  printf "# $row" "$1" "$2" "$3" "$v" "$requests" "$late" "$forced" "$same"
  [ "$same" = same ] && [ "$late" = 0 ] && [ "$forced" = 0 ]
}

# do_cell CONTROLLER WORKLOAD LOAD QEMU
do_cell () {
  local i
  for ((i = 1; i <= REPEATS; i++)); do
    run "$@" "$i"
  done
  line "$@"
}

# shellcheck disable=SC2059 # the format is a constant
printf "# $row" bus I/O host QEMU requests late forced traces
for qemu in "${qemus[@]}"; do
  v=$(version "$qemu")
  for bus in ide ahci ncq; do
    for io in buffered direct mixed; do
      for load in idle busy; do
        # The small one: the plainest, and all in flight on a busy host.
        case $size.$bus.$io.$load in
          full.*|small.ide.buffered.idle|small.ncq.mixed.busy)
            check "$bus, $io, $load, QEMU $v: all the same" \
              do_cell $bus $io $load "$qemu" ;;
        esac
      done
    done
  done
done
echo "# $total requests"
if [ ${#qemus[@]} = 1 ]; then
  count=$((count + 1))
  echo "ok $count - a second QEMU # SKIP $(tail -n 1 "$work/no-ten")"
fi
finish
