#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# spindle probe over NBD in virtual time: the model in one process gives the
# same figures; the profile loads and does what was measured; writes put back
# what was there.  And what is refused.

set -u
spindle=${BUILD:-build}/spindle
plugin=${BUILD:-build}/nbdkit-spindle-plugin.so
nbdkit=${NBDKIT:-nbdkit}
dir=$(mktemp -d "${TMPDIR:-/tmp}/probe.XXXXXX") || exit 1
pid=
stop () {
  [ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null
  pid=
}
trap 'stop; rm -rf "$dir"' EXIT
export XDG_CONFIG_HOME=$dir SPINDLE_PATH=$PWD
. tests/tap.sh
uri="nbd+unix:///?socket=$dir/sock"

# serve ARGUMENT...: until stop.
serve () {
  rm -f "$dir/sock"
  $nbdkit -f -U "$dir/sock" "$@" >"$dir/log" 2>&1 &
  pid=$!
  for _ in $(seq 100); do
    [ ! -S "$dir/sock" ] || break
    sleep 0.1
  done
}

# A small disk of its own, all of which can be compared.
cat >"$dir/small.cfg" <<'END'
title = "Small";
sources = ( { id = "T"; text = "this test"; } );
geometry = {
  sectors = ( 400000, "estimated", "T", "-" );
  heads = ( 2, "estimated", "T", "-" );
  rpm = ( 5400, "estimated", "T", "-" );
  zones = ( ( { cylinders = 500; sectors-per-track = 220; },
              { cylinders = 500; sectors-per-track = 180; } ),
            "estimated", "T", "-" );
};
seek = {
  curve = "three-point";
  track-ms = ( 2.0, "estimated", "T", "-" );
  average-ms = ( 9.0, "estimated", "T", "-" );
  full-ms = ( 18.0, "estimated", "T", "-" );
  head-switch-ms = ( 1.2, "estimated", "T", "-" );
};
interface = { bus = ( "udma4", "estimated", "T", "-" ); flush = true; fua = true; };
overhead = {
  read-hit-ms = ( 0.15, "estimated", "T", "-" );
  read-miss-ms = ( 0.25, "estimated", "T", "-" );
  write-ms = ( 0.2, "estimated", "T", "-" );
};
buffer = {
  size-kib = ( 512, "estimated", "T", "-" );
  segments = ( 4, "estimated", "T", "-" );
};
lookahead = { limit-kib = ( 64, "estimated", "T", "-" ); };
END
seq 30000000 | head -c $((400000 * 512)) >"$dir/disk"
before=$(cksum <"$dir/disk")

# figures FILE: those that do not depend on the way to the disk.
figures () {
  grep -E '"(rpm|heads|cylinders|first_lba|sectors_per_track|segments)":|"(track_seek|average_seek|full_stroke|lookahead_kib|segment_kib)' "$1"
}

serve "$plugin" "$dir/small.cfg" file="$dir/disk" clock=virtual \
  clock-page="$dir/page"
$spindle probe --quiet --json --clock-page "$dir/page" --write \
  --device-name "$uri" -o "$dir/found.cfg" "$uri" >"$dir/nbd" 2>"$dir/errors"
s=$?
stop
result 'an export in virtual time' $s "$(cat "$dir/errors" "$dir/log")"
[ "$before" = "$(cksum <"$dir/disk")" ]
result 'what was written is what was there' $?

$spindle probe --quiet --json "profile:$dir/small.cfg" >"$dir/model" 2>&1
out=$(diff <(figures "$dir/model") <(figures "$dir/nbd") 2>&1) &&
  [ "$(figures "$dir/nbd" | wc -l)" -ge 15 ]
result 'the model gives the same figures' $? "$out"

out=$(sed -n 's/^  "\(rpm\|heads\|segments\|lookahead_kib\|write_cache\)": \([^.,]*\).*/\1 \2/p' \
        "$dir/nbd" | tr '\n' ' ')
[ "$out" = 'rpm 5400 heads 2 segments 4 lookahead_kib 64 write_cache true ' ]
result 'which are those of the profile' $? "$out"

out=$($spindle profile check "$dir/found.cfg" 2>&1) &&
  ! grep -q 'NOT MET' <<<"$out"
result 'what was made of them loads, and does them' $? "$out"

# ---- refused, or no disk ----

refused () {
  refused_by probe "$@"
}
# no_disk NAME MESSAGE ARGUMENT...
no_disk () {
  local name=$1 message=$2 out s
  shift 2
  out=$($spindle probe --quiet "$@" 2>&1 </dev/null)
  s=$?
  [ $s = 1 ] && grep -qF -- "$message" <<<"$out"
  result "$name" $? "exit status $s: $out"
}

refused 'no target' 2 'no target given'
refused 'two targets' 2 'one target at a time' a b
refused '/dev/null' 3 '/dev/null: neither a block device nor a file' \
  --quiet /dev/null
refused 'a directory' 3 'Is a directory' --quiet "$dir"
refused 'no such file' 3 'No such file' --quiet "$dir/none"
refused 'no such profile' 3 'no such profile' --quiet profile:nonesuch
refused 'no such server' 3 'nbd_connect_uri' --quiet "$uri"
refused 'writing without the name' 2 "say --device-name $dir/disk" \
  --write "$dir/disk"
refused 'writing with another name' 2 "say --device-name $dir/disk" \
  --write --device-name /dev/sda "$dir/disk"
refused 'a clock page without a server' 2 'is no NBD server' \
  --clock-page "$dir/page" "$dir/disk"
no_disk 'a drive that takes no time' 'not a rotating disk' profile:ideal

serve -r memory 256M
refused 'writing to a read-only export' 3 'the export is read-only' \
  --write --device-name "$uri" "$uri"
no_disk 'memory, in real time' 'not a rotating disk' "$uri"
stop
serve memory 1440K
no_disk 'a disk too small' 'too small' "$uri"
stop

echo "1..$n"
exit $bad
