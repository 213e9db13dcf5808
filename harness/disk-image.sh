# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# A file system with files, in a part of a file as large as a drive.
# $1: the file, $2: where the file system begins, $3: its blocks, $4: words
# for mke2fs, $5: features, $6: a folder with what debugfs shall do, $7: the
# revision.  The last line on standard error is the reason of a failure.

set -eu
PATH=$PATH:/usr/sbin:/sbin
image=$1 offset=$2 folder=$6

die () {
  echo "$1" >&2
  exit 1
}

for tool in mke2fs debugfs fallocate; do
  command -v "$tool" >/dev/null ||
    die "$tool is missing: install e2fsprogs and util-linux"
done

# Nothing of this host or day shall be in the image.
export E2FSPROGS_FAKE_TIME=1072915200 MKE2FS_CONFIG="$folder/mke2fs.conf"
printf '[fs_types]\next2 = {\n}\next3 = {\n}\n' >"$MKE2FS_CONFIG"

extended=offset=$offset,lazy_itable_init=0,nodiscard,root_owner=0:0
extended=$extended,hash_seed=73706e64-6c65-0000-0000-000000000002
# shellcheck disable=SC2086 # words
mke2fs -q -F $4 -O "none,$5" -U 73706e64-6c65-0000-0000-000000000001 \
  -E "$extended" \
  "$image" "$3" >"$folder/mke2fs.log" 2>&1 ||
  die "mke2fs: $(tail -n 1 "$folder/mke2fs.log")"
# mke2fs -r 0 is gone since e2fsprogs 1.47.1, and what it has instead refuses
# even no features.
[ "$7" = 1 ] ||
  debugfs -w -R "set_super_value rev_level 0" "$image?offset=$offset" \
    >"$folder/revision.log" 2>&1 ||
  die "debugfs: $(tail -n 1 "$folder/revision.log")"

[ -s "$folder/files" ] || exit 0
debugfs -w -f "$folder/files" "$image?offset=$offset" \
  >"$folder/debugfs.log" 2>"$folder/errors" ||
  die "debugfs: $(tail -n 1 "$folder/errors")"
# It goes on after an error.
sed 1d "$folder/errors" >"$folder/debugfs.errors"
[ ! -s "$folder/debugfs.errors" ] ||
  die "debugfs: $(head -n 1 "$folder/debugfs.errors")"
# What is in the files are zeros: they need no room here.
fallocate --dig-holes "$image" 2>/dev/null || :
