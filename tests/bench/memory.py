"""How much memory the processes of a job hold together, at most, while it runs.

Shared pages count once: shared memory by the size of its file, as long as one of the processes
holds that open, and all else by proportional set sizes.
"""

import collections
import os
import re
import time

SAMPLE_S = 0.005
LIST_S = 0.05
# Of /proc/PID/smaps: addresses, rights, offset, device, inode.
MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+)")
SESSION_FIELD = 3  # In /proc/PID/stat, of those after the command: state, ppid, pgrp, session.


def processes_of(*roots):
    """These processes, all that descends from them, and all of their sessions."""
    parents, members = {}, set(roots)
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % entry, encoding="ascii", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:  # It has ended meanwhile.
            continue
        parents[int(entry)] = int(fields[1])
        if int(fields[SESSION_FIELD]) in roots:
            members.add(int(entry))
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in members} - members
        members |= more
        grown = bool(more)
    return members


def proportional_nbytes(pid):
    """(device, inode) -> bytes of one process; what is mapped from no file has inode 0."""
    nbytes = collections.Counter()
    file = None
    with open("/proc/%d/smaps" % pid, encoding="utf-8", errors="replace") as mappings:
        for line in mappings:
            mapping = MAPPING.match(line)
            if mapping:
                major, minor, inode = mapping.groups()
                file = (os.makedev(int(major, 16), int(minor, 16)), int(inode))
            elif line.startswith("Pss:"):
                nbytes[file] += int(line.split()[1]) * 1024
    return nbytes


def shared_files(pid):
    """(device, inode) -> bytes, of the shared-memory files that a process holds open."""
    files = {}
    for descriptor in os.listdir("/proc/%d/fd" % pid):
        path = "/proc/%d/fd/%s" % (pid, descriptor)
        try:
            if os.readlink(path).startswith(("/memfd:", "/dev/shm/")):
                status = os.stat(path)
                files[(status.st_dev, status.st_ino)] = status.st_blocks * 512
        except OSError:  # Closed meanwhile.
            continue
    return files


def nbytes_held(pids):
    held = collections.Counter()
    files = {}
    for pid in pids:
        try:
            held.update(proportional_nbytes(pid))
            files.update(shared_files(pid))
        except OSError:  # It has ended meanwhile.
            continue
    return sum({**held, **files}.values())


class Peak:
    """Watches a job until it has ended; .nbytes is the most that was seen.

    The processes are looked at one after the other, so a page of a program that a second process
    just begins to share may count in both. Therefore every other round goes backwards, and of each
    two rounds that follow each other the smaller sum counts: a peak is what lasts for both.
    """

    def __init__(self, daemons=()):
        """`daemons`: processes that hold memory for the job and are not started by it."""
        self.nbytes = 0
        self.daemons = tuple(daemons)

    def watch(self, job, timeout_s):
        """job: a subprocess.Popen, the leader of its session."""
        end_s = time.monotonic() + timeout_s
        listed_s, pids, before = 0.0, [], 0
        while job.poll() is None and time.monotonic() < end_s:
            if time.monotonic() - listed_s > LIST_S:
                listed_s = time.monotonic()
                pids = sorted(processes_of(job.pid, *self.daemons))
            now = nbytes_held(pids)
            self.nbytes = max(self.nbytes, min(before, now))
            before = now
            pids.reverse()
            time.sleep(SAMPLE_S)
