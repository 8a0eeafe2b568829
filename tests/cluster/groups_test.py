#!/usr/bin/env python3
"""Jobs whose processes split into groups, on several nodes: every process checks all that it gets
against a model, and the output is that of one node, whatever happens meanwhile."""

import random
import sys
import unittest

sys.dont_write_bytecode = True

from harness import disturbances
from harness.cluster import Cluster, COMMAND_S
from harness.programs import path_of
from harness.reference import Reference
from harness.seed import seed
from harness.shards import load_tests  # unittest looks for it here.
from harness.waiting import wait_until

SEED = seed()


class GroupsTest(unittest.TestCase):
    def check(self, workers, slots, nprocs, trees, *options, **cluster_options):
        command = [path_of("groups"), trees, SEED]
        reference = Reference(nprocs, command)
        with Cluster(workers=workers, slots=slots, seed=SEED, **cluster_options) as cluster:
            job = cluster.submit("-n", nprocs, *options, *command)
            return reference.check_job(cluster, job)

    def test_on_two_nodes(self):
        self.check(2, 2, 4, 10)

    def test_on_three_nodes_one_process_more_on_two(self):
        self.check(3, 2, 5, 8)

    def test_one_process_a_node(self):
        self.check(4, 1, 4, 8)

    def test_connections_break(self):
        def cut(cluster, job, chance):
            for _ in range(4):
                print(disturbances.cut(cluster, job, chance), flush=True)
        self.disturbed(cut, workers=3, proxied=["data", "barrier"])

    def test_processes_and_workers_are_killed(self):
        def kill(cluster, job, chance):
            disturbances.kill_process(cluster, job, chance)
            wait_until(lambda: any(loss["resumed"] for loss in cluster.show(job)["losses"]),
                       "it runs again", COMMAND_S)
            disturbances.kill_worker(cluster, job, chance)
        self.assertIn("lost at superstep", self.disturbed(kill, workers=4))

    def disturbed(self, disturb, workers, **cluster_options):
        """A checkpoint is taken where no group is open, and the job goes on from it."""
        command = [path_of("groups"), 20, SEED]
        reference = Reference(5, command)
        with Cluster(workers=workers, slots=2, seed=SEED, **cluster_options) as cluster:
            job = cluster.submit("-n", 5, "--max-restarts", 100, "--checkpoint=every=200ms",
                                 *command, 50)
            wait_until(lambda: cluster.show(job)["checkpoints"]["count"] >= 1,
                       f"job {job} has a checkpoint", COMMAND_S)
            disturb(cluster, job, random.Random(SEED))
            return reference.check_job(cluster, job)


if __name__ == "__main__":
    unittest.main()
