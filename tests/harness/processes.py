"""Processes of this machine as /proc shows them, and which of them belong to one test.

A test marks what it starts with a variable in the environment, which every descendant inherits. A
zombie has no environment any more: so a test is the subreaper of all that it starts, and zombies
that their parents did not reap become its children.
"""

import ctypes
import os
import signal
import sys

MARK = "BSPNOW_TEST"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# They would make a launcher part of another job.
OF_OTHER_JOBS = ("BSP_COORDINATOR", "BSP_NPROCS")


# ---- This process ---------------------------------------------------------------------------

def become_subreaper():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def clean_up_on_sigterm():
    """SIGTERM raises SystemExit, so that every `with` and `finally` is left as usual."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def end_with_parent():
    """In a child, before it becomes another program: SIGTERM when its parent has died."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def environment(mark=None, **more):
    """The environment for a process that is started: ours, with the mark and more variables."""
    result = {name: value for name, value in os.environ.items() if name not in OF_OTHER_JOBS}
    return {**result, **({MARK: mark} if mark else {}), **more}


def reap():
    """Reaps zombies that became our children."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


# ---- Others ---------------------------------------------------------------------------------

def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # The process has just ended, or is another user's.
        return b""


def describe(pid):
    status = read(f"/proc/{pid}/stat").decode(errors="replace").rpartition(")")[2].split()
    command = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
    return f"process {pid} ({command}, state {status[0] if status else 'gone'})"


def marked(mark):
    """The ids of all processes that carry the mark, except zombies."""
    setting = f"{MARK}={mark}".encode()
    return [int(name) for name in os.listdir("/proc") if name.isdigit()
            and int(name) != os.getpid()
            and setting in read(f"/proc/{name}/environ").split(b"\0")]


def children_of(pid):
    return [int(word) for word in read(f"/proc/{pid}/task/{pid}/children").split()]


def program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def kill(*pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # It has just ended.


def as_ordinary_user(command):
    """The command, such that what root would start runs as a user of its own: a worker runs no
    program as root. In a user namespace, since a test's sandbox has no other user."""
    if os.geteuid() != 0:
        return command
    return ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", *command]
