#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 3600
#
# spindle fit: a guest measures drives of which four figures are hidden; they
# are found again within a tenth.  And a look-ahead so long that the figures
# cannot tell how long it is: that is said.  tests/unit/fit-test.c does more
# drives, without guests.

set -u
spindle=${BUILD:-build}/spindle
dir=$(mktemp -d "${TMPDIR:-/tmp}/fit.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
export XDG_CONFIG_HOME=$dir SPINDLE_PATH=$PWD
. tests/tap.sh

if ! ldd "$spindle" | grep -q libnlopt; then
  echo '1..0 # SKIP built without NLopt'
  exit 0
fi

cp tests/guest/fit.cfg "$dir/scenario.cfg"

# hide NAME KEY=VALUE...: what a guest measures with them is reported.
hide () {
  local name=$1 set=()
  shift
  for word; do
    set+=(--set "$word")
  done
  $spindle run --json "${set[@]}" "$dir/scenario.cfg" >"$dir/$name.json" \
    2>"$dir/errors" || return
  {
    cat "$dir/scenario.cfg"
    echo 'reported = ('
    sed -n '/"figures"/,/\]/p' "$dir/$name.json" | awk -F'": ' '
      /"name"/ { name = $2; sub (/,$/, "", name) }
      /"value"/ { value = $2; sub (/,$/, "", value)
        printf "%s  { figure = %s; value = %.4f; assert = true; " \
          "tolerance = 2.0; source = \"T1\"; }", comma, name, value
        comma = ",\n" }'
    echo ');'
  } >"$dir/$name.cfg"
}

# found KEY: its value in the JSON.
found () {
  grep -A1 "\"key\": \"$1\"" "$dir/fit.json" |
    sed -n 's/.*"value": \([^,]*\).*/\1/p'
}
# agrees: all figures together, to half a tolerance (rms).
agrees () {
  awk '/"off_tolerances"/ { off = $2 } END { exit !(off != "" && off < 0.5) }' \
    FS='[:,] *' "$dir/fit.json"
}
# near KEY VALUE: within a tenth.
near () {
  local is
  is=$(found "$1")
  awk -v is="${is:-0}" -v should="$2" \
    'BEGIN { exit !(is >= 0.9 * should && is <= 1.1 * should) }'
  result "$name: $1" $? "$is instead of $2"
  echo "# $1: $is, was $2"
}

# again NAME LOOK-AHEAD HIT SEGMENTS OUTER: hidden, and found again.
again () {
  local name=$1 out
  hide "$name" lookahead.limit-kib="$2" overhead.read-hit-ms="$3" \
    buffer.segments="$4" geometry.zone-table.outer="$5"
  result "$name: a guest measures the hidden drive" $? "$(cat "$dir/errors")"
  $spindle fit --json --quiet -o "$dir/found.cfg" \
    --free lookahead.limit-kib=32..256 --free overhead.read-hit-ms=0.05..0.5 \
    --free buffer.segments=1..16 --free geometry.zone-table.outer=450..750 \
    "$dir/$name.cfg" >"$dir/fit.json" 2>"$dir/errors"
  [ $? -le 1 ] && agrees
  result "$name: what was reported comes out" $? \
    "$(cat "$dir/errors" "$dir/fit.json")"
  near lookahead.limit-kib "$2"
  near overhead.read-hit-ms "$3"
  near buffer.segments "$4"
  near geometry.zone-table.outer "$5"
  out=$($spindle profile show "$dir/found.cfg" 2>&1) &&
    [ "$(grep -c 'fitted.*T1' <<<"$out")" -ge 4 ]
  result "$name: the profile loads, and marks them as fitted to T1" $? "$out"
  out=$($spindle profile check "$dir/found.cfg" 2>&1)
  [ $? -le 1 ] && grep -q sustained <<<"$out"
  result "$name: spindle profile check says what it does" $? "$out"
}

# Short and long look-ahead, a fast and a slow drive, few segments and many.
again short 48 0.12 3 700
again middle 72 0.26 5 560
again long 150 0.40 8 480
again many 100 0.18 13 620

# Reads so large that the drive never gets far ahead, and so small that its
# look-ahead is not drained within a turn: no figure depends on its limit.
cat >"$dir/scenario.cfg" <<'END'
name = "few";
host = { machine = "ide"; shift = 3; };
drive = { profile = "wd200bb"; set = ["lookahead.tail.enabled=false"]; };
steps = (
  { name = "4k"; read = "direct"; block-kib = 4; mib = 3; },
  { name = "64k"; read = "direct"; block-kib = 64; mib = 12;
    offset-mib = 80; }
);
END
hide few lookahead.limit-kib=220
result 'a guest measures long look-ahead' $? "$(cat "$dir/errors")"
# One of two kernels is not there: the other is fitted.
sed -i '1i kernels = ("debian", "2.6.0-not-there");' "$dir/few.cfg"
$spindle fit --json --quiet --rounds 2 --free lookahead.limit-kib=32..256 \
  "$dir/few.cfg" >"$dir/fit.json" 2>"$dir/errors"
result 'which comes out' $? "$(cat "$dir/errors" "$dir/fit.json")"
grep -q '"ambiguous": true' "$dir/fit.json" &&
  grep -q '"other_in_guest": true' "$dir/fit.json"
result 'how long it is cannot be told, and that is said' $? \
  "$(cat "$dir/fit.json")"

echo "1..$n"
exit $bad
