"""BSPlib for Python: Bulk Synchronous Parallel programs over numpy arrays.

    import bsp
    import numpy as np

    bsp.begin()
    left = np.zeros(1, dtype=np.int64)
    bsp.push_reg(left)
    bsp.sync()
    bsp.put((bsp.pid() + 1) % bsp.nprocs(), bsp.pid(), left)
    bsp.sync()
    print(f"process {bsp.pid()} of {bsp.nprocs()}: {left[0]} is on my left")
    bsp.end()

Run it with `bsprun -n 4 python3 prog.py`. The calls are those of bsp.h, with positions and sizes in
elements. Import bsp before numpy: a process of a job has one processor, and one thread, or it
cannot be saved (docs/python.md, "Checkpoints").

What can be seen on the calling process to be wrong is a Python exception, and nothing has been
done. What only the processes together can know ends the job, with a message and status 6. So does
an exception that nobody catches between begin and end, while others wait at a barrier.
"""

import functools
import os
import sys

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# pylint: disable=wrong-import-position
import numpy as np

from bsp import _native

__all__ = [
    "abort", "begin", "broadcast", "checkpoint", "end", "exchange", "gather", "get", "hpget",
    "hpput", "messages", "nprocs", "pid", "pop_reg", "push_reg", "put", "qsize", "reduce", "scan",
    "scatter", "send", "set_tagsize", "sync", "time"
]


def begin(maxprocs=None):
    """Begins the SPMD part with min(maxprocs, processes of the job) processes; the value given on
    pid 0 counts, and the others give 1 or more. Processes that are not needed leave. Cost: l."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)  # A line leaves when it is printed.
    _native.begin(nprocs() if maxprocs is None else maxprocs)
    sys.excepthook = functools.partial(_end_job, sys.excepthook)


def _end_job(hook, kind, value, traceback):
    """Of an exception that nobody caught: others may wait at a barrier that never comes."""
    hook(kind, value, traceback)
    if _native.running():
        sys.stderr.flush()
        text = f": {value}" if str(value) else ""
        _native.fail("python3", f"{kind.__name__} was not caught{text}")


def end():
    """Ends the SPMD part; a barrier. Cost: l."""
    _native.end()


def abort(text):
    """Prints the text on the job's standard error and ends the job, exit status 6."""
    sys.stdout.flush()
    _native.abort(text)


def nprocs():
    """Before begin: the number of processes of the job. After it: p."""
    return _native.nprocs()


def pid():
    """This process, 0 <= pid() < nprocs()."""
    return _native.pid()


def time():
    """Seconds since this process's begin."""
    return _native.time()


def sync():
    """Ends the superstep: all communication issued in it, by any process, has taken effect when it
    returns. Cost: h*g + l."""
    _native.sync()


# ---- Memory that others can read and write


def push_reg(array):
    """Registers a contiguous array, from the next superstep on. Collective; sizes may differ. The
    array is kept alive until pop_reg."""
    _native.push_reg(array)


def pop_reg(array):
    """Removes the newest registration of the array, from the next superstep on. Collective."""
    _native.pop_reg(array)


def put(to, src, dst, offset=0):
    """Copies src, an array or what numpy makes one of, to the elements of dst from `offset` on at
    process `to`, at the end of the superstep. src may be changed when the call returns. Error: more
    than `to` has registered, which ends the job. Adds the bytes of src to h."""
    _native.put(to, src, dst, offset)


def hpput(to, src, dst, offset=0):
    """The same, unbuffered: the array src must not change until the end of the superstep."""
    _native.hpput(to, src, dst, offset)


def get(source, src, offset, dst):
    """Copies the elements of src from `offset` on at process `source` to the array dst, as many as
    it has, at the end of the superstep. Adds the bytes of dst to h."""
    _native.get(source, src, offset, dst)


def hpget(source, src, offset, dst):
    """The same, unbuffered."""
    _native.hpget(source, src, offset, dst)


# ---- Messages


def set_tagsize(nbytes):
    """Messages have tags of this size from the next superstep on. Collective. Returns the value set
    by the call before, 0 at first."""
    return _native.set_tagsize(nbytes)


def send(to, payload, tag=b""):
    """Sends payload, bytes or a contiguous array, to the queue of process `to`, where it can be
    read in the next superstep. The tag has the size that set_tagsize gave. Adds both to h."""
    _native.send(to, payload, tag)


def qsize():
    """(messages in the queue, bytes of their payloads)."""
    return _native.qsize()


def messages(dtype=np.uint8, tags=False):
    """Takes the messages of the queue one by one, in the order of the pids that sent them and of
    issue: each a read-only array of `dtype`, or with `tags` a pair (tag as bytes, array). An array
    lies where the message has arrived, and must not be used after the next sync; .copy() it."""
    dtype = np.dtype(dtype)
    while (message := _native.take(dtype)) is not None:
        yield message if tags else message[1]


# ---- Collectives: all processes call them alike. Each ends the superstep, and takes one or more.

# numpy finds the type of a number from its value: 0 is an int64 and 0.5 a float64. So it travels
# with the name of its type, in as many bytes as of any other type.
_NAME_BYTES, _NUMBER_BYTES = 16, 32


@functools.lru_cache
def _named_type(number):
    return np.dtype({
        "names": ["type", "number"],
        "formats": [f"S{_NAME_BYTES}", number],
        "offsets": [0, _NAME_BYTES],
        "itemsize": _NAME_BYTES + max(_NUMBER_BYTES, number.itemsize)
    })


