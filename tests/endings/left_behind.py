"""What a run left behind: processes, files, descriptors.

A run's processes are known by a variable in their environment, which every descendant inherits. A
zombie has no environment: the driver is the subreaper of all it starts, so zombies that nobody
reaped are its children.
"""

import ctypes
import os
import time

MARK = "BSPNOW_ENDING"
PR_SET_CHILD_SUBREAPER = 36
SHARED_DIRECTORIES = ("/dev/shm", "/tmp")
# What else of this project keeps something there, and may be at work at the same time.
OF_OTHERS = ("bspnow-bench-", "bspnow-cluster-")


def become_subreaper():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # It has just ended, or is another user's.
        return b""


def _describe(pid):
    status = _read(f"/proc/{pid}/stat").decode(errors="replace").rpartition(")")[2].split()
    command = _read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
    return f"process {pid} ({command}, state {status[0] if status else 'gone'})"


def processes(mark):
    """The ids of all processes of the run that `mark` names, except zombies."""
    setting = f"{MARK}={mark}".encode()
    return [int(name) for name in os.listdir("/proc") if name.isdigit()
            and setting in _read(f"/proc/{name}/environ").split(b"\0")]


def children_of(pid):
    return [int(word) for word in _read(f"/proc/{pid}/task/{pid}/children").split()]


def program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def _reap():
    """Zombies that the run left to us."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def _could_be_ours(name):
    return name.startswith("bsp") or "bspnow" in name


def _shared_files():
    """Names that could be bspnow's in places that all share."""
    found = set()
    for directory in SHARED_DIRECTORIES:
        try:
            found.update(os.path.join(directory, name) for name in os.listdir(directory)
                         if _could_be_ours(name) and not name.startswith(OF_OTHERS))
        except OSError:
            pass
    return found


def _sockets():
    """Unix sockets with a name, abstract ones included, that could be bspnow's."""
    lines = _read("/proc/net/unix").decode(errors="replace").splitlines()
    return {line.split()[7] for line in lines if len(line.split()) > 7
            and _could_be_ours(os.path.basename(line.split()[7]).lstrip("@"))}


class Before:
    """What was there before a run: what is there after it, and was not, is left behind."""

    def __init__(self):
        self.files = _shared_files()
        self.sockets = _sockets()
        self.descriptors = len(os.listdir("/proc/self/fd"))

    def left(self, mark, directory, grace_s):
        """Says what the run left. Processes may take `grace_s` to go: 0 where bsprun itself could
        end them. `directory` was made for the run, and was empty."""
        end_s = time.monotonic() + grace_s
        remaining = processes(mark)
        while remaining and time.monotonic() < end_s:
            time.sleep(0.01)
            remaining = processes(mark)
        result = [_describe(pid) for pid in remaining]
        _reap()
        result += [os.path.join(directory, name) for name in os.listdir(directory)]
        result += sorted(_shared_files() - self.files)
        result += [f"socket {name}" for name in sorted(_sockets() - self.sockets)]
        if len(os.listdir("/proc/self/fd")) > self.descriptors:
            result.append("a descriptor of the driver, which is the driver's bug")
        return result
