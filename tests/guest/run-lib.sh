# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# For the scripts in this folder that test the spindle command: TAP, and
# small scenarios.  To be sourced.

set -u
unset XDG_RUNTIME_DIR
BUILD=${BUILD:-build}
work=$(mktemp -d "${TMPDIR:-/tmp}/run-test.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
count=0 failed=0

# check "WHAT" COMMAND...: ok if the command succeeds.
check () {
  local what=$1
  shift
  count=$((count + 1))
  if "$@"; then
    echo "ok $count - $what"
  else
    echo "not ok $count - $what"
    failed=1
  fi
}

finish () {
  echo "1..$count"
  exit $failed
}

# scenario NAME MIB [MORE]: a short one, as $work/NAME.cfg.
scenario () {
  cat >"$work/$1.cfg" <<END
name = "$1";
host = { machine = "${machine:-ide}"; shift = 3; };
drive = { profile = "wd200bb"; };
steps = (
  { name = "ra{readahead}"; read = "buffered"; block-kib = 64; mib = $2;
    sweep = "readahead"; values = [0, 256]; stride-mib = 36; },
  { name = "write"; write = "buffered"; fsync = "end"; block-kib = 64;
    mib = 2; offset-mib = 200; },
  { name = "random"; read = "direct"; pattern = "random"; block-kib = 4;
    requests = 50; span-mib = 19000; }
);
${3-}
END
}

# A kernel must be had, or nothing here can run.
need_kernel () {
  scenario probe 1 'limits = { real-s = 1; };'
  "$BUILD/spindle" run "$work/probe.cfg" >"$work/out" 2>"$work/err"
  if ! grep -q 'limits.real-s' "$work/err"; then
    echo "1..0 # SKIP $(tail -n 1 "$work/err")"
    exit 0
  fi
}
