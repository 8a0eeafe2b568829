"""bspnow over TCP: clusters on loopback, each a coordinator and workers started for the bench, and
jobs on all of their nodes."""

import glob
import urllib.request

from harness import processes
from harness.cluster import Cluster
from harness.programs import Programs
from systems import System

SLOTS = 64
COLUMNS = (("bspnow", "2 workers"), ("four", "4 workers"), ("eight", "8 workers"),
           ("mpich", "MPICH"), ("openmpi", "Open MPI"), ("machine", "raw TCP"))
# By number of processes: where each has a worker of its own, as each has an end point with MPI.
SPREAD = {2: "bspnow", 4: "four", 8: "eight"}


class OnCluster(System):
    """The programs of `bspnow` (systems.Bspnow) on a cluster of its own."""

    def __init__(self, bspnow, name, workers, congestion, slots=SLOTS, worker_options=(),
                 coordinator_options=()):
        super().__init__(bspnow.build_dir, bspnow.transport)
        self.name, self.bspnow, self.version = name, bspnow, bspnow.version
        self.workers = workers
        self.cluster = Cluster(workers, slots, Programs(bspnow.bin_dir),
                               worker_options=["--congestion", congestion, *worker_options],
                               coordinator_options=coordinator_options)

    def __enter__(self):
        self.cluster.__enter__()
        return self

    def __exit__(self, *exception):
        return self.cluster.__exit__(*exception)

    def command(self, program, nprocs, arguments):
        """The processes spread over as many of the nodes as there are processes."""
        launcher, *rest = self.bspnow.command(program, nprocs, arguments)
        return [launcher, "--coordinator", self.cluster.address,
                "--nodes", str(min(nprocs, self.workers)), *rest]

    def environment(self):
        """Of the cluster's clients: among it where they log in."""
        return self.cluster.client_environment()

    def daemons(self):
        return [daemon.process.pid
                for daemon in [self.cluster.coordinator, *self.cluster.workers.values()]]


class InSharedMemory(System):
    """The same programs on one machine without daemons, beside their figures over TCP."""
    name = "shm"

    def __init__(self, bspnow):
        super().__init__(bspnow.build_dir, bspnow.transport)
        self.command = bspnow.command


def processor_s(daemon):
    """Processor time that a daemon has used since its start, in seconds; to the nanosecond, where
    /proc/PID/stat counts in hundredths. A thread that has ended is not counted."""
    total_ns = 0
    for path in glob.glob("/proc/%d/task/*/schedstat" % daemon.process.pid):
        total_ns += int((processes.read(path).split() or [b"0"])[0])
    return total_ns / 1e9


def counter(daemon, name):
    """One of its metrics, which has no labels."""
    with urllib.request.urlopen("http://%s/metrics" % daemon.addresses()["metrics"]) as page:
        lines = page.read().decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name + " "))