def _named(x):
    """The number x with the name of its type: an array of one element."""
    number = np.array(x)
    if number.dtype.hasobject:
        raise TypeError(f"x is {x!r}, which is no number; all processes give one, or all an array")
    named = np.zeros(1, _named_type(number.dtype))
    named["type"] = number.dtype.str
    named["number"] = number
    return named


def _require_one_type(call, one, other):
    if one != other:
        names = [np.dtype(name.decode()).name for name in (one, other)]
        _native.fail(call, f"elements of {names[0]} on one process, and of {names[1]} on another; "
                           "convert them to one type")


def _require_alike(call, x):
    """With BSP_CHECK=full: ends the job if the array x has another type on another process."""
    if "full" not in os.environ.get("BSP_CHECK", "").split(","):
        return
    mine = np.array([x.dtype.str], "S64")

    def same(left, right):
        _require_one_type(call, left[0], right[0])
        return left

    _native.fold(mine, np.empty_like(mine), same, mine.itemsize)


def broadcast(root, x):
    """x of process root on all processes: an array is overwritten and returned; of a number that of
    root is returned, whatever type the others give, and written into an array without dimensions
    (an error, if it does not fit); of any other value (a list) the array that numpy makes of it, of
    the same type on all."""
    if np.ndim(x) == 0:
        return _broadcast_number(root, x)
    x = np.asarray(x)
    _require_alike("bsp.broadcast", x)
    _native.broadcast(root, x)
    return x


def _broadcast_number(root, x):
    """The x of root, also into x if that is an array. One process may have such an array where
    another has a number, so both travel alike."""
    if isinstance(x, np.ndarray) and not x.flags.writeable:
        raise ValueError("x is read-only")
    named = _named(x)
    _native.broadcast(root, named)
    name, mine = named["type"][0].decode(), named["number"].dtype
    # The name of a structured type has no fields.
    value = np.frombuffer(named.tobytes(), mine if mine.str == name else name, 1, _NAME_BYTES)[0]
    if isinstance(x, np.ndarray):
        x[...] = _native.elements(value, x.dtype)
    return value


def _reduced(call, x, op):
    name = f"bsp.{call.__name__.replace('fold', 'reduce')}"
    if np.ndim(x) == 0:
        named = _named(x)

        def combine(left, right):
            _require_one_type(name, left["type"][0], right["type"][0])
            both = left.copy()
            np.copyto(both["number"], op(left["number"], right["number"]))
            return both

        result = np.empty_like(named)
        call(named, result, combine, named.itemsize)
        return result["number"][0]
    values = np.ascontiguousarray(x)
    _require_alike(name, values)
    result = np.empty_like(values)
    together = 1 if isinstance(op, np.ufunc) else values.size  # Other functions may see all.
    call(values.reshape(-1), result.reshape(-1), op, together * values.itemsize)
    return result


def reduce(x, op=np.add):
    """x of process 0, op x of process 1, and so on, on all processes, element by element. x is a
    number, or an array of one shape, and of one type on all; op is np.add, np.maximum, or any
    associative function of two one-dimensional arrays, which gives a third. Large arrays are cut
    for numpy's own."""
    return _reduced(_native.fold, x, op)


def scan(x, op=np.add):
    """The same of the x of processes 0 to this one, this one included."""
    return _reduced(_native.scan, x, op)


def gather(root, x):
    """The x of all processes on root, as an array whose first index is the pid; elsewhere None."""
    is_number = np.ndim(x) == 0
    x = _named(x) if is_number else np.ascontiguousarray(x)
    if not is_number:
        _require_alike("bsp.gather", x)
    all_x = np.empty((nprocs(),) + x.shape if pid() == root else 0, x.dtype)
    _native.gather(root, x, all_x)
    if pid() != root:
        return None
    if not is_number:
        return all_x
    for name in all_x["type"][:, 0]:
        _require_one_type("bsp.gather", name, x["type"][0])
    return all_x["number"][:, 0].copy()


def scatter(root, blocks, x):
    """blocks[i] of root into the array x of process i. blocks, an array of the type of x or what
    numpy makes one of, counts on root alone; what does not fit into elements of x is an error."""
    if pid() != root:
        blocks = np.empty(0, x.dtype)
    elif not isinstance(blocks, np.ndarray):
        blocks = _native.elements(blocks, x.dtype)
    elif blocks.dtype != x.dtype:
        raise TypeError(f"elements of {blocks.dtype} in place of {x.dtype}; convert them")
    _require_alike("bsp.scatter", x)
    _native.scatter(root, np.ascontiguousarray(blocks), x)


def exchange(blocks):
    """blocks[i] goes to process i; the result's [j] is what came from process j."""
    blocks = np.ascontiguousarray(blocks)
    if blocks.ndim == 0 or blocks.shape[0] != nprocs():
        raise ValueError(f"the first index of blocks must count the {nprocs()} processes")
    _require_alike("bsp.exchange", blocks)
    result = np.empty_like(blocks)
    _native.exchange(blocks, result)
    return result


# ---- Checkpoints of the program's own


def checkpoint(*arrays):
    """Makes the arrays all that an image of this process holds, in place of the whole interpreter:
    small, and any machine can go on with it. Collective, once; a process may have no arrays.
    Returns 0 if the job starts anew; else the arrays have been filled, and it returns the superstep
    that they are from."""
    return _native.checkpoint(*arrays)
