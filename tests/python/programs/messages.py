#!/usr/bin/python3
# Source: docs/python.md
# Claim: Bytes and arrays are sent with tags and without, and arrive in the order of pid and issue,
#   as arrays of any type that cannot be written to.
# Procs: 1 2 4 7
import bsp
import numpy as np

bsp.begin()
p, me = bsp.nprocs(), bsp.pid()

for to in range(p):
    bsp.send(to, np.array([me, to], dtype=np.int32))
    bsp.send(to, np.full((2, 2), me, dtype=np.int32))
bsp.sync()
assert bsp.qsize() == (2 * p, 2 * p * 4 + 2 * p * 8), bsp.qsize()
for number, message in enumerate(bsp.messages(np.int32)):
    source = number // 2
    assert message.tolist() == ([source, me] if number % 2 == 0 else [source] * 4)
    try:
        message[0] = 0
    except ValueError:
        pass
    else:
        bsp.abort("a message was written to")
assert bsp.qsize() == (0, 0)

assert bsp.set_tagsize(3) == 0
try:
    bsp.send(0, b"early", b"abc")
except ValueError as error:
    assert "in this superstep tags have 0" in str(error)
bsp.sync()
bsp.send((me + 1) % p, b"hello", b"abc")
bsp.send((me + 1) % p, b"", memoryview(b"xyz"))
bsp.send((me + 1) % p, bytearray(b"\1\2"), np.frombuffer(b"123", dtype=np.uint8))
bsp.sync()
got = [(tag, payload.tobytes()) for tag, payload in bsp.messages(tags=True)]
assert got == [(b"abc", b"hello"), (b"xyz", b""), (b"123", b"\1\2")], got
assert bsp.set_tagsize(0) == 3
bsp.sync()

bsp.send(me, b"12345")
bsp.sync()
try:
    list(bsp.messages(np.int32))
except ValueError as error:
    assert "5 bytes is no whole number of elements of 4" in str(error)
else:
    bsp.abort("five bytes were read as numbers")
if me == 0:
    print("ok")
bsp.end()
