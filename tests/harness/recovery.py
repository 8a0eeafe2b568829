"""Tests of a job that outlives what disturbs it: what they share, and what every kind of program
must survive. A seed decides what chance decides."""

import random
import time
import unittest

from harness import disturbances
from harness.cluster import COMMAND_S, Cluster
from harness.enduring import Enduring
from harness.seed import seed
from harness.waiting import wait_until

SEED = seed()
CHECKPOINTS = "--checkpoint=every=300ms"


class RecoveryCase(unittest.TestCase):
    """With a program that takes the arguments of Enduring's."""

    program = "partitioned"

    @classmethod
    def setUpClass(cls):
        cls.job = Enduring(program=cls.program)
        # Where it must not end before what is awaited.
        cls.long_job = Enduring(supersteps=200, program=cls.program)

    def cluster(self, workers=3, **options):
        """A cluster of nodes, any two of which have room for the job."""
        return Cluster(workers=workers, slots=2, seed=SEED, **options)

    def survive(self, disturb, *options, commits=1, cluster_options=None):
        """Runs the job with one disturbance; returns what `bsp show` prints in the end."""
        chance = random.Random(SEED)
        with self.cluster(**(cluster_options or {})) as cluster:
            number = self.job.submit(cluster, *(options or (CHECKPOINTS,)))
            self.job.await_superstep(cluster, number, 5)
            if commits:
                self.job.await_commits(cluster, number, commits)
            did = disturb(cluster, number, chance)
            self.assertFalse(did.startswith("no "), did)
            shown = self.job.check_end(cluster, number)
            print(f"{self.id().rpartition('.')[2]}: {did}", flush=True)
            return shown

    def cut_for(self, how, seconds):
        def cut(cluster, number, chance):
            routes = (disturbances.hosting_worker(cluster, chance), "barrier")
            for route in routes:
                cluster.proxy.now(how, route)
            time.sleep(seconds)
            for route in routes:
                cluster.proxy.now("heal", route)
            return f"{how} of {' and '.join(routes)} for {seconds} s"
        self.survive(cut, cluster_options={"proxied": ["data", "barrier"]})

    def leave_drained(self, drain):
        """`drain` (cluster, name) drains that node of the job, which ends on other nodes."""
        drained = []

        def leave(cluster, number, chance):
            name = disturbances.hosting_worker(cluster, chance)
            drain(cluster, name)
            wait_until(lambda: not disturbances.processes_of(cluster)[name],
                       "the processes leave a drained node", COMMAND_S)
            drained.append(name)
            return f"drained {name}"
        self.job = self.long_job
        shown = self.survive(leave)
        self.assertNotIn(f"on {drained[0]} ", shown)


class MainRecoveries:
    """What every kind of program must survive."""

    def test_process_is_killed(self):
        self.assertIn("resumed from", self.survive(disturbances.kill_process))

    def test_process_is_killed_before_the_first_checkpoint(self):
        shown = self.survive(disturbances.kill_process, "--checkpoint=off", commits=0)
        self.assertIn("from the start", shown)

    def test_all_processes_of_a_node_are_killed(self):
        self.survive(disturbances.kill_host)

    def test_worker_is_killed(self):
        self.assertIn("lost at superstep", self.survive(disturbances.kill_worker))

    def test_coordinator_is_killed(self):
        shown = self.survive(disturbances.kill_coordinator)
        self.assertNotIn("resumed from", shown, "the job was rolled back")

    def test_coordinator_and_worker_are_killed(self):
        shown = self.survive(disturbances.kill_coordinator_and_worker)
        self.assertIn("resumed from", shown)

    def test_image_is_damaged(self):
        """All that one node has, while none is written: that is found when they are read."""
        def damage(cluster, number, chance):
            name = disturbances.hosting_worker(cluster, chance)
            cluster.bsp("suspend", number)
            found = disturbances.images(cluster.workers[name])
            for path in found:
                disturbances.flip_bit(path, chance)
            cluster.bsp("resume", number)
            wait_until(lambda: any("event=image_replaced" in worker.log()
                                   for worker in cluster.workers.values()),
                       "a damaged image is replaced", COMMAND_S)
            return f"damaged {len(found)} images on {name}"
        self.survive(damage)

    def test_cut_both_ways(self):
        self.cut_for("cut", 3.0)

    def test_suspend_and_resume(self):
        def suspend(cluster, number, chance):
            cluster.bsp("suspend", number)
            self.assertEqual(cluster.state(number), "suspended")
            self.assertEqual(disturbances.processes_of(cluster), {"w1": [], "w2": [], "w3": []})
            cluster.bsp("resume", number)
            return "suspended and resumed"
        self.survive(suspend)

    def test_drained_node_is_left_without_rollback(self):
        self.leave_drained(lambda cluster, name: cluster.bsp("drain", name))
