#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# spindle profile import from outside: what it writes, says and refuses.
# With SPINDLE_VALIDATION set to a folder of parameters and traces of real
# drives (KEY.params.txt, KEY.slips.csv.gz, KEY.trace.csv.gz), those are
# imported and replayed.

set -u
spindle=${BUILD:-build}/spindle
dir=$(mktemp -d "${TMPDIR:-/tmp}/import.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/tap.sh

# refused NAME STATUS MESSAGE ARGUMENT...: this one line, nothing else.
refused () {
  local name=$1 status=$2 message=$3 out s before
  shift 3
  before=$(ls -A "$dir")
  out=$($spindle profile import "$@" 2>&1 </dev/null)
  s=$?
  [ "$s" = "$status" ] && [ "$(grep -c . <<<"$out")" = 1 ] &&
    [[ $out == "spindle: "*"$message"* ]] && [ "$(ls -A "$dir")" = "$before" ]
  result "$name" $? "exit status $s: $out; $(ls -A "$dir")"
}

cat >"$dir/p.txt" <<'END'
name: A "drive"
heads: 2
blocks: 390
rpm: 6000
head_switch_ms: 0.5
seek_type: extracted
sparing_scheme: 9
zones:
  0 9 20 2.5 0 3 5 10
seek_curve:
  1 1.5
  99 5
disksim_disk:
  Bulk sector transfer time = 0.1
  Number of buffer segments = 3
  Segment size (in blks) = 65
  Buffer continuous read = 4
  Maximum read-ahead (blks) = 65
  Read any free blocks = 1
  Fast write level = 1
  Read hit over. after read = 0.1
  Read hit over. after write = 0.2
  Read miss over. after read = 0.3
  Read miss over. after write = 0.4
  Write hit over. after read = 0.5
  Write hit over. after write = 0.6
  Write miss over. after read = 0.7
  Write miss over. after write = 0.8
END
printf '0,slip,7,\n' | gzip -n >"$dir/s.gz"
sed '/^rpm/d' "$dir/p.txt" >"$dir/wrong.txt"

out=$($spindle profile import --slips "$dir/s.gz" -o "$dir/p.cfg" \
        "$dir/p.txt" 2>&1)
s=$?
[ $s = 0 ] && [ "$out" = "spindle: $dir/p.txt: Read any free blocks = 1: \
not in spindle's model" ]
result "a profile is written, and what is lost is said" $? "$s: $out"

want='title = "A \"drive\" (DiskSim parameters)";
  heads = ( 2, "measured", "D1", "Number of data surfaces" );
    ( 0, 7, 1 ), ( 0, 391, 9 ) ), "derived",
  head-switch-ms = ( 0.5, "measured", "D1", "Head switch time" );
  segment-kib = ( 32.5, "derived",
  limit = "track";'
missing=$(while IFS= read -r line; do
            grep -qF -- "$line" "$dir/p.cfg" || echo "no $line"
          done <<<"$want")
[ -z "$missing" ]
result "the figures have marks and sources" $? "$missing"

[ "$(stat -c %a "$dir/p.cfg")" = "$(printf %o $((0666 & ~$(umask))))" ]
result "the profile is readable as the umask says" $?

printf 'arrival_ms,lba,sectors,op\n0,0,8,R\n' >"$dir/t.csv"
out=$($spindle replay --profile "$dir/p.cfg" "$dir/t.csv" 2>&1)
result "the profile can be used" $? "$out"

refused "a profile is not overwritten" 3 "p.cfg: exists; --force" \
  -o "$dir/p.cfg" "$dir/p.txt"
echo old >"$dir/p.cfg"
$spindle profile import --force -o "$dir/p.cfg" "$dir/p.txt" 2>/dev/null &&
  grep -q title "$dir/p.cfg" && [ -z "$(find "$dir" -name '.s*')" ]
result "--force overwrites" $?
before=$(cksum "$dir/p.cfg")
refused "nothing is written when a parameter is missing" 3 \
  "Rotation speed (in rpms): is missing" --force -o "$dir/p.cfg" \
  "$dir/wrong.txt"
[ "$(cksum "$dir/p.cfg")" = "$before" ]
result "and the old profile is left alone" $?

refused "no output" 2 "-o OUT.cfg is needed" "$dir/p.txt"
refused "no parameters" 2 "no parameters given" -o "$dir/x.cfg"
refused "two files" 2 "one file of parameters" -o "$dir/x.cfg" a b
refused "an output the loader would not find" 3 "NAME.cfg is allowed" \
  -o "$dir/x" "$dir/p.txt"
refused "no such file" 3 "No such file" -o "$dir/x.cfg" "$dir/none"
refused "no such directory" 3 "No such file" -o "$dir/none/x.cfg" \
  "$dir/p.txt"
refused "a directory" 3 "Is a directory" -o "$dir/x.cfg" "$dir"
refused "no such slips" 3 "No such file" --slips "$dir/none" \
  -o "$dir/x.cfg" "$dir/p.txt"
head -c 25 "$dir/s.gz" >"$dir/cut.gz"
refused "slips that end too early" 3 "cut.gz: cannot read: " \
  --slips "$dir/cut.gz" -o "$dir/x.cfg" "$dir/p.txt"
head -c 3000 /dev/urandom >"$dir/noise"
out=$($spindle profile import -o "$dir/x.cfg" "$dir/noise" 2>&1)
[ $? = 3 ] && [ ! -e "$dir/x.cfg" ]
result "noise" $? "$out"

# drive KEY DEMERIT ERROR WITHIN: its model is this near to the drive.
drive () {
  local key=$1 v=$SPINDLE_VALIDATION out
  out=$($spindle profile import --slips "$v/$key.slips.csv.gz" \
          -o "$dir/$key.cfg" "$v/$key.params.txt" 2>&1 &&
        $spindle replay --profile "$dir/$key.cfg" --closed --skip 50 --json \
          "$v/$key.trace.csv.gz" 2>&1)
  awk -F '[ ,]+' -v demerit="$2" -v error="$3" -v within="$4" '
    $2 == "\"demerit_ms\":" { good += $3 > 0 && $3 <= demerit }
    $2 == "\"mean_error_percent\":" {
      good += ($3 < 0 ? -$3 : $3) <= error
    }
    $2 == "\"within_500us\":" { good += $3 >= within / 100 }
    END { exit good != 3 }' <<<"$out"
  result "$key is as measured" $? "$out"
}

if [ -n "${SPINDLE_VALIDATION-}" ]; then
  drive cheetah9LP 0.109 1.1 0
  drive barracuda 0.349 3.2 0
  drive hp_c2247a 0.093 0.2 90
  drive ibm18es 0.134 0.6 0
else
  n=$((n + 1))
  echo "ok $n - drives are as measured # SKIP SPINDLE_VALIDATION is not set"
fi

echo "1..$n"
exit $bad
