#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 1800
#
# Runs one by one, some of them killed and run again, merge to what running
# all of them in turn leaves, byte for byte.
#
#   tests/guest/plan.sh [SEEDS]      four runs for each (default: 2)

. tests/guest/run-lib.sh
. tests/guest/matrix-lib.sh
matrix "${1:-2}"

do_lines () {
  if command -v parallel >/dev/null; then
    parallel --will-cite -j2 >"$work/lines.out" 2>&1
  else
    xargs -d '\n' -P2 -I{} sh -c '{}' >"$work/lines.out" 2>&1
  fi
}

# Every third run dies some time after its start.
kill_some () {
  NO_GUEST_MS=300 do_lines <"$work/plan" &
  local lines=$! pid part killed=0 i
  for ((i = 0; i < 4000; i++)); do
    kill -0 $lines 2>/dev/null || break
    while read -r pid; do
      part=$({ tr '\0' '\n' <"/proc/$pid/cmdline"; } 2>/dev/null |
               sed -n "s|^--keep=$work/parts/0*||p")
      if [ -n "$part" ] && [ $((part % 3)) = 1 ] &&
           [ ! -e "$work/killed.$part" ]; then
        touch "$work/killed.$part"
        kill -KILL "$pid" 2>/dev/null && killed=$((killed + 1))
      fi
    done < <(pgrep -f "^$spindle run --part.*--keep=$work/parts/")
    sleep 0.1
  done
  wait $lines
  [ $killed -gt 0 ]
}

# The lines whose runs have left nothing.
missing_lines () {
  local part
  for ((part = 1; part <= runs; part++)); do
    [ -e "$(printf "$work/parts/%05d/results.json" $part)" ] ||
      sed -n "${part}p" "$work/plan"
  done
}

check "all runs in turn" sequential 1 one
check "two at a time" sequential 2 two
check "leave the same" same one two
check "a plan has a line for each" make_plan
check "some are killed" kill_some
check "merge misses them" gives 3 'runs are missing: ' merge part "$work/parts"
check "and joins the others" [ -e "$work/part/results.json" ]
missing_lines >"$work/missing"
check "they run again" do_lines <"$work/missing"
check "now nothing is missing" merge all "$work/parts"
check "and all is as if they had run in turn" same one all
check "merged again" merge all "$work/parts" "$work/all"
check "it is still the same" same one all
cp -r "$work/parts/00002" "$work/again"
check "a run that was done twice" merge all "$work/again" "$work/parts"
check "changes nothing" same one all
sed -i 's/"requests": 40/"requests": 41/' "$work/again/results.json"
check "two results that differ are an error" \
  gives 3 'two results of run 2' merge all "$work/again" "$work/parts"
sed -i 's/"matrix": "/"matrix": "0/' "$work/again/results.json"
check "so are those of something else" \
  gives 3 'not parts of one set of runs' merge all "$work/again" "$work/parts"
head -c 500 "$work/parts/00001/results.json" >"$work/again/results.json"
check "and half a file" gives 3 'not the results of spindle' \
  merge all "$work/again"
mkdir "$work/empty"
check "nothing" gives 3 'no results.json' merge all "$work/empty"
"$spindle" run --part 1/3 "${options[@]}" "$work/many.cfg" 2>"$work/err"
check "a part of another number of runs" \
  grep -q "these are $runs runs" "$work/err"
mkdir "$work/kernels"
touch "$work/kernels/"{vmlinux-5.1,vmlinuz-5.1,2.6.3,bzImage-2.6.26}
# The kernels of the plan's runs, in order.
kernels_planned () {
  SPINDLE_KERNELS=$work/kernels "$spindle" plan --kernel all \
    --keep "$work/none" "$work/many.cfg" |
    sed -n 's/.*[^-]kernel=\([^, ]*\).*/\1/p' | uniq | tr '\n' ' '
}
check "each kernel of a folder once" \
  [ "$(kernels_planned)" = "2.6.3 2.6.26 5.1 " ]
if command -v xmllint >/dev/null; then
  check "the JUnit file is valid" \
    xmllint --noout --schema tests/unit/junit.xsd "$work/all.xml"
else
  check "the JUnit file is valid # SKIP no xmllint (libxml2-utils)" true
fi
check "the page loads nothing" eval \
  '! grep -Eiq "<script|<img|src=|url\(http|@import" "$work/all/report.html"'
finish
