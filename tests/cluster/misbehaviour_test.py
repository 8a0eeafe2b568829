#!/usr/bin/env python3
"""Programs that misbehave (misbehaviour.c) run beside a good program on the same workers: the good
one's result is right, the daemons live, and nothing is left behind."""

import sys
import unittest

sys.dont_write_bytecode = True

from harness.cluster import ENDED, Cluster
from harness.programs import path_of
from harness.reference import Reference

P = 3
DAEMON_MIB_MAX = 600
FLOOD_MIB = 40


def resident_mib(daemon):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) >> 10


class MisbehaviourTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(workers=3, slots=2))
        cls.good = [path_of("mixed"), 30, 50_000]
        cls.reference = Reference(P, cls.good)

    def start(self, *what):
        return self.cluster.submit("--nodes", P, "-n", P, path_of("misbehaviour"), *what)

    def beside(self, *what):
        """Runs the good program while a bad one runs; returns the number of the bad job."""
        bad = self.start(*what)
        done = self.cluster.bsprun("--nodes", P, "-n", P, *self.good)
        self.reference.check(done.stdout, "the good program")
        self.assertEqual(done.stderr, "")
        for daemon in self.cluster.daemons():
            self.assertTrue(daemon.running, f"{daemon.name} died")
        return bad

    def end_of(self, job):
        """Waits until a job has ended; returns its state."""
        self.cluster.await_state(job, *ENDED)
        return self.cluster.state(job)

    def test_one_that_floods(self):
        bad = self.beside("flood", FLOOD_MIB)
        self.assertEqual(self.end_of(bad), "succeeded")
        lines = self.cluster.bsp("logs", bad).stdout.splitlines()
        self.assertEqual(len(lines), P * (FLOOD_MIB * 2**20 // 128 + 1))
        for daemon in self.cluster.daemons():
            self.assertLess(resident_mib(daemon), DAEMON_MIB_MAX, daemon.name)

    def test_one_that_sleeps(self):
        bad = self.beside("sleep")
        self.assertEqual(self.cluster.state(bad), "running")
        self.cluster.bsp("cancel", bad)
        self.assertEqual(self.end_of(bad), "cancelled")

    def test_one_that_stops_itself(self):
        bad = self.beside("stop")
        self.cluster.bsp("cancel", bad)
        self.assertEqual(self.end_of(bad), "cancelled")

    def test_one_that_stops_its_host(self):
        bad = self.beside("stophost")
        self.cluster.bsp("cancel", bad)
        self.assertEqual(self.end_of(bad), "cancelled")

    def test_one_that_leaves_processes_behind(self):
        self.assertEqual(self.end_of(self.beside("fork", 5)), "succeeded")

    def test_one_that_closes_its_descriptors(self):
        self.assertEqual(self.end_of(self.beside("close")), "succeeded")

    def test_one_that_closes_all_before_it_begins(self):
        self.end_of(self.beside("closeall"))

    def test_one_that_scribbles_over_its_arena(self):
        for seed in range(1, 9):
            with self.subTest(seed=seed):
                bad = self.beside("scribble", seed)
                # It may wait for ever.
                self.cluster.bsp("cancel", bad, check=False)
                self.end_of(bad)

    def test_one_that_crashes(self):
        bad = self.beside("crash")
        self.assertEqual(self.end_of(bad), "failed")
        shown = self.cluster.show(bad)
        self.assertRegex(shown["reason"], "pid 1 .*it is the program that fails there")
        self.assertEqual(shown["restarts"], 1)
        self.assertEqual(self.cluster.bsp("wait", bad, check=False).returncode, 128 + 11)

    def test_one_that_leaves_without_end(self):
        self.assertEqual(self.end_of(self.beside("leave")), "failed")

    def test_one_that_sends_more_than_it_may(self):
        """Told by name and number, where the kernel would have killed a process without a word."""
        for options in (["--nodes", P, "-n", P], ["-n", 2]):
            with self.subTest(options=options):
                bad = self.cluster.submit(*options, "--memory", "256M", path_of("misbehaviour"),
                                          "eat")
                self.assertEqual(self.end_of(bad), "failed")
                logs = self.cluster.bsp("logs", bad)
                said = self.cluster.show(bad)["reason"] + logs.stdout + logs.stderr
                self.assertIn("all processes here together may take", said)

    def test_one_that_sends_more_than_what_it_holds_has_left(self):
        """Its calls may take as much as it asked for, but the kernel counts the program's data."""
        if "memory" not in self.cluster.nodes()["w1"]["limits"]:
            self.skipTest("no control groups can be made here")
        bad = self.cluster.submit("-n", 2, "--memory", "200M", path_of("misbehaviour"), "eat", 100)
        self.assertEqual(self.cluster.bsp("wait", bad, check=False).returncode, 6)
        self.assertRegex(self.cluster.bsp("logs", bad).stderr,
                         "bsp_send: pid [01] needs 67[0-9]{6} bytes more .* are left of the "
                         f"{(2 * 201 + 32) << 20} that all processes here together may take")
        self.assertEqual(self.cluster.show(bad)["restarts"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
