"""A job that is disturbed while it runs, and what an undisturbed run of it gives: the same output,
byte by byte and once, and the same file."""

import os
import tempfile

from harness.client import Client
from harness.cluster import COMMAND_S, ENDED
from harness.daemon import Failed, wait_until
from harness.reference import alone, arranged, path_of

FILE = "digests.txt"


class Enduring:
    """`mixed` with pauses: so many processes and supersteps."""

    def __init__(self, nprocs=4, supersteps=60, large_bytes=20_000, pause_ms=50, binaries=None):
        self.nprocs, self.binaries = nprocs, binaries
        self.command = [path_of("mixed", binaries), supersteps, large_bytes]
        self.pause_ms = pause_ms
        self._expected = None

    @property
    def expected(self):
        """Without pauses it computes the same."""
        if self._expected is None:
            self._expected = alone(self.nprocs, self.command, self.binaries)
        return self._expected

    def arguments(self, *options):
        return ["-n", self.nprocs, "--max-restarts", 1000, *options, *self.command, self.pause_ms]

    def submit(self, cluster, *options):
        return cluster.submit(*self.arguments(*options))

    def attach(self, cluster, *options):
        """Runs it by bsprun; for check_client."""
        return Client(cluster, "bsprun", *self.arguments(*options))

    def await_superstep(self, cluster, job, superstep):
        wait_until(lambda: self.superstep(cluster, job) >= superstep,
                   f"job {job} reaches superstep {superstep}", COMMAND_S)

    @staticmethod
    def superstep(cluster, job):
        shown = cluster.show(job)
        if str(shown["state"]).lower() in ENDED:
            raise Failed(f"job {job} has ended: {shown}")
        return int(shown.get("totals", {}).get("supersteps", 0) or 0)

    @staticmethod
    def await_commits(cluster, job, count=1):
        wait_until(lambda: int(cluster.show(job).get("checkpoints", {}).get("count", 0) or 0)
                   >= count, f"job {job} has {count} checkpoints", COMMAND_S)

    def check_end(self, cluster, job):
        """Waits for it, and raises Failed if anything of it is not as in an undisturbed run."""
        ended = cluster.bsp("wait", job, check=False)
        shown = cluster.bsp("show", job, check=False).stdout
        if ended.returncode != 0:
            raise Failed(f"job {job} ended with status {ended.returncode}\n{ended.stderr}{shown}")
        log = cluster.bsp("logs", job)
        if arranged(log.stdout) != self.expected:
            raise Failed(f"job {job} printed something else: {self.difference(log.stdout)}\n"
                         f"{shown}")
        self.check_file(cluster, job, shown)
        return shown

    def check_client(self, client):
        """Waits for its end; raises Failed if that or what it printed is not as it should be."""
        status = client.end()
        if status != 0 or arranged(client.output) != self.expected:
            raise Failed(f"bsprun ended with status {status}: {self.difference(client.output)}\n"
                         f"{client.error}")
        return client

    def difference(self, printed):
        printed = arranged(printed)
        for pid, lines in sorted(self.expected.items()):
            got = printed.get(pid, [])
            for at, line in enumerate(lines):
                if at >= len(got) or got[at] != line:
                    return f"line {at} of {pid}: {got[at:at + 2]} instead of {line!r}"
            if len(got) > len(lines):
                return f"{len(got) - len(lines)} lines more of {pid}: {got[len(lines)]!r}"
        return f"lines of {sorted(set(printed) - set(self.expected))}"

    def check_file(self, cluster, job, shown):
        wanted = [line for line in self.expected.get(-1, []) if line.startswith("superstep")]
        with tempfile.TemporaryDirectory() as directory:
            cluster.bsp("fetch", "--dir", directory, job)
            with open(os.path.join(directory, FILE), encoding="ascii") as file:
                got = file.read().splitlines()
        if got != wanted:
            raise Failed(f"job {job} left another file: {len(got)} lines, not {len(wanted)}\n"
                         f"{shown}")
