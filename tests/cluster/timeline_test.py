#!/usr/bin/env python3
"""The time line of supersteps, of a program whose w, h and skew are prescribed: on one node, on two
that release each other, and on two that the coordinator releases. The machine may be loaded, so
what is asserted are sums, and what can only be more."""

import json
import os
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from harness import processes
from harness.cluster import Cluster
from harness.disturbances import processes_of
from harness.programs import Programs, path_of
from harness.waiting import wait_until

P = 4
SUPERSTEPS = 60  # Beside the one of bsp_push_reg and that of bsp_end.
W_US = 500
LATE_US = 10_000  # Long beside what a loaded machine adds to the others as a rule.
BEGIN_AND_END_US = 50_000  # At most.
BYTES = 5000
PROGRAM = [path_of("skewed"), SUPERSTEPS, W_US, LATE_US, BYTES]
COUNTED = SUPERSTEPS + 2
SENT = SUPERSTEPS // 2


class TimelineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(workers=2, slots=P))

    def check_sums(self, totals):
        self.assertEqual(totals["supersteps"], COUNTED)
        self.assertEqual(totals["processes"], P)
        self.assertEqual(totals["silent_supersteps"], COUNTED - SENT)
        for name, expected in [("h_bytes", 1), ("h_out_bytes", 1), ("h_in_bytes", 1),
                               ("bytes_out", P), ("bytes_in", P)]:
            self.assertEqual(totals[name], expected * SENT * BYTES, name)
        self.assertEqual(totals["messages"], P * SENT)
        self.assertEqual(totals["messages_in"], P * SENT)
        classes = totals["beyond"]
        self.assertEqual([of["supersteps"] for of in classes], [COUNTED - SENT, SENT])
        self.assertEqual([of["h_bytes"] for of in classes], [0, SENT * BYTES])

    def check_times(self, totals, elapsed_us):
        parts_ns = sum(totals[name] for name in
                       ("compute_ns", "waiting_ns", "release_ns", "exchange_ns"))
        self.assertAlmostEqual(parts_ns / totals["total_ns"], 1, delta=0.01)
        # By the program's own clock, which it reads after bsp_begin and before bsp_end.
        self.assertGreater(totals["total_ns"] / 1e3, 0.99 * elapsed_us)
        self.assertLess(totals["total_ns"] / 1e3, 1.01 * elapsed_us + BEGIN_AND_END_US)
        self.assertGreaterEqual(totals["w_ns"] / 1e3, SUPERSTEPS * (W_US + LATE_US))
        self.assertGreaterEqual(totals["compute_ns"] / 1e3, SUPERSTEPS * (W_US + LATE_US / P))
        # Who wakes up late has waited less for the others, and longer for its release.
        self.assertGreater((totals["waiting_ns"] + totals["release_ns"]) / 1e3,
                           0.5 * SUPERSTEPS * LATE_US * (P - 1) / P)
        self.assertGreater(totals["waiting_ns"] / 1e3, 0.05 * SUPERSTEPS * LATE_US)
        # Not what was waited for who computed longer, nor nothing, since that is most of the time.
        if totals["l_ns"] is not None:
            self.assertGreater(totals["l_ns"], 0)
            self.assertLess(totals["l_ns"] / 1e3, LATE_US / 2)
        self.assertEqual(totals["beyond_ns"], totals["total_ns"] - totals["w_ns"])
        self.assertGreater(totals["imbalance"], 1)

    def check_straggler(self, totals, node):
        straggler = totals["stragglers"][0]
        self.assertEqual(straggler["pid"], P - 1)
        self.assertEqual(straggler["node"], node)
        self.assertGreater(straggler["cost_ns"] / 1e3, 0.5 * SUPERSTEPS * LATE_US)
        self.assertLessEqual(straggler["supersteps"], COUNTED)

    def check_job(self, *options):
        job = self.cluster.submit("-n", P, *options, *PROGRAM)
        self.cluster.bsp("wait", job)
        shown = self.cluster.show(job)
        totals = shown["totals"]
        self.check_sums(totals)
        self.check_times(totals, int(self.cluster.bsp("logs", job).stdout))
        where = next(place["node"] for place in shown["placement"] if P - 1 in place["pids"])
        self.check_straggler(totals, where)

    def test_on_this_machine(self):
        done = subprocess.run([Programs()["bsprun"], "-n", str(P), "--timing", "--json",
                               *map(str, PROGRAM)], env=processes.environment(),
                              capture_output=True, text=True, check=True)
        totals = json.loads(done.stderr)
        self.check_sums(totals)
        self.check_times(totals, int(done.stdout))
        self.check_straggler(totals, None)

    def test_on_one_node(self):
        self.check_job("--nodes", 1)

    def test_on_two_nodes_that_release_each_other(self):
        self.check_job("--nodes", 2)

    def test_on_two_nodes_that_the_coordinator_releases(self):
        self.check_job("--nodes", 2, "--checkpoint", "every=1000000")

    def test_a_coordinator_that_is_killed_knows_them_again(self):
        for options in [(), ("--checkpoint", "every=1000000")]:
            job = self.cluster.submit("-n", P, "--nodes", 2, *options, PROGRAM[0], 10 * SUPERSTEPS,
                                      *PROGRAM[2:])
            wait_until(lambda: self.cluster.show(job)["totals"]["supersteps"] > 100,
                       "some supersteps are counted")
            self.cluster.coordinator.kill()
            self.cluster.restart_coordinator()
            self.cluster.bsp("wait", job)
            totals = self.cluster.show(job)["totals"]
            self.assertEqual(totals["supersteps"], 10 * SUPERSTEPS + 2)
            # Nodes that release each other tell all of it again.
            self.assertEqual(totals["unmeasured_supersteps"] != 0, options != ())
            self.assertEqual(totals["stragglers"][0]["pid"], P - 1)

    def test_a_coordinator_that_is_killed_hears_again_whom_the_barrier_waits_for(self):
        job = self.cluster.submit("-n", P, "--nodes", 2, PROGRAM[0], 10_000, *PROGRAM[2:])
        wait_until(lambda: self.cluster.show(job)["totals"]["supersteps"] > 10, "it runs")
        stopped = next(pid for pids in processes_of(self.cluster).values() for pid in pids)

        def waits_for_it():
            return any(late["os_pid"] == stopped and late["state"] == "stopped"
                       for wait in self.cluster.show(job)["barrier_waits"]
                       for late in wait["late"])

        os.kill(stopped, signal.SIGSTOP)
        wait_until(waits_for_it, "the barrier waits for it")
        self.cluster.coordinator.kill()
        self.cluster.restart_coordinator()
        wait_until(waits_for_it, "that is known again", seconds=30)
        os.kill(stopped, signal.SIGCONT)
        wait_until(lambda: not self.cluster.show(job)["barrier_waits"], "it is over")
        self.cluster.bsp("cancel", job)


if __name__ == "__main__":
    unittest.main()
