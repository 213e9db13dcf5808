#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 900
#
# A drive with a partition, a file system and files: every kind of step on
# them.  Kernels that are not there are skipped by name.

. tests/guest/run-lib.sh
need_kernel
spindle=$BUILD/spindle
own=$work/own
mkdir "$own"

cat >"$work/files.cfg" <<'END'
name = "files";
host = { shift = 3; elevator = "deadline";
         sysctl = ["vm.dirty_background_ratio=20"]; };
kernels = ( "debian", "2.6.0" );
drive = { profile = "generic-2003-7200"; };
disk = {
  partition-lba = 63; partition-mib = 64; file-system = "ext3";
  block-bytes = 1024; journal-mib = 4; mount = "noatime";
  files = ( { name = "big"; mib = 4; layout = "spread"; },
            { name = "f{n}"; count = 4; kib = 512; layout = "interleaved"; },
            { name = "usr"; count = 80; per-folder = 8; kib = 4;
              layout = "shuffled"; } );
};
scale = 2;
steps = (
  { name = "hdparm"; hdparm = "64mib"; ms = 100; },
  { name = "dd"; read = "buffered"; file = "big"; block-bytes = 512;
    before = "forget"; repeats = 2; unit = "s"; },
  { name = "cats"; read = "buffered"; file = "f{job}"; jobs = 4;
    block-kib = 4; unit = "s"; readahead = 240; also = ["first"]; },
  { name = "walk"; walk = "buffered"; file = "usr"; block-kib = 4; },
  { name = "film"; frames = "buffered"; file = "f{n}"; sound = "big";
    output = "film"; output-bytes = 100000; requests = 4; block-kib = 4; },
  { name = "write"; write = "buffered"; file = "new"; create = true;
    close = true; fsync = "end"; mib = 2; block-kib = 4; },
  { name = "again"; write = "buffered"; file = "new"; fsync = "end"; mib = 2;
    block-kib = 4; before = "nothing"; sysctl = ["vm.dirty_ratio=40"]; },
  { name = "random"; read = "buffered"; file = "new"; pattern = "random";
    block-bytes = 1024; requests = 400; before = "sync";
    also = ["disk"]; },
  { name = "cold"; read = "buffered"; file = "new"; pattern = "random";
    block-kib = 1; requests = 40; also = ["disk", "disk-ms"]; }
);
reported = (
  { figure = "walk"; value = [0.01, 100.0]; },
  { figure = "walk"; value = 1.0; kernel = "2.6.0"; }
);
END

# The value of a figure in results.json.
value () {
  grep -A 1 "\"name\": \"$1\"" "$work/keep/results.json" |
    sed -n 's/.*"value": \([0-9.]*\).*/\1/p' | head -n 1
}
# holds EXPRESSION, of awk
# shellcheck disable=SC2317 # by check
holds () {
  awk "BEGIN { exit !($1) }" || { echo "# $1"; false; }
}

TMPDIR=$own "$spindle" run --keep "$work/keep" "$work/files.cfg" \
  >"$work/out" 2>"$work/err"
check "every kind of step on files" test $? = 0
sed 's/^/# /' "$work/err"
check "the missing kernel's figures are named" \
  grep -q '^skipped: no kernel 2.6.0: walk$' "$work/out"
check "and it is a result as well" \
  grep -q '"verdict": "skipped"' "$work/keep/results.json"
check "exact" grep -q '^exact: .* 0 late, 0 forced' "$work/out"
check "half of the work for half of the time" \
  grep -q 'multiplied by 2' "$work/out"
check "nothing is left of the image" test -z "$(ls -A "$own")"
check "the drive is no faster than it can" \
  holds "$(value hdparm) > 20 && $(value hdparm) < 60"
check "a first one and a last one" \
  holds "$(value cats-first) > 0 && $(value cats-first) <= $(value cats)"
check "what was written comes from memory" \
  holds "$(value random-disk) < 20"
check "what was dropped comes from the drive" \
  holds "$(value cold-disk) > 20 && $(value cold-disk-ms) > 0.1"
check "each file of the tree was read" eval \
  'grep -A 4 "\"name\": \"walk\"" "$work/keep/results.json" |
     grep -q "\"requests\": 40,"'
check "and of the film" eval \
  'grep -A 3 "\"name\": \"film\"" "$work/keep/results.json" |
     grep -q "\"bytes\": 2621440,"'

sed 's/"debian", //' "$work/files.cfg" >"$work/none.cfg"
check "no kernel at all: status 3" eval \
  '"$spindle" run "$work/none.cfg" >"$work/out" 2>"$work/err"; test $? = 3 &&
   grep -q "nothing ran: all is skipped" "$work/err"'

sed -e 's/mib = 2;/mib = 400;/' -e 's/"debian", "2.6.0"/"debian"/' \
  "$work/files.cfg" >"$work/full.cfg"
check "a full disk: status 3" eval \
  'TMPDIR=$own "$spindle" run "$work/full.cfg" >"$work/out" 2>"$work/err"
   test $? = 3 && grep -q "No space left on device" "$work/err"'
check "and nothing is left of it" test -z "$(ls -A "$own")"
finish
