# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# For tests of many runs: a scenario of which each takes a moment, because
# no-guest stands for QEMU.  To be sourced, after run-lib.sh.

spindle=$(realpath "$BUILD/spindle")
SPINDLE_QEMU=$(realpath "$BUILD/tests/guest/no-guest")
export SPINDLE_QEMU

# What spindle takes for a kernel: it is not booted.
{
  head -c 514 /dev/zero
  printf 'HdrS\0\0\0\0\0\0\0\0\0\001'
  head -c 240 /dev/zero
  printf 'none 0\0'
} >"$work/kernel"
cat >"$work/many.cfg" <<'END'
name = "many";
host = { kernel = "./kernel"; };
drive = { profile = "wd200bb"; };
steps = ( { name = "reads"; read = "direct"; pattern = "random";
            block-kib = 4; requests = 40; } );
reported = ( { figure = "reads"; value = 13.0; drive = "wd200bb"; } );
END

# matrix SEEDS: the options; four runs for each seed.
matrix () {
  options=(--profile wd200bb --profile hitachi-7k250
           --vary buffer.segments=1,4 --seed "1..$1")
  runs=$((4 * $1))
}

# The whole at once, as it should come out of the parts.
sequential () {
  "$spindle" run --jobs "$1" --keep "$work/$2" --junit "$work/$2.xml" \
    "${options[@]}" "$work/many.cfg" >"$work/$2.out" 2>"$work/$2.err"
}

make_plan () {
  "$spindle" plan --keep "$work/parts" "${options[@]}" "$work/many.cfg" \
    >"$work/plan" &&
    [ "$(wc -l <"$work/plan")" = "$runs" ] &&
    [ "$(sort -u "$work/plan" | wc -l)" = "$runs" ]
}

# merge OUT DIR...
merge () {
  local out=$1
  shift
  "$spindle" merge --keep "$work/$out" --junit "$work/$out.xml" "$@" \
    >"$work/out" 2>"$work/err"
}

# same A B: byte for byte, and every file that may not differ.
same () {
  cmp "$work/$1/results.json" "$work/$2/results.json" &&
    cmp "$work/$1/report.html" "$work/$2/report.html" &&
    cmp "$work/$1.xml" "$work/$2.xml" &&
    diff -r -x commands.txt -x '*.log' "$work/$1" "$work/$2"
} >&2

# gives STATUS TEXT COMMAND...: ends so, and says so.
gives () {
  local status=$1 text=$2
  shift 2
  "$@"
  [ $? = "$status" ] && grep -qF -e "$text" "$work/err" || {
    cat "$work/err" >&2
    false
  }
}
