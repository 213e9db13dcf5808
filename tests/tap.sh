# SPDX-License-Identifier: BSD-3-Clause
#
# For test scripts to source: results in TAP.  The script ends with
#   echo "1..$n"; exit $bad

n=0 bad=0

# result NAME CONDITION-STATUS [DIAGNOSTICS]
result () {
  n=$((n + 1))
  if [ "$2" = 0 ]; then
    echo "ok $n - $1"
  else
    echo "not ok $n - $1"
    sed 's/^/# /' <<<"${3-}"
    bad=1
  fi
}

# refused_by COMMAND NAME STATUS MESSAGE ARGUMENT...: "spindle COMMAND" says
# this one line, nothing else, and ends with this status.
refused_by () {
  local command=$1 name=$2 status=$3 message=$4 out s
  shift 4
  out=$(${BUILD:-build}/spindle $command "$@" 2>&1 </dev/null)
  s=$?
  [ "$s" = "$status" ] && [ "$(grep -c . <<<"$out")" = 1 ] &&
    [[ $out == "spindle: "*"$message"* ]]
  result "$name" $? "exit status $s: $out"
}
