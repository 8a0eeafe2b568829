#!/usr/bin/python3
# Source: docs/python.md
# Claim: What is wrong on the calling process is an exception, and the program can go on.
# Procs: 1 2 4 7
import bsp
import numpy as np


def raises(kind, text, call, *arguments):
    try:
        call(*arguments)
    except kind as error:
        if text not in str(error):
            bsp.abort(f"'{error}' in place of '{text}'")
    else:
        bsp.abort(f"{call.__name__}{arguments}: no {kind.__name__}")


array = np.zeros(4)
raises(RuntimeError, "call bsp.begin first", bsp.sync)
raises(RuntimeError, "call bsp.begin first", bsp.push_reg, array)
raises(RuntimeError, "call bsp.begin first", bsp.pid)
raises(ValueError, "maxprocs is 0", bsp.begin, 0)
bsp.begin()
p = bsp.nprocs()
raises(RuntimeError, "one bsp.begin", bsp.begin)
raises(ValueError, "not registered; call bsp.push_reg", bsp.put, 0, 1.0, array)
bsp.push_reg(array)
raises(ValueError, "registered in this superstep", bsp.put, 0, 1.0, array)
bsp.sync()
raises(IndexError, f"pid {p} is outside 0..{p - 1}", bsp.put, p, 1.0, array)
raises(IndexError, "pid -1 is outside", bsp.send, -1, b"")
raises(IndexError, f"pid {2**32} is outside 0..{p - 1}", bsp.put, 2**32, 1.0, array)
raises(IndexError, f"pid {2**64} is outside 0..{p - 1}", bsp.broadcast, 2**64, array)
raises(TypeError, "pid is 0.5; give a whole number", bsp.send, 0.5, b"")
raises(IndexError, "offset is -2", bsp.put, 0, 1.0, array, -2)
raises(IndexError, f"offset is {2**64} elements, beyond", bsp.put, 0, 1.0, array, 2**64)
raises(ValueError, "the tag size is -1;", bsp.set_tagsize, -1)
raises(IndexError, "beyond any area", bsp.put, 0, 1.0, array, 2**61)
raises(IndexError, "beyond any area", bsp.get, 0, array, 2**61, np.zeros(1))
raises(TypeError, "elements of int64 in place of float64", bsp.put, 0, np.arange(4), array)
raises(ValueError, "not contiguous", bsp.put, 0, np.zeros(8)[::2], array)
whole = np.zeros(1, np.uint8)
bsp.push_reg(whole)
bsp.sync()
raises(ValueError, "3.7 does not fit into elements of uint8", bsp.put, 0, 3.7, whole)
raises(ValueError, "does not fit", bsp.put, 0, [256], whole)
raises(ValueError, "does not fit", bsp.put, 0, -1, whole)
raises(ValueError, "does not fit", bsp.put, 0, float("nan"), whole)
bsp.put(np.int64(bsp.pid()), 7.0, whole, np.uint8(0))
bsp.put(bsp.pid(), 0.1, array.view())  # Rounding is what floats are for.
bsp.sync()
assert whole[0] == 7 and array[0] == 0.1
bsp.scatter(0, [8.0] * p if bsp.pid() == 0 else "none", whole)
assert whole[0] == 8
number = np.array(9)
if bsp.pid() == 0:
    bsp.broadcast(0, 0.5)
else:
    raises(ValueError, "does not fit into elements of int64", bsp.broadcast, 0, number)
assert number == 9
array[0] = 0
raises(ValueError, "could not convert", bsp.put, 0, ["x"], array)
raises(ValueError, "not contiguous", bsp.push_reg, np.zeros((4, 4))[:, 1])
raises(TypeError, "Python objects", bsp.push_reg, np.array([None]))
raises(TypeError, "array: numpy.ndarray", bsp.push_reg, [0, 1])
raises(TypeError, "pid is 0.5; give a whole number", bsp.put, 0.5, 1.0, array)
raises(TypeError, "dst: numpy.ndarray", bsp.put, 0, 1.0, [1.0])
raises(TypeError, "x is None, which is no number", bsp.broadcast, 0, None)
raises(TypeError, "Python objects", bsp.send, 0, np.array([None]))
raises(TypeError, "neither bytes nor a numpy array", bsp.send, 0, 3)
raises(TypeError, "", bsp.put, 0, 1.0, "text")
frozen = np.zeros(4)
frozen.setflags(write=False)
raises(ValueError, "read-only", bsp.push_reg, frozen)
raises(ValueError, "read-only", bsp.get, 0, array, 0, frozen)
raises(ValueError, "not registered", bsp.pop_reg, frozen)
raises(TypeError, "elements of float64 in place of int32", bsp.scatter, bsp.pid(), np.zeros(p),
       np.zeros(1, np.int32))
raises(ValueError, "does not fit into elements of int32", bsp.scatter, bsp.pid(), [0.5] * p,
       np.zeros(1, np.int32))
raises(ValueError, "does not fit into elements of uint8", bsp.scatter, bsp.pid(), [300] * p, whole)
raises(ValueError, "first index", bsp.exchange, np.zeros(p + 1))
raises(TypeError, "numpy array", bsp.checkpoint, array, [1.0])
raises(ValueError, "read-only", bsp.checkpoint, array, frozen)
assert bsp.checkpoint() == 0  # Nothing was registered by those calls, nor by this one.
raises(RuntimeError, "once, with all arrays", bsp.checkpoint, array)
bsp.send(bsp.pid(), b"12345")
bsp.sync()
raises(ValueError, "no whole number", next, bsp.messages(np.float64))
raises(TypeError, "Python objects", next, bsp.messages(object))
raises(TypeError, "no bytes", next, bsp.messages("V0"))
assert bsp.qsize() == (1, 5)  # Each of them has left the message where it was.
assert [m.tobytes() for m in bsp.messages()] == [b"12345"]
assert (array == 0).all()
if bsp.pid() == 0:
    print("ok")
bsp.end()
raises(RuntimeError, "before bsp.end", bsp.sync)
raises(RuntimeError, "one bsp.begin", bsp.begin)
