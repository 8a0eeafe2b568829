#!/usr/bin/env python3
"""Connections break, stall, deliver wrong bits or single bytes, in any superstep: the result and
the output are those of an undisturbed run, byte by byte. Prints seeds and numbers of faults.

With another seed: bazel run //tests/cluster:faults_test -- 7
"""

import itertools
import sys
import unittest

sys.dont_write_bytecode = True

from harness.cluster import Cluster
from harness.programs import path_of
from harness.reference import Reference
from harness.seed import seed

SEED = seed()
P = 6
SUPERSTEPS = 40
LARGE_BYTES = 300_000
TRIALS = 3
TRIALS_MAX = 30
KINDS = ("flip", "reset", "stall", "halfopen")


class FaultsTest(unittest.TestCase):
    """Each test is one kind of fault, on a cluster of its own: so what a seed does there does not
    depend on the tests before."""

    references = {}

    def reference(self, command):
        return self.references.setdefault(tuple(command), Reference(P, command))

    def disturb(self, routes, supersteps=SUPERSTEPS, large_bytes=LARGE_BYTES, trials=TRIALS,
                **faults):
        """Runs a job several times on three nodes, while the connections of `routes` have these
        faults: `trials` times, and until there was one of each kind."""
        kinds = [kind for kind in KINDS if kind in faults]
        command = [path_of("mixed"), supersteps, large_bytes]
        with Cluster(workers=3, slots=2, proxied=routes, seed=SEED) as cluster:
            cluster.bsprun("-n", P, command[0], 1, large_bytes)  # So the workers have the program.
            for route in self.names(cluster, routes):
                cluster.proxy.faults(route, **faults)
            for trial in itertools.count():
                counts = cluster.proxy.counts()
                if trial >= trials and all(counts[kind] for kind in kinds):
                    break
                self.assertLess(trial, TRIALS_MAX, f"one of {kinds} did not happen: {counts}")
                done = cluster.bsprun("--nodes", 3, "-n", P, *command)
                self.reference(command).check(done.stdout,
                                              f"seed {SEED}, trial {trial}, {faults}: the job")
                self.assertEqual(done.stderr, "")
        print(f"{self.id().rpartition('.')[2]}: {faults} on {'/'.join(routes)}, seed {SEED}: "
              f"{counts}", flush=True)
        return counts

    @staticmethod
    def names(cluster, routes):
        """The names of the proxy's routes: `data` stands for one for each worker."""
        named = [route for route in routes if route != "data"]
        return named + (list(cluster.workers) if "data" in routes else [])

    def test_nothing_wrong(self):
        self.assertGreater(self.disturb(["data", "barrier"])["connections"], 6)

    def test_resets_between_workers(self):
        self.disturb(["data"], reset=1_000_000)

    def test_resets_between_workers_and_coordinator(self):
        self.disturb(["barrier"], reset=4_000)

    def test_resets_of_control(self):
        self.disturb(["control"], reset=20_000)

    def test_stalls(self):
        self.disturb(["data"], stall=1_000_000, stall_ms=100)
        self.disturb(["barrier"], stall=4_000, stall_ms=50)

    def test_stall_that_is_longer_than_anyone_waits(self):
        self.disturb(["data"], trials=1, stall=20_000_000, stall_ms=5_000)

    def test_delay(self):
        self.disturb(["data", "barrier"], supersteps=10, trials=1, delay_ms=5)

    def test_flipped_bits_between_workers(self):
        self.disturb(["data"], flip=1_000_000)

    def test_flipped_bits_between_workers_and_coordinator(self):
        self.disturb(["barrier"], flip=4_000)

    def test_half_open_connections(self):
        self.disturb(["data"], trials=1, halfopen=10_000_000)

    def test_single_bytes(self):
        self.disturb(["data", "barrier"], supersteps=8, large_bytes=20_000, trials=1, piece=1)

    def test_small_pieces(self):
        self.disturb(["data", "barrier"], trials=1, piece=300)

    def test_everything_at_once(self):
        self.disturb(["data"], flip=3_000_000, reset=3_000_000, stall=3_000_000, stall_ms=20,
                     delay_ms=1, piece=20_000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
