#!/usr/bin/env python3
"""What `bsp probe` measures of a cluster, or of this machine without one, is what programs know of
it from then on, and what their collective calls choose by."""

import json
import sys
import unittest

sys.dont_write_bytecode = True

from harness.cluster import Cluster
from harness.programs import path_of

P = 2
BYTES_PER_WORD = 4
TRACE = {"BSP_TRACE": "collectives"}


class ProbeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(workers=2, slots=2))

    def check_known(self, run, measured):
        """The program's calls have given what was measured, and chosen by that."""
        processes, flops, g, l, half_words = map(float, run.stdout.split())
        g_ns, l_ns = measured["g_total_ns_per_byte"], measured["l_ns"]
        self.assertEqual(processes, P)
        self.assertAlmostEqual(flops / measured["r_flops"], 1, delta=1e-4)
        self.assertAlmostEqual(l / (l_ns * flops * 1e-9), 1, delta=1e-4)
        if measured["half_bytes"] > 0:
            self.assertAlmostEqual(half_words, measured["half_bytes"] / BYTES_PER_WORD, delta=1)
        self.check_l(run, float(f"{l_ns:.6g}"))
        if g_ns > 0:  # Else the machine did something else, and it says nothing.
            self.assertAlmostEqual(g / (g_ns * BYTES_PER_WORD * flops * 1e-9), 1, delta=1e-4)
            self.assertIn(f"g = {g_ns:g} ns a byte", run.stderr)

    def check_l(self, run, l_ns):
        self.assertIn(f"l = {l_ns / 1000:g} us", run.stderr)

    def test_jobs_know_what_was_measured_with_as_many_processes(self):
        def run(p, *options):
            return self.cluster.bsprun("-n", p, "--nodes", 2, *options, path_of("machine"),
                                       variables=TRACE)
        self.check_l(run(P), 5000)  # That of a table.
        probe = self.cluster.bsp("probe", "-n", P, "--nodes", 2, "--json")
        measured = json.loads(probe.stdout)
        self.check_known(run(P), measured)
        self.check_l(run(3), 7000)
        self.check_l(run(P, "--env", "BSP_MACHINE=l=8000"), 8000)
        self.cluster.coordinator.kill()
        self.cluster.restart_coordinator()
        self.cluster.await_workers(2)
        job = self.cluster.submit("-n", P, "--nodes", 2, "--env", "BSP_TRACE=collectives",
                                  path_of("machine"))
        self.cluster.bsp("wait", job)
        self.check_known(self.cluster.bsp("logs", job), measured)

    def test_programs_without_a_cluster_know_what_was_measured_here(self):
        here = {**TRACE, "BSP_COORDINATOR": "", "XDG_STATE_HOME": self.cluster.path("state")}
        def run(p):
            return self.cluster.bsprun("-n", p, path_of("machine"), variables=here)
        self.check_l(run(P), 1600)
        probe = self.cluster.bsp("probe", "-n", P, "--json", variables=here)
        measured = json.loads(probe.stdout)
        self.check_known(run(P), measured)
        self.check_l(run(3), 2400)
        shown = json.loads(self.cluster.bsp("probe", "--show", "--json", variables=here).stdout)
        self.assertEqual(shown, {name: measured[name] for name in shown})


if __name__ == "__main__":
    unittest.main()
