# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# How the check-* scripts report; sourced by them, not run. One line a test, and a line with the numbers at the end.
# shellcheck disable=SC2317
passed=0 failed=0 skipped=0

ok() { # NAME
    echo "ok $1"
    passed=$((passed + 1))
}
fail() { # NAME WHY
    echo "FAIL $1: $2"
    failed=$((failed + 1))
}
skip() { # NAME WHY
    echo "skip $1: $2"
    skipped=$((skipped + 1))
}
try() { # NAME COMMAND...: ok if it succeeds; else the end of what it printed
    local name=$1 log status=0
    shift
    log=$("$@" 2>&1) || status=$?
    if ((status == 0)); then
        ok "$name"
    else
        fail "$name" "status $status from: $*"
        tail -n 15 <<<"$log" | sed 's/^/    /'
    fi
}
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    ((failed == 0)) || exit 1
    exit 0
}
