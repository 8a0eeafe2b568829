#!/usr/bin/env python3
"""Python programs as jobs: an interpreter on each of three nodes, one of which is lost."""

import os
import shutil
import sys
import unittest

sys.dont_write_bytecode = True

from harness.cluster import Cluster
from harness.waiting import wait_until

PYTHON = "/usr/bin/python3"  # Debian's, which has numpy.
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "iterations.py")
PACKAGE = "runtime/python/bsp"


class PythonTest(unittest.TestCase):
    def start_cluster(self):
        """With the package in a directory that the workers' user can read."""
        cluster = self.enterContext(Cluster(workers=4, slots=1))
        packages = cluster.path("packages")
        shutil.copytree(PACKAGE, os.path.join(packages, "bsp"))
        os.chmod(packages, 0o755)
        self.options = ["-n", 3, "--env", f"PYTHONPATH={packages}", "--file", PROGRAM]
        return cluster

    def test_a_job_goes_on_after_the_loss_of_a_node(self):
        cluster = self.start_cluster()
        command = [PYTHON, os.path.basename(PROGRAM)]
        before = cluster.submit(*self.options, "--checkpoint=off", *command)
        cluster.bsp("wait", before)
        undisturbed = cluster.bsp("logs", before).stdout
        self.assertEqual(len(undisturbed.splitlines()), 250)
        job = cluster.submit(*self.options, "--checkpoint=every=5", *command)
        wait_until(lambda: cluster.show(job)["checkpoints"]["committed"] > 0,
                   "a checkpoint is committed")
        shown = cluster.bsp("show", job).stdout
        cluster.workers[next(name for name in cluster.workers if f"on {name} " in shown)].kill()
        done = cluster.bsp("wait", job, check=False)
        shown = cluster.bsp("show", job).stdout
        self.assertEqual(done.returncode, 0, shown)
        self.assertEqual(cluster.show(job)["restarts"], 1, shown)
        self.assertIn("resumed from", shown)  # And not from the start.
        self.assertEqual(cluster.bsp("logs", job).stdout, undisturbed)

    def test_a_process_with_threads_is_not_saved_and_the_reason_is_named(self):
        cluster = self.start_cluster()
        program = cluster.path("threads.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write("import threading, time, bsp\n"
                       "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
                       "bsp.begin()\n"
                       "for step in range(20):\n"
                       "    bsp.sync()\n"
                       "    time.sleep(0.05)\n"
                       "bsp.end()\n")
        job = cluster.submit(*self.options, "--file", program, "--checkpoint=every=1", PYTHON,
                             "threads.py")
        cluster.bsp("wait", job)
        checkpoints = cluster.show(job)["checkpoints"]
        self.assertEqual(checkpoints["committed"], 0)
        self.assertIn("the process has 1 other thread", checkpoints["last_failure"])


if __name__ == "__main__":
    unittest.main()
