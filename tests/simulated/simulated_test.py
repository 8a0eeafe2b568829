#!/usr/bin/env python3
"""bsprun --simulate runs one process at a time, always in the same order, and says what the model
says of it: also when processes end as they should not."""

import json
import os
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from harness.programs import Programs
from harness.scratch import scratch_directory
from harness.waiting import wait_until

BSPRUN = Programs()["bsprun"]
TURNS = os.path.abspath("tests/simulated/turns")
CONFORMANCE = "tests/conformance"
# Of each kind of wait in the library: for barriers, gets, messages by number, the start of others,
# groups that others have left; and collective calls, with a second barrier, too.
PROGRAMS = ("superstep/random_traffic_equals_a_model.c", "get/reads_before_any_put_writes.c",
            "hp/large_areas.c", "level1/fold_combines_in_the_order_of_pids.c",
            "pub/groups_nest.c", "pub/partition_and_done_need_nobody_else.c",
            "pub/oblsync_gives_each_superstep_its_messages.c",
            "dialect/sections_of_procedures.c", "full_check/puts_side_by_side_are_no_overlap.c")
WITH_GROUPS = ("pub/groups_nest.c", "pub/partition_and_done_need_nobody_else.c",
               "dialect/sections_of_procedures.c")
SUPERSTEPS = 5  # With the one that registers, and that of bsp_end.
PUT, MESSAGE, GET = 8, 4 + 3, 16


def lines(p, text, rounds=3):
    return [f"{pid} in {s}" for s in range(rounds) for pid in range(p)] + [
        line.format(pid) for line in text for pid in range(p)]


