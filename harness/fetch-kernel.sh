# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# $1: an empty directory that gets boot/vmlinuz, boot/vmlinux and lib/modules
# of Debian's current amd64 kernel, unpacked, not installed, or of the one
# that the metapackage $2 of architecture $3 depends on.  apt's and dpkg's own
# words go to standard error; the last line there is the reason of a failure.

set -eu
folder=$1
meta=${2-linux-image-amd64}
arch=${3-amd64}
trap 'rm -rf -- "$folder"; exit 1' HUP INT TERM
PATH=$PATH:/usr/sbin:/sbin
cd "$folder"

die () {
  echo "$1" >&2
  exit 1
}

for tool in apt-get apt-cache dpkg-deb tar xz; do
  command -v "$tool" >/dev/null ||
    die "$tool is missing, so Debian's kernel cannot be had: name another"
done

apt () {
  apt-get -q -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \
    -o Acquire::https::Timeout=20 "$@" >&2
}

fetch () {
  package=$(apt-cache depends "$meta:$arch" 2>/dev/null |
    sed -n 's/.*Depends: \(linux-image-[0-9][^ :]*\).*/\1/p' | head -n 1)
  [ -n "$package" ] && apt download "$package:$arch"
}

if ! fetch; then
  # No package lists, or old ones that name what the mirror has no more.
  [ "$(id -u)" = 0 ] || [ -n "${APT_CONFIG-}" ] ||
    die "apt cannot fetch $meta: no network, or 'apt-get update' is needed (as root)"
  apt update || :
  fetch || die "apt cannot fetch $meta: no network, or not Debian"
fi

# The rest of a kernel package is 400 MB of drivers.  A pattern that matches
# nothing is no error.
dpkg-deb --fsys-tarfile ./*.deb | {
  tar -x --wildcards '*/boot/vmlinuz-*' '*/modules.builtin' \
    '*/kernel/drivers/ata/*' '*/kernel/drivers/scsi/s*' \
    '*/kernel/block/*' '*/kernel/crypto/*' '*/kernel/lib/*' \
    '*/kernel/fs/ext4/*' '*/kernel/fs/jbd2/*' '*/kernel/fs/mbcache*' \
    2>tar.log || :
  cat >/dev/null
}
rm -f ./*.deb
[ ! -d usr/lib/modules ] || mv usr/lib .
mv boot/vmlinuz-* boot/vmlinuz 2>>tar.log ||
  die "$package could not be unpacked: $(tail -n 1 tar.log)"
rm -f tar.log

# QEMU boots the ELF inside (by its PVH entry, which 32-bit kernels do not
# have) 4 s sooner than the guest unpacks it.  Without it vmlinuz will do.
# Offsets: the kernel's Documentation/x86/boot.rst; the payload ends with 4
# bytes that are not the archive's.
field () {
  od -An -j "$1" -N "$2" -t "u$2" boot/vmlinuz | tr -d ' '
}
start=$((($(field 497 1) + 1) * 512 + $(field 584 4)))
case $(od -An -j "$start" -N 4 -t x1 boot/vmlinuz) in
  ' 28 b5 2f fd') unpack=zstd ;;
  ' 1f 8b'*) unpack=gzip ;;
  *) unpack=xz ;;
esac
tail -c "+$((start + 1))" boot/vmlinuz | head -c "$(($(field 588 4) - 4))" |
  $unpack -dc >boot/vmlinux 2>/dev/null || rm -f boot/vmlinux
[ ! -e boot/vmlinux ] || [ "$(od -An -j 4 -N 1 -t u1 boot/vmlinux)" -eq 2 ] ||
  rm boot/vmlinux
