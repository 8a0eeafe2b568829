#!/usr/bin/env bash
# heat_picture_test.sh BSPRUN HEAT: pictures in and out.
set -euo pipefail

bsprun=$(readlink -f "$1")
heat=$(readlink -f "$2")
cd "$TEST_TMPDIR"

# Without a step, the picture that comes out is the one that went in, whatever its form.
printf 'P2\n# white edges\n4 3\n3\n3 3 3 3  3 0 1 3  3 3 3 3\n' > text.pgm
printf 'P5\n4 3\n255\n\377\377\377\377\377\000\125\377\377\377\377\377' > bytes.pgm
for p in 1 2; do
  for plate in text.pgm bytes.pgm; do
    "$bsprun" -n "$p" "$heat" --plate="$plate" --steps=0 --picture=out.pgm --verify
    cmp bytes.pgm out.pgm
  done
done

# The inner points tend to the temperature of the edge.
"$bsprun" -n 2 "$heat" --plate=text.pgm --steps=200 --picture=out.pgm --verify
{ printf 'P5\n4 3\n255\n' && printf '\377%.0s' {1..12}; } | cmp - out.pgm