class SimulatedTest(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(scratch_directory())

    def start(self, parameters, *arguments):
        return subprocess.Popen([BSPRUN, f"--simulate={parameters}", *arguments], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                cwd=self.directory)

    def run_turns(self, parameters, *arguments, options=(), status=0):
        process = self.start(parameters, *options, TURNS, *arguments)
        output, error = process.communicate()
        self.assertEqual(process.returncode, status, error)
        return output, error

    def figures(self, parameters, *arguments):
        return json.loads(self.run_turns(parameters, *arguments, options=["--json"])[1])

    def test_runs_in_the_order_of_pids(self):
        output, _ = self.run_turns("p=5,g=1,l=1")
        self.assertEqual(output.splitlines(), lines(5, ["{} ends", "{} after"]))

    def test_one_process_computes_at_a_time(self):
        self.run_turns("p=9,g=1,l=1", "alone")

    def test_without_computing_each_run_tells_the_same(self):
        told = [self.run_turns("p=7,g=0.5,l=3,w=0") for _ in range(3)]
        self.assertEqual(told[0], told[1])
        self.assertEqual(told[0], told[2])
        self.assertRegex(told[0][1], r"\n1  turns(\.c:|\+0x)\w+ +3 ")

    def test_counts_as_the_model_does(self):
        for more, h in (("", PUT + MESSAGE + GET), (",n12=100", PUT + MESSAGE + GET + 300),
                        (",b=10", 10 + 10 + GET), (",b=10,n12=1", 10 + 10 + GET + 3)):
            profile = self.figures("p=4,g=2,l=3,w=0" + more)
            totals = profile["totals"]
            self.assertEqual(totals["h_bytes"], 3 * h, more)
            self.assertEqual(totals["time_ns"], 3 * h * 2 + SUPERSTEPS * 3000, more)
            self.assertEqual(totals["predicted_ns"], totals["time_ns"])
            self.assertEqual(profile["signature"], f"0 ns + {3 * h} g + {SUPERSTEPS} l")
            self.assertEqual([record["h_bytes"] for record in profile["records"]],
                             [0, h, h, h, 0])

    def test_computing_is_what_the_processes_used(self):
        plain = self.figures("p=3,g=0,l=0", "compute")["totals"]
        self.assertGreaterEqual(plain["w_ns"], 3 * 1e6)
        self.assertAlmostEqual(plain["time_ns"], plain["w_ns"], delta=1)
        faster = self.figures("p=3,r=1000,g=0,l=0", "compute")["totals"]
        self.assertLess(faster["w_ns"], plain["w_ns"])

    def test_writes_the_profile_of_the_simulated_machine(self):
        path = os.path.join(self.directory, "a.json")
        self.run_turns("p=4,g=2,l=3,w=0", options=["--profile", path])
        with open(path, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["totals"]["time_ns"],
                             3 * (PUT + MESSAGE + GET) * 2 + SUPERSTEPS * 3000)

    def test_many_processors(self):
        output, error = self.run_turns("p=300,g=1,l=1,w=0")
        self.assertEqual(output.splitlines(), lines(300, ["{} ends", "{} after"]))
        self.assertIn("300 processes", error)

    def test_who_is_not_needed_has_no_turn(self):
        output, _ = self.run_turns("p=6,g=1,l=1", "early")
        self.assertEqual(output.splitlines(), lines(2, ["{} ends", "{} after"]))

    def test_who_ends_the_job_ends_it_for_all(self):
        for pid in (0, 2, 4):
            _, error = self.run_turns("p=5,g=1,l=1", "kill", str(pid), status=128 + signal.SIGKILL)
            self.assertIn(f"pid {pid}", error)
            _, error = self.run_turns("p=5,g=1,l=1", "exit", str(pid), status=3)
            self.assertIn(f"pid {pid}", error)
            _, error = self.run_turns("p=5,g=1,l=1", "abort", str(pid), status=6)
            self.assertIn("it aborts", error)

    def test_who_leaves_before_the_beginning_is_an_error_or_the_end(self):
        self.run_turns("p=5,g=1,l=1", "early", "0")
        _, error = self.run_turns("p=5,g=1,l=1", "early", "1", status=6)
        self.assertIn("pid 1", error)

    def test_who_is_stopped_is_named_and_goes_on(self):
        process = self.start("p=4,g=1,l=1", TURNS, "stop", "2")
        wait_until(lambda: self.stopped(process.pid), "a process is stopped")
        process.send_signal(signal.SIGQUIT)
        said = [process.stderr.readline() for _ in range(2)]
        self.assertIn("3 of 4 processes wait for their turn", said[0])
        self.assertRegex(said[1], r"pid 2 \(process \d+\): stopped")
        os.kill(self.stopped(process.pid), signal.SIGCONT)
        output, _ = process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(output.splitlines(), lines(4, ["{} ends", "{} after"]))

    @staticmethod
    def stopped(parent):
        """The child that is stopped; 0: none is."""
        for child in subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True,
                                    check=False).stdout.split():
            with open(f"/proc/{child}/stat", encoding="ascii") as file:
                if file.read().rpartition(") ")[2].startswith("T"):
                    return int(child)
        return 0

    def test_an_interrupt_ends_it(self):
        process = self.start("p=4,g=1,l=1", TURNS, "stop", "1")
        wait_until(lambda: self.stopped(process.pid), "a process is stopped")
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)

    def test_programs_do_what_they_do_else(self):
        for source in PROGRAMS:
            launch = f"{BSPRUN} --simulate=g=1,l=1 --timing-file={self.directory}/timing"
            done = subprocess.run(
                [os.path.join(CONFORMANCE, "run"), "none", f"{CONFORMANCE}/{source}.program",
                 f"{CONFORMANCE}/{source}"],
                env=dict(os.environ, BSP_LAUNCH=launch, BSP_CONFORMANCE_PROCS="1 2 4 7",
                         BSP_CONFORMANCE_SECONDS="300"),
                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            with open(os.path.join(self.directory, "timing"), encoding="utf-8") as file:
                self.assertEqual("left out" in file.read(), source in WITH_GROUPS, source)


if __name__ == "__main__":
    unittest.main()
