#!/usr/bin/env bash
# sample_sort_test.sh BSPRUN SAMPLE_SORT FILE: byte for byte what `LC_ALL=C sort` writes.
set -euo pipefail

bsprun=$(readlink -f "$1")
sample_sort=$(readlink -f "$2")
real=$(readlink -f "$3")
cd "$TEST_TMPDIR"

# check NAME INPUT
check() {
  local p
  LC_ALL=C sort "$2" > expected
  for p in 1 2 4 7 64; do
    if ! "$bsprun" -n "$p" "$sample_sort" --verify "$2" > sorted 2> message; then
      echo "$1, p = $p: failed: $(cat message)"
      exit 1
    fi
    cmp expected sorted || { echo "$1, p = $p: not what sort gives"; exit 1; }
    grep -q '^verified: ' message || { echo "$1, p = $p: not verified"; exit 1; }
  done
}

check 'real lines' "$real"
: > input && check 'nothing' input
printf 'one line without an end' > input && check 'one line' input
printf '\n\n\n' > input && check 'empty lines' input
printf 'b\n\na\0z\na\na\0a\n\377\n\200\nA\n \n~\nab' > input && check 'any bytes' input
for ((i = 0; i < 1000; i++)); do echo same; done > input && check 'equal lines' input
{ echo z; head -c 100000 /dev/zero | tr '\0' x; echo; echo a; } > input && check 'a long line' input
LC_ALL=C sort -r "$real" > input && check 'descending lines' input
awk 'BEGIN { srand(1); for (i = 0; i < 20000; i++) print int(rand() * 5000) }' > input
check 'numbers' input

"$bsprun" -n 3 "$sample_sort" --output=sorted < input
cmp expected sorted
