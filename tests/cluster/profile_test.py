#!/usr/bin/env python3
"""The profile of a job has what its processes did, on one node, on two, and over a loss."""

import json
import os
import random
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from harness import disturbances
from harness.cluster import Cluster
from harness.programs import SOURCE_DIR, Programs, path_of
from harness.scratch import scratch_directory
from harness.seed import seed
from harness.waiting import wait_until

SEED = seed()
P = 4
PAIRS = 20
H_OF_PAIR = 8 * P  # The most that a process puts.
OUT_OF_PAIR = 8 * sum(range(1, P + 1))


def prescribed(pairs=PAIRS, pause_ms=0):
    return [path_of("prescribed"), pairs, pause_ms]


def lines_of_calls(name="prescribed.c"):
    """The lines of the program's calls, by the words beside them."""
    with open(os.path.join(SOURCE_DIR, "tests/cluster", name), encoding="ascii") as source:
        marks = [(number, re.search(r"(?:sync|bsp_end)\(\); /\* (\w+) \*/", line))
                 for number, line in enumerate(source, 1)]
    return {mark[1]: f"{name}:{number}" for number, mark in marks if mark}


class Checks(unittest.TestCase):
    def check_figures(self, profile, pairs):
        """What does not depend on the machine."""
        self.assertEqual(profile["processes"], P)
        self.assertEqual(profile["totals"]["supersteps"], 2 * pairs + 2)
        self.assertEqual(profile["totals"]["h_bytes"], pairs * H_OF_PAIR)
        self.assertEqual(profile["totals"]["bytes_out"], pairs * OUT_OF_PAIR)
        self.assertEqual([record["first"] for record in profile["records"]],
                         list(range(2 * pairs + 2)))
        for record in profile["records"]:
            of = {process["pid"]: process for process in record["processes"]}
            puts = record["first"] % 2 == 1 and record["first"] < 2 * pairs
            self.assertEqual([of[pid]["bytes_out"] for pid in range(P)],
                             [8 * (pid + 1) if puts else 0 for pid in range(P)])
            self.assertEqual([of[pid]["bytes_in"] for pid in range(P)],
                             [8 * ((pid - 1) % P + 1) if puts else 0 for pid in range(P)])
            for messages in ("messages_out", "messages_in"):
                self.assertEqual([of[pid][messages] for pid in range(P)], [int(puts)] * P)
            self.check_times(record)
        self.check_times(profile["totals"])

    def check_times(self, figures):
        parts = [figures[part + "_ns"] for part in ("compute", "waiting", "release", "exchange")]
        self.assertAlmostEqual(sum(parts), figures["time_ns"], delta=1)
        self.assertGreaterEqual(figures["w_ns"] + 1, figures["compute_ns"])

    def check_calls(self, profile, pairs, named=True):
        calls = {call["name"]: call["supersteps"] for call in profile["calls"]}
        counts = {"registers": 1, "puts": pairs, "computes": pairs, "ends": 1}
        if named:
            self.assertEqual(calls, {lines_of_calls()[word]: count
                                     for word, count in counts.items()})
        else:
            self.assertEqual(sorted(calls.values()), sorted(counts.values()))

    def check_totals(self, profile, totals):
        """Beside what --timing says of the same run."""
        ours = profile["totals"]
        for name in ("supersteps", "h_bytes"):
            self.assertEqual(ours[name], totals[name])
        self.assertAlmostEqual(ours["w_ns"] / totals["w_ns"], 1, delta=0.01)
        of_a_process = sum(totals[part] for part in ("compute_ns", "wait_ns", "exchange_ns"))
        self.assertAlmostEqual(ours["time_ns"] / of_a_process, 1, delta=0.01)


