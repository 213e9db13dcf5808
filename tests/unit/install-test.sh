#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# make install into a DESTDIR, all of it used from there, and make uninstall.

# shellcheck disable=SC2016,SC2317 # functions and scripts are arguments

set -u
if [ -n "${TEST_SLOW-}" ]; then
  echo "1..0 # SKIP says nothing new when everything is slow"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SPINDLE_PATH
dest=$work/dest
n=0 failed=0

check () {
  local name=$1
  shift
  n=$((n + 1))
  if "$@" >"$work/out" 2>&1; then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    tail -n 20 "$work/out" | sed 's/^/# /'
    failed=1
  fi
}
finish () {
  echo "1..$n"
  exit "$failed"
}

# With the places that the build was made for: nothing is compiled again.
make_it () { make -s BUILD="$BUILD" "$@" DESTDIR="$dest"; }
place () { make -s print-"$1" | grep -v '^make'; }
prefix=$(place PREFIX) plugins=$(place PLUGINDIR)

check "make install" make_it install
[ "$failed" = 0 ] || finish

(cd "$dest" && find . ! -type d -printf '/%P\n' | sort) >"$work/files"
only_there () {
  ! grep -vE "^($prefix/|$plugins/nbdkit-spindle-plugin.so$)" "$work/files"
}
check "nothing outside PREFIX but the plugin" only_there
modes () { ! find "$dest" \( -type d ! -perm 755 -o -perm /022 \) | grep .; }
check "modes" modes
# The build's own path must not be in what is installed.
no_path () { ! grep -rlF "$(pwd)/" "$dest$prefix/share"; }
check "no path of the build" no_path

export PATH=$dest$prefix/bin:$PATH HOME=$work/home
export XDG_CONFIG_HOME=$work/home/.config
mkdir -p "$work/home"
nbdkit=${NBDKIT:-nbdkit}
case $nbdkit in */*) nbdkit=$(pwd)/$nbdkit ;; esac
plugin=$dest$plugins/nbdkit-spindle-plugin.so
cd "$work" || exit 1

check "spindle" sh -c '[ "$(command -v spindle)" = "$0" ]' \
  "$dest$prefix/bin/spindle"
listed () { spindle profile list | grep '^wd200bb '; }
check "profiles are found by the command" listed
shown () { spindle profile show wd200bb; }
check "and shown" shown
dumped () { "$nbdkit" "$plugin" --dump-plugin | grep '^spindle_profiles=.*wd200bb'; }
check "profiles are found by the plugin" dumped
from_dest () {
  "$nbdkit" -U - "$plugin" wd200bb --run 'nbdinfo --size "$uri"' |
    grep -x 20020396032
}
check "nbdkit serves a drive" from_dest
pieces () {
  truncate -s 20020396032 disk.raw
  spindle vm --profile wd200bb --print disk.raw >vm.out &&
    grep -F "$plugin" vm.out && grep -F "$dest$prefix/lib/spindle/" vm.out &&
    grep -F "$dest$prefix/share/spindle/qemu-configs/pc-ide.cfg" vm.out
}
check "spindle vm finds its pieces" pieces

# Drives and scenarios of the user's own come first.
mkdir -p "$XDG_CONFIG_HOME/spindle/profiles" own/profiles own/scenarios
sed 's/^title = .*/title = "Of the user";/' \
  "$dest$prefix/share/spindle/profiles/wd200bb.cfg" \
  >"$XDG_CONFIG_HOME/spindle/profiles/wd200bb.cfg"
is_titled () { spindle profile list | grep "^wd200bb .*$1"; }
check "a profile in XDG_CONFIG_HOME comes first" is_titled "Of the user"
sed 's/^title = .*/title = "Of SPINDLE_PATH";/' \
  "$dest$prefix/share/spindle/profiles/wd200bb.cfg" >own/profiles/wd200bb.cfg
path_first () { SPINDLE_PATH=$work/own is_titled "Of SPINDLE_PATH"; }
check "one in SPINDLE_PATH before that" path_first
says () { "${@:2}" 2>&1 | grep -F "$1"; }
check "a scenario by a wrong name" says "did you mean readahead-wd200bb?" \
  spindle run readahead-wd200b
echo 'name = 1;' >own/scenarios/mine.cfg
check "a scenario in SPINDLE_PATH" says "own/scenarios/mine.cfg" \
  env SPINDLE_PATH="$work/own" spindle run mine
mkdir -p "$XDG_CONFIG_HOME/spindle/scenarios"
echo 'name = 1;' >"$XDG_CONFIG_HOME/spindle/scenarios/readahead-wd200bb.cfg"
check "a scenario in XDG_CONFIG_HOME comes first" \
  says "spindle/scenarios/readahead-wd200bb.cfg" \
  spindle run readahead-wd200bb
rm -r "$XDG_CONFIG_HOME"

manual () {
  for page in "$dest$prefix"/share/man/man[15]/*; do
    grep -q '^.TH' "$page" || return 1
  done
  [ "$(find "$dest$prefix/share/man" -name '*.1' | wc -l)" -ge 4 ] &&
    [ -e "$dest$prefix/share/man/man5/spindle-scenario.5" ]
}
check "manual pages" manual
if command -v man >/dev/null; then
  check "man spindle" says "a hard disk you can boot" \
    env MANPATH="$dest$prefix/share/man" MANPAGER=cat man spindle
fi

# complete WORD...: what is offered for the last one.
complete_words () {
  (
    # shellcheck source=/dev/null
    . "$dest$prefix/share/bash-completion/completions/spindle"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _spindle
    printf '%s\n' "${COMPREPLY[@]}"
  )
}
offers () {
  local wanted=$1
  shift
  complete_words "$@" | grep -xe "$wanted"
}
check "completion: commands" offers replay spindle re
check "completion: options" offers --keep spindle run --k
check "completion: profiles" offers wd200bb spindle vm --profile wd
check "completion: scenarios" offers readahead-wd200bb spindle run read
check "completion: commands of a command" offers show spindle profile sh

cd "$OLDPWD" || exit 1
check "make uninstall" make_it uninstall
nothing_left () {
  ! find "$dest" ! -type d | grep . && [ ! -e "$dest$prefix/share/spindle" ] &&
    [ ! -e "$dest$prefix/lib/spindle" ]
}
check "nothing is left" nothing_left
finish
