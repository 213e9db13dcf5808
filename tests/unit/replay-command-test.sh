#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# spindle replay from outside: what it prints, writes and refuses.

set -u
spindle=${BUILD:-build}/spindle
dir=$(mktemp -d "${TMPDIR:-/tmp}/replay.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/tap.sh

# refused NAME STATUS MESSAGE ARGUMENT...
refused () {
  refused_by replay "$@"
}

# The ideal drive takes no time at all.
cat >"$dir/t.csv" <<'END'
arrival_ms,lba,sectors,op,measured_response_ms
0,0,8,R,1.0
10,8,8,W,0.25
20,100,16,R,3
30,0,0,F,0.5
END
gzip -9n <"$dir/t.csv" >"$dir/t.gz"
echo '8,0 1 1 0.5 1 Q R 5 + 8 [a]' >"$dir/blk"
tail -n +3 "$dir/t.csv" >"$dir/headless.csv"

out=$($spindle replay --profile ideal --json "$dir/t.csv" 2>&1)
want='"requests": 4,
"mean_ms": 0,
"p50_ms": 0,
"p99_ms": 0,
"measured_mean_ms": 1.1875,
"mean_error_percent": -100,
"demerit_ms": 1.60565,
"within_500us": 0.5,
"mode": "closed",
"elapsed_s": 0.02575,'
missing=$(while IFS= read -r line; do
            grep -qF "  $line" <<<"$out" || echo "no $line"
          done <<<"$want")
[ -z "$missing" ]
result 'JSON has the figures' $? "$missing
$out"

(printf '\357\273\277'; cat "$dir/t.csv") >"$dir/mark.csv"
out=$(cmp <($spindle replay --profile wd200bb --json "$dir/t.csv" |
              grep -v '"trace"\|host') \
          <($spindle replay --profile wd200bb --json "$dir/mark.csv" |
              grep -v '"trace"\|host') 2>&1)
result 'a byte order mark' $? "$out"

out=$($spindle replay --profile ideal --json "$dir/blk" 2>&1)
grep -q '"mb_per_s": null,' <<<"$out" && grep -q '"elapsed_s": 0,' <<<"$out" &&
  $spindle replay --profile ideal "$dir/blk" | grep -q '^all .* -$'
result 'no time, no MB/s' $? "$out"

out=$($spindle replay --profile ideal "$dir/t.csv" 2>&1)
grep -q '^within 0.5 ms *50.0 %$\|^  within 0.5 ms  50.0 %$' <<<"$out" &&
  grep -q '^all  *4  *0.000' <<<"$out" &&
  grep -q '^4  *read  *100  *16  *3.000  *0.000$' <<<"$out"
result 'tables' $? "$out"

$spindle replay --profile wd200bb --csv "$dir/1" "$dir/t.csv" >/dev/null
for input in "$dir/t.gz" - ; do
  $spindle replay --profile wd200bb --csv "$dir/2" "$input" \
    <"$dir/t.gz" >/dev/null
  out=$(cmp "$dir/1" "$dir/2" 2>&1)
  result "gzip from ${input##*/}" $? "$out"
  rm -f "$dir/2"
done

$spindle replay --profile wd200bb --seed 3 --csv "$dir/1" \
  "$dir/t.csv" >/dev/null
$spindle replay --profile wd200bb --seed 4 --csv "$dir/2" \
  "$dir/t.csv" >/dev/null
$spindle replay --profile wd200bb --seed 3 --set lookahead.enabled=false \
  --open --csv "$dir/3" "$dir/t.csv" >/dev/null
[ "$(wc -l <"$dir/1")" = 5 ] && ! cmp -s "$dir/1" "$dir/2" &&
  cut -d, -f3 "$dir/3" | tr '\n' ' ' |
    grep -qx 'arrival_ns 0 10000000 20000000 30000000 '
result 'CSV, seed, set and open' $? "$(cat "$dir/1" "$dir/3")"

$spindle replay --profile wd200bb --csv "$dir/4" --seed 3 "$dir/1" >/dev/null
[ "$(wc -l <"$dir/4")" = 5 ] &&
  cmp <(cut -d, -f1,3-8,10- "$dir/1") <(cut -d, -f1,3-8,10- "$dir/4")
result 'its own CSV comes again' $? "$(cat "$dir/1" "$dir/4")"
rm -f "$dir"/[1-4]

if command -v gnuplot >/dev/null; then
  out=$($spindle replay --profile wd200bb --plot "$dir/p \"q\".svg" \
          "$dir/t.csv" 2>&1) && grep -q '</svg>' "$dir/p \"q\".svg"
  result 'plot' $? "$out"
else
  n=$((n + 1))
  echo "ok $n - plot # SKIP gnuplot is not installed"
fi
out=$(PATH=/nowhere $spindle replay --profile ideal --plot "$dir/x.svg" \
        "$dir/t.csv" 2>&1 >/dev/null)
[ $? = 3 ] && grep -q 'gnuplot is not installed' <<<"$out" &&
  [ ! -e "$dir/x.svg" ]
result 'plot without gnuplot' $? "$out"

cp "$dir/t.csv" "$dir/own.csv"
refused 'a device in a trace without' 3 'does not name devices' \
  --profile ideal --device 8,0 "$dir/t.csv"
out=$($spindle replay --profile ideal --plot "$dir/none/x.svg" "$dir/blk" \
        2>&1 >/dev/null)
[ $? = 3 ] && [ "$(grep -c . <<<"$out")" = 1 ] &&
  grep -q 'x.svg: No such file' <<<"$out"
result 'a picture that cannot be' $? "$out"
refused 'no name for the CSV' 3 'the name of a file' --profile ideal \
  --csv - "$dir/t.csv"
refused 'the trace as output' 3 'is the trace itself' \
        --profile ideal --csv "$dir/own.csv" "$dir/own.csv"
cmp -s "$dir/t.csv" "$dir/own.csv"
result 'and the trace is as it was' $?
refused 'nothing left to count' 3 'less than the' \
        --profile ideal --skip 1000 "$dir/t.csv"
refused 'no trace' 2 'replay: no trace given' --profile ideal
refused 'no profile' 2 'either --profile or --live' "$dir/t.csv"
refused 'two traces' 2 'one trace at a time' --profile ideal a b
refused 'open and deep' 2 '--open excludes' --profile ideal --open \
        --depth 2 "$dir/t.csv"
refused 'set for live' 2 'not for --live' --live nbd://localhost \
        --set a=1 "$dir/t.csv"
refused 'writes without live' 2 'is for --live' --profile ideal \
        --allow-writes "$dir/t.csv"
refused 'depth' 2 '--depth: 257: a whole number from 1 to 256' \
        --profile ideal --depth 257 "$dir/t.csv"
refused 'speed' 2 '--speed: 0: a number from 0.1 to 1e+06' \
        --profile ideal --speed 0 "$dir/t.csv"
refused 'format' 2 \
        '--format: blkprase: unknown format; did you mean blkparse?' \
        --profile ideal --format blkprase "$dir/t.csv"
refused 'profile' 3 'wd200bx' --profile wd200bx "$dir/t.csv"
refused 'set' 3 'geometry.rpm' --profile wd200bb --set geometry.rpm=1 \
        "$dir/t.csv"
refused 'no such trace' 3 "$dir/none: No such file" --profile ideal \
        "$dir/none"
refused 'empty standard input' 3 '(standard input):1: trace: is empty' \
        --profile ideal -
refused 'no header' 3 "headless.csv:1: column: 10: unknown" --profile ideal \
        "$dir/headless.csv"
refused 'another format' 3 "t.csv:1: line: arrival_ms,lba,sectors,op" \
        --profile ideal --format disksim "$dir/t.csv"
refused 'device' 3 'has no request of this device' --profile ideal \
        --device 8,1 "$dir/blk"
refused 'no server' 3 "$dir/none" --live "nbd+unix:///?socket=$dir/none" \
        --allow-writes "$dir/t.csv"
refused 'live writes' 3 't.csv:3: write: would destroy' \
        --live "nbd+unix:///?socket=$dir/none" "$dir/t.csv"

out=$($spindle replay --profile ideal --csv /dev/full "$dir/t.csv" \
        2>&1 >/dev/null)
[ $? = 3 ] && [ "$out" = 'spindle: /dev/full: No space left on device' ]
result 'no room for the CSV' $? "$out"
out=$($spindle replay --profile ideal "$dir/t.csv" 2>&1 >/dev/full)
[ $? = 3 ] && [ "$out" = 'spindle: standard output: No space left on device' ]
result 'no room for the tables' $? "$out"

echo "1..$n"
exit $bad
