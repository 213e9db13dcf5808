#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# How well the real clock keeps time: a drive whose every read is modelled
# to take 1 ms, and nbdkit's delay filter with 1 ms, by turns.  Calibrated
# on the spot.

. tests/bench/lib.sh

# A drive that has everything in its buffer after the first read.
drive=(wd200bb memory=true set=interface.bus=none
       set=overhead.read-hit-ms=1)

host
export XDG_STATE_HOME=$dir/state
$before "$BUILD/spindle" calibrate --no-guests || exit 1
floor=$(awk '$1 == "nbd" { print int ($3 / 1000) }' \
          "$dir/state/spindle/calibration")

serve delay --filter=delay memory 1G rdelay=1ms
serve drive "$plugin" "${drive[@]}" floor="$floor" spin=100
$before "$bench" read 4096 4096 1 1 1 10 "$dir/drive" >/dev/null
mapfile -t out < <($before "$bench" read 4096 4096 1 5 20 100 "$dir/drive" \
                     "$dir/delay")
read -r _ p50 p90 p99 _ <<<"${out[0]}"
read -r _ d50 d90 d99 _ <<<"${out[1]}"
echo "# 4 KiB reads at depth 1, ns, median of 5 runs of 20 slices by turns"
echo "# delay filter: p50 $d50, p90 $d90, p99 $d99"
verdict 'p50 <= 1.05 ms' "$p50 <= 1050000" "$p50 (p99 $p99)"
verdict 'p90 excess <= half' "$p90 - 1e6 <= ($d90 - 1e6) / 2" \
  "$p90, excess $(awk "BEGIN { printf \"%.2f\", ($p90 - 1e6) / ($d90 - 1e6) }") of the filter's"

# From the first arrival to the last completion: column 2, column 4.
for depth in 4 16; do
  serve "deep$depth" "$plugin" "${drive[@]}" floor="$floor" spin=100 \
    trace="$dir/trace"
  pid=$last
  $before "$bench" read 4096 4096 1 1 1 1 "$dir/deep$depth" >/dev/null
  out=$($before "$bench" read 4096 4096 $depth 1 1 "${REQUESTS:-60000}" \
          "$dir/deep$depth")
  end "$pid"
  model=$(awk -F, '/^[0-9]/ && $1 > 1 { if (! first) first = $2; last = $4 }
                   END { printf "%.0f", last - first }' "$dir/trace")
  real=${out##* }
  verdict "60 s at depth $depth" \
    "$real - $model <= 1e6 && $model - $real <= 1e6" \
    "$(awk "BEGIN { printf \"%.3f ms beyond model time %.3f s\", \
              ($real - $model) / 1e6, $model / 1e9 }")"
done
exit $missed
