#!/usr/bin/env bash
# cost_test.sh SOURCE HEADER...: of each pair of functions in SOURCE, CName and CxxName, both are
# the same instructions. So bsp.hpp costs nothing beyond the C calls. HEADER: those included.
set -euo pipefail

source=$1
shift
directories=()
for header in "$@"; do directories+=(-I"$(dirname -- "$header")"); done
assembly=$TEST_TMPDIR/cost.s

# instructions FUNCTION: without directives, labels and comments.
instructions() {
  sed -n "/^$1:/,/\.cfi_endproc/p" "$assembly" | grep -vE '^[^[:space:]]|^[[:space:]]+[.#]' |
    sed -E 's/[[:space:]]+#.*//; s/\.L[A-Za-z_0-9]+//'
}

for compiler in g++ clang++; do
  # Else GCC would make one function of each pair.
  options=()
  if [[ $compiler == g++ ]]; then options=(-fno-ipa-icf); fi
  "$compiler" -std=c++17 -O2 -S "${options[@]}" "${directories[@]}" "$source" -o "$assembly"
  pairs=0
  while IFS= read -r name; do
    [[ -n $(instructions "Cxx$name") ]] || exit 1
    if ! diff <(instructions "C$name") <(instructions "Cxx$name"); then
      echo "$compiler: C (<) and C++ (>) differ in $name"
      exit 1
    fi
    pairs=$((pairs + 1))
  done < <(sed -n 's/^Cxx\([A-Za-z]*\):.*/\1/p' "$assembly")
  ((pairs == 6)) || exit 1
  echo "$compiler: $pairs pairs of functions are the same instructions"
done
