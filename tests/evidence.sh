#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What is reproduced and what is not, as a page: every figure that is
# published of a drive beside the model's, every report beside what is
# measured.  Everything is run for it.
#
#   tests/evidence.sh FOLDER [SCENARIO...]     default: all that there are

set -u
BUILD=${BUILD:-build}
spindle=$BUILD/spindle
out=$1
shift
if [ $# = 0 ]; then
  set -- harness/scenarios/*.cfg
fi
mkdir -p "$out"
status=0

"$spindle" profile check --all >"$out/drives.txt" || status=1
"$spindle" run --keep "$out/runs" --junit "$out/junit.xml" "$@" \
  >"$out/reports.txt" 2>"$out/errors.txt"
code=$?
[ $code -le 1 ] || status=$code
cat "$out/errors.txt" >&2

code_block () {
  printf '\n```\n'
  cat "$@"
  printf '```\n'
}
{
  printf '# Evidence\n\nspindle %s, %s, host Linux %s, %s.\n' \
    "$("$spindle" --version | cut -d' ' -f2)" "$(date -u +%F)" \
    "$(uname -r)" "$(qemu-system-x86_64 --version | head -n 1)"
  printf '\nMade by `make evidence`; the pictures are in `%s`.\n' \
    runs/report.html
  printf '\n## What does not come out as reported\n'
  grep -E 'NOT |^spindle: ' "$out/reports.txt" "$out/errors.txt" |
    sed 's/^[^:]*://' >"$out/not.txt"
  grep -E 'NOT|not within|MISSED|outside' "$out/drives.txt" >>"$out/not.txt"
  if [ -s "$out/not.txt" ]; then
    code_block "$out/not.txt"
    printf '\nThe reasons, where they are known, are below each table.\n'
  else
    printf '\nNothing: all that is asserted does.\n'
  fi
  printf '\n"For comparison" are figures that were reported on another kernel '
  printf 'than the one\nthat ran: they say how near it comes, and decide '
  printf 'nothing.\n\n## Reports\n'
  code_block "$out/reports.txt"
  printf '\n## Drives, beside what is published of them\n'
  code_block "$out/drives.txt"
} >"$out/evidence.md.new" && mv "$out/evidence.md.new" "$out/evidence.md"
rm -f "$out/not.txt"
echo "$out/evidence.md, $out/runs/report.html"
exit $status
