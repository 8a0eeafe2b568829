#!/usr/bin/python3
# Source: docs/python.md
# Claim: Collective calls take numbers and arrays of any shape, and operations of numpy or of the
#   program's own, in the order of pids.
# Procs: 1 2 4 7
import bsp
import numpy as np

bsp.begin()
p, me = bsp.nprocs(), bsp.pid()
root = p - 1

assert bsp.broadcast(root, me * 1.5) == root * 1.5
assert bsp.broadcast(root, 0.5 if me == root else 0) == 0.5
assert bsp.broadcast(root, "root" if me == root else "another") == "root"
pair = np.dtype([("count", np.int32), ("share", np.float64)])
both = bsp.broadcast(root, np.array((me, me * 0.5), pair)[()])
assert both["count"] == root and both["share"] == root * 0.5
mixed = np.array(me * 1.5) if me % 2 else me
expected = root * 1.5 if root % 2 else root
assert bsp.broadcast(root, mixed) == expected and (me % 2 == 0 or mixed == expected)
matrix = np.full((100, 300), me)
assert (bsp.broadcast(root, matrix) == root).all() and (matrix == root).all()

assert bsp.reduce(me) == p * (p - 1) // 2
assert bsp.reduce(me, np.maximum) == p - 1
assert isinstance(bsp.reduce(me), np.int64) and isinstance(bsp.reduce(me * 0.5), np.float64)
assert bsp.reduce(me == root, np.logical_or) and bsp.reduce(1j * me) == 1j * (p * (p - 1) // 2)
assert bsp.scan(me + 1) == (me + 1) * (me + 2) // 2
sums = bsp.reduce(np.arange(6.0).reshape(2, 3) + me)
assert sums.shape == (2, 3) and sums[1, 2] == 5 * p + p * (p - 1) / 2


def compose(first, then):
    """x -> a x + b, modulo 1009: does not commute."""
    a, b = first
    c, d = then
    return [a * c % 1009, (c * b + d) % 1009]


def of(process):
    return np.array([process + 2, 3 * process + 1])


whole, mine = of(0), of(0)
for process in range(1, p):
    whole = np.array(compose(whole, of(process)))
    if process <= me:
        mine = np.array(compose(mine, of(process)))
assert (bsp.reduce(of(me), compose) == whole).all()
assert (bsp.scan(of(me), compose) == mine).all()

all_squares = bsp.gather(0, me * me)
assert (me == 0) == (all_squares is not None)
if me == 0:
    assert all_squares.tolist() == [i * i for i in range(p)]
    assert all_squares.shape == (p,) and all_squares.dtype == np.int64
pairs = bsp.gather(root, np.array([me, -me]))
if me == root:
    assert pairs.shape == (p, 2) and pairs[:, 1].tolist() == [-i for i in range(p)]
part = np.empty(2)
bsp.scatter(root, np.arange(2.0 * p).reshape(p, 2) if me == root else None, part)
assert part.tolist() == [2 * me, 2 * me + 1]
received = bsp.exchange(np.array([[100 * me + to] for to in range(p)]))
assert received.tolist() == [[100 * source + me] for source in range(p)]
if me == 0:
    print("ok")
bsp.end()
