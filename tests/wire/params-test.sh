#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What is refused, in which words; what is told about the plugin; and that
# nothing stays behind in either case.

set -u
plugin=${BUILD:-build}/nbdkit-spindle-plugin.so
nbdkit=${NBDKIT:-nbdkit}
bytes=20020396032               # of the wd200bb
dir=$(mktemp -d "${TMPDIR:-/tmp}/params.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/tap.sh

# refused NAME MESSAGE PARAMETER...: nbdkit fails, with this one line.
refused () {
  local name=$1 message=$2 out status
  shift 2
  out=$($nbdkit -U - "$plugin" "$@" --run true 2>&1)
  status=$?
  [ "$status" != 0 ] && [ "$(grep -c . <<<"$out")" = 1 ] &&
    grep -qE "^nbdkit: error: .*$message" <<<"$out" &&
    [ -z "$(ls "$dir" | grep -vx 'small\|readme\|big\|small.link')" ]
  result "$name" $? "exit status $status: $out
files: $(ls "$dir")"
}

# accepted NAME COMMAND PARAMETER...: COMMAND runs with $uri and succeeds.
accepted () {
  local name=$1 command=$2 out
  shift 2
  out=$($nbdkit -U - "$plugin" "$@" --run "$command" 2>&1)
  result "$name" $? "$out"
}

truncate -s 1M "$dir/small"
truncate -s 21G "$dir/big"
echo 'I am a file' >"$dir/readme"

refused 'no profile' 'profile=NAME is required.*wd200bb'
refused 'unknown profile' 'profile=wd200bx.*' wd200bx
refused 'unknown parameter' "unknown parameter 'speed'" wd200bb speed=2
refused 'unknown key of the profile' 'set=geometry.rmp=1' \
        wd200bb set=geometry.rmp=1
refused 'value out of range' 'set=geometry.rpm=1' wd200bb set=geometry.rpm=1
refused 'seed is no number' 'seed: ' wd200bb seed=x
refused 'file is missing' "does not exist.*truncate -s $bytes " \
        wd200bb file="$dir/none"
refused 'file is too small' \
        "has 1048576 bytes, the drive $bytes;.*truncate -s $bytes " \
        wd200bb file="$dir/small"
refused 'file is a directory' 'file=.*directory' wd200bb file="$dir"
refused 'file and memory' 'one of file=, uri= and memory=true' \
        wd200bb file="$dir/big" memory=true
refused 'size is larger than the drive' "size=.*only $bytes bytes" \
        wd200bb size=1T
refused 'size is nothing' 'size=511: at least one sector' wd200bb size=511
refused 'size is no number' 'size' wd200bb size=large
refused 'clock is unknown' 'clock=lunar: must be real or virtual' \
        wd200bb clock=lunar
refused 'virtual clock without page' 'clock=virtual needs clock-page=PATH' \
        wd200bb clock=virtual
refused 'virtual clock with a floor' 'floor= needs clock=real' \
        wd200bb clock=virtual clock-page="$dir/page" floor=50
refused 'spin for more than a second' 'spin=2000000: at most 1000000 micro' \
        wd200bb spin=2000000
cp profiles/wd200bb.cfg "$dir/readme.cfg"
out=$($nbdkit -U - "$plugin" "$dir/readme.cfg" trace="$dir/readme.cfg" \
  --run true 2>&1)
[ $? != 0 ] && cmp -s profiles/wd200bb.cfg "$dir/readme.cfg" &&
  grep -q 'is the same file as profile=' <<<"$out"
result 'trace is the profile' $? "$out"
rm "$dir/readme.cfg"
refused 'page without virtual clock' 'clock-page= needs clock=virtual' \
        wd200bb clock-page="$dir/page"
refused 'page is something else' 'is not a clock page' \
        wd200bb clock=virtual clock-page="$dir/readme"
refused 'page in no directory' 'clock-page=.*No such file' \
        wd200bb clock=virtual clock-page="$dir/none/page"
refused 'control is something else' 'is not a socket' \
        wd200bb control="$dir/readme"
refused 'control has a long path' 'path of a socket may have 107 bytes' \
        wd200bb control="$dir/$(printf '%0200d' 0)"
refused 'trace in no directory' 'trace=.*No such file' \
        wd200bb trace="$dir/none/trace"
refused 'stats in no directory' 'stats=.*No such file' \
        wd200bb stats="$dir/none/stats"
refused 'sync is neither' 'sync|boolean' wd200bb sync=perhaps
refused 'time without unit' 'cut-at=5: must be a time like' \
        wd200bb cut-at=5
refused 'time that is too long' 'cut-random=.*must be a time like' \
        wd200bb cut-random=99999999999999999999s
refused 'no writes to cut after' 'cut-after-writes=0: must be 1 or more' \
        wd200bb cut-after-writes=0
refused 'no time after the writes' 'cut-after-writes=5.5: must be a number, or' \
        wd200bb cut-after-writes=5+5
refused 'nothing is torn so' 'torn=half: must be new, old' wd200bb torn=half
refused 'cut of a drive without time' 'for the drive ideal no time passes' \
        ideal cut-at=1s
refused 'bad sectors without LBA' 'bad=x: must be LBA' wd200bb bad=x
refused 'no bad sectors' 'bad=5.0: must be LBA' wd200bb bad=5+0
refused 'bad sectors not on the drive' 'bad=39102336: is not on the drive' \
        wd200bb bad=39102336
refused 'bad sectors beyond the end' 'bad=39102335.2: is not on the drive' \
        wd200bb bad=39102335+2
refused 'bad sectors of a drive without time' 'has no bad sectors' \
        ideal bad=7
refused 'page is made, then the control socket refused' 'is not a socket' \
        wd200bb clock=virtual clock-page="$dir/page" control="$dir/readme"

# Not our error, and much later: nbdkit itself cannot listen.
out=$($nbdkit -f -U "$dir/none/sock" "$plugin" wd200bb clock=virtual \
      clock-page="$dir/page" control="$dir/control" 2>&1)
[ $? != 0 ] && [ ! -e "$dir/page" ] && [ ! -e "$dir/control" ]
result 'nothing stays behind when nbdkit cannot listen' $? "$out
$(ls "$dir")"

refused 'a trace over the image' 'trace=.*same file as file=' \
        wd200bb file="$dir/big" trace="$dir/big"
ln "$dir/big" "$dir/small.link"
refused 'by another name' 'stats=.*same file as file=' \
        wd200bb file="$dir/big" stats="$dir/small.link"
rm "$dir/small.link"
refused 'a trace over the statistics' 'stats=.*same file as trace=' \
        wd200bb trace="$dir/small" stats="$dir/small"
[ "$(stat -c %s "$dir/big")" = 22548578304 ]
result 'and the image is as it was' $?
accepted 'a larger file' \
         "test \$(nbdinfo --size \"\$uri\") = $bytes" \
         wd200bb file="$dir/big"
accepted 'a small file is enough for a small size' \
         'test $(nbdinfo --size "$uri") = 1048576' \
         wd200bb size=1049087 file="$dir/small"
accepted 'flush is always there' 'nbdinfo --can flush "$uri"' wd200bb
accepted 'FUA is always there' 'nbdinfo --can fua "$uri"' wd200bb
accepted 'TRIM is not' '! nbdinfo --can trim "$uri"' wd200bb
accepted 'unless the profile says so' \
         'nbdinfo --can trim "$uri"' wd200bb set=interface.trim=true
accepted 'clients are told how to share' \
         'nbdinfo --can multi-conn "$uri"' wd200bb

accepted 'the trace of a drive without time is a header' \
         'nbdinfo "$uri"' ideal trace="$dir/trace" set=geometry.rpm=5400
for _ in $(seq 50); do          # until the server has ended
  [ ! -s "$dir/trace" ] || break
  sleep 0.1
done
[ "$(grep -c . "$dir/trace")" = 6 ] &&
  grep -q '^# set=geometry.rpm=5400$' "$dir/trace"
result 'with the parameters' $? "$(cat "$dir/trace")"
rm "$dir/trace"

# The process that waits for the command must not hold the server's lock.
out=$($nbdkit -U - -P "$dir/pid" "$plugin" wd200bb clock=virtual \
      clock-page="$dir/page" --run "
  nbdinfo --size \$uri >/dev/null
  kill -KILL \$(cat $dir/pid)
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    $nbdkit -U - $plugin wd200bb clock=virtual clock-page=$dir/page \
      --run 'echo taken over' && break
    sleep 0.5                   # it may take a while to die
  done" 2>&1)
grep -q '^taken over' <<<"$out"
result 'the page of a captive server that died is free' $? "$out"
rm -f "$dir/page" "$dir/pid"

# In use by a plugin that lives.
out=$($nbdkit -U - "$plugin" wd200bb clock=virtual clock-page="$dir/page" \
      control="$dir/control" --run "
  $nbdkit -U - $plugin wd200bb clock=virtual clock-page=$dir/page \
    --run true
  $nbdkit -U - $plugin wd200bb control=$dir/control --run true
  test -e $dir/page && test -e $dir/control" 2>&1)
[ $? = 0 ] && grep -q 'clock-page=.* is in use by another nbdkit' <<<"$out" &&
  grep -q 'control=.* is in use' <<<"$out"
result 'page and socket in use are left alone' $? "$out"
[ ! -e "$dir/page" ] && [ ! -e "$dir/control" ]
result 'and gone at the end' $? "$(ls "$dir")"

# In the background: nbdkit forks, and the child owns them.
$nbdkit -U "$dir/sock" -P "$dir/pid" "$plugin" wd200bb clock=virtual \
  clock-page="$dir/page" control="$dir/control" >/dev/null 2>&1
pid=$(cat "$dir/pid")
[ -e "$dir/page" ] && [ -e "$dir/control" ] &&
  nbdinfo "nbd+unix:///?socket=$dir/sock" >/dev/null
result 'page and socket survive the fork' $? "$(ls "$dir")"
kill "$pid"
for _ in $(seq 300); do
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.1
done
[ ! -e "$dir/page" ] && [ ! -e "$dir/control" ]
result 'and go with the child' $? "$(ls "$dir")"

# What tools read.
out=$($nbdkit "$plugin" --dump-plugin 2>&1)
grep -q '^magic_config_key=profile$' <<<"$out" &&
  grep -q '^thread_model=parallel$' <<<"$out" &&
  grep -qE '^spindle_profiles=(.* )?wd200bb( .*)?$' <<<"$out" &&
  grep -qE '^spindle_version=[0-9.]+$' <<<"$out" &&
  grep -qE '^spindle_model_version=[0-9.]+$' <<<"$out"
result '--dump-plugin' $? "$out"

# The filter of nbdkit's bash completion.
out=$($nbdkit "$plugin" --help | grep -E '^[-a-z0-9]+=' | sed 's/=.*/=/' |
      sort | tr -d '\n')
expected='bad=clock-page=clock=control=cut-after-writes=cut-at=cut-random='
expected+='cut-while-destaging=file=floor=late-limit=memory=profile=seed='
expected+='set=size=spin=stats=sync=torn=trace=uri='
[ "$out" = "$expected" ]
result 'bash completion finds every parameter' $? "$out"
page=nbdkit-plugin/nbdkit-spindle-plugin.pod
missing=$(tr '=' '\n' <<<"$out" | while read -r key; do
  [ -z "$key" ] || grep -qE "^=item .*B<$key=" "$page" || echo "$key"
done)
[ -z "$missing" ]
result 'the manual page has every parameter' $? "not there: $missing"

echo "1..$n"
exit $bad
