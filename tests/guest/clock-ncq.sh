#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Eight queued commands in flight on AHCI: each completes in the guest when
# the drive says, in whatever order.
# time limit: 300

. tests/guest/clock-lib.sh
plan 10
shift=6

one () {
  local name=$1
  shift
  serve d "$@"
  guest spindle-clock.so "$shift" d -- -machine q35
  stop "$server"
  keep "$name" d
}

# What the guest has seen: every completion but the BIOS's, less than 20
# instructions after its time.  Time stamps are 32 bits.
seen_on_time () {
  paste -d, <(grep '^[0-9]' "$dir/$1.d" | tail -n +2 | cut -d, -f4 | sort -n) \
            <(od -An -v -t u4 -w4 "$dir/$1.tsc" | tr -d ' ') |
    awk -F, -v limit=$((20 << shift)) -v want="$2" '
      { late = $2 - $1 % 4294967296
        if ($1 == "" || $2 == "" || late < 0 || late > limit) {
          print "# line " NR ": " $1 " seen at " $2
          bad = 1 } }
      END { exit bad || NR != want }'
}

in_order () {
  grep '^[0-9]' "$dir/$1.d" | cut -d, -f1 | sort -cn 2>/dev/null
}

image d clock-ncq.s --defsym COUNT=20 --defsym WRITES=0
one first set=queue.depth=32 set=queue.order=sptf
ok "reads exact" is timed 161 late 0 forced 0 exact true
ok "seen on time" seen_on_time first 160
ok "not in order" eval '! in_order first'
one second set=queue.depth=32 set=queue.order=sptf
ok "the same again" same first second d

image d clock-ncq.s --defsym COUNT=20 --defsym WRITES=1
one mixed set=queue.depth=32 set=queue.order=sptf set=write-cache.enabled=false
ok "reads and writes exact" is timed 161 late 0 forced 0 exact true
ok "seen on time, too" seen_on_time mixed 160
one again set=queue.depth=32 set=queue.order=sptf set=write-cache.enabled=false
ok "the same again, too" same mixed again d
one arrival
ok "exact in order of arrival" is timed 161 late 0 forced 0 exact true

serve d --no-sr
guest spindle-clock.so "$shift" d -- -machine q35
ok "refused with simple replies" \
   eval '[ "$status" = 1 ] && grep -q "structured replies" "$dir/qemu.err"'
stop "$server"

serve d -t 4
guest spindle-clock.so "$shift" d -- -machine q35
ok "refused with fewer threads than requests in flight" \
   eval '[ "$status" = 1 ] && grep -q "4 requests.* nbdkit -t" "$dir/qemu.err"'
done_testing
