#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What goes wrong is said in one line, and nothing hangs.
# time limit: 200

. tests/guest/clock-lib.sh
plan 10
image d clock-ide.s --defsym COUNT=20000 --defsym WRITES=0 --defsym POLLS=0 \
  --defsym MASK=0xffff

# says TEXT: QEMU ended with status 1 and one line with this in it.
says () {
  [ "$status" = 1 ] && [ "$(grep -c . "$dir/qemu.err")" = 1 ] &&
    grep -q "^spindle-clock: .*$1" "$dir/qemu.err"
}

guest spindle-clock.so 3 d -- -machine pc
ok "no clock page" says "No such file"

# Any program by such a name is taken for a QEMU.
cp /bin/true "$dir/qemu-system-bare"
SPINDLE_CLOCK="$dir/d.sock=$dir/d.page" LD_PRELOAD=$build/spindle-clock.so \
  "$dir/qemu-system-bare" 2>"$dir/qemu.err"
status=$?
ok "a QEMU without the symbols" says "does not export"

serve d
(sleep 3; kill -KILL "$server") &
killer=$!
pids="$pids $killer"
SECONDS=0
guest spindle-clock.so 3 d -- -machine pc
ok "nbdkit killed" eval 'says gone && [ "$SECONDS" -le 9 ]'
ok "the run is not exact" is exact false
stop "$killer"
stop "$server"
rm -f "$dir/d.page" "$dir/d.sock"

serve d -t 1
SPINDLE_CLOCK="$dir/d.sock=$dir/d.page" LD_PRELOAD=$build/spindle-clock.so \
  timeout 20 qemu-system-x86_64 -accel tcg -display none -nodefaults -S \
  -blockdev driver=nbd,node-name=d,server.type=unix,server.path="$dir/d.sock" \
  -device ide-hd,bus=ide.0,drive=d 2>"$dir/qemu.err"
status=$?
ok "no -icount" says icount

cp /bin/true "$dir/qemu-system-none"
SPINDLE_CLOCK="$dir/d.sock=$dir/d.page" LD_PRELOAD=$build/spindle-clock.so \
  "$dir/qemu-system-none" 2>"$dir/qemu.err"
status=$?
ok "a QEMU that exports nothing" says "qemu_clock_get_ns.*modules"

SPINDLE_CLOCK="$dir/d.sock=$dir/d.page" LD_PRELOAD=$build/spindle-clock.so \
  true 2>"$dir/qemu.err"
ok "other programs are left alone" eval '[ $? = 0 ] && [ ! -s "$dir/qemu.err" ]'
stop "$server"

image d clock-ide.s --defsym COUNT=100 --defsym WRITES=3 --defsym POLLS=2 \
  --defsym MASK=0xffff
serve d
guest tests/spindle-clock-wrong.so 3 d -- -machine pc
ok "a bridge that does not wait is found out" \
   eval '[ "$(stat_of late)" -gt 0 ] && [ "$(stat_of max_late_ns)" -gt 7 ]'
ok "and the run is not exact" is exact false
stop "$server"

image d clock-cancel.s
serve d
guest spindle-clock.so 3 d -- -machine pc
stop "$server"
ok "a request that QEMU waits for is forced" \
   is timed 3 late 0 forced 1 exact false
done_testing
