#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What the plugin costs: an ideal drive in memory, and nbdkit's own memory
# plugin, by turns.  Wanted: 0.95 of its requests a second.

. tests/bench/lib.sh

serve memory memory 1G
serve ideal "$plugin" ideal memory=true
for name in memory ideal; do    # pages that are there
  $before "$bench" write 131072 67108864 4 1 1 512 "$dir/$name" >/dev/null
done

host
echo "# requests a second, median of 9 runs of 20 slices by turns"
for op in read write; do
  for block in 4096 131072; do
    for depth in 1 16; do
      mapfile -t out < <($before "$bench" $op $block 67108864 $depth 9 20 \
                           20ms "$dir/ideal" "$dir/memory")
      verdict "$op $((block / 1024)) KiB depth $depth" "${out[2]} >= 0.95" \
        "${out[2]}  (ideal ${out[0]%% *}, memory ${out[1]%% *})"
    done
  done
done
exit $missed
