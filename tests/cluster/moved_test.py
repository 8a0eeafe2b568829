#!/usr/bin/env python3
"""A coordinator that comes back at another address of the same name, as behind DNS: its workers
look the name up again in time, and their jobs lose nothing."""

import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from harness import small_disk
from harness.cluster import Cluster
from harness.enduring import Enduring
from harness.scratch import scratch_directory

HOSTS = "/etc/hosts"
NO_MOUNT = small_disk.enter_namespace()


def move(coordinator, old, new):
    """For its next start."""
    coordinator.command = [word.replace(f"{old}:", f"{new}:") for word in coordinator.command]


@unittest.skipIf(NO_MOUNT, NO_MOUNT)
class MovedTest(unittest.TestCase):
    def setUp(self):
        self.hosts = os.path.join(self.enterContext(scratch_directory()), "hosts")
        self.name("127.0.0.1")
        subprocess.run(["mount", "--bind", self.hosts, HOSTS], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", HOSTS], check=True)

    def name(self, address):
        """The machine `head` has this address from now on."""
        with open(self.hosts, "w", encoding="ascii") as file:
            file.write(f"127.0.0.1 localhost\n{address} head\n")

    def test_workers_find_it_within_their_time(self):
        job = Enduring(nprocs=2, supersteps=100)
        with Cluster(workers=0) as cluster:
            port = cluster.address.rpartition(":")[2]
            cluster.control_address = f"head:{port}"
            cluster.add_worker("w1", 2)
            cluster.await_workers(1)
            number = job.submit(cluster)
            job.await_superstep(cluster, number, 5)
            self.assertEqual(cluster.coordinator.stop(), [])
            self.name("127.0.0.2")
            move(cluster.coordinator, "127.0.0.1", "127.0.0.2")
            cluster.restart_coordinator()
            cluster.address = f"127.0.0.2:{port}"
            job.check_end(cluster, number)
            self.assertEqual(cluster.show(number)["losses"], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
