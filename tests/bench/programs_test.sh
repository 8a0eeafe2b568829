#!/usr/bin/env bash
# Runs each program of the bench with small sizes: it must find its results right (each checks them
# itself) and report every figure that the driver asks it for. BSPRUN and PROGRAMS may name another
# bsprun and another directory of programs.
set -euo pipefail

bsprun=${BSPRUN:-client/bsprun}
programs=${PROGRAMS:-tests/bench}

# reports FIGURES COMMAND...: the command succeeds, and prints a positive number for each figure.
reports() {
  local figures=$1 output figure
  shift
  output=$("$@") || {
    printf 'FAILED: %s\n%s\n' "$*" "$output" >&2
    exit 1
  }
  for figure in $figures; do
    if ! grep -Eq "^figure ${figure//./\\.} [0-9.e+-]+$" <<< "$output" ||
      grep -Eq "^figure ${figure//./\\.} (-|0$)" <<< "$output"; then
      printf 'no figure %s from: %s\n%s\n' "$figure" "$*" "$output" >&2
      exit 1
    fi
  done
}

for p in 1 2 4; do
  reports 'sync sync.p99 sync.steps' "$bsprun" -n "$p" "$programs/bench_sync" 0.01
  reports 'put.64 hpput.64 get.64 hpget.64 send.64 put.65536 send.65536' \
    "$bsprun" -n "$p" "$programs/bench_exchange" even 0.01 64 65536
  reports 'put put.cold send hpmove get' "$bsprun" -n "$p" "$programs/bench_random" 0.01 5000
  reports 'one.live same.live random.live register' \
    "$bsprun" -n "$p" "$programs/bench_registrations" 0.01 500
  reports 'bcast.8 reduce.8 scan.8 bcast.400000 reduce.400000 scan.400000' \
    "$bsprun" -n "$p" "$programs/bench_collectives" 0.01 8 400000
  reports 'sort.100 sort.30000' "$bsprun" -n "$p" "$programs/bench_sort" 0.01 100 30000
  reports 'inner inner.p99' "$bsprun" -n "$p" "$programs/bench_inner_product" 0.01
  reports '' "$bsprun" -n "$p" "$programs/bench_nothing"
  reports 'sync' "$programs/limit" "$p" barrier 0.01
done
for program in "$programs/bench_puts" "$programs/bench_puts_typed" "$programs/bench_puts.py"; do
  PYTHONPATH=$PWD/runtime/python PYTHONDONTWRITEBYTECODE=1 \
    reports 'put.8 put.1048576' "$bsprun" -n 2 "$program" 0.01
done
reports 'sync' "$bsprun" -n 2 "$programs/bench_sync" 0.01 1000
reports 'put.65536 hpput.65536 get.65536 hpget.65536 send.65536' \
  "$bsprun" -n 2 "$programs/bench_exchange" other 0.01 65536
for p in 2 4; do
  reports 'put hpput' "$bsprun" -n "$p" "$programs/bench_pieces" 0.01 32768 9
done
for p in 2 4; do
  reports '1b.16 2a.16 2b.16 3a.16 3b.16 1b.700 3b.700' \
    "$bsprun" -n "$p" "$programs/bench_search" 3 16 700
done
for p in 1 2 5; do
  reports 'gsend.1000 tree.2.1000 tree.4.1000 ptree.4.1000 ptree.64.1000 scaga.1000' \
    "$bsprun" -n "$p" "$programs/bench_broadcast" 2 1000 3
done
for p in 2 4; do
  reports 'sync oblsync sync.ring oblsync.ring sync.pair oblsync.pair half.one half.both group' \
    "$bsprun" -n "$p" "$programs/bench_groups" 3 20
done
reports 'one one.cold one.second' "$bsprun" -n 4 "$programs/bench_one_put" time 4 1000000
reports '' "$bsprun" -n 4 "$programs/bench_one_put" hold 1 1000000
reports 'copy.4096' "$programs/limit" 2 memcpy 0.01 4096
reports 'store' "$programs/limit" 2 stores 0.01 5000
for p in 1 2 5; do
  reports 'sync blocking' "$programs/raw_tcp" "$p" barrier 0.01
done
for congestion in reno default; do
  reports 'exchange.64 exchange.100000' "$programs/raw_tcp" 2 exchange "$congestion" 0.01 64 100000
  reports 'stream.100000' "$programs/raw_tcp" 2 stream "$congestion" 0.01 100000
done
