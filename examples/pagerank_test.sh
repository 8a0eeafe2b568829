#!/usr/bin/env bash
# pagerank_test.sh BSPRUN PAGERANK DEBIAN_GRAPH GRAPH: puts and messages give the same list, for
# each number of processes, and the right one; on the small graph and, where this machine has
# package lists, on that of all packages.
set -euo pipefail

bsprun=$1
pagerank=$2
debian_graph=$3
small_graph=$4

fail() {
  echo "$1"
  cat "$TEST_TMPDIR/output"
  exit 1
}

# check GRAPH P...: the list is compared with that of p = 1.
check() {
  local graph=$1 p method
  shift
  for p in 1 "$@"; do
    for method in put message; do
      "$bsprun" -n "$p" "$pagerank" --method="$method" --verify "$graph" \
        > "$TEST_TMPDIR/output" 2>&1 || fail "p = $p, $method, $graph: failed"
      grep -q '^verified: ' "$TEST_TMPDIR/output" || fail "p = $p, $method, $graph: not verified"
      grep -E '^ *[0-9]+  0\.[0-9]{8}  ' "$TEST_TMPDIR/output" > "$TEST_TMPDIR/list"
      (($(wc -l < "$TEST_TMPDIR/list") == 20)) || fail "p = $p, $method, $graph: no list of 20"
      if ((p == 1)) && [[ $method == put ]]; then
        cp "$TEST_TMPDIR/list" "$TEST_TMPDIR/expected"
      fi
      diff "$TEST_TMPDIR/expected" "$TEST_TMPDIR/list" ||
        fail "p = $p, $method, $graph: another list"
    done
  done
}

# 64 processes are more than the small graph has nodes.
check "$small_graph" 2 4 7 64

# Three nodes, by hand: c is dangling, a and b point at each other's successor.
printf 'a b\na c\nb c\n' > "$TEST_TMPDIR/three.graph"
"$bsprun" -n 2 "$pagerank" --damping=0.5 "$TEST_TMPDIR/three.graph" > "$TEST_TMPDIR/output"
# With d = 1/2: a = x, b = x + a/4, c = x + a/4 + b/2, where x = 1/6 + c/6.
for line in '0.45454545  c' '0.30303030  b' '0.24242424  a'; do
  grep -qF "$line" "$TEST_TMPDIR/output" || fail "three nodes: expected $line"
done

if compgen -G '/var/lib/apt/lists/*Packages*' > /dev/null; then
  "$debian_graph" > "$TEST_TMPDIR/debian.graph"
  check "$TEST_TMPDIR/debian.graph" 2 4 7
fi
