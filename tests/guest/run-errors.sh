#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 600
#
# Whatever goes wrong: one line, the right exit status, nothing left behind.

. tests/guest/run-lib.sh
need_kernel
own=$work/own
mkdir "$own"

# Processes whose private directory is ours.
running () {
  grep -qzxF "TMPDIR=$own" /proc/[0-9]*/environ 2>/dev/null
}

# Nothing runs, nothing is left; what is on its way out gets 5 s.
clean () {
  for _ in $(seq 50); do
    running || break
    sleep 0.1
  done
  ! running && [ -z "$(ls -A "$own")" ]
}

# gives STATUS "LINE" COMMAND...: exactly that, and nothing left behind.
gives () {
  local expected=$1 line=$2 status
  shift 2
  TMPDIR=$own "$@" >"$work/out" 2>"$work/err"
  status=$?
  # The guardian's last word comes later.
  clean && [ $status = "$expected" ] && [ "$(wc -l <"$work/err")" = 1 ] &&
    grep -q -- "$line" "$work/err" && return
  sed 's/^/# /' "$work/err"
  return 1
}

spindle=$BUILD/spindle
scenario good 16
check "no command" gives 2 'spindle: rnu: unknown command; did you mean run?' \
  "$spindle" rnu
check "no such option" gives 2 'did you mean --keep?' \
  "$spindle" run --kepe x "$work/good.cfg"
check "no scenario" gives 2 'no scenario given' "$spindle" run
check "no such scenario" gives 3 'nowhere.cfg: No such file' \
  "$spindle" run "$work/nowhere.cfg"
mkfifo "$work/pipe.cfg"
check "a pipe" gives 3 'pipe.cfg: not a regular file' \
  timeout 10 "$spindle" run "$work/pipe.cfg"
echo 'name = "x"; dirve = { };' >"$work/bad.cfg"
check "a mistake in a scenario" gives 3 \
  'bad.cfg:1: dirve: unknown key; did you mean drive?' \
  "$spindle" run "$work/bad.cfg"
sed 's/wd200bb/wd200bc/' "$work/good.cfg" >"$work/drive.cfg"
check "no such drive" gives 3 'wd200bc: no such profile' \
  "$spindle" run "$work/drive.cfg"
sed 's/19000/20000/' "$work/good.cfg" >"$work/reach.cfg"
check "a step beyond the drive's end" gives 3 'reaches beyond the end' \
  "$spindle" run "$work/reach.cfg"
check "no such kernel" gives 3 '/nowhere/vmlinuz' \
  "$spindle" run --kernel /nowhere/vmlinuz "$work/good.cfg"
check "no QEMU" gives 3 'no-qemu is not installed' \
  env SPINDLE_QEMU=no-qemu "$spindle" run "$work/good.cfg"
check "no nbdkit" gives 3 'no-nbdkit is not installed' \
  env SPINDLE_NBDKIT=no-nbdkit "$spindle" run "$work/good.cfg"
check "nbdkit does not start" gives 3 'nbdkit ended with status 1' \
  env SPINDLE_NBDKIT=false "$spindle" run "$work/good.cfg"
check "QEMU ends at once" gives 3 'stopped before it had done its job' \
  env SPINDLE_QEMU=true "$spindle" run "$work/good.cfg"

scenario slow 16 'limits = { real-s = 2; };'
check "too slow" gives 3 'not done after 2 s' "$spindle" run "$work/slow.cfg"
scenario quiet 16 'limits = { silence-s = 1; };'
check "silent" gives 3 'silent for 1 s of its time' \
  "$spindle" run "$work/quiet.cfg"
sed 's/shift = 3/shift = 3; append = "rdinit=\/no"/' "$work/good.cfg" \
  >"$work/panic.cfg"
check "a panic" gives 3 'kernel gave up: Kernel panic' \
  "$spindle" run "$work/panic.cfg"

# while_running COMMAND...: run the scenario, and COMMAND when the guest
# has begun to measure.
while_running () {
  rm -rf "$work/keep"
  "$spindle" run --keep "$work/keep" "$work/good.cfg" &
  local pid=$! status
  for _ in $(seq 1200); do
    grep -qs '"result"' "$work"/keep/*/console.log && break
    sleep 0.1
  done
  "$@" "$pid"
  wait "$pid" 2>/dev/null       # bash would report that it was killed
  status=$?
  [ -e "$work/keep/good.wd200bb/console.log" ] || status=99
  return $status
}

kill_child () {
  local name=$1 parent=$2
  pkill -KILL -P "$parent" -f "$name"
}
kill_it () { kill "-$1" "$2"; }

second_run () {
  "$spindle" run --keep "$work/keep" "$work/good.cfg" >"$work/second" 2>&1
  second=$?
  kill -TERM "$1"
}
check "two runs with one --keep" gives 3 interrupted while_running second_run
check "the second is refused" eval \
  '[ $second = 3 ] && grep -q "another run writes there" "$work/second"'
check "QEMU is killed" gives 3 'qemu was killed by signal 9 (Killed)' \
  while_running kill_child qemu-system
check "nbdkit is killed" gives 3 'nbdkit was killed by signal 9 (Killed)' \
  while_running kill_child nbdkit
check "SIGINT" gives 3 'interrupted' while_running kill_it INT
check "SIGTERM" gives 3 'interrupted' while_running kill_it TERM

check "SIGKILL" gives 137 'spindle: killed; what it had started is ended' \
  while_running kill_it KILL

# With the guardian gone too, the next run tidies up.
kill_both () {
  pkill -KILL -P "$1" -x spindle-guard
  kill -KILL "$1"
}
TMPDIR=$own while_running kill_both >"$work/out" 2>"$work/err"
for _ in $(seq 50); do running || break; sleep 0.1; done
check "SIGKILL for its guardian, too: nothing runs on" eval '! running'
sleep 11
check "and the next run tidies up" gives 3 '/nowhere/vmlinuz' \
  "$spindle" run --kernel /nowhere/vmlinuz "$work/good.cfg"
finish