class OneNodeTest(Checks):
    def setUp(self):
        self.directory = self.enterContext(scratch_directory())

    def run_here(self, *options, program):
        subprocess.run([Programs()["bsprun"], "-n", str(P), *options, *map(str, program)],
                       check=True, capture_output=True, text=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_has_the_figures_that_the_program_prescribes(self):
        self.run_here("--profile", self.path("a.json"), "--json", "--timing-file",
                      self.path("timing"), program=prescribed())
        profile = json.loads(self.read("a.json"))
        self.check_figures(profile, PAIRS)
        self.check_calls(profile, PAIRS)
        self.check_totals(profile, json.loads(self.read("timing")))

    def test_a_process_that_computes_makes_the_others_wait(self):
        self.run_here("--profile", self.path("a.json"), program=prescribed(5, 20))
        computes = lines_of_calls()["computes"]
        profile = json.loads(self.read("a.json"))
        call = next(call for call in profile["calls"] if call["name"] == computes)
        self.assertGreaterEqual(call["w_ns"], 5 * 20e6)
        self.assertGreater(call["imbalance"], 2)
        self.assertGreater(call["waiting_ns"], 5 * 20e6 / 2)

    def test_calls_that_headers_inline_are_named_where_the_program_made_them(self):
        self.run_here("--profile", self.path("a.json"), program=[path_of("typed")])
        calls = {call["name"]: call["supersteps"]
                 for call in json.loads(self.read("a.json"))["calls"]}
        lines = lines_of_calls("typed.cc")
        self.assertEqual((calls.get(lines["registers"]), calls.get(lines["puts"])), (1, 3), calls)
        self.assertFalse(any(".hpp:" in name for name in calls), calls)

    def test_many_supersteps_are_merged_and_counted(self):
        pairs = 10_000
        self.run_here("--profile", self.path("a.json"), "--json", "--timing-file",
                      self.path("timing"), program=prescribed(pairs))
        profile = json.loads(self.read("a.json"))
        self.assertEqual(profile["supersteps_of_record"], 8)
        self.assertEqual(sum(record["supersteps"] for record in profile["records"]),
                         2 * pairs + 2)
        self.assertEqual(profile["totals"]["bytes_out"], pairs * OUT_OF_PAIR)
        self.check_calls(profile, pairs)
        totals = json.loads(self.read("timing"))
        self.assertAlmostEqual(profile["totals"]["h_bytes"] / totals["h_bytes"], 1, delta=0.001)
        self.assertAlmostEqual(profile["totals"]["w_ns"] / totals["w_ns"], 1, delta=0.001)

    def test_page_picture_and_trace(self):
        self.run_here("--profile", self.path("a.html"), "--trace", self.path("trace"),
                      program=prescribed())
        self.run_here("--profile", self.path("a.svg"), program=prescribed())
        self.assertIn(lines_of_calls()["puts"], self.read("a.html"))
        self.assertTrue(self.read("a.svg").startswith("<svg"))
        events = json.loads(self.read("trace"))["traceEvents"]
        tracks = {event["tid"] for event in events if event["ph"] == "X"}
        self.assertEqual(tracks, set(range(P)))
        supersteps = [event for event in events if event["name"].startswith("superstep ")]
        self.assertEqual(len(supersteps), P * (2 * PAIRS + 2))

    def test_a_file_that_says_no_form_is_refused_before_the_run(self):
        done = subprocess.run([Programs()["bsprun"], "--profile=a.txt", path_of("prescribed")],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("end its name in .html, .svg or .json", done.stderr)

    def test_a_report_that_cannot_be_written_is_no_success(self):
        os.symlink("/dev/full", self.path("full.json"))
        for report in ("--timing-file", "--profile", "--trace"):
            done = subprocess.run([Programs()["bsprun"], report, self.path("full.json"),
                                   *map(str, prescribed())],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, report)
            self.assertIn("No space left on device", done.stderr)


class ClusterTest(Checks):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(workers=2, slots=2))

    def profile(self, job):
        return json.loads(self.cluster.bsp("profile", "--json", job).stdout)

    def test_has_the_figures_that_the_program_prescribes(self):
        path = self.cluster.path("tmp", "a.json")
        done = self.cluster.bsprun("-n", P, "--nodes=2", "--json", "--profile", path,
                                   *prescribed())
        with open(path, encoding="utf-8") as file:
            profile = json.load(file)
        os.remove(path)
        self.check_figures(profile, PAIRS)
        self.check_calls(profile, PAIRS)
        self.check_totals(profile, json.loads(done.stderr.splitlines()[-1]))

    def test_is_kept_over_a_restart_of_the_coordinator(self):
        job = self.cluster.submit("-n", P, "--nodes=2", *prescribed())
        self.cluster.bsp("wait", job)
        self.cluster.coordinator.kill()
        self.cluster.restart_coordinator()
        self.cluster.await_workers(2)
        profile = self.profile(job)
        self.check_figures(profile, PAIRS)
        self.check_calls(profile, PAIRS)
        self.assertIn("prescribed.c:", self.cluster.bsp("profile", job).stdout)
        trace = json.loads(self.cluster.bsp("trace", job).stdout)
        names = {event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"}
        self.assertIn("process 0 on w1", names | {name.replace("w2", "w1") for name in names})

    def test_for_another_machine(self):
        job = self.cluster.submit("-n", P, *prescribed())
        self.cluster.bsp("wait", job)
        there = json.loads(self.cluster.bsp("profile", "--json", "--predict=2,1,10,1000",
                                            job).stdout)["prediction"]
        # Two processes on each: what pids 2 and 3 put adds up.
        self.assertEqual(there["h_bytes"], PAIRS * 8 * (P + P - 1))
        self.assertAlmostEqual(there["total_ns"], there["w_ns"] + 10 * there["h_bytes"] +
                               (2 * PAIRS + 2) * 1e6, delta=1)
        refused = self.cluster.bsp("profile", "--predict=8,1,1,1", job, check=False)
        self.assertIn("of 4 processes", refused.stderr)

    def test_there_is_none_before_the_end(self):
        job = self.cluster.submit("-n", 1, path_of("misbehaviour"), "sleep")
        self.cluster.await_state(job, "running")
        refused = self.cluster.bsp("profile", job, check=False)
        self.assertIn("its profile comes when it has ended", refused.stderr)
        self.cluster.bsp("cancel", job)


class LossTest(Checks):
    def test_repeated_supersteps_are_counted_once(self):
        """A worker is killed: those since the checkpoint run again."""
        pairs, chance = 100, random.Random(SEED)  # Not over before the worker is killed.
        with Cluster(workers=3, slots=2) as cluster:
            job = cluster.submit("-n", P, "--nodes=2", "--checkpoint=every=10",
                                 *prescribed(pairs, 50))
            wait_until(lambda: cluster.show(job)["checkpoints"]["committed"] >= 2,
                       "two checkpoints are committed", 100)
            disturbances.kill_worker(cluster, job, chance)
            cluster.bsp("wait", job)
            self.assertIn("resumed from", cluster.bsp("show", job).stdout)
            profile = json.loads(cluster.bsp("profile", "--json", job).stdout)
            self.check_figures(profile, pairs)
            self.check_calls(profile, pairs)
            self.assertTrue(any(record["saved"] for record in profile["records"]))
            self.assertEqual(sum(record["resumed"] for record in profile["records"]), 1)
            trace = json.loads(cluster.bsp("trace", job).stdout)
            marks = [event for event in trace["traceEvents"] if event["ph"] == "i"]
            self.assertTrue(any("lost" in mark["args"]["reason"] for mark in marks), marks)


if __name__ == "__main__":
    unittest.main()
