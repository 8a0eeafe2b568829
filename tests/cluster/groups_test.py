#!/usr/bin/env python3
"""Jobs whose processes split into groups, on several nodes: every process checks all that it gets
against a model, and the output is that of one node, whatever happens meanwhile."""

import os
import random
import sys
import unittest

sys.dont_write_bytecode = True

from harness import disturbances
from harness.cluster import Cluster, COMMAND_S
from harness.programs import path_of
from harness.reference import Reference
from harness.scratch import scratch_directory
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

    def test_show_says_since_when_groups_hinder_a_checkpoint(self):
        """On one node and on two: until the groups come together, then there is a checkpoint."""
        for workers, slots in ((1, 4), (2, 2)):
            with scratch_directory() as directory, \
                    Cluster(workers=workers, slots=slots, seed=SEED) as cluster:
                together, end = (os.path.join(directory, name) for name in ("together", "end"))
                job = cluster.submit("-n", 4, "--checkpoint=every=200ms", path_of("apart"),
                                     together, end)
                self.await_hindered(cluster, job, 4)
                self.assertEqual(cluster.show(job)["checkpoints"]["count"], 0)
                self.assertRegex(cluster.bsp("show", job).stdout,
                                 r"not saved +waits for a barrier of the root group:"
                                 r" 4 processes have had groups open for 0:\d\d")
                open(together, "w", encoding="ascii").close()
                self.await_hindered(cluster, job, 0)
                wait_until(lambda: cluster.show(job)["checkpoints"]["count"] >= 1,
                           f"job {job} has a checkpoint", COMMAND_S)
                open(end, "w", encoding="ascii").close()
                cluster.bsp("wait", job)

    def test_processes_on_two_nodes_that_wait_for_each_other(self):
        """The job ends with an error, and one that only computes for long does not."""
        with Cluster(workers=2, slots=1, seed=SEED) as cluster:
            late = cluster.submit("-n", 2, path_of("circle"), 9)
            self.assertEqual(cluster.bsp("wait", late).returncode, 0)
            stuck = cluster.bsprun("-n", 2, path_of("circle"), check=False)
            self.assertEqual(stuck.returncode, 1)
            self.assertRegex(
                stuck.stderr,
                r"2 processes wait for each other, and none can go on: pid 0 waits at the end of"
                r" superstep 0 of group 1 \(pids 0 1\) for pid 1, which waits at the end of"
                r" superstep 0 of group 1\.1 \(pids 0 1\) for pid 0;")

    def test_processes_that_wait_for_each_other_where_supersteps_end_by_counts(self):
        """At a barrier that is the workers' and at one of which a process may go ahead."""
        with Cluster(workers=1, slots=2, seed=SEED) as cluster:
            self.assertEqual(cluster.bsprun("-n", 2, path_of("circle"), "counts", 20).returncode, 0)
        with Cluster(workers=2, slots=1, seed=SEED) as cluster:
            for before, superstep in ((0, "0"), (500, "50[01]")):  # Lanes need some time.
                stuck = cluster.bsprun("-n", 2, path_of("circle"), "counts", before, check=False)
                self.assertEqual(stuck.returncode, 1)
                self.assertRegex(
                    stuck.stderr,
                    r"2 processes wait for each other, and none can go on: pid 0 waits at the end"
                    rf" of superstep {superstep} of the job for pid 1, which waits at the end of"
                    r" superstep 0 of group 1 \(pids 0 1\) for pid 0;")

    @staticmethod
    def await_hindered(cluster, job, processes):
        wait_until(lambda: cluster.show(job)["checkpoints"]["in_groups"] == processes,
                   f"groups of {processes} processes hinder checkpoints of job {job}", COMMAND_S)

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
