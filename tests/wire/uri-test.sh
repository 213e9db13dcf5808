#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# uri=: the data are another NBD server's; here qemu-nbd's, with a qcow2 image.

set -u
plugin=${BUILD:-build}/nbdkit-spindle-plugin.so
nbdkit=${NBDKIT:-nbdkit}
dir=$(mktemp -d "${TMPDIR:-/tmp}/uri.XXXXXX") || exit 1
server=
end () {
  [ -z "$server" ] || kill "$server"
  wait
  rm -rf "$dir"
} 2>/dev/null
trap end EXIT
. tests/tap.sh
io='env -u LD_PRELOAD qemu-io -f raw' # no sanitizer of ours for QEMU
uri="nbd+unix:///?socket=$dir/image"

# serve OPTION...: the image
serve () {
  rm -f "$dir/image"
  qemu-nbd --socket="$dir/image" --format=qcow2 --persistent --shared=4 "$@" \
    "$dir/disk.qcow2" &
  server=$!
  for _ in $(seq 100); do
    [ ! -S "$dir/image" ] || return
    sleep 0.1
  done
}
stop () {
  kill "$server"
  wait "$server"
  server=
}

# drive COMMAND [PARAMETER]...: with the drive's $uri
drive () {
  local command=$1
  shift
  $nbdkit -U - "$plugin" ideal size=8M uri="$uri" "$@" --run "$command" 2>&1
}

head -c 8M /dev/urandom >"$dir/data"
qemu-img create -q -f qcow2 "$dir/disk.qcow2" 8M
serve
out=$(drive "nbdcopy --flush '$dir/data' \"\$uri\"")
result "written" $? "$out"
stop
qemu-img convert -O raw "$dir/disk.qcow2" "$dir/raw" &&
  cmp -s "$dir/raw" "$dir/data"
result "and in the image" $?
serve
out=$(drive "nbdcopy \"\$uri\" '$dir/back'")
cmp -s "$dir/back" "$dir/data"
result "read back" $? "$out"
out=$(drive "$io -c 'write -z -u 4096 1M' \"\$uri\"" \
  set=interface.trim=true &&
  drive "$io -c 'read -P 0 4096 1M' \"\$uri\"")
[ $? = 0 ] && ! grep -q 'verification failed' <<<"$out"
result "zeroes" $? "$out"
out=$(drive 'true' size=9M)
[ $? != 0 ] && grep -q "$uri has 8388608 bytes, the drive 9437184" <<<"$out"
result "too small" $? "$out"
stop
out=$(drive 'true')
[ $? != 0 ] && [ "$(grep -c . <<<"$out")" = 1 ]
result "no server" $? "$out"
serve --read-only
out=$(drive "$io -c 'write 0 4096' \"\$uri\"")
[ $? != 0 ] && grep -q 'cannot be written' <<<"$out"
result "read-only" $? "$out"

# The server dies while the drive is in use.
cat >"$dir/die" <<END
kill -KILL $server
$io -r -c 'read 0 4096' "\$1"
END
disown
out=$($nbdkit -r -U - "$plugin" ideal size=8M uri="$uri" \
  --run "sh $dir/die \"\$uri\"" 2>&1)
grep -q 'Input/output error' <<<"$out"
result "the server is gone" $? "$out"
server=
echo "1..$n"
exit $bad
