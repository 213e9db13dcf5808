#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# spindle vm: a disk of one's own.  Its boot sector writes "OK" to the serial
# port and resets the machine, which with -no-reboot ends QEMU.

. tests/guest/run-lib.sh
spindle=$BUILD/spindle
size=20020396032
image=$work/disk.raw

printf '\xba\xf8\x03\xb0O\xee\xb0K\xee\xb0\n\xee\xb0\xfe\xe6\x64\xf4\xeb\xfd' \
  >"$image"
truncate -s 510 "$image"
printf '\x55\xaa' >>"$image"

# gives STATUS "LINE" COMMAND...: that on standard error, and nothing else.
gives () {
  local status=$1 line=$2
  shift 2
  "$@" >"$work/out" 2>"$work/err" </dev/null
  [ $? = "$status" ] && [ "$(wc -l <"$work/err")" = 1 ] &&
    grep -q -- "$line" "$work/err" && return
  sed 's/^/# /' "$work/err"
  return 1
}
vm () {
  "$spindle" vm --profile wd200bb "$@"
}

check "no profile" gives 2 'no --profile given' "$spindle" vm "$image"
check "no image" gives 2 'no image given' vm
check "no such profile" gives 2 'no such profile' \
  "$spindle" vm --profile wd200bc "$image"
check "no such image" gives 3 'nowhere: No such file' vm /nowhere
check "a figure that is not one" gives 2 'buffer.segments' \
  vm --set buffer.segments=x "$image"
check "two machines" gives 2 '--machine: isa: ide or ahci' \
  vm --machine isa "$image"
check "too small" gives 3 "truncate -s $size $image" vm "$image"
check "neither file nor device" gives 3 'neither a file nor' vm /dev/null
truncate -s $size "$image"
for machine in ide ahci; do
  check "boots from $machine" gives 0 'exact: [1-9][0-9]* requests, 0 late' \
    vm --machine $machine "$image" -- -no-reboot
  check "and says so" grep -q OK "$work/out"
done
qcow2=$work/disk.qcow2
qemu-img convert -f raw -O qcow2 "$image" "$qcow2"
check "boots qcow2" gives 0 'exact: [1-9][0-9]* requests, 0 late' \
  vm "$qcow2" -- -no-reboot
check "and says so" grep -q OK "$work/out"
qemu-img create -q -f qcow2 "$qcow2" 1M
check "qcow2 too small" gives 3 "qemu-img resize $qcow2 $size" vm "$qcow2"
printf 'QFI\xfb\0\0\0\3' >"$qcow2"
check "no qcow2" gives 3 'qemu-nbd: ' vm "$qcow2"
check "boots with the real clock" gives 0 'real clock, not exact' \
  vm --clock real --late-limit 0 "$image" -- -no-reboot
check "and says how late it was" grep -qE \
  '99 % of [0-9]+ answers at most [0-9.]+ ms late \((kvm|tcg: .*)\)' \
  "$work/err"
check "invalid when later than a microsecond" \
  gives 4 'INVALID: 1 % of [0-9]* answers more than' \
  vm --clock real --accel tcg --late-limit 1 "$image" -- -no-reboot
check "KVM not with the virtual clock" gives 2 'kvm needs --clock real' \
  vm --accel kvm "$image"
if [ ! -e /dev/kvm ]; then
  check "KVM that is not there" gives 3 '--accel kvm: no /dev/kvm' \
    vm --clock real --accel kvm "$image" -- -no-reboot
fi
check "a CPU has no speed in real time" gives 2 \
  '--cpu or --shift needs --clock virtual' vm --clock real --shift 2 "$image"
check "nothing is late in virtual time" gives 2 \
  '--late-limit needs --clock real' vm --late-limit 5 "$image"
check "KVM for QEMU" gives 2 'vm: -accel: not for QEMU; give --accel' \
  vm "$image" -- -accel kvm
check "another speed for QEMU" gives 2 '--icount: not for QEMU; give --cpu' \
  vm "$image" -- --icount shift=5
mkdir -p "$work/state/spindle"
echo 'tcg ide 12 us' >"$work/state/spindle/calibration"
check "a floor that is none" gives 3 \
  'calibration:1: tcg ide: 12 us: nanoseconds from 0' \
  env XDG_STATE_HOME="$work/state" "$spindle" vm --profile wd200bb \
  --clock real --accel tcg "$image"
check "an option that QEMU does not know" \
  eval '! vm "$image" -- -nonsense >"$work/out" 2>"$work/err"'
check "prints what it would do" \
  eval 'vm --print "$image" >"$work/out" && grep -q "^nbdkit .*wd200bb" "$work/out"'
truncate -s +512 "$image"
check "too large" gives 3 'more than the drive has' vm "$image"
finish
