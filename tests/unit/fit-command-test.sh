#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# spindle fit: what is refused before any guest runs.  tests/guest/fit.sh
# does the rest.

set -u
dir=$(mktemp -d "${TMPDIR:-/tmp}/fit.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/tap.sh

refused () {
  refused_by fit "$@"
}

cat >"$dir/a.cfg" <<'END'
name = "a";
drive = { profile = "wd200bb"; };
steps = ( { name = "x"; read = "direct"; block-kib = 4; mib = 1; } );
END

refused 'nothing free' 2 'a scenario and --free are needed' "$dir/a.cfg"
refused 'no scenario' 2 'a scenario and --free are needed' \
  --free buffer.segments=1..16
for free in buffer.segments buffer.segments=4 buffer.segments=4..4 \
            buffer.segments=8..2 buffer.segments=1..x =1..2; do
  refused "--free $free" 2 "--free $free: KEY=LOW..HIGH, or KEY=WORD|WORD" \
    --free "$free" "$dir/a.cfg"
done
many=()
for i in 1 2 3 4 5 6 7 8 9; do
  many+=(--free "a.b$i=1..2")
done
refused 'too many' 2 'no more than 8' "${many[@]}" "$dir/a.cfg"
refused 'no rounds' 2 '--rounds' --rounds 0 --free a=1..2 "$dir/a.cfg"
refused 'no such scenario' 3 'none.cfg' --free a=1..2 "$dir/none.cfg"
refused 'no such key' 3 'segmets' --quiet --free buffer.segmets=1..2 \
  "$dir/a.cfg"
refused 'a value that cannot be' 3 'lookahead.limit' --quiet \
  --free 'lookahead.limit=track|wherever' "$dir/a.cfg"
refused 'nothing reported' 3 'no figure is reported' --quiet \
  --free buffer.segments=1..4 "$dir/a.cfg"

cat >"$dir/b.cfg" <<'END'
name = "b";
kernels = ("2.6.0-not-there");
drive = { profile = "wd200bb"; };
steps = ( { name = "x"; read = "direct"; block-kib = 4; mib = 1; } );
reported = ( { figure = "x"; value = 5; kernel = "2.6.0"; } );
END
refused 'a kernel that is not there' 3 'nothing ran: all is skipped' \
  --quiet --free buffer.segments=1..4 "$dir/b.cfg"

echo "1..$n"
exit $bad
