#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian's kernel and the agent on a plain file: what the agent is asked, does
# and says.  The drive emulation takes no part.

set -u
BUILD=${BUILD:-build}
work=$(mktemp -d "${TMPDIR:-/tmp}/agent-test.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
qemu=${SPINDLE_QEMU:-qemu-system-x86_64}
mib=1048576
tests=0 failed=0

result () {
  tests=$((tests + 1))
  if [ "$1" = 0 ]; then
    echo "ok $tests - $2"
  else
    echo "not ok $tests - $2"
    failed=1
  fi
}

# check NAME COMMAND...
check () {
  local name=$1
  shift
  "$@" >/dev/null 2>&1
  result $? "$name"
}

skip_all () {
  echo "1..0 # SKIP $1"
  exit 0
}

# An event with the given text in it.
said () {
  grep -aq "^@spindle {\"event\":\"$1\".*$2" "$work/console"
}

# A number of the first event of a kind: number EVENT KEY
number () {
  sed -n "s/^@spindle {\"event\":\"$1\".*\"$2\":\([0-9]*\).*/\1/p" \
    "$work/console" | head -n 1
}

# Guest time against the time stamp counter, which counts virtual time.
clock_is_right () {
  local ns tsc
  ns=$(($(number end ns) - $(number start ns)))
  tsc=$(($(number end tsc) - $(number start tsc)))
  [ "$tsc" -gt 0 ] && [ $(((ns - tsc) * 10000 / tsc)) = 0 ]
}

# boot ide|ahci MEMORY SLEEP: runs $work/job on $work/disk.
boot () {
  local boots machine=pc
  boots=$("$BUILD/tests/guest/agent-image" "$BUILD/agent" "$work/job" \
    "$work/initrd" 2>"$work/error")
  case $? in
    0) ;;
    77) skip_all "no kernel: $(tail -n 1 "$work/error")" ;;
    *) cat "$work/error" >&2; return 1 ;;
  esac
  [ "$1" = ide ] || machine=q35
  rm -f "$work/console"
  timeout -k 5 100 "$qemu" -machine $machine -nodefaults -display none \
    -accel tcg -icount "shift=3,sleep=$3" -rtc base=2004-01-01,clock=vm \
    -seed 1 -m "$2" -no-reboot -serial "file:$work/console" \
    -kernel "${boots%%$'\n'*}" -initrd "$work/initrd" \
    -append "${boots#*$'\n'}" \
    -blockdev "driver=file,node-name=disk,filename=$work/disk" \
    -device ide-hd,bus=ide.0,drive=disk,model=Spin
}

full_job () {
  cat >"$work/job" <<EOF
# every kind of step
modules
device path=/dev/sda
sysfs path=/sys/block/sda/queue/max_sectors_kb value=64
sysfs path=/sys/block/sda/queue/no_such_thing value=1
readahead sectors=0
readahead sectors=256
read name=seq mode=buffered pattern=seq block=65536 bytes=$((4 * mib)) offset=0
read name=part mode=direct pattern=seq block=4096 bytes=10240 offset=512
read name=random mode=direct pattern=random block=4096 bytes=409600 offset=0 seed=7
read name=streams mode=buffered pattern=seq block=16384 bytes=$mib offset=0 span=$((32 * mib)) streams=4
read name=limit mode=direct pattern=seq block=4096 bytes=$((1024 * mib)) offset=0 ms=20
write name=wseq mode=buffered pattern=seq block=65536 bytes=$mib offset=$((8 * mib)) seed=3 fsync=1
write name=wdirect mode=direct pattern=seq block=4096 bytes=65536 offset=$((16 * mib)) seed=4 fsync=0
write name=wrandom mode=direct pattern=random block=1024 bytes=32768 offset=$((24 * mib)) span=$((8 * mib)) seed=5 fsync=each
read name=jobs mode=direct pattern=random block=4096 bytes=$((101 * 4096)) offset=0 jobs=4
read name=parts mode=buffered pattern=seq block=4096 bytes=$mib offset=0 span=$mib jobs=4
mix name=mix mode=direct pattern=random block=512 bytes=51200 offset=$((40 * mib)) span=$mib writes=40 seed=6 fsync=each
sysfs path=queue/max_sectors_kb value=128
device name=twin path=/dev/sda
device name=/dev/sda
copy name=copy from=/dev/sda to=twin block=16384 bytes=$mib offset=$((8 * mib)) to-offset=$((48 * mib)) jobs=3
sync
drop
poweroff
read name=never mode=direct pattern=seq block=4096 bytes=4096 offset=0
EOF
}

