#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# docs/security.md: modes of what the plugin creates, and a bridge that does
# nothing in a set-gid program, which is to the linker what a set-uid one is.

. tests/tap.sh
dir=$(mktemp -d)
server=
end () {
  [ -z "$server" ] || kill "$server" 2>/dev/null
  rm -rf "$dir"
}
trap end EXIT
skip () {
  n=$((n + 1))
  echo "ok $n - $1 # SKIP $2"
}
build=$(cd "${BUILD:-build}" && pwd)

mode () {
  stat -c %a "$1"
}

umask 000
"${NBDKIT:-nbdkit}" -f -U "$dir/nbd" -P "$dir/pid" \
  "$build/nbdkit-spindle-plugin.so" wd200bb clock=virtual \
  clock-page="$dir/page" control="$dir/control" 2>"$dir/err" &
server=$!
for _ in $(seq 300); do
  [ -e "$dir/pid" ] && break
  sleep 0.1
done
umask 022
[ "$(mode "$dir/page")" = 600 ]
result 'nobody else can write the clock page' $? "$(ls -l "$dir")"
[ "$(mode "$dir/control")" = 600 ]
result 'nobody else can open the control socket' $? "$(ls -l "$dir")"
kill "$server"
wait "$server" 2>/dev/null
server=

# A link where the clock page shall be is not followed.
echo precious >"$dir/target"
ln -s "$dir/target" "$dir/link"
! "${NBDKIT:-nbdkit}" -U - "$build/nbdkit-spindle-plugin.so" wd200bb \
  clock=virtual clock-page="$dir/link" --run true 2>"$dir/err" &&
  [ "$(cat "$dir/target")" = precious ]
result 'a clock page is not written through a link' $? "$(cat "$dir/err")"

# A program that is linked with the bridge, and so cannot leave it out.
cat >"$dir/q.c" <<'END'
int connect (int, const void *, unsigned);
int main (void) { return connect (-1, "", 0) == -1 ? 7 : 1; }
END
program=$dir/qemu-system-none
start () {
  SPINDLE_CLOCK=$dir/s=$dir/p "$program" 2>"$dir/err"
}
if ! ${CC:-cc} -fno-builtin -o "$program" "$dir/q.c" \
    "$build/spindle-clock.so" -Wl,-rpath,"$build" 2>"$dir/err"; then
  skip 'the bridge in a program that is not set-gid' 'no compiler'
  skip 'and not in a set-gid one' 'no compiler'
elif grep -q libasan "$build/spindle-clock.so"; then
  skip 'the bridge in a program that is not set-gid' 'sanitizers come first'
  skip 'and not in a set-gid one' 'sanitizers come first'
else
  start
  [ $? = 1 ] && grep -q 'does not export' "$dir/err"
  result 'the bridge in a program that is not set-gid' $? "$(cat "$dir/err")"
  # glibc would look for it by its path in any case: it is in rpath.
  if [ "$(id -u)" != 0 ] ||
      ! chgrp 65534 "$program" || ! chmod 2755 "$program" ||
      findmnt -no OPTIONS -T "$dir" 2>/dev/null | grep -q nosuid; then
    skip 'and not in a set-gid one' 'needs root, and a file system with set-gid'
  else
    start
    [ $? = 7 ] && [ ! -s "$dir/err" ]
    result 'and not in a set-gid one' $? "$(cat "$dir/err")"
  fi
fi
echo "1..$n"
exit $bad
