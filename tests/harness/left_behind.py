"""What a test leaves behind: processes, files, shared memory, sockets, descriptors."""

import os
import time

from harness import processes
from harness.waiting import what_stays

SHARED_MEMORY = "/dev/shm"
TEMPORARY_FILES = "/tmp"
# Another test's shared memory may be seen, too, but it does not stay that long.
SHARED_MEMORY_GRACE_S = 2.0


def entries(directory):
    """The paths of what lies in a directory; none if there is no such directory."""
    try:
        return [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
    except FileNotFoundError:
        return []


def files_below(directory):
    return [os.path.join(at, name) for at, _, names in os.walk(directory) for name in names]


def processes_left(mark, grace_s):
    """Kills the marked processes that still run after `grace_s`, and describes them."""
    left = what_stays(lambda: processes.marked(mark), grace_s)
    result = [processes.describe(pid) for pid in left]
    processes.kill(*left)
    return result


def children_left(grace_s):
    """The same, of all children. Those of a subreaper are all that it started: the children of a
    process that is killed become its own."""
    def find():
        processes.reap()
        return processes.children_of(os.getpid())
    result, left = [], what_stays(find, grace_s)
    while left:
        result += [processes.describe(pid) for pid in left]
        processes.kill(*left)
        time.sleep(0.01)
        left = find()
    return result


def shared_memory():
    """Shared memory that could be bspnow's. It has none with a name: none may ever stay."""
    return {path for path in entries(SHARED_MEMORY) if "bsp" in os.path.basename(path)}


def shared_memory_left(before):
    """Shared memory that was not there `before`, and stays."""
    left = shared_memory() - before
    if left:
        time.sleep(SHARED_MEMORY_GRACE_S)
        left &= shared_memory()
    return sorted(left)


def _could_be_ours(name):
    return name.startswith("bsp") or "bspnow" in name


def _files():
    """Files that could be bspnow's in directories that everybody shares."""
    return shared_memory() | {path for path in entries(TEMPORARY_FILES)
                              if _could_be_ours(os.path.basename(path))}


def _sockets():
    """Unix sockets with a name that could be bspnow's, abstract ones included."""
    lines = processes.read("/proc/net/unix").decode(errors="replace").splitlines()
    return {line.split()[7] for line in lines if len(line.split()) > 7
            and _could_be_ours(os.path.basename(line.split()[7]).lstrip("@"))}


def _descriptors():
    return len(os.listdir("/proc/self/fd"))


class Before:
    """What was there before a run: what is there after the run, and was not, is left behind."""

    def __init__(self):
        self.files, self.sockets, self.descriptors = _files(), _sockets(), _descriptors()

    def left(self, mark, directory, grace_s):
        """What the run left. Its processes get `grace_s` to end: 0 where bsprun itself could have
        ended them. `directory` was made for the run, and was empty."""
        result = processes_left(mark, grace_s)
        processes.reap()
        result += entries(directory)
        result += sorted(_files() - self.files)
        result += [f"socket {name}" for name in sorted(_sockets() - self.sockets)]
        if _descriptors() > self.descriptors:
            result.append("a descriptor of the driver, which is the driver's bug")
        return result
