#!/usr/bin/env bash
# The superstep path between nodes: all kinds of communication over several shapes of cluster, with
# and without connections that break, give the right result the right number of times.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
failures=0

# expect_ok WHAT COMMAND...
expect_ok() {
  local output status=0
  output=$(timeout 120 "${@:2}" 2>&1) || status=$?
  if [[ $status != 0 || $output != ok ]]; then
    echo "FAILED: $1: status $status, output: $output"
    failures=$((failures + 1))
  fi
}

# expect_error WHAT TEXT COMMAND...: status 6, and a line of standard error with TEXT
expect_error() {
  local output status=0
  output=$(timeout 120 "${@:3}" 2>&1) || status=$?
  if [[ $status != 6 || $output != *"$2"* ]]; then
    echo "FAILED: $1: status $status, output: $output"
    failures=$((failures + 1))
  fi
}

mini=$here/mini_cluster
mixed=$here/mixed_supersteps
bulk=$here/bulk_supersteps
kept=$here/kept_supersteps
counted=$here/counted_supersteps

for shape in '1 3' '2 2' '2 4' '3 4' '3 7' '4 4'; do
  read -r nodes p <<<"$shape"
  expect_ok "$p processes on $nodes nodes" "$mini" "$nodes" "$p" "$mixed" 12 60000
done
for kind in put get; do
  expect_ok "page tables of 128 processes, by $kind" "$mini" 1 128 "$here/page_tables" "$kind"
done
expect_ok 'more than a chunk each' "$mini" 2 2 "$mixed" 3 5000000
expect_ok 'with BSP_CHECK=full' env BSP_CHECK=full "$mini" 2 4 "$mixed" 6 30000
expect_ok 'connections that break' env MINI_CUT_MS=20 "$mini" 2 4 "$mixed" 60 60000
expect_ok 'connections that break, three nodes' env MINI_CUT_MS=20 "$mini" 3 5 "$mixed" 60 20000
expect_ok 'connections that break in long transfers' \
  env MINI_CUT_MS=50 "$mini" 2 2 "$mixed" 5 5000000
for shape in '2 4' '3 5' '4 4'; do
  read -r nodes p <<<"$shape"
  expect_ok "a coordinator that is restarted, $p processes on $nodes nodes" \
    env MINI_RESTART_MS=40 "$mini" "$nodes" "$p" "$mixed" 60 20000
done
expect_ok 'a coordinator that is restarted, with connections that break and BSP_CHECK=full' \
  env MINI_RESTART_MS=70 MINI_CUT_MS=30 BSP_CHECK=full "$mini" 3 5 "$mixed" 40 20000

export MINI_DIRECT=1
for shape in '2 2' '3 7' '4 4'; do
  read -r nodes p <<<"$shape"
  expect_ok "$p processes on $nodes nodes that release themselves" \
    "$mini" "$nodes" "$p" "$mixed" 12 60000
done
expect_ok 'small supersteps, by lanes' "$mini" 2 4 "$mixed" 500 120
for shape in '4 4' '5 6' '8 8' '16 16'; do
  read -r nodes p <<<"$shape"
  expect_ok "small supersteps of $nodes nodes, which send on what they receive" \
    "$mini" "$nodes" "$p" "$mixed" 200 120
done
expect_ok 'much before supersteps that end by counting' "$mini" 2 2 "$counted" 10 20000000
expect_ok 'who falls asleep while another one goes ahead' "$mini" 2 4 "$here/late_sleep" 400
expect_ok 'memory of large answers is given back' "$mini" 2 2 "$here/large_answers"
for next in oblsync sync end; do
  expect_error "a message beyond the count, found at $next" \
    'bsp_oblsync on pid 0, superstep 20: 0 messages are expected, and 1 were sent to this process' \
    "$mini" 2 2 "$here/beyond_count" "$next"
done
expect_ok 'small supersteps and a few large ones, of three nodes' "$mini" 3 5 "$mixed" 300 4000
expect_ok 'nodes that release themselves, with connections that break' \
  env MINI_CUT_MS=20 "$mini" 3 5 "$mixed" 60 20000
expect_ok 'nodes that release themselves, with BSP_CHECK=full and a coordinator that is restarted' \
  env MINI_RESTART_MS=70 MINI_CUT_MS=30 BSP_CHECK=full "$mini" 2 5 "$mixed" 40 20000

for shape in '2 2' '3 4' '2 5' '2 9'; do
  read -r nodes p <<<"$shape"
  expect_ok "unbuffered puts, $p processes on $nodes nodes" "$mini" "$nodes" "$p" "$bulk" 20 700000
done
expect_ok 'unbuffered puts, by lanes that are cut' "$mini" 2 4 "$bulk" 60 900000 cut
expect_ok 'unbuffered puts, by lanes that are cut, three nodes' "$mini" 3 3 "$bulk" 60 900000 cut
expect_ok 'unbuffered puts to who is late' "$mini" 2 4 "$bulk" 40 700000 late
expect_ok 'unbuffered puts to who is stopped' "$mini" 2 3 "$bulk" 60 900000 stop
expect_ok 'unbuffered puts of who closes its descriptors' "$mini" 2 4 "$bulk" 20 900000 close

for shape in '2 2' '3 3' '2 3'; do
  read -r nodes p <<<"$shape"
  expect_ok "large puts, $p processes on $nodes nodes" "$mini" "$nodes" "$p" "$kept" 24 1200000
done
expect_ok 'large puts, by lanes that are cut' "$mini" 3 3 "$kept" 48 1200000 cut
expect_ok 'large puts to who is late' "$mini" 2 2 "$kept" 24 1200000 late
expect_ok 'large puts to who is stopped' "$mini" 2 2 "$kept" 48 1200000 stop
expect_ok 'large puts of who closes its descriptors' "$mini" 2 2 "$kept" 24 1200000 close

export MINI_TRUST_TCP=1
expect_ok "TCP's checksums alone, of all kinds of communication" "$mini" 2 4 "$mixed" 60 60000
expect_ok "TCP's checksums alone, with connections that break" \
  env MINI_CUT_MS=20 "$mini" 2 4 "$mixed" 60 60000
expect_ok "TCP's checksums alone, of unbuffered puts by lanes that are cut" \
  "$mini" 3 3 "$bulk" 60 900000 cut
expect_ok "TCP's checksums alone, of large puts" "$mini" 2 2 "$kept" 24 1200000

[[ $failures == 0 ]]
