#!/usr/bin/env bash
# The examples on three nodes: their own tests, with a launcher that spreads the processes.
set -euo pipefail

if [[ -z ${BSP_COORDINATOR:-} ]]; then
  # The largest of them has 64 processes.
  exec tests/cluster/cluster --workers 3 --slots 22 -- "$0"
fi

spread=tests/cluster/spread
failed=0

# passes TEST ARGUMENT...
passes() {
  local test=$1
  shift
  if timeout 300 "examples/$test" "$spread" "$@"; then
    printf 'ok      %s %s\n' "$test" "$*"
  else
    printf 'FAILED  %s %s\n' "$test" "$*"
    failed=1
  fi
}

# Lines of different nodes come in the order in which they reach the coordinator.
says_hello() {
  diff <(for pid in 0 1 2 3; do echo "Hello from process $pid of 4"; done) \
    <("$spread" -n 4 examples/hello | sort)
}

says_hello || failed=1
passes verify_test.sh examples/inner_product
passes verify_test.sh examples/inner_product --n=3
passes verify_test.sh examples/lu examples/data/helmholtz.mtx
passes verify_test.sh examples/lu --random=101
passes verify_test.sh examples/fft
passes verify_test.sh examples/fft --log2=12
passes verify_test.sh examples/heat --steps=200
passes heat_picture_test.sh examples/heat
passes sample_sort_test.sh examples/sample_sort examples/data/git.graph
passes pagerank_test.sh examples/pagerank examples/debian-graph examples/data/git.graph
exit "$failed"
