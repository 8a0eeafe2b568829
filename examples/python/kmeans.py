#!/usr/bin/python3
"""Clusters points by k-means (Lloyd 1957), by a reduction in each iteration.

    bsprun -n 4 python3 kmeans.py --verify

Process s has a block of the n points of d coordinates. An iteration: w = n k d / p, and the
reduction of k (d + 1) numbers.
"""

import argparse
import sys

import bsp
import numpy as np

import blocks


def make_points(n, first, end):
    """Points first to end of n, around 5 centres, the same whoever makes them."""
    i = np.arange(first, end)
    noise = np.modf(np.outer(i + 1, [0.754877666, 0.569840291, 0.438671])) [0]
    centres = np.array([[j, 2 * j % 5, 3 * j % 5] for j in range(5)], dtype=float)
    return centres[i * 5 // n] + noise


def nearest(points, centres):
    distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    return distances.argmin(axis=1)


def sums_of(points, centres):
    """For each centre the sum of the points that are nearest to it, and their number."""
    cluster = nearest(points, centres)
    columns = [np.bincount(cluster, column, len(centres)) for column in points.T]
    return np.column_stack([*columns, np.bincount(cluster, minlength=len(centres))])


def moved(centres, sums):
    """An empty cluster stays where it is."""
    count = sums[:, -1:]
    return np.where(count > 0, sums[:, :-1] / np.maximum(count, 1), centres)


def main():
    parser = argparse.ArgumentParser(description="k-means")
    parser.add_argument("--n", type=int, default=20000, help="points [20000]")
    parser.add_argument("--k", type=int, default=5, help="clusters [5]")
    parser.add_argument("--iterations", type=int, default=20, help="[20]")
    parser.add_argument("--verify", action="store_true", help="compare with sequential iterations")
    options = parser.parse_args()
    n = options.n
    bsp.begin()
    p, me = bsp.nprocs(), bsp.pid()
    points = make_points(n, blocks.begin(n, p, me), blocks.begin(n, p, me + 1))
    start = make_points(n, 0, n)[np.arange(options.k) * n // options.k]
    centres = start
    for _ in range(options.iterations):
        centres = moved(centres, bsp.reduce(sums_of(points, centres)))
    bsp.end()
    if me != 0:
        return
    for centre in centres:
        print("  ".join(f"{x:9.6f}" for x in centre))
    if options.verify:
        wanted, points = start, make_points(n, 0, n)
        for _ in range(options.iterations):
            wanted = moved(wanted, sums_of(points, wanted))
        if not np.allclose(centres, wanted, rtol=1e-9):
            sys.exit("verification failed: sequential iterations give other centres")
        print(f"verified: {options.k} centres as by sequential iterations")


if __name__ == "__main__":
    main()
