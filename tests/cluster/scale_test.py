#!/usr/bin/env python3
"""64 workers and a job of 256 processes on all of them."""

import re
import sys
import unittest

sys.dont_write_bytecode = True

from harness.cluster import Cluster
from harness.programs import path_of

WORKERS = 64
SLOTS = 4


class ScaleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(workers=WORKERS, slots=SLOTS))

    def test_256_processes_on_64_workers(self):
        done = self.cluster.bsprun("--nodes", WORKERS, "-n", WORKERS * SLOTS,
                                   path_of("everybody"), 5)
        self.assertEqual(done.stdout, f"right on all {WORKERS * SLOTS} processes\n")
        self.assertEqual(done.stderr, "")

    def test_an_example_verifies(self):
        done = self.cluster.bsprun("--nodes", WORKERS, "-n", WORKERS * SLOTS,
                                   "examples/inner_product", "--verify")
        self.assertTrue(re.search("^verified: ", done.stdout, re.MULTILINE), done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
