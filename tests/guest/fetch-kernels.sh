#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# $1: a folder that gets Debian's kernels, for SPINDLE_KERNELS: 6.1 of Debian
# 12, 6.12 of its backports, 5.10 of Debian 11, and 6.1 for 32-bit machines.
# Unpacked, not installed; the system's apt is left alone.

set -u
folder=$(realpath -- "${1:?folder}") || exit 3
keys=/usr/share/keyrings/debian-archive-keyring.gpg
mkdir -p "$folder/lib/modules" && new=$(mktemp -d "$folder/.new.XXXXXX") ||
  exit 3
trap 'rm -rf "$new"' EXIT
trap 'exit 1' INT TERM HUP
export APT_CONFIG=$new/apt.conf

die () {
  echo "fetch-kernels: $1" >&2
  exit 3
}

# Lists, archives and architectures of their own.  private_apt ARCH SUITE...
private_apt () {
  local arch=$1 suite host
  shift
  rm -rf "$new/apt" && mkdir -p "$new/apt/lists/partial" \
    "$new/apt/archives/partial" || return
  for suite; do
    host=debian
    [[ $suite != *-security ]] || host=debian-security
    echo "deb [arch=$arch signed-by=$keys] http://deb.debian.org/$host" \
      "$suite main"
  done >"$new/apt/sources.list"
  cat >"$APT_CONFIG" <<END
Dir::Etc::SourceList "$new/apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$new/apt/lists";
Dir::State::Status "/dev/null";
Dir::Cache "$new/apt";
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Sandbox::User "$(id -un)";
END
}

# fetch ARCH METAPACKAGE SUITE...
fetch () {
  local arch=$1 meta=$2 image release root=$new/root
  shift 2
  private_apt "$arch" "$@" || die "cannot write in $folder"
  rm -rf "$root"
  mkdir "$root" || die "cannot write in $folder"
  sh harness/fetch-kernel.sh "$root" "$meta" "$arch" 2>"$new/log" ||
    die "$* $arch: $(tail -n 1 "$new/log")"
  release=$(ls "$root/lib/modules")
  for image in vmlinuz vmlinux; do
    [ ! -e "$root/boot/$image" ] ||
      mv -f "$root/boot/$image" "$folder/$image-$release" || exit 3
  done
  rm -rf "$folder/lib/modules/$release"
  mv "$root/lib/modules/$release" "$folder/lib/modules" || exit 3
  echo "$release"
}

[ -r $keys ] || die "$keys is missing"
fetch amd64 linux-image-amd64 bookworm bookworm-security
fetch amd64 linux-image-amd64 bookworm-backports
fetch amd64 linux-image-amd64 bullseye bullseye-security
fetch i386 linux-image-686 bookworm
