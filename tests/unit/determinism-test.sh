#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The model's times are the same whatever compiler, optimisation level or
# machine: integer arithmetic only.

set -u
tmp=${TMPDIR:-/tmp}/determinism.$$
mkdir "$tmp" || exit 1
trap 'rm -rf "$tmp"' EXIT

n=0
failed=0
reference=

# try NAME COMPILER FLAGS...: TAP line, comparing with the first that ran.
try () {
  name=$1
  shift
  n=$((n + 1))
  if ! "$@" -std=c11 -ffp-contract=off -Idisk-model \
       -o "$tmp/prog" tests/unit/determinism.c disk-model/*.c 2> "$tmp/err"
  then
    echo "ok $n - $name # SKIP cannot build: $(head -n 1 "$tmp/err")"
    return
  fi
  "$tmp/prog" > "$tmp/out" 2> "$tmp/err"
  status=$?
  if [ $status -eq 126 ] && command -v qemu-i386 > /dev/null; then
    # This kernel runs no 32-bit programs; an emulated CPU will do.
    qemu-i386 "$tmp/prog" > "$tmp/out"
    status=$?
  fi
  if [ $status -eq 126 ]; then
    echo "ok $n - $name # SKIP built, but does not run on this kernel"
    return
  elif [ $status -ne 0 ]; then
    echo "not ok $n - $name: does not run"
    failed=1
    return
  fi
  sum=$(sha256sum < "$tmp/out")
  lines=$(wc -l < "$tmp/out")
  : "${reference:=$sum}"
  if [ "$sum" = "$reference" ] && [ "$lines" -gt 20000 ]; then
    echo "ok $n - $name: $lines lines, the same"
  else
    echo "not ok $n - $name: differs"
    failed=1
  fi
}

try "gcc -O2" gcc -O2
try "gcc -O0" gcc -O0
try "gcc -O3 -march=native" gcc -O3 -march=native
try "gcc -m32 -O2" gcc -m32 -O2
try "clang -O0" clang -O0
try "clang -O3" clang -O3
echo "1..$n"
exit $failed
