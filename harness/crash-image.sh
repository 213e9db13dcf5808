# SPDX-License-Identifier: BSD-3-Clause
#
# Images of file systems, without root: mke2fs, e2fsck and debugfs.
#
#   make IMAGE MIB TYPE     an empty one, the same bytes each time
#   copy IMAGE NEW
#   check IMAGE FOLDER      recover it and see whether it is sound: prints
#                           "sound" or what is wrong, and puts the files
#                           into FOLDER
#   sound IMAGE LOG         the same, of one that has been unmounted

set -eu
PATH=$PATH:/usr/sbin:/sbin
# What would differ from host to host.
export E2FSPROGS_FAKE_TIME=1072915200
export MKE2FS_CONFIG=/dev/null E2FSCK_CONFIG=/dev/null LC_ALL=C

# Exit statuses of e2fsck: 1 and 2 have been repaired, from 4 on not.
look () {
  status=0
  e2fsck -fn "$1" >"$2" 2>&1 || status=$?
  if [ $status = 0 ]; then
    echo sound
  else
    echo "e2fsck: $(sed -n '/^Pass/d; /^e2fsck /d; /./{p;q;}' "$2" | cut -c 1-100)"
  fi
}

case $1 in
  make)
    rm -f "$2"
    truncate -s "$3M" "$2"
    id=6b1d2a34-0000-4000-8000-000000000001
    features=ext_attr
    case $4 in
      ext3) features=$features,has_journal ;;
      ext4) features=$features,has_journal,extent,huge_file,flex_bg
            features=$features,metadata_csum,64bit,dir_nlink,extra_isize ;;
    esac
    mke2fs -q -F -b 4096 -I 256 -O $features -U $id -L crash \
      -E hash_seed=$id,lazy_itable_init=0,lazy_journal_init=0 "$2" >&2
    ;;
  copy)
    cp --sparse=always "$2" "$3"
    ;;
  check)
    rm -rf "$3"
    mkdir "$3"
    status=0
    e2fsck -p "$2" >"$3.recovery" 2>&1 || status=$?
    if [ $status -ge 4 ]; then
      echo "e2fsck: $(sed -n '/./{p;q;}' "$3.recovery" | cut -c 1-100)"
    else
      look "$2" "$3.fsck"
    fi
    (cd "$3" && debugfs -R "rdump / ." "$2") >"$3.debugfs" 2>&1 || :
    ;;
  sound)
    look "$2" "$3"
    ;;
esac
