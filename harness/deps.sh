#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What spindle needs that is not here yet: say so, and why, and install it
# with apt-get.  Elsewhere than on Debian and its kin only say so.
#
#   harness/deps.sh [-n] [valgrind] [clang] [asan]
#
# -n: only look; the exit status says whether everything is there.

set -eu
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# package, how to see that it is there (a command, a pkg-config module, a
# library of the compiler), and what for.
list () {
  cat <<END
gcc                 cmd gcc                 to compile
libc6-dev           inc stdlib.h            to compile
make                cmd make                to build
pkg-config          cmd pkg-config          to find the libraries
perl                cmd pod2man             to make the man pages
nbdkit              cmd nbdkit              the server the drive plugs into
nbdkit-plugin-dev   pc  nbdkit              to compile the plugin
libnbd-dev          pc  libnbd              replay's and the tests' NBD client
libnbd-bin          cmd nbdinfo             to look at a running drive
libconfig-dev       pc  libconfig           reads profiles and scenarios
zlib1g-dev          pc  zlib                reads compressed traces
libnlopt-dev        pc  nlopt               the optimisers of spindle fit
libcmocka-dev       pc  cmocka              the unit tests
qemu-system-x86     cmd qemu-system-x86_64  boots the guests
qemu-utils          cmd qemu-img            makes disk images
e2fsprogs           cmd mke2fs              makes the guests' file systems
xz-utils            cmd xz                  unpacks kernels and modules
fio                 cmd fio                 realistic load in tests
gnuplot-nox         cmd gnuplot             the plots in reports
procps              cmd pgrep               tests look for what is left running
END
  for group; do
    case $group in
      valgrind) echo "valgrind cmd valgrind for make check-valgrind" ;;
      clang)    echo "clang cmd clang a second compiler's warnings" ;;
      asan)     echo "gcc lib libasan.so for make check-asan" ;;
      *) echo "$0: $group: valgrind, clang or asan" >&2; exit 2 ;;
    esac
  done
}

there () {
  case $1 in
    cmd) command -v "$2" ;;
    pc)  pkg-config --exists "$2" ;;
    inc) echo "#include <$2>" | ${CC:-cc} -E -xc - ;;
    lib) test -e "$(${CC:-cc} -print-file-name="$2")" ;;
  esac >/dev/null 2>&1
}

only_look=
if [ "${1-}" = -n ]; then
  only_look=1
  shift
fi

wanted=$(list "$@")
missing=$(
  echo "$wanted" | while read -r package kind what why; do
    there "$kind" "$what" || printf '%s\t%s\n' "$package" "$why"
  done
)
[ -n "$missing" ] || exit 0

echo "These Debian packages, or what they hold, are missing:"
echo "$missing" | sed 's/^/  /' | expand -t 24
[ -z "$only_look" ] || exit 1

if ! command -v apt-get >/dev/null; then
  echo "There is no apt-get here: install them in your system's own way." >&2
  exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "Not root, and there is no sudo: run make deps as root." >&2
    exit 1
  }
  as_root=sudo
fi

packages=$(echo "$missing" | cut -f 1)
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of words
$as_root apt-get update -q &&
  $as_root apt-get install -q -y --no-install-recommends $packages
