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
cat >"$dir/verify.fio" <<'END'
[global]
ioengine=nbd
uri=${uri}
rw=randwrite
iodepth=16
verify=crc32c
verify_fatal=1
verify_state_save=0
serialize_overlap=1
END
n=0 bad=0

# verify NAME FIO-OPTIONS PARAMETER...
verify () {
  local name=$1 options=$2 out
  shift 2
  n=$((n + 1))
  if out=$($nbdkit -U - "$plugin" "$@" --run "
             uri=\$uri fio $dir/verify.fio --name=verify $options" 2>&1) &&
     grep -q 'err= 0' <<<"$out"
  then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    sed 's/^/# /' <<<"$out"
    bad=1
  fi
}
size=64m
[ -z "${TEST_SLOW-}" ] || size=4m

verify 'an instant drive' "--size=$size --bsrange=512-64k --bs_unaligned=0" \
       ideal
verify 'a drive, buffered writes' '--size=1m --bs=4k' wd200bb
verify 'a drive, written through' '--size=256k --bs=4k --sync=1' \
       wd200bb set=write-cache.enabled=false

echo "1..$n"
exit $bad
