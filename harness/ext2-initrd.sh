# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# $1: directory with init, job, order and *.ko.  $2: the image to write,
# an ext2 without any feature newer than Linux 2.0, gzipped.  Prints its size
# in KiB.  debugfs fills it, so that no root is needed and no time of the
# host gets in.

set -eu
trap 'rm -rf -- "$1" "$2.part"; exit 1' HUP INT TERM
PATH=$PATH:/usr/sbin:/sbin
for tool in mke2fs debugfs gzip; do
  command -v "$tool" >/dev/null || {
    echo "$tool is needed for an initrd and not installed" >&2
    exit 1
  }
done
image=$1/image
export E2FSPROGS_FAKE_TIME=1
export MKE2FS_CONFIG=/dev/null
kib=$(($(du -sk --apparent-size "$1" | cut -f1) + 512))
uuid=00000000-0000-0000-0000-000000000001
mke2fs -q -F -t ext2 -b 1024 -I 128 -N 128 -m 0 -O none -U "$uuid" \
  -E "hash_seed=$uuid" "$image" "$kib" >&2
{
  for dir in dev proc sys modules; do
    echo "mkdir $dir"
  done
  echo "cd /dev"
  echo "mknod console c 5 1"
  echo "mknod null c 1 3"
  echo "mknod ttyS0 c 4 64"
  echo "cd /"
  echo "write $1/init init"
  echo "write $1/job job"
  echo "cd /modules"
  echo "write $1/order order"
  for module in "$1"/*.ko; do
    [ ! -e "$module" ] || echo "write $module ${module##*/}"
  done
} >"$1/commands"
debugfs -w -f "$1/commands" "$image" >"$1/log" 2>&1
# debugfs tells of a failed command only in words.
if problem=$(grep -v '^debugfs' "$1/log" | grep -v '^Allocated inode'); then
  echo "$problem" >&2
  exit 1
fi
gzip -9nc "$image" >"$2.part"
mv -f "$2.part" "$2"
echo "$kib"
