#!/usr/bin/env python3
"""What the members of groups do is counted beside the supersteps of all processes: on one node and
on several, over a loss and a restart of the coordinator, and by the calls that ended it."""

import json
import os
import random
import subprocess
import sys
import unittest
import urllib.request

sys.dont_write_bytecode = True

from harness import disturbances, processes
from harness.cluster import Cluster
from harness.ports import reserve
from harness.programs import Programs, path_of
from harness.scratch import scratch_directory
from harness.seed import seed
from harness.waiting import wait_until

SEED = seed()
P = 4
SUPERSTEPS = 30  # In each of three, its halves have two, three and four.
COUNTED = SUPERSTEPS + 2
OF_GROUPS = P * 3 * SUPERSTEPS
PROGRAM = [path_of("partitioned"), SUPERSTEPS, 1000]


class GroupFiguresTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(
            Cluster(workers=2, slots=P, coordinator_options=["--metrics", reserve()]))

    def check(self, totals, of_groups=OF_GROUPS):
        groups = totals["groups"]
        self.assertEqual(groups["supersteps"], of_groups)
        # In each a word to the other one, and what the reduction takes.
        self.assertEqual(groups["messages"], groups["messages_in"])
        self.assertGreaterEqual(groups["messages"], 2 * of_groups)
        self.assertEqual(groups["bytes_out"], groups["bytes_in"])
        self.assertGreaterEqual(groups["bytes_out"], 8 * of_groups)
        self.assertGreater(groups["sync_ns"], 0)
        self.assertLess(groups["sync_ns"], totals["compute_ns"])
        parts = sum(totals[part + "_ns"] for part in ("compute", "waiting", "release", "exchange"))
        self.assertAlmostEqual(parts / totals["total_ns"], 1, delta=0.01)

    def run_here(self, *options, program):
        done = subprocess.run([Programs()["bsprun"], "-n", str(P), *options, *map(str, program)],
                              env=processes.environment(), capture_output=True, text=True,
                              check=True)
        return done.stderr

    def test_on_this_machine(self):
        totals = json.loads(self.run_here("--timing", "--json", program=PROGRAM))
        self.assertEqual(totals["supersteps"], COUNTED)
        self.check(totals)
        text = self.run_here("--timing", program=PROGRAM)
        self.assertIn(f"left out of h and the supersteps: groups, whose members ended {OF_GROUPS} ",
                      text)
        text = self.run_here("--timing", program=[path_of("mixed"), 5, 1000])
        self.assertNotIn("left out", text)

    def test_in_a_profile_by_call(self):
        with scratch_directory() as directory:
            path = os.path.join(directory, "profile.json")
            self.run_here("--profile", path, program=PROGRAM)
            with open(path, encoding="utf-8") as file:
                profile = json.load(file)
        self.check_profile(profile)

    def check_profile(self, profile):
        self.assertEqual(profile["totals"]["supersteps"], COUNTED)
        self.assertEqual(profile["groups"]["supersteps"], OF_GROUPS)
        # The even ones by bsp_oblsync: of two, three and four one, two and two.
        self.assertEqual(sorted(call["supersteps"] for call in profile["group_calls"]),
                         [P * 4 * SUPERSTEPS // 3, P * 5 * SUPERSTEPS // 3])
        self.assertGreater(profile["groups"]["sync_ns"], 0)

    def test_on_a_simulated_machine(self):
        text = self.run_here("--simulate", "g=1,l=1", program=PROGRAM)
        self.assertIn("left out   of h and the supersteps: groups, whose members ended"
                      f" {OF_GROUPS} ", text)
        profile = json.loads(self.run_here("--simulate", "g=1,l=1", "--json", program=PROGRAM))
        self.assertEqual(profile["groups"]["supersteps"], OF_GROUPS)
        self.assertIsNone(profile["groups"]["sync_ns"])

    def check_job(self, *options):
        job = self.cluster.submit("-n", P, *options, *PROGRAM)
        self.cluster.await_state(job, "succeeded")
        shown = self.cluster.show(job)
        self.check(shown["totals"])
        self.check_metrics(job, shown["totals"]["groups"])
        with scratch_directory() as directory:
            path = os.path.join(directory, "profile.json")
            self.cluster.bsp("profile", "--output", path, job)
            with open(path, encoding="utf-8") as file:
                self.check_profile(json.load(file))

    def check_metrics(self, job, groups):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        address = self.cluster.coordinator.addresses()["metrics"]
        with opener.open(f"http://{address}/metrics", timeout=30) as reply:
            lines = reply.read().decode().splitlines()
        values = dict(line.rsplit(" ", 1) for line in lines
                      if line.startswith("bspnow_job_group_") and f'bsp_job="{job}"' in line)
        for series, value in [
                (f'supersteps_total{{bsp_job="{job}"}}', groups["supersteps"]),
                (f'seconds_total{{bsp_job="{job}"}}', groups["sync_ns"] / 1e9),
                (f'bytes_total{{bsp_job="{job}",direction="out"}}', groups["bytes_out"]),
                (f'bytes_total{{bsp_job="{job}",direction="in"}}', groups["bytes_in"]),
                (f'messages_total{{bsp_job="{job}",direction="out"}}', groups["messages"]),
                (f'messages_total{{bsp_job="{job}",direction="in"}}', groups["messages_in"])]:
            self.assertAlmostEqual(float(values["bspnow_job_group_" + series]), value, places=6)

    def test_on_one_node(self):
        self.check_job("--nodes", 1)

    def test_on_two_nodes_that_release_each_other(self):
        self.check_job("--nodes", 2)

    def test_on_two_nodes_that_the_coordinator_releases(self):
        self.check_job("--nodes", 2, "--checkpoint", "every=1000000")

    def lose_a_process(self, *options):
        job = self.cluster.submit("-n", P, *options, PROGRAM[0], 10 * SUPERSTEPS, 1000, 10)
        wait_until(lambda: self.cluster.show(job)["checkpoints"]["count"] > 1, "it is saved")
        disturbances.kill_process(self.cluster, job, random.Random(SEED))
        wait_until(lambda: self.cluster.show(job)["restarts"] == 1
                   and self.cluster.state(job) == "running", "it goes on")
        return job

    def check_lost(self, job):
        """Its processes bring what they did in groups before the image with them. Of all other
        figures the last supersteps before it may be in no sum."""
        self.cluster.await_state(job, "succeeded")
        totals = self.cluster.show(job)["totals"]
        self.assertLessEqual(10 * SUPERSTEPS + 2 - totals["supersteps"], 2)
        self.check(totals, 10 * OF_GROUPS)

    def test_over_a_loss_and_a_restart_of_the_coordinator(self):
        for nodes in 1, 2:
            job = self.lose_a_process("--nodes", nodes, "--checkpoint", "every=200ms")
            before = self.cluster.show(job)["totals"]["groups"]["supersteps"]
            self.assertGreater(before, 0, "those before the image count")
            wait_until(lambda: self.cluster.show(job)["totals"]["groups"]["supersteps"] > before,
                       "others are added")
            self.cluster.coordinator.kill()
            self.cluster.restart_coordinator()
            self.check_lost(job)

    def test_over_a_loss_where_the_coordinator_releases(self):
        self.check_lost(self.lose_a_process("--nodes", 2, "--checkpoint", "every=12"))


if __name__ == "__main__":
    unittest.main()
