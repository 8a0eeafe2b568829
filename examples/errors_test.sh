#!/usr/bin/env bash
# errors_test.sh BSPRUN BINARIES...: what the examples say to wrong input, and their --help. The
# binaries are found by their names.
set -euo pipefail

bsprun=$1
shift
declare -A program
for path in "$@"; do
  program[$(basename "$path")]=$path
done
message=$TEST_TMPDIR/message

# expect STATUS TEXT NAME ARGUMENT...: with this status, TEXT in the output, on any number of
# processes, and no word of the launcher's own: it is the program that ended.
expect() {
  local expected=$1 text=$2 name=$3 p status
  shift 3
  for p in 1 3; do
    status=0
    "$bsprun" -n "$p" "${program[$name]}" "$@" > "$message" 2>&1 < /dev/null || status=$?
    if ((status != expected)) || ! grep -qF -- "$text" "$message" || grep -q '^bsp' "$message"; then
      echo "p = $p, $name $*: status $status instead of $expected, or not '$text':"
      cat "$message"
      exit 1
    fi
  done
}

input=$TEST_TMPDIR/input
missing=$TEST_TMPDIR/none

for name in inner_product pagerank sample_sort lu fft heat heat_areas; do
  expect 0 "usage: $name" "$name" --help
  expect 2 "unrecognized option '--nonsense'" "$name" --nonsense
  expect 2 "usage: $name" "$name" --nonsense
done

expect 2 "--n: '0' is not a whole number from 1 to 100000000" inner_product --n=0
expect 2 "--n: '12x' is not a whole number" inner_product --n=12x
expect 2 "unexpected argument 'more'" inner_product more

expect 2 "expected one FILE" pagerank
expect 2 "--method: 'get' is neither put nor message" pagerank --method=get -
expect 2 "--damping: '1' is not a number from 0 to 0.999" pagerank --damping=1 -
expect 2 "--tolerance: 'nan' is not a number" pagerank --tolerance=nan -
expect 1 "$missing: No such file or directory" pagerank "$missing"
expect 1 "no graph in it" pagerank -
printf 'a b\na b c\n' > "$input"
expect 1 "$input, line 2: more than two names" pagerank "$input"
expect 1 "$TEST_TMPDIR: Is a directory" pagerank "$TEST_TMPDIR"

expect 2 "expected at most one FILE" sample_sort "$input" "$input"
expect 1 "$missing: No such file or directory" sample_sort "$missing"
expect 1 "$TEST_TMPDIR: Is a directory" sample_sort "$TEST_TMPDIR"
expect 1 "$missing/out: No such file or directory" sample_sort --output="$missing/out" "$input"
expect 1 "/dev/full: No space left on device" sample_sort --output=/dev/full "$input"

expect 2 "expected a FILE or --random=N" lu
expect 2 "--random: '10001' is not a whole number from 1 to 10000" lu --random=10001
expect 1 "$missing: No such file or directory" lu "$missing"
expect 1 "not a Matrix Market file" lu "$input"
echo '%%MatrixMarket matrix coordinate complex general' > "$input"
expect 1 "a coordinate complex general matrix is not supported" lu "$input"
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n' > "$input"
expect 1 "expected a square matrix of order 1 to 10000: 2 3 1" lu "$input"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n' > "$input"
expect 1 "the file ends early" lu "$input"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n' > "$input"
expect 1 "not an entry of a matrix of order 2: 1 3 1" lu "$input"
printf '%%%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n6\n9\n' > "$input"
expect 1 "the matrix is singular: no pivot in column 2" lu "$input"
printf '%%%%MatrixMarket matrix array integer skew-symmetric\n2 2\n7\n' > "$input"
expect 0 "1 row exchanges, log10 |det A| = 1.690196" lu "$input"
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n\n1 1\n%% c\n2 1\n' > "$input"
expect 0 "0 row exchanges, log10 |det A| = 0.000000" lu "$input"

expect 2 "--log2: '27' is not a whole number from 0 to 26" fft --log2=27
expect 1 "$missing: No such file or directory" fft "$missing"
expect 1 "no numbers in it" fft -
printf '1 2\nthree' > "$input"
expect 1 "not a number after 2 numbers" fft "$input"

expect 2 "--size: '2x9' is not ROWSxCOLS" heat --size=2x9
expect 2 "--size: '9x9x' is not ROWSxCOLS" heat --size=9x9x
expect 2 "--steps: '-1' is not a whole number" heat --steps=-1
expect 1 "$missing: No such file or directory" heat --plate="$missing"
expect 1 "not a PGM picture" heat --plate="$input"
printf 'P2 3 3 255 1 2 3 4' > "$input"
expect 1 "expected a number from 0 to 255" heat --plate="$input"
printf 'P5 3 3 255 1234' > "$input"
expect 1 "the file ends early" heat --plate="$input"
printf 'P2 # width, height\n2 3 9  1 2 3 4 5 6' > "$input"
expect 1 "smaller than 3 x 3" heat --plate="$input"
expect 2 "--points: '2' is not a whole number" heat_areas --points=2
expect 2 "unexpected argument 'more'" heat_areas more
expect 1 "$missing/picture: No such file or directory" heat --steps=1 --picture="$missing/picture"
