#!/usr/bin/python3
# Source: docs/python.md
# Claim: Arrays are registered, put and got, in elements, buffered and unbuffered; a put takes an
#   array, a number or a list; other arrays of the same memory name the same area.
# Procs: 1 2 4 7
import bsp
import numpy as np

bsp.begin()
p, me = bsp.nprocs(), bsp.pid()
right, left = (me + 1) % p, (me - 1) % p

area = np.full(6, -1.0)
matrix = np.zeros((3, 2), dtype=np.int32)
bsp.push_reg(area)
bsp.push_reg(matrix)
bsp.sync()

source = np.array([me + 0.5, me + 0.25])
bsp.put(right, source, area, 1)
source[:] = 99  # Buffered: it was copied.
bsp.put(right, me, area)
bsp.put(right, [[me, 7]], matrix, 2)
got = np.empty(2, dtype=np.int32)
bsp.get(right, matrix, 2, got)  # Before any put is written.
assert area[0] == -1.0
bsp.sync()
assert list(area) == [left, left + 0.5, left + 0.25, -1, -1, -1], area
assert matrix.tolist() == [[0, 0], [left, 7], [0, 0]], matrix
assert list(got) == [0, 0]

large = np.arange(100000, dtype=np.int64) + me
room = np.empty(100000, dtype=np.int64)
bsp.push_reg(large)
bsp.push_reg(room)
bsp.sync()
bsp.hpput(right, large, room)
bsp.sync()
assert (room == np.arange(100000) + left).all()
there = np.empty(50000, dtype=np.int64)
bsp.hpget(left, large, 50000, there)
bsp.get(right, large, 0, room[:10])
bsp.sync()
assert (there == np.arange(50000, 100000) + left).all()
assert (room[:10] == np.arange(10) + right).all()

bsp.pop_reg(large)
bsp.put(right, me, large[:1])  # Valid until the barrier, and a part that begins there names it.
bsp.sync()
assert large[0] == left
try:
    bsp.put(right, me, large)
except ValueError as error:
    assert "not registered" in str(error)
else:
    bsp.abort("a put into a popped array")

record = np.zeros(2, dtype=[("key", np.int16), ("value", np.float64)])
bsp.push_reg(record)
bsp.sync()
mine = np.array([(me, 0.5)], dtype=record.dtype)
bsp.put(right, mine, record, 1)
bsp.sync()
assert record["key"].tolist() == [0, left] and record["value"][1] == 0.5
assert bsp.time() > 0
if me == 0:
    print("ok")
bsp.end()