# full_run ide|ahci MEMORY
full_run () {
  local name

  truncate -s 0 "$work/disk"
  truncate -s $((64 * mib)) "$work/disk"
  full_job
  boot "$1" "$2" on
  result $? "$1, $2 MiB: QEMU ends"
  check "says which kernel it is" said start '"kernel":"[0-9]'
  check "finds the disk" said device '"sectors":131072,'
  check "tells what IDENTIFY says" said identify '"model":"Spin",.*"lba48":true'
  check "a missing sysfs file is a warning" said warning '"errno":2'
  check "readahead 0" said readahead '"sectors":0}'
  check "readahead 256" said readahead '"sectors":256}'
  for name in seq,4194304,64 part,10240,3 random,409600,100 \
    streams,1048576,64 jobs,413696,101 parts,1048576,256 mix,51200,100 \
    copy,1048576,64 wseq,1048576,16 wdirect,65536,16 wrandom,32768,32; do
    IFS=, read -r step bytes requests <<<"$name"
    check "$step" said result "\"name\":\"$step\".*\"bytes\":$bytes,\"requests\":$requests,\"ns\":[1-9][0-9]*,.*\"status\":\"ok\""
  done
  check "each job's end" said result \
    '"name":"jobs".*"finished_ns":"[1-9][0-9]*\( [1-9][0-9]*\)\{3\}"'
  check "a time limit ends a read" said result \
    '"name":"limit".*"ns":[2-9][0-9]\{7\},"status":"ok"'
  check "nothing follows poweroff" eval '! said result never'
  check "ends well" said end '"status":"ok"'
  check "guest time is virtual time" clock_is_right
  check "buffered writes arrived" holds $((8 * mib)) $mib 3 "2048 written 0 zero"
  check "direct writes arrived" holds $((16 * mib)) 131072 4 \
    "128 written 128 zero"
  check "a copy is a copy" cmp -n $mib -i "$((8 * mib)):$((48 * mib))" \
    "$work/disk" "$work/disk"
  check "a mix wrote and read" eval \
    'holds $((40 * mib)) $mib 6 "[1-4][0-9] written [0-9]* zero"'
  check "random writes arrived within their span" eval \
    'holds $((24 * mib)) $((8 * mib)) 5 "6[0-4] written [0-9]* zero"'
}

# holds OFFSET BYTES SEED PATTERN
holds () {
  "$BUILD/tests/guest/agent-pattern" "$work/disk" "$1" "$2" "$3" |
    grep -q "^$4\$" && [ "${PIPESTATUS[0]}" = 0 ]
}

bad_run () {
  cat >"$work/job" <<EOF
frobnicate now=1
read name=early mode=direct pattern=seq block=4096 bytes=4096 offset=0
modules
device path=/dev/sda
read name=a mode=direct pattern=seq block=4k bytes=4096 offset=0
read name=b mode=raw pattern=seq block=4096 bytes=4096 offset=0
read name=c mode=direct pattern=seq block=100 bytes=4096 offset=0
read name=d mode=direct pattern=seq block=4096 offset=0
read name=e mode=direct pattern=seq block=4096 bytes=4096 offset=99999999999
read name=f mode=direct pattern=seq block=4096 bytes=4096 offset=0 colour=red
read name=g mode=direct pattern=seq block=4096 bytes=4096 offset=0 jobs=65
copy name=h from=/dev/sda to=nobody block=4096 bytes=4096
readahead
read name=good mode=direct pattern=seq block=4096 bytes=4096 offset=0
device path=/dev/sdz
read name=never mode=direct pattern=seq block=4096 bytes=4096 offset=0
EOF
  boot ide 128 off
  result $? "a bad job: QEMU ends"
  check "an unknown step" said error '"step":"frobnicate now=1"'
  check "a disk step before the disk" said error 'name=early.*"errno":19'
  for step in a b c d e f g h; do
    check "bad step $step" said error "name=$step .*\"errno\":22"
  done
  check "a missing value" said error '"step":"readahead"'
  check "a good step after them" said result '"name":"good".*"ok"'
  check "a missing disk ends the job" eval \
    'said error "sdz.*\"errno\":2" && ! said result never'
  check "the end says that it failed" said end '"status":"failed"'
}

command -v "$qemu" >/dev/null || skip_all "no $qemu"
full_run ide 96
full_run ahci 2048
bad_run
echo "1..$tests"
[ $failed = 0 ]
