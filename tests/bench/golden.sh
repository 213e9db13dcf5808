#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What of the behaviour of real drives can be seen at all: the drive here, in
# virtual time, and what else nbdkit has that makes a disk slow.  Ratios and
# rates of the same requests, sent one after the other; what was measured on
# real drives is in the second column.

. tests/bench/lib.sh
spindle=$BUILD/spindle
requests=200

# Traces: N requests of SECTORS each.
trace () {
  awk -v n=$requests "BEGIN { srand (7); print \"op,lba,sectors\"
    for (i = 0; i < n; i++) { $2 } }" >"$dir/$1.csv"
}
trace small 'print "read," i * 8 ",8"'
trace large 'print "read," i * 128 ",128"'
trace larger 'print "read," i * 256 ",256"'
trace inner 'print "read," 38000000 + i * 128 ",128"'
trace stream 'print "read," i * 8 ",8"'
trace streams 'print "read," (i % 10) * 3000000 + int (i / 10) * 8 ",8"'
trace random 'print "read," int (rand () * 8000000) * 8 ",8"'
trace commit 'print "write," i * 8 ",8"; print "flush,0,0"'
trace aligned 'print "write," int (rand () * 262144) * 8 ",8"'
trace crooked 'print "write," int (rand () * 262144) * 8 + 1 ",8"'

# ms TRACE SPINDLE-OPTIONS...: milliseconds a request, from the first to the
# last.
ms () {
  local name=$1
  shift
  "$spindle" replay --json "$@" "$dir/$name.csv" 2>>"$dir/err" |
    sed -n 's/^ *"elapsed_s": \([0-9.e+-]*\).*/\1/p' |
    awk -v n=$requests '{ printf "%.6f", $1 * 1000 / n; exit }'
}

# On whom: a profile with settings in virtual time, or a server.
on () {
  case $1 in
    spindle)
      # shellcheck disable=SC2086 # a list of words
      ms "$2" --profile $3 ${4-} ;;
    *)
      local depth=
      case ${4-} in *--depth*) depth="--depth ${4##* }" ;; esac
      # shellcheck disable=SC2086
      ms "$2" --live "nbd+unix:///?socket=$dir/$1" --allow-writes $depth ;;
  esac
}

# ratio SERVER A B PROFILE [SET-A [SET-B]]: the time of A to that of B.
ratio () {
  awk -v a="$(on "$1" "$2" "$4" "${5-}")" \
      -v b="$(on "$1" "$3" "$4" "${6-${5-}}")" -v k="${scale:-1}" \
    'BEGIN { if (a > 0 && b > 0) printf "%.2f", k * a / b; else print "-" }'
}

servers=(memory delay rate)
serve memory memory 40G
serve delay --filter=delay memory 40G rdelay=10ms wdelay=10ms
serve rate --filter=rate memory 40G rate=256M
if nbdkit --filter=spinning memory 1M --dump-plugin >/dev/null 2>&1; then
  servers+=(spinning)
  serve spinning --filter=spinning memory 40G
fi

echo "# $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)," \
  "Linux $(uname -r), spindle $("$spindle" --version | cut -d' ' -f2)," \
  "$(date -u +%F)"
host
echo "# delay: 10 ms a request; rate: 256 Mbit/s; $(nbdkit --version)" \
  "$([[ ${servers[*]} = *spinning* ]] || echo 'has no spinning filter')"
printf '%-41s %-11s %8s' 'what (source)' 'real drives' spindle
printf ' %8s' "${servers[@]}"
printf '\n'

# show WHAT WANTED LOW HIGH COMMAND...: * marks what lies between.
show () {
  local what=$1 wanted=$2 low=$3 high=$4 server value
  shift 4
  printf '%-41s %-11s' "$what" "$wanted"
  for server in spindle "${servers[@]}"; do
    value=$("$1" "$server" "${@:2}")
    printf ' %8s' "$value$(awk -v v="$value" -v l="$low" -v h="$high" \
      'BEGIN { print (v + 0 >= l && v + 0 <= h) ? "*" : " " }')"
  done
  printf '\n'
}

# Commits a second.
commits () {
  awk -v a="$(on "$1" commit "$2")" \
    'BEGIN { if (a > 0) printf "%.0f", 1000 / a; else print "-" }'
}

through='--set write-cache.enabled=false'
scale=0.0625 show 'rate, 4 KiB to 64 KiB reads (R01)' 0.42 0.37 0.52 \
  ratio large small wd200bb
scale=2 show 'rate, 128 KiB to 64 KiB, WD (R03)' 0.83 0.78 0.88 \
  ratio large larger wd200bb
scale=2 show 'rate, 128 KiB to 64 KiB, Maxtor (R05)' 1.04 0.99 1.1 \
  ratio large larger maxtor-6y120p0
show 'rate, inner to outer zones (R31)' 0.60 0.5 0.7 \
  ratio large inner wd200bb
show 'rate, 10 streams to 1, 4 KiB (R52)' 0.03 0.015 0.06 \
  ratio stream streams wd200bb
show 'rate, random reads, depth 32 to 1 (R42)' '1.32-1.92' 1.32 1.92 \
  ratio random random hitachi-7k1000 '' '--depth 32'
show 'commits/s at 7200 rpm (R72)' 120 110 125 commits hitachi-7k1000
show 'time, writes askew on 4K, in 1 GiB (R83)' '2.7-3.5' 2.7 3.5 \
  ratio crooked aligned wd-wd20ears "$through"
echo "# * is near what real drives do"
