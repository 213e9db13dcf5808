#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 7200
#
# nbdkit, QEMU or spindle itself is killed with SIGKILL at a random moment:
# everything ends within 5 s with one line, and nothing is left behind.
#
#   tests/guest/kill.sh [N=6] [SEED=1]

. tests/guest/run-lib.sh
N=6 SEED=1
for word; do
  case $word in
    N=*) N=${word#N=} ;;
    SEED=*) SEED=${word#SEED=} ;;
    *) echo "usage: kill.sh [N=6] [SEED=1]" >&2; exit 2 ;;
  esac
done
need_kernel
RANDOM=$SEED
own=$work/own
mkdir "$own"
names=(nbdkit qemu-system-x86 spindle)
limit_ms=5000
longest_ms=0

# Long enough that nothing ends by itself.
cat >"$work/long.cfg" <<'END'
name = "long";
host = { shift = 3; };
drive = { profile = "wd200bb"; };
steps = (
  { name = "read"; read = "direct"; pattern = "random"; block-kib = 4;
    requests = 1000000; }
);
END

now_ms () {
  echo $((${EPOCHREALTIME/./} / 1000))
}

# Processes that carry our private TMPDIR.
running () {
  grep -lzqxF "TMPDIR=$own" /proc/[0-9]*/environ 2>/dev/null
}

# The process to be killed, a child of $spindle or it.
victim () {
  if [ "$1" = spindle ]; then
    echo "$spindle"
  else
    pgrep -P "$spindle" -x "$1"
  fi
}

# Kill what is called $1, $2 ms from the start or as soon as it is there.
one () {
  local start pid= ms

  TMPDIR=$own "$BUILD/spindle" run "$work/long.cfg" >"$work/out" \
    2>"$work/err" &
  spindle=$!
  start=$(now_ms)
  sleep "$(($2 / 1000)).$(printf %03d $(($2 % 1000)))"
  until pid=$(victim "$1") && [ -n "$pid" ]; do
    [ $(($(now_ms) - start)) -lt 60000 ] || return 1
    sleep 0.01
  done
  began=$(ls -A "$own")
  kill -KILL "$pid"
  start=$(now_ms)
  wait "$spindle" 2>/dev/null
  while running || [ -n "$(ls -A "$own")" ]; do
    ms=$(($(now_ms) - start))
    [ "$ms" -le $((2 * limit_ms)) ] || break
    sleep 0.02
  done
  ms=$(($(now_ms) - start))
  [ "$ms" -le "$longest_ms" ] || longest_ms=$ms
  [ "$ms" -le $limit_ms ] || echo "took $ms ms"
  [ -z "$(ls -A "$own")" ] || echo "left $(ls -AR "$own" | tr '\n' ' ')"
  # Killed before it had made anything, spindle leaves nobody to say so.
  if [ -n "$began" ] || [ "$1" != spindle ] || [ -s "$work/err" ]; then
    [ "$(wc -l <"$work/err")" = 1 ] &&
      grep -q '^spindle: .*killed\|^spindle: .*gone' "$work/err" ||
      echo "said '$(cat "$work/err")'"
  fi
}

for name in "${names[@]}"; do
  wrong=
  kills=$((N / 3 + (N % 3 > 0 ? 1 : 0)))
  for ((i = 0; i < kills; i++)); do
    after=$((RANDOM % 6000))
    said=$(one "$name" "$after"; echo "longest $longest_ms")
    longest_ms=${said##*longest }
    said=${said%longest *}
    [ -z "${said//[$'\n' ]/}" ] || wrong+="# after $after ms: $said"$'\n'
  done
  printf %s "$wrong"
  check "$name killed $kills times, all ended within $longest_ms ms" \
    [ -z "$wrong" ]
done
finish
