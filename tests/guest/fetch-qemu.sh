#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Prints the path of a QEMU 10 for tests: Debian 12's, from its backports,
# fetched the first time, unpacked in the user's cache, not installed.  What
# it needs beyond the installed QEMU's libraries is unpacked beside it.  The
# BIOS is Debian 13's: that of Debian 12 (SeaBIOS before 1.16.3) misses the end
# of a failed command on QEMU 8.2 and later, and waits 32 s for each AHCI disk.
# Without one, prints why on standard error and exits with 77.

set -u
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/spindle
there=$cache/qemu-10-seabios-1.16.3
suite=bookworm-backports
bios_suite=trixie
keys=/usr/share/keyrings/debian-archive-keyring.gpg
new=

die () {
  echo "no QEMU 10: $1" >&2
  exit 77
}

works () {
  "$1" --version 2>/dev/null | grep -q 'version 1[0-9]'
}

if works qemu-system-x86_64; then
  command -v qemu-system-x86_64
  exit
fi
if works "$there/qemu-system-x86_64"; then
  echo "$there/qemu-system-x86_64"
  exit
fi
[ "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null)" = bookworm ] ||
  die "it is known how to get one for Debian 12 only"
[ -r $keys ] || die "$keys is missing"

mkdir -p "$cache" && new=$(mktemp -d "$cache/new.XXXXXX") ||
  die "cannot write in $cache"
trap 'rm -rf "$new"' EXIT
trap 'exit 1' INT TERM HUP

# Lists and archives of its own: the system's apt is left alone.
mkdir -p "$new/lists/partial" "$new/archives/partial"
for s in bookworm $suite; do
  echo "deb [signed-by=$keys] http://deb.debian.org/debian $s main"
done >"$new/sources.list"
private_apt () {
  apt-get -q -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \
    -o Dir::Etc::SourceList="$new/sources.list" \
    -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$new/lists" \
    -o Dir::Cache="$new" "$@"
}

private_apt update >"$new/log" 2>&1 || die "$(tail -n 1 "$new/log")"
# As "install" would: what is missing or too old.  These two are not needed
# to run a guest.
packages=$(private_apt -s --no-install-recommends -t $suite \
  install qemu-system-x86 2>"$new/log" | sed -n 's/^Inst \([^ ]*\) .*/\1/p' |
  grep -vx -e qemu-user -e qemu-utils)
[ -n "$packages" ] || die "$(tail -n 1 "$new/log")"
for package in $packages; do
  (cd "$new/archives" && private_apt -t $suite download "$package") \
    >"$new/log" 2>&1 || die "$(tail -n 1 "$new/log")"
done
echo "deb [signed-by=$keys] http://deb.debian.org/debian $bios_suite main" \
  >"$new/sources.list"
rm -f "$new/archives/seabios_"*
(private_apt update && cd "$new/archives" &&
   private_apt -t $bios_suite download seabios) >"$new/log" 2>&1 ||
  die "$(tail -n 1 "$new/log")"
for deb in "$new"/archives/*.deb; do
  dpkg-deb -x "$deb" "$new/root" || die "$deb cannot be unpacked"
done
# It would take the system's firmware.
cat >"$new/qemu-system-x86_64" <<'END'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")/root/usr
export LD_LIBRARY_PATH="$here/lib/x86_64-linux-gnu:$here/lib"
exec "$here/bin/qemu-system-x86_64" \
  -L "$here/share/qemu" -L "$here/share/seabios" "$@"
END
chmod +x "$new/qemu-system-x86_64"
works "$new/qemu-system-x86_64" ||
  die "$("$new/qemu-system-x86_64" --version 2>&1 | tail -n 1)"
rm -rf "$new/lists" "$new/archives" "$new/log" "$new"/*.bin
[ -e "$there" ] || mv -T "$new" "$there" || die "cannot make $there"
echo "$there/qemu-system-x86_64"
