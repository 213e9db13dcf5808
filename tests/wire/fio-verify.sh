#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# fio writes, reads back and compares, at depth 16.

set -u
plugin=${BUILD:-build}/nbdkit-spindle-plugin.so
nbdkit=${NBDKIT:-nbdkit}

if ! fio --enghelp 2>/dev/null | grep -qw nbd; then
  echo '1..0 # SKIP no fio with the nbd engine'
  exit 0
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/fio.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

# /dev/null: or fio makes a file that it does not use.
fio="fio --name=verify --ioengine=nbd --uri=\$uri --filename=/dev/null
     --rw=randwrite --iodepth=16 --verify=crc32c --verify_fatal=1
     --verify_state_save=0 --aux-path=$dir --serialize_overlap=1"
n=0 bad=0

# verify NAME FIO-OPTIONS PARAMETER...
verify () {
  local name=$1 out reads status
  local command="${fio//$'\n'/} $2"
  shift 2
  n=$((n + 1))
  rm -f "$dir/stats"
  out=$($nbdkit -U - "$plugin" "$@" stats="$dir/stats" --run "$command" 2>&1)
  status=$?
  # nbdkit does not wait for its server after --run.
  for _ in $(seq 100); do
    [ ! -s "$dir/stats" ] || break
    sleep 0.1
  done
  if [ $status = 0 ] && grep -q 'err= 0' <<<"$out" &&
     reads=$(grep -o '"read":[0-9]*' "$dir/stats") &&
     [ "${reads#*:}" -ge 64 ]
  then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    sed 's/^/# /' <<<"$out
$(cat "$dir/stats")"
    bad=1
  fi
}
size=64m
[ -z "${TEST_SLOW-}" ] || size=4m

verify 'an instant drive' "--size=$size --bsrange=512-64k" ideal
verify 'a drive, buffered writes' '--size=1m --bs=4k' wd200bb
verify 'a drive, written through' '--size=256k --bs=4k' \
       wd200bb set=write-cache.enabled=false

echo "1..$n"
exit $bad
