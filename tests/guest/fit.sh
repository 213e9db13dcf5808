#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 3600
#
# spindle fit: a guest measures a drive of which four figures are hidden; they
# are found again within a tenth.  And a look-ahead so long that the figures
# cannot tell how long it is: that is said.

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

cat >"$dir/scenario.cfg" <<'END'
name = "hidden";
source = "T1 (a drive whose figures are hidden)";
host = { machine = "ide"; shift = 3; };
drive = { profile = "wd200bb"; set = ["lookahead.tail.enabled=false"]; };
steps = (
  { name = "4k"; read = "direct"; block-kib = 4; mib = 3; },
  { name = "16k"; read = "direct"; block-kib = 16; mib = 4; offset-mib = 40; },
  { name = "64k"; read = "direct"; block-kib = 64; mib = 12;
    offset-mib = 80; },
  { name = "hits"; read = "direct"; block-kib = 4; mib = 8; streams = 4;
    offset-mib = 160; span-mib = 1; },
  { name = "again{streams}"; read = "direct"; block-kib = 16; mib = 3;
    offset-mib = 200; span-mib = 1; stride-mib = 4;
    sweep = "streams"; values = [2, 3, 4, 5, 6, 8, 12]; }
);
END

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
# near KEY VALUE: within a tenth.
near () {
  local is
  is=$(found "$1")
  awk -v is="${is:-0}" -v should="$2" \
    'BEGIN { exit !(is >= 0.9 * should && is <= 1.1 * should) }'
  result "$1 is found" $? "$is instead of $2"
}

hide all lookahead.limit-kib=72 overhead.read-hit-ms=0.26 buffer.segments=5 \
  geometry.zone-table.outer=560
result 'a guest measures the hidden drive' $? "$(cat "$dir/errors")"
$spindle fit --json --quiet -o "$dir/found.cfg" \
  --free lookahead.limit-kib=32..256 --free overhead.read-hit-ms=0.05..0.5 \
  --free buffer.segments=1..16 --free geometry.zone-table.outer=450..750 \
  "$dir/all.cfg" >"$dir/fit.json" 2>"$dir/errors"
result 'what was reported comes out' $? "$(cat "$dir/errors" "$dir/fit.json")"
near lookahead.limit-kib 72
near overhead.read-hit-ms 0.26
near buffer.segments 5
near geometry.zone-table.outer 560
out=$($spindle profile show "$dir/found.cfg" 2>&1) &&
  [ "$(grep -c 'fitted.*T1' <<<"$out")" -ge 4 ]
result 'the profile loads, and marks them as fitted to T1' $? "$out"

# Longer than a turn takes to drain: no figure depends on it.
sed -i '/"16k"/d; /"hits"/,$d' "$dir/scenario.cfg"
echo ');' >>"$dir/scenario.cfg"
sed -i 's/offset-mib = 80; },/offset-mib = 80; }/' "$dir/scenario.cfg"
hide long lookahead.limit-kib=220
result 'a guest measures long look-ahead' $? "$(cat "$dir/errors")"
$spindle fit --json --quiet --rounds 2 --free lookahead.limit-kib=32..256 \
  "$dir/long.cfg" >"$dir/fit.json" 2>"$dir/errors"
result 'which comes out' $? "$(cat "$dir/errors" "$dir/fit.json")"
grep -q '"ambiguous": true' "$dir/fit.json" &&
  grep -q '"other_in_guest": true' "$dir/fit.json"
result 'how long it is cannot be told, and that is said' $? \
  "$(cat "$dir/fit.json")"

echo "1..$n"
exit $bad
