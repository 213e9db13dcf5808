#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 900
#
# Two different drives in one guest, one copied to the other: exact, and the
# time it takes is what overlap allows.  Big writes, TRIM, a restart.

. tests/guest/run-lib.sh
need_kernel

# two NAME MACHINE
two () {
  cat >"$work/$1.cfg" <<END
name = "$1";
host = { machine = "$2"; shift = 3; };
drive = (
  { name = "old"; profile = "wd200bb"; },
  { name = "new"; profile = "maxtor-6y120p0";
    # Nobody trims a drive that says it is of 2003.
    set = ["interface.trim=true", "identify.exact=false"]; }
);
steps = (
  { name = "alone"; copy = "direct"; from = "old"; to = "new";
    block-kib = 64; mib = 4; offset-mib = 50; },
  { name = "pairs"; copy = "direct"; from = "old"; to = "new"; jobs = 2;
    block-kib = 64; mib = 4; offset-mib = 100; },
  { name = "big"; write = "direct"; drive = "new"; block-kib = 1024;
    mib = 16; offset-mib = 200; },
  { name = "trim"; trim = "direct"; drive = "new"; block-kib = 1024;
    mib = 16; offset-mib = 200; },
  { name = "again"; mix = "buffered"; pattern = "random"; block-kib = 4;
    requests = 200; fsync = "end"; offset-mib = 400; reboot = true; },
  { name = "last"; copy = "direct"; from = "new"; to = "old";
    block-kib = 256; mib = 4; offset-mib = 300; }
);
END
  "$BUILD/spindle" run --keep "$work/$1" "$work/$1.cfg" >"$work/$1.out" \
    2>"$work/$1.err"
}

exact () {
  grep -q '^exact: [1-9][0-9]* requests, 0 late, 0 forced' "$work/$1.out"
}

# overlap RUN STEP LBA: the copy at LBA did its work in the time during which
# a drive was busy and some for the guest; prints "NEVER" or how much of the
# time both were.
overlap () {
  local folder=$work/$1/$1.old+new ns
  ns=$(sed -n "s/.*\"name\":\"$2\".*\"ns\":\([0-9]*\).*/\1/p" \
    "$folder/console.log")
  cat "$folder"/trace-{old,new}.txt |
    awk -F, -v lba="$3" '/^[0-9]/ && $6 >= lba && $6 < lba + 8192 {
      print $2, $4 }' | sort -n |
    awk -v ns="$ns" '
      { sum += $2 - $1
        if ($2 > end) { union += $2 - ($1 > end ? $1 : end); end = $2 } }
      END {
        guest = ns - union
        print (sum == union) ? "never" : "both"
        print "# busy " union ", both " sum - union ", guest " guest \
              " ns" >"/dev/stderr"
        # Two commands a block, less than 0.5 ms of instructions each.
        exit ! (NR == 128 && guest > 0 && guest < NR * 500000) }'
}
overlaps () {
  local how
  how=$(overlap "$1" "$2" "$3") && [ "$how" = "$4" ]
}

check "on one IDE channel" two ide ide
check "it is exact" exact ide
check "a copy is one drive after the other" overlaps ide alone 102400 never
check "with two processes as well: a channel has one command at a time" \
  overlaps ide pairs 204800 never
check "on two AHCI ports" two ahci ahci
check "it is exact" exact ahci
check "a copy is one drive after the other" overlaps ahci alone 102400 never
check "with two processes both work at once" overlaps ahci pairs 204800 both
check "TRIM reached the drive" grep -q ',trim,' \
  "$work/ahci/ahci.old+new/trace-new.txt"
check "the guest was restarted" \
  grep -q '"event":"reboot"' "$work/ahci/ahci.old+new/console.log"
check "again" two again ahci
for drive in old new; do
  check "the same trace of $drive" \
    cmp "$work/ahci/ahci.old+new/trace-$drive.txt" \
        "$work/again/again.old+new/trace-$drive.txt"
done
finish
