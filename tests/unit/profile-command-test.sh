#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# spindle profile list, show, check, plot and diff from outside; that every
# profile does what is said of it, and that docs/drives.md is current.

set -u
spindle=${BUILD:-build}/spindle
dir=$(mktemp -d "${TMPDIR:-/tmp}/profile.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
export XDG_CONFIG_HOME=$dir SPINDLE_PATH=$PWD
. tests/tap.sh

# refused NAME STATUS MESSAGE ARGUMENT...
refused () {
  refused_by profile "$@"
}

# has NAME STATUS LINE...: exit status 0, and each line is in $out.
has () {
  local name=$1 s=$2 line missing=
  shift 2
  for line; do
    grep -qF -- "$line" <<<"$out" || missing+="no $line"$'\n'
  done
  [ "$s" = 0 ] && [ -z "$missing" ]
  result "$name" $? "exit status $s"$'\n'"$missing$out"
}

# ---- every profile ----

$spindle profile check --markdown profiles/*.cfg >"$dir/table" 2>"$dir/errors"
out=$(diff "$dir/table" \
        <(sed -n '/^<!-- drives -->$/,/^<!-- end of drives -->$/{//!p}' \
            docs/drives.md) 2>&1)
result 'docs/drives.md is current: else make drives-table' $? \
  "$out$(cat "$dir/errors")"

$spindle profile check --json profiles/*.cfg >"$dir/json" 2>&1
s=$?
out=$(grep -E '"name"|NOT MET' "$dir/json" | grep -B1 'NOT MET')
[ $s = 0 ] && [ -z "$out" ] &&
  [ "$(grep -c '"met": true' "$dir/json")" = "$(ls profiles/*.cfg | wc -l)" ]
result 'every profile does what its sources say, or says why not' $? "$out"

# IBM's tables, within 5 % of the time less the margin.
out=$(grep -A6 -E '"(outer_16mib|inner_16mib|random_4096)_s"' "$dir/json" |
        grep -c '"verdict": "met"')
[ "$out" -ge 18 ]
result "IBM's three times, of six drives" $? "$out met"

# ---- one profile ----

out=$($spindle profile check wd200bb 2>&1)
has 'check prints what it does, what is said, and the error' $? \
  'capacity                 39102336  sectors  39102336    exact  met' \
  'seek, average                8.90  ms           8.90' \
  'seek, full stroke deviates: a cautious figure' \
  '1 of 1 profiles do what is said of them'

sed 's/average-seek-ms = ( 8.9/average-seek-ms = ( 9.9/' \
  profiles/wd200bb.cfg >"$dir/wrong.cfg"
out=$($spindle profile check "$dir/wrong.cfg" 2>&1)
[ $? = 1 ] && grep -q 'seek, average .* -10.1 %  NOT MET' <<<"$out"
result 'a figure that is not met is an error' $? "$out"

sed 's/rpm = ( 7200/rpm = ( 7x/' profiles/wd200bb.cfg >"$dir/broken.cfg"
out=$($spindle profile check "$dir/broken.cfg" 2>&1)
[ $? = 1 ] && grep -q 'NOT MET: .*broken.cfg:' <<<"$out"
result 'so is a profile that cannot be loaded' $? "$out"

out=$($spindle profile check ideal 2>&1)
has 'a drive that takes no time' $? 'takes no time at all' 'exact'

# ---- list, show, diff ----

out=$($spindle profile list 2>&1)
has 'list' $? 'wd200bb ' '7200 rpm  Western Digital Caviar WD200BB-53AUA1'
out=$($spindle profile list --json 2>&1)
has 'list --json' $? '"name": "wd200bb",' '"sectors": 39102336,' \
  '"rpm": 7200,' '"buffer_kib": 2048'

out=$($spindle profile show wd200bb 2>&1)
has 'show' $? 'geometry.heads = 2   [derived, W1 W2]' \
  '    20 GB per platter; the 40 GB model has two platters and four heads' \
  'interface.bus = udma4   [measured, L1]' \
  'lookahead.limit-kib = 192   [fitted, R01]' \
  'L1: linux-kernel, 2 Jan 2004: IDENTIFY and hdparm -t'
out=$($spindle profile show --json wd200bb 2>&1)
has 'show --json' $? '"seek.average-ms": {' '"value": "8.9",' \
  '"mark": "spec-sibling",' '"sources": {'

out=$($spindle profile diff wd200bb wd200bb 2>&1)
[ $? = 0 ] && [ -z "$out" ]
result 'diff of a profile with itself' $? "$out"
sed 's/rpm = ( 7200/rpm = ( 5400/' profiles/wd200bb.cfg >"$dir/slow.cfg"
out=$($spindle profile diff wd200bb "$dir/slow.cfg" 2>&1)
[ $? = 1 ] && [ "$out" = 'geometry.rpm  7200  5400' ]
result 'diff of two' $? "$out"

# ---- plot ----

if command -v gnuplot >/dev/null; then
  out=$($spindle profile plot -o "$dir/a.svg" wd200bb 2>&1) &&
    grep -q '</svg>' "$dir/a.svg"
  result 'plot on one page' $? "$out"
  out=$($spindle profile plot -o "$dir/plots" wd200bb 2>&1) &&
    [ "$(cd "$dir/plots" && echo *)" = 'wd200bb-random.svg wd200bb-seek.svg wd200bb-streams.svg wd200bb-zones.svg' ]
  result 'plot in a directory' $? "$out$(ls "$dir/plots")"
  refused 'plot where it cannot' 3 'No such file' plot -o "$dir/no/a.svg" \
    wd200bb
else
  for i in 1 2 3; do
    n=$((n + 1))
    echo "ok $n - plot # SKIP gnuplot is not installed"
  done
fi

# ---- refusals ----

refused 'plot of no time' 2 'takes no time' plot -o "$dir/b.svg" ideal
refused 'an unknown drive' 2 'wd200bx' show wd200bx
refused 'check of nothing' 2 '--all or names' check
refused 'check of all and some' 2 '--all or names' check --all wd200bb
refused 'diff of one' 2 '2 names wanted' diff wd200bb
refused 'an unknown option' 2 'did you mean --json' list --jsn
refused 'an unknown command' 2 'did you mean list' lst

echo "1..$n"
exit $bad
