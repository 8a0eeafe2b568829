#!/usr/bin/env bash
# hello_test.sh BSPRUN HELLO: every process says its line, in the order of the pids.
set -euo pipefail

bsprun=$1
hello=$2

for p in 1 2 4 7; do
  diff <(for ((pid = 0; pid < p; pid++)); do echo "Hello from process $pid of $p"; done) \
    <("$bsprun" -n "$p" "$hello")
done
