"""What a cluster left behind: processes, job directories, files.

Processes are known by a variable in their environment, which every descendant of a daemon inherits,
processes of jobs too. A zombie has no environment, so whoever starts a cluster is the subreaper of
all that comes of it.
"""

import ctypes
import os
import signal
import time

MARK = "BSPNOW_CLUSTER"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
GRACE_S = 20.0


def become_subreaper():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def end_with_parent():
    """In a child, before it becomes another program: SIGTERM when whoever started it has died."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # It has just ended, or is another user's.
        return b""


def describe(pid):
    command = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
    return f"process {pid} ({command})"


def processes(mark):
    """The ids of all processes that carry the mark, zombies not among them."""
    setting = f"{MARK}={mark}".encode()
    return [int(name) for name in os.listdir("/proc") if name.isdigit()
            and int(name) != os.getpid()
            and setting in read(f"/proc/{name}/environ").split(b"\0")]


def await_none(find):
    """What `find` still finds after a generous time."""
    until_s = time.monotonic() + GRACE_S
    found = find()
    while found and time.monotonic() < until_s:
        time.sleep(0.02)
        found = find()
    return found


def processes_left(mark):
    """Complains about processes, and ends them."""
    left = await_none(lambda: processes(mark))
    complaints = [describe(pid) for pid in left]
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return complaints


def files_below(directory):
    return [os.path.join(at, name) for at, _, names in os.walk(directory) for name in names]


def entries(directory):
    """What lies in a directory; nothing if there is none."""
    try:
        return [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
    except FileNotFoundError:
        return []


def shared_memory():
    """Files of bspnow's in /dev/shm: it keeps its memory in files without a name."""
    return {name for name in entries("/dev/shm") if "bsp" in os.path.basename(name)}
