#!/usr/bin/env python3
"""A worker that is told to end (SIGTERM, with --drain-timeout) first lets its jobs move: they lose
nothing, and its node is forgotten. So a rolling update of containers loses no work."""

import random
import signal
import sys
import unittest

sys.dont_write_bytecode = True

from harness import disturbances
from harness.cluster import COMMAND_S, Cluster
from harness.enduring import Enduring
from harness.seed import seed
from harness.waiting import wait_until

SEED = seed()
DRAINS = ("--drain-timeout", "60s")


class LeavingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.job = Enduring(supersteps=200)  # It must not end before it has moved.

    def submit(self, cluster):
        """A job that has a checkpoint; its number, and the name of one of its two nodes."""
        number = self.job.submit(cluster, "--checkpoint=every=300ms")
        self.job.await_commits(cluster, number)
        return number, disturbances.hosting_worker(cluster, random.Random(SEED))

    def cluster(self, workers, options=DRAINS):
        return self.enterContext(
            Cluster(workers=workers, slots=2, seed=SEED, worker_options=options))

    def check_end(self, cluster, number):
        shown = self.job.check_end(cluster, number)
        self.assertNotIn("resumed from", shown, "the job was rolled back")
        self.assertEqual(cluster.show(number)["restarts"], 0)

    def assert_ends_well(self, worker, process):
        self.assertEqual(process.wait(COMMAND_S), 0, worker.log())
        self.assertNotIn("event=not_drained", worker.log())

    def test_its_job_moves_and_loses_nothing(self):
        cluster = self.cluster(3)
        number, name = self.submit(cluster)
        worker = cluster.workers[name]
        worker.process.terminate()
        self.assert_ends_well(worker, worker.process)
        wait_until(lambda: name not in cluster.nodes(), f"{name} is forgotten", COMMAND_S)
        self.check_end(cluster, number)

    def test_its_job_waits_for_room(self):
        """There is no other node until this one comes back, as in an update one by one."""
        cluster = self.cluster(2)
        number, name = self.submit(cluster)
        worker = cluster.workers[name]
        told = worker.process
        told.terminate()
        self.assert_ends_well(worker, told)
        self.assertIn("needs 4 slots", cluster.show(number)["reason"])
        worker.start()
        self.check_end(cluster, number)

    def test_a_coordinator_that_was_restarted_is_told_again(self):
        cluster = self.cluster(3)
        number, name = self.submit(cluster)
        worker = cluster.workers[name]
        cluster.coordinator.kill()
        worker.process.terminate()
        wait_until(lambda: "event=leaving" in worker.log(), f"{name} leaves", COMMAND_S)
        cluster.restart_coordinator()
        self.assert_ends_well(worker, worker.process)
        self.check_end(cluster, number)

    def test_a_second_signal_ends_the_wait(self):
        """The job, on both nodes, goes back to its last checkpoint when there is room again."""
        cluster = self.cluster(2, options=("--drain-timeout", "1h"))
        number, name = self.submit(cluster)
        worker = cluster.workers[name]
        cluster.coordinator.pause()  # It answers nothing.
        told = worker.process
        told.terminate()
        wait_until(lambda: "event=leaving" in worker.log(), f"{name} leaves", COMMAND_S)
        told.send_signal(signal.SIGTERM)
        self.assertEqual(told.wait(COMMAND_S), 0, worker.log())
        cluster.coordinator.resume()
        worker.start()
        self.assertIn("resumed from", self.job.check_end(cluster, number))


if __name__ == "__main__":
    unittest.main(verbosity=2)
