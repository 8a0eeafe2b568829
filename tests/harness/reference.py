"""What a program prints when nothing disturbs it, on one node and without a coordinator; and the
comparison with what a job prints."""

import re
import subprocess

from harness import processes
from harness.programs import Programs
from harness.waiting import Failed

REFERENCE_S = 600


def by_pid(output):
    """The lines of an output by pid: those that begin with `pid N`, and all others at -1. The lines
    of one process keep their order; how those of several are mixed may differ from run to run."""
    lines = {}
    for line in output.splitlines():
        match = re.match(r"pid (\d+) ", line)
        lines.setdefault(int(match[1]) if match else -1, []).append(line)
    return lines


class Reference:
    """The output of `bsprun -n nprocs command`, which is run once, on first use."""

    def __init__(self, nprocs, command, programs=None):
        self.nprocs, self.command = nprocs, command
        self.programs = programs or Programs()
        self._lines = None

    @property
    def lines(self):
        if self._lines is None:
            self._lines = by_pid(self._run())
        return self._lines

    def _run(self):
        done = subprocess.run([self.programs["bsprun"], "-n", str(self.nprocs),
                               *map(str, self.command)],
                              env=processes.environment(), capture_output=True, text=True,
                              check=False, timeout=REFERENCE_S, stdin=subprocess.DEVNULL)
        if done.returncode != 0 or done.stderr or not done.stdout:
            raise Failed(f"without a cluster, {self.command} fails: {done.returncode}"
                         f" {done.stderr}")
        return done.stdout

    def difference(self, output):
        """The first difference of an output to this one; empty if it has the same lines."""
        printed = by_pid(output)
        for pid, lines in sorted(self.lines.items()):
            got = printed.get(pid, [])
            for at, line in enumerate(lines):
                if at >= len(got) or got[at] != line:
                    return f"line {at} of {pid}: {got[at:at + 2]} instead of {line!r}"
            if len(got) > len(lines):
                return f"{len(got) - len(lines)} lines more of {pid}: {got[len(lines)]!r}"
        more = set(printed) - set(self.lines)
        return f"lines of {sorted(more)}" if more else ""

    def check(self, output, what, more=""):
        """Raises Failed if an output, that of `what`, differs; `more` is part of the message."""
        if difference := self.difference(output):
            raise Failed(f"{what} printed something else: {difference}\n{more}")

    def check_job(self, cluster, job):
        """Waits until a job has ended, and raises Failed unless it succeeded with this output.
        Returns what `bsp show` prints."""
        ended = cluster.bsp("wait", job, check=False)
        shown = cluster.bsp("show", job, check=False).stdout
        if ended.returncode != 0:
            raise Failed(f"job {job} ended with status {ended.returncode}\n{ended.stderr}{shown}")
        self.check(cluster.bsp("logs", job).stdout, f"job {job}", shown)
        return shown
