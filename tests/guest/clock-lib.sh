# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by the clock-*.sh tests: a drive, a boot sector, a QEMU with the
# bridge, in a private directory that goes away with the test.

set -u
build=$(realpath "${BUILD:-build}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/clock.XXXXXX") || exit 1
ran=0 failed=0
pids=

finish () {
  local pid
  for pid in $pids; do
    kill -KILL "$pid" 2>/dev/null
  done
  wait 2>/dev/null
  rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

plan () {
  echo "1..$1"
}

# ok NAME COMMAND...: a test that passes if the command succeeds.
ok () {
  local name=$1
  shift
  ran=$((ran + 1))
  if "$@"; then
    echo "ok $ran - $name"
  else
    echo "not ok $ran - $name"
    failed=$((failed + 1))
  fi
}

done_testing () {
  [ "$failed" = 0 ]
  exit
}

# Needed for the rest: skip everything without them.
need () {
  local program
  for program; do
    if ! command -v "$program" >/dev/null; then
      echo "1..0 # SKIP no $program"
      exit 0
    fi
  done
}
need nbdkit qemu-system-x86_64 as ld

# image NAME SOURCE [as-options]: a disk that boots it.
image () {
  local name=$1 source=$2
  shift 2
  as --32 "$@" -o "$dir/boot.o" "tests/guest/$source" &&
    ld -m elf_i386 -Ttext 0x7c00 --oformat binary -o "$dir/boot.bin" \
       "$dir/boot.o" &&
    cp "$dir/boot.bin" "$dir/$name.img" && truncate -s 64M "$dir/$name.img"
}

# serve NAME [parameters]: a drive on the image of this name, in its
# first state.  Sets server.
serve () {
  local name=$1 i
  shift
  rm -f "$dir/$name.run" "$dir/$name.trace" "$dir/$name.sock"
  cp --sparse=always "$dir/$name.img" "$dir/$name.run"
  nbdkit -f --exit-with-parent -U "$dir/$name.sock" \
    "$build/nbdkit-spindle-plugin.so" profile=profiles/wd200bb.cfg seed=1 \
    file="$dir/$name.run" size=64M clock=virtual \
    clock-page="$dir/$name.page" trace="$dir/$name.trace" "$@" \
    2>"$dir/$name.err" &
  server=$!
  pids="$pids $server"
  for i in $(seq 200); do
    [ -S "$dir/$name.sock" ] && return
    sleep 0.05
  done
  cat "$dir/$name.err" >&2
  return 1
}

# End a server, or anything of ours.
stop () {
  kill "$1" 2>/dev/null
  wait "$1" 2>/dev/null
  pids=${pids// $1/}
}

# guest BRIDGE SHIFT NAME... [-- qemu-options]: run QEMU with these drives
# until it ends by itself; time stamps in tsc, statistics in stats, messages
# in qemu.err.  Sets status.
guest () {
  local bridge=$1 shift=$2 config= name
  local -a options=()
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    name=$1
    shift
    config="$config;$dir/$name.sock=$dir/$name.page"
    options+=(-blockdev "driver=nbd,node-name=$name,server.type=unix,server.path=$dir/$name.sock"
              -device "ide-hd,bus=ide.$((${#options[@]} / 4)),drive=$name,model=SPINDLE TEST")
  done
  [ $# -gt 0 ] && shift
  rm -f "$dir/tsc" "$dir/stats"
  SPINDLE_CLOCK=${config#;} SPINDLE_CLOCK_STATS=$dir/stats \
  LD_PRELOAD=$build/$bridge timeout -k 5 100 \
    qemu-system-x86_64 -accel tcg -icount "shift=$shift,sleep=off" \
    -rtc base=2004-01-01,clock=vm -seed 1 -smp 1 -m 64 -nodefaults \
    -display none -device isa-debug-exit,iobase=0x501 \
    -debugcon "file:$dir/tsc" "${options[@]}" "$@" 2>"$dir/qemu.err"
  status=$?
  cat "$dir/qemu.err" >&2
}

# stat KEY: its value in the bridge's statistics.
stat_of () {
  sed -n "s/.*\"$1\": \([^,} ]*\).*/\1/p" "$dir/stats"
}

# is KEY VALUE, and more pairs: says what it is instead.
is () {
  local bad=0
  while [ $# -gt 1 ]; do
    if [ "$(stat_of "$1")" != "$2" ]; then
      echo "# $1 is $(stat_of "$1"), not $2"
      bad=1
    fi
    shift 2
  done
  [ "$bad" = 0 ]
}

# keep NAME DRIVE...: what a run has left, for comparing.
keep () {
  local name=$1 drive
  shift
  cp "$dir/tsc" "$dir/$name.tsc"
  for drive; do
    cp "$dir/$drive.trace" "$dir/$name.$drive"
  done
}

# same A B DRIVE...: two runs are the same, to the byte.
same () {
  local a=$1 b=$2 drive
  shift 2
  for drive in tsc "$@"; do
    [ -s "$dir/$a.$drive" ] || return 1
    cmp "$dir/$a.$drive" "$dir/$b.$drive" >&2 || return 1
  done
}
