#!/usr/bin/env bash
# verify_test.sh BSPRUN PROGRAM ARGUMENT...: with each number of processes the program must end with
# status 0 and say `verified: ` under --verify; and its result, the lines before, must be the same.
set -euo pipefail

bsprun=$1
shift

# What must not depend on p: all but the seconds, p itself, and the processes as a grid.
comparable() {
  sed -E 's/[,:] [0-9.]+ s( \(p = [0-9]+\))?$//; s/ on [0-9]+ x [0-9]+ processes//' "$1"
}

for p in 1 2 4 7 16; do
  output=$TEST_TMPDIR/output.$p
  if ! "$bsprun" -n "$p" "$@" --verify > "$output" 2>&1; then
    echo "p = $p: $* --verify failed:"
    cat "$output"
    exit 1
  fi
  if ! tail -n 1 "$output" | grep -q '^verified: '; then
    echo "p = $p: $* --verify did not say that the result is right:"
    cat "$output"
    exit 1
  fi
  if ! diff <(comparable "$TEST_TMPDIR/output.1") <(comparable "$output"); then
    echo "p = 1 (<) and p = $p (>) differ"
    exit 1
  fi
done
