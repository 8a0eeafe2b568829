#!/usr/bin/env python3
"""The disk of one daemon is really full while a job runs: nothing on it is lost, `bsp show`
names what the job waits for, and all goes on when there is room again."""

import os
import random
import sys
import unittest

sys.dont_write_bytecode = True

from harness import disturbances, small_disk
from harness.cluster import COMMAND_S, Cluster
from harness.enduring import Enduring
from harness.programs import path_of
from harness.scratch import scratch_directory
from harness.waiting import wait_until

DISK_BYTES = 64 << 20
NO_ROOM = r"[Nn]o space left|bytes left|disk is full"
NO_DISK = small_disk.enter_namespace()


@unittest.skipIf(NO_DISK, NO_DISK)
class FullDiskTest(unittest.TestCase):
    def setUp(self):
        root = self.enterContext(scratch_directory())
        self.disk = self.enterContext(
            small_disk.SmallDisk(os.path.join(root, "disk"), DISK_BYTES))

    def await_progress(self, job, cluster, number):
        job.await_superstep(cluster, number, job.superstep(cluster, number) + 5)

    def test_of_images(self):
        job = Enduring(nprocs=6, supersteps=150)
        with Cluster(workers=2, slots=2) as cluster:
            cluster.add_worker("small", 2, ["--checkpoint-dir", self.disk.directory])
            cluster.await_workers(3)
            number = job.submit(cluster, "--checkpoint=every=300ms")
            job.await_commits(cluster, number)
            self.disk.fill()
            before = self.last_failure(cluster, number)
            wait_until(lambda: self.last_failure(cluster, number) != before,
                       "a checkpoint is given up", COMMAND_S)
            self.assertRegex(self.last_failure(cluster, number), f"node small.*({NO_ROOM})")
            self.await_progress(job, cluster, number)
            self.disk.empty()
            wait_until(lambda: cluster.bsp("checkpoint", number, check=False).returncode == 0,
                       "a checkpoint succeeds again", COMMAND_S)
            disturbances.kill_process(cluster, number, random.Random(1))
            self.assertIn("resumed from", job.check_end(cluster, number))

    @staticmethod
    def last_failure(cluster, number):
        return cluster.show(number)["checkpoints"]["last_failure"]

    def test_of_a_node_that_is_to_start_jobs(self):
        job = Enduring(nprocs=2, supersteps=20)
        with Cluster(workers=1, slots=4, state_dirs={"small": self.disk.directory}) as cluster:
            cluster.add_worker("small", 4)
            cluster.await_workers(2)
            self.disk.fill()
            for number in [job.submit(cluster) for _ in range(4)]:
                job.check_end(cluster, number)
                self.assertEqual(cluster.show(number)["restarts"], 0)
            small = cluster.nodes()["small"]
            self.assertEqual(small["state"], "resting")
            self.assertRegex(small["reason"], NO_ROOM)
            self.disk.empty()
            wait_until(lambda: "small" in cluster.nodes_up(), "its rest ends", COMMAND_S)
            both = Enduring(nprocs=8, supersteps=5)
            both.check_end(cluster, both.submit(cluster))

    def test_of_a_job_that_fills_it(self):
        """It ends by that; the job beside it, and the node, go on."""
        beside = Enduring(nprocs=2, supersteps=60)
        with Cluster(workers=0, state_dirs={"small": self.disk.directory}) as cluster:
            cluster.add_worker("small", 4)
            cluster.await_workers(1)
            other = beside.submit(cluster)
            bad = cluster.submit("-n", 2, path_of("misbehaviour"), "disk", 1000)
            self.assertEqual(cluster.bsp("wait", bad, check=False).returncode, 1)
            shown = cluster.show(bad)
            self.assertRegex(shown["reason"], "disk of node small is nearly full: of its 64 MiB")
            self.assertEqual(shown["restarts"], 0)
            beside.reference.check_job(cluster, other)  # Its file may have come too late.
            self.assertEqual(cluster.nodes_up(), {"small"})

    def test_of_a_node_that_is_to_join(self):
        job = Enduring(nprocs=8, supersteps=5)
        self.disk.fill()
        with Cluster(workers=1, slots=4, state_dirs={"small": self.disk.directory}) as cluster:
            cluster.add_worker("small", 4)
            wait_until(lambda: cluster.nodes().get("small", {}).get("state") == "resting",
                       "`bsp nodes` shows it", COMMAND_S)
            self.assertRegex(cluster.nodes()["small"]["reason"], NO_ROOM)
            self.disk.empty()
            cluster.await_workers(2)
            job.check_end(cluster, job.submit(cluster))

    def test_of_files_that_a_job_leaves(self):
        """They wait, too, and the node does other work meanwhile."""
        script, go_on = (os.path.join(os.path.dirname(self.disk.directory), name)
                         for name in ("leaves", "go_on"))
        os.mkfifo(go_on)
        with open(script, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\nread line < {go_on}\nhead -c 3000000 /dev/urandom > left\n")
        os.chmod(script, 0o755)
        with Cluster(workers=1, slots=4,
                     state_dirs={"coordinator": self.disk.directory}) as cluster:
            number = cluster.submit("-n", 1, script)
            cluster.await_state(number, "running")
            with open(os.path.join(self.disk.directory, "more"), "wb") as more:
                more.write(bytes(1 << 20))
            self.disk.fill()
            os.unlink(more.name)  # The journal and the log have room, the file has not.
            with open(go_on, "w", encoding="ascii") as file:
                file.write("\n")
            wait_until(lambda: "files that it left wait" in cluster.show(number)["reason"],
                       "`bsp show` names the reason", COMMAND_S)
            self.assertRegex(cluster.show(number)["reason"], NO_ROOM)
            self.disk.empty()
            cluster.bsp("wait", number)
            cluster.bsp("fetch", "--dir", os.path.join(cluster.directory, "got"), number)
            self.assertEqual(
                os.path.getsize(os.path.join(cluster.directory, "got", "left")), 3000000)

    def test_of_the_coordinator(self):
        job = Enduring(supersteps=400)  # So that its log outgrows the block that it has.
        with Cluster(workers=3, slots=2,
                     state_dirs={"coordinator": self.disk.directory}) as cluster:
            number = job.submit(cluster, "--checkpoint=every=300ms")
            job.await_commits(cluster, number)
            self.disk.fill()
            wait_until(lambda: "until the coordinator's disk takes it" in
                       cluster.show(number)["reason"], "`bsp show` names the reason", COMMAND_S)
            # What the journal's file still has room for, it takes.
            accepted, refused = [], ""
            while not refused and len(accepted) < 100:
                done = cluster.bsp("submit", "-n", 7, *job.command, check=False)
                accepted += [int(done.stdout)] if done.returncode == 0 else []
                refused = done.stderr
            self.assertRegex(refused, f"{NO_ROOM}|journal does not take the job")
            self.assertEqual(cluster.state(number), "running")
            self.disk.empty()
            for other in accepted:
                cluster.bsp("cancel", other)
            self.assertNotIn("resumed from", job.check_end(cluster, number), "it was rolled back")
            self.assertNotIn("coordinator's disk", cluster.show(number)["reason"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
