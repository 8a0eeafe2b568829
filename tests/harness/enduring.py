"""A job that is disturbed while it runs, and must give what an undisturbed run gives: the same
output, each line once, and the same file."""

import os

from harness.client import Client
from harness.cluster import COMMAND_S, ENDED
from harness.programs import Programs
from harness.reference import Reference
from harness.scratch import scratch_directory
from harness.waiting import Failed, wait_until

FILE = "digests.txt"


class Enduring:
    """Runs `partitioned`, which uses PUB and BSPlib, or another program that takes the same
    arguments, with a pause in each superstep. The reference needs no pauses."""

    def __init__(self, nprocs=4, supersteps=60, large_bytes=20_000, pause_ms=50, programs=None,
                 program="partitioned"):
        programs = programs or Programs()
        self.nprocs, self.pause_ms = nprocs, pause_ms
        self.command = [programs[program], supersteps, large_bytes]
        self.reference = Reference(nprocs, self.command, programs)

    def arguments(self, *options):
        return ["-n", self.nprocs, "--max-restarts", 1000, *options, *self.command, self.pause_ms]

    def submit(self, cluster, *options):
        return cluster.submit(*self.arguments(*options))

    def attach(self, cluster, *options):
        """Starts it with bsprun; the client is for check_client."""
        return Client(cluster, "bsprun", *self.arguments(*options))

    def await_superstep(self, cluster, job, superstep):
        wait_until(lambda: self.superstep(cluster, job) >= superstep,
                   f"job {job} reaches superstep {superstep}", COMMAND_S)

    @staticmethod
    def superstep(cluster, job):
        shown = cluster.show(job)
        if shown["state"] in ENDED:
            raise Failed(f"job {job} has ended: {shown}")
        return shown["totals"]["supersteps"]

    @staticmethod
    def await_commits(cluster, job, count=1):
        wait_until(lambda: cluster.show(job)["checkpoints"]["count"] >= count,
                   f"job {job} has {count} checkpoints", COMMAND_S)

    def check_end(self, cluster, job):
        """Waits until it has ended, and raises Failed if its status, output or file are not those
        of an undisturbed run. Returns what `bsp show` prints."""
        shown = self.reference.check_job(cluster, job)
        with scratch_directory() as directory:
            cluster.bsp("fetch", "--dir", directory, job)
            self.check_file_in(directory, f"job {job}", shown)
        return shown

    def check_client(self, client):
        """Waits until bsprun has ended, and raises Failed if its status or output are not those of
        an undisturbed run."""
        status = client.end()
        if status != 0:
            raise Failed(f"bsprun ended with status {status}:"
                         f" {self.reference.difference(client.output)}\n{client.error}")
        self.reference.check(client.output, "bsprun", client.error)

    def check_file_in(self, directory, what, more=""):
        """Raises Failed if the file is another. Pid 0 writes what it prints of each superstep."""
        wanted = [line for line in self.reference.lines[-1] if line.startswith("superstep")]
        with open(os.path.join(directory, FILE), encoding="ascii") as file:
            got = file.read().splitlines()
        if got != wanted:
            raise Failed(f"{what} left another file: {len(got)} lines, not {len(wanted)}\n{more}")
