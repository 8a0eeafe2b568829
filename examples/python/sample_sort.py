#!/usr/bin/python3
"""Sorts random numbers by regular sampling (Shi and Schaeffer, 1992), as sort_numbers.cc does.

    bsprun -n 4 python3 sample_sort.py --n=1000000 --verify

Supersteps, for n numbers: each process sorts n/p and puts p samples into an array of everybody's,
w = n log n / p, h = 8 p^2; each sends every process the numbers between two splitters, h = 16 n/p;
each sorts what it got.
"""

import argparse
import sys

import bsp
import numpy as np

import blocks


def numbers(first, end):
    """Random numbers first to end, the same whoever makes them (SplitMix64)."""
    x = (np.arange(first, end, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def sort(mine):
    """This process's part of all numbers in order; `mine` are those that it begins with."""
    p, me = bsp.nprocs(), bsp.pid()
    mine = np.sort(mine)
    samples = np.full(p * p, np.iinfo(np.uint64).max, dtype=np.uint64)
    bsp.push_reg(samples)
    bsp.sync()
    chosen = mine[[blocks.begin(len(mine), p, i) for i in range(min(p, len(mine)))]]
    for to in range(p):
        bsp.put(to, chosen, samples, p * me)
    bsp.pop_reg(samples)
    bsp.sync()
    splitters = np.sort(samples)[p::p]
    cuts = [0, *np.searchsorted(mine, splitters), len(mine)]
    for to in range(p):
        bsp.send(to, mine[cuts[to]:cuts[to + 1]])
    bsp.sync()
    return np.sort(np.concatenate(list(bsp.messages(np.uint64))), kind="stable")


def main():
    parser = argparse.ArgumentParser(description="sample sort of random numbers")
    parser.add_argument("--n", type=int, default=200000, help="numbers [200000]")
    parser.add_argument("--verify", action="store_true", help="compare with a sequential sort")
    options = parser.parse_args()
    n = options.n
    bsp.begin()
    p, me = bsp.nprocs(), bsp.pid()
    part = sort(numbers(blocks.begin(n, p, me), blocks.begin(n, p, me + 1)))
    bsp.send(0, part)
    bsp.sync()
    whole = np.concatenate(list(bsp.messages(np.uint64))) if me == 0 else None
    bsp.end()
    if me != 0:
        return
    print(f"{n} numbers from {whole[0]:016x} by {whole[n // 2]:016x} to {whole[-1]:016x}")
    if options.verify:
        if not (whole == np.sort(numbers(0, n))).all():
            sys.exit("verification failed: a sequential sort differs")
        print(f"verified: {n} numbers as by a sequential sort")


if __name__ == "__main__":
    main()
