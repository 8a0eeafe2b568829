#!/usr/bin/env python3
"""64 workers and a job of 256 processes on all of them, and one on as many as have lanes."""

import json
import re
import sys
import unittest
import urllib.request

sys.dont_write_bytecode = True

from harness.cluster import Cluster
from harness.programs import path_of

WORKERS = 64
SLOTS = 4
WITH_LANES = 31  # kDirectHostsMax in coordinator/core/jobs/job_record.h.


class ScaleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(
            workers=WORKERS, slots=SLOTS,
            coordinator_options=["--metrics", "127.0.0.1:0"]))

    def barriers_of_the_coordinator(self):
        address = self.cluster.coordinator.addresses()["metrics"]
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as page:
            text = page.read().decode()
        return int(re.search(r"^bspnow_barriers_total (\d+)", text, re.MULTILINE)[1])

    def test_256_processes_on_64_workers(self):
        done = self.cluster.bsprun("--timing", "--json", "--nodes", WORKERS, "-n",
                                   WORKERS * SLOTS, path_of("everybody"), 5)
        self.assertEqual(done.stdout, f"right on all {WORKERS * SLOTS} processes\n")
        # The first registers, in the last but one pid 0 hears of all, and bsp_end ends one more.
        self.assertEqual(json.loads(done.stderr)["supersteps"], 1 + 5 + 2)

    def test_nodes_release_themselves_as_far_as_there_are_lanes(self):
        supersteps = 40
        for nodes, most in ((WITH_LANES, 5), (WITH_LANES + 1, None)):
            before = self.barriers_of_the_coordinator()
            done = self.cluster.bsprun("--nodes", nodes, "-n", 2 * nodes, path_of("everybody"),
                                       supersteps)
            self.assertEqual(done.stdout, f"right on all {2 * nodes} processes\n")
            released = self.barriers_of_the_coordinator() - before
            if most is None:
                self.assertGreaterEqual(released, supersteps)
            else:
                self.assertLessEqual(released, most)

    def test_an_example_verifies(self):
        done = self.cluster.bsprun("--nodes", WORKERS, "-n", WORKERS * SLOTS,
                                   "examples/inner_product", "--verify")
        self.assertTrue(re.search("^verified: ", done.stdout, re.MULTILINE), done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
