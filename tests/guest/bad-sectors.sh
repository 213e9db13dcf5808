#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 900
#
# A hard bad sector is an error of the guest's ATA driver after the time that
# the drive's profile gives it, a weak one costs its retries, and a sector
# that has been written reads again.

. tests/guest/run-lib.sh
need_kernel

# 12 revolutions of 8 1/3 ms are what 101 ms have room for.
cat >"$work/bad.cfg" <<'END'
name = "bad";
host = { append = "loglevel=7"; };
drive = { profile = "wd200bb"; bad = ["204805", "409605:7"];
          set = ["media.retries=50", "media.timeout-ms=101"]; };
steps = (
  { name = "weak"; read = "direct"; block-kib = 4; mib = 1;
    offset-mib = 200; },
  { name = "hard"; read = "direct"; block-kib = 4; mib = 1;
    offset-mib = 100; },
  { name = "rewrite"; write = "direct"; block-kib = 4; mib = 1;
    offset-mib = 100; },
  { name = "again"; read = "direct"; block-kib = 4; mib = 1;
    offset-mib = 100; }
);
END
status=0
"$BUILD/spindle" run --keep "$work/keep" "$work/bad.cfg" >"$work/out" \
  2>"$work/err" || status=$?
log=$work/keep/bad.wd200bb/console.log
trace=$work/keep/bad.wd200bb/trace.txt

check "the guest could not do it" [ $status = 3 ]
check "the step and the error are named" \
  grep -q "could not do 'read name=hard .*Input/output error" "$work/err"
check "the kernel's log shows the ATA error" \
  grep -q 'ata1.*failed command: READ DMA' "$log"
check "and the sector" grep -q 'I/O error, dev sda, sector 2048' "$log"
check "the drive tried for exactly twelve revolutions" awk -F, '
  $20 == 5 { n++; if ($17 < 100000000 || $17 > 100600000) bad = 1 }
  END { exit n == 0 || bad }' "$trace"
check "and says that it read again" awk -F, '
  $20 == 5 && int ($19 / 64) % 2 == 0 { bad = 1 } END { exit bad }' "$trace"
check "a weak sector costs exactly seven revolutions, once" awk -F, '
  $20 == 0 && int ($19 / 64) % 2 { n++; more = $17 }
  END { exit n != 1 || more < 58333333 || more > 58900000 }' "$trace"
check "the sector reads again when it has been written" \
  grep -q '"name":"again".*"status":"ok"' "$log"
finish
