#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tests/run itself: what it counts, and what it does not let pass.

set -u
run=tests/run
n=0

# expect NAME LAST-LINE STATUS: runs the program on stdin as a test.
expect () {
  local name=$1 line=$2 status=$3 got out

  n=$((n + 1))
  { echo '#!/bin/bash'; cat; } >"$TMPDIR/sample"
  chmod +x "$TMPDIR/sample"
  out=$(TEST_TIMEOUT=${time_limit:-20} TEST_WRAPPER='' \
        "$run" "$TMPDIR/sample" 2>&1)
  got=$?
  rm -f "$TMPDIR/sample"
  if [ "$(tail -n 1 <<<"$out")" = "$line" ] && [ "$got" = "$status" ]; then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    sed 's/^/# /' <<<"exit status $got, output:
$out"
    bad=1
  fi
}
bad=0

expect 'passed and skipped cases are counted' \
       '2 passed, 0 failed, 1 skipped' 0 <<'END'
echo 1..3; echo ok 1 - a; echo 'ok 2 - b # SKIP no reason'; echo ok 3 - c
END
expect 'a whole test can be skipped' '0 passed, 0 failed, 1 skipped' 0 <<'END'
echo '1..0 # SKIP not here'
END
expect 'a case can be skipped as cmocka does' \
       '1 passed, 0 failed, 1 skipped' 0 <<'END'
echo 1..2; echo ok 1 - a; echo 'not ok 2 # SKIP b'
END
expect 'failed cases are counted' '1 passed, 1 failed' 1 <<'END'
echo 1..2; echo ok 1; echo not ok 2; exit 1
END
expect 'a crash after the last case is a failure' '1 passed, 1 failed' 1 <<'END'
echo 1..1; echo ok 1; kill -SEGV $$
END
expect 'a failed case must show in the exit status' \
       '0 passed, 2 failed' 1 <<'END'
echo 1..1; echo not ok 1
END
expect 'an early end is a failure' '1 passed, 1 failed' 1 <<'END'
echo 1..3; echo ok 1
END
expect 'no TAP is a failure' '0 passed, 1 failed' 1 <<'END'
echo hello
END
expect 'a missing plan is a failure' '1 passed, 1 failed' 1 <<'END'
echo ok 1
END
expect 'several plans add up' '3 passed, 0 failed' 0 <<'END'
echo 1..2; echo ok 1; echo ok 2; echo 1..1; echo ok 1
END
expect 'files left behind are a failure' '1 passed, 1 failed' 1 <<'END'
echo 1..1; echo ok 1; touch "$TMPDIR/a" "$TMPDIR/b"
END
expect 'processes left behind are a failure' '1 passed, 1 failed' 1 <<'END'
echo 1..1; echo ok 1; setsid sleep 100 >/dev/null 2>&1 &
END
expect 'errors logged by valgrind or a sanitizer are a failure' \
       '1 passed, 1 failed' 1 <<'END'
echo 1..1; echo ok 1; echo bad >"$TEST_LOGS/valgrind.1"
END
time_limit=1 expect 'a test that hangs is stopped' '0 passed, 1 failed' 1 <<'END'
echo 1..1; sleep 100
END

# The summary names every program, and a missing one is not overlooked.
n=$((n + 1))
out=$("$run" /nonexistent/test)
if [ $? = 1 ] && [ "$out" = "FAIL /nonexistent/test: 0 passed, 0 failed
     is not an executable file
0 passed, 1 failed" ]; then
  echo "ok $n - a program that is not there is a failure"
else
  echo "not ok $n - a program that is not there is a failure"
  sed 's/^/# /' <<<"$out"
  bad=1
fi

echo "1..$n"
exit $bad
