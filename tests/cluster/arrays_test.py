#!/usr/bin/env python3
"""What users of Slurm expect beside single jobs: jobs after others, arrays, and accounting."""

import csv
import io
import json
import sys
import unittest

sys.dont_write_bytecode = True

from harness.cluster import Cluster
from harness.programs import path_of


def misbehaviour(*arguments):
    return [path_of("misbehaviour"), *arguments]


class TogetherTest(unittest.TestCase):
    """All jobs share one cluster, as those of users do."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(workers=2, slots=4))

    def submit_after(self, after, *arguments):
        return self.cluster.submit("--after", after, "-n", 2, *misbehaviour(*arguments))

    def test_a_job_starts_when_those_before_it_have_ended(self):
        first = self.cluster.submit("-n", 2, *misbehaviour("sleep"))
        second = self.cluster.submit("-n", 2, *misbehaviour("nothing"))
        last = self.submit_after(f"{first}:any,{second}", "nothing")
        self.cluster.bsp("wait", second)
        waiting = self.cluster.show(last)
        self.assertEqual((waiting["state"], waiting["reason"]), ("waiting", f"after job {first}"))
        self.assertEqual(waiting["awaits"], [first])
        self.assertEqual(waiting["after"], [{"job": first, "when": "any"},
                                            {"job": second, "when": "ok"}])
        self.cluster.bsp("cancel", first)
        self.cluster.bsp("wait", last)
        self.assertLessEqual(self.cluster.show(first)["ended_unix_ms"],
                             self.cluster.show(last)["started_unix_ms"])

    def test_a_job_after_one_that_fails_is_cancelled_and_so_are_its_own(self):
        bad = self.cluster.submit("-n", 2, *misbehaviour("leave"))
        second = self.submit_after(bad, "nothing")
        third = self.submit_after(second, "nothing")
        self.cluster.await_state(third, "cancelled")
        self.assertEqual(self.cluster.show(second)["reason"],
                         f"was to start after the success of job {bad}, which failed")
        done = self.cluster.bsp("wait", third, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"after the success of job {second}, which was cancelled", done.stderr)

    def test_a_job_that_does_not_exist_is_not_waited_for(self):
        done = self.cluster.bsp("submit", "--after", 4711, "-n", 1, *misbehaviour("nothing"),
                                check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--after: there is no job 4711", done.stderr)


    # ---- Arrays ------------------------------------------------------------------------------

    def test_each_element_of_an_array_finds_its_index(self):
        done = self.cluster.bsp("submit", "--array", "5-9:2", "--wait", "-n", 1, "--name", "sweep",
                                path_of("environment"), "BSP_ARRAY_ID", "BSP_ARRAY_JOB")
        printed = done.stdout.strip()
        first = int(printed.split("-")[0])
        jobs = range(first, first + 3)
        self.assertEqual(printed, f"{first}-{first + 2}")
        self.assertIn(f"submitted array {first}: jobs {first}-{first + 2}", done.stderr)
        self.assertEqual([self.cluster.bsp("logs", job).stdout for job in jobs],
                         [f"{index} {first}\n" for index in (5, 7, 9)])
        shown = self.cluster.show(first + 2)
        self.assertEqual((shown["array_job"], shown["array_index"]), (first, 9))
        self.assertIn("sweep[9]", self.cluster.bsp("jobs", "-a").stdout)
        self.cluster.bsp("wait", printed)
        shown = self.cluster.bsp("show", "--json", printed).stdout
        self.assertEqual([json.loads(line)["job"] for line in shown.splitlines()], [*jobs])
        self.assertEqual(self.cluster.bsp("history", "--csv", printed).stdout.count("sweep"), 3)

    def test_no_more_elements_run_than_may_at_once(self):
        submitted = json.loads(self.cluster.bsp(
            "submit", "--array", "1-6%2", "--json", "-n", 1, *misbehaviour("sleep")).stdout)
        jobs = range(submitted["job"], submitted["last_job"] + 1)
        self.assertEqual(len(jobs), submitted["elements"])
        self.cluster.await_state(jobs[1], "running")
        self.assertEqual([self.cluster.state(job) for job in jobs],
                         ["running"] * 2 + ["waiting"] * 4)
        self.assertEqual(self.cluster.show(jobs[5])["reason"],
                         f"at most 2 of array {jobs[0]} at once")
        last = self.submit_after(f"{jobs[0]}-{jobs[-1]}:any", "nothing")
        self.cluster.bsp("alter", f"{jobs[2]}-{jobs[4]}", "--priority", 7)
        self.assertEqual([self.cluster.show(job)["priority"] for job in jobs[2:]], [7, 7, 7, 0])
        self.cluster.bsp("cancel", jobs[0])
        self.cluster.await_state(jobs[2], "running")
        self.cluster.bsp("cancel", *jobs[1:])
        for command in (["cancel"], ["alter", "--name", "x"], ["suspend"]):
            done = self.cluster.bsp(*command, 998, 999, check=False)
            self.assertEqual((done.returncode, done.stderr.count("bsp: ")), (1, 2), done.stderr)
            self.assertTrue("998" in done.stderr and "999" in done.stderr, done.stderr)
        self.cluster.bsp("wait", last)

    def test_what_the_submission_of_an_array_prints_names_all_its_elements(self):
        printed = self.cluster.bsp("submit", "--array", "1-3%1", "-n", 1,
                                   *misbehaviour("sleep")).stdout.strip()
        first, last = map(int, printed.split("-"))
        self.assertEqual(last - first, 2)
        after = self.submit_after(f"{printed}:any", "nothing")
        self.assertEqual([job["job"] for job in self.cluster.show(after)["after"]],
                         [first, first + 1, last])
        self.cluster.bsp("cancel", printed)
        self.cluster.bsp("wait", after)
        self.assertEqual([self.cluster.state(job) for job in range(first, last + 1)],
                         ["cancelled"] * 3)

    def test_the_worst_status_of_an_array_is_that_of_its_submission(self):
        done = self.cluster.bsp("submit", "--array", "0-3", "--wait", "-n", 2,
                                *misbehaviour("leave"), check=False)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.count("failed: pid 1"), 4)

    def test_an_array_that_is_too_large_is_refused(self):
        done = self.cluster.bsp("submit", "--array", "0-10000", "-n", 1, *misbehaviour("nothing"),
                                check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--array: at most 10000 elements", done.stderr)

    # ---- Lists -------------------------------------------------------------------------------

    def listed(self, *options):
        return [job["job"] for job in json.loads(
            self.cluster.bsp("jobs", "--json", *options).stdout)]

    def test_lists_have_the_jobs_that_are_asked_for(self):
        bad = self.cluster.submit("-n", 2, *misbehaviour("leave"))
        good = self.cluster.submit("-n", 2, *misbehaviour("nothing"))
        self.cluster.bsp("wait", good)
        self.cluster.bsp("wait", bad, check=False)
        user = self.cluster.show(bad)["user"]
        self.assertIn(bad, self.listed("--state", "failed,cancelled"))
        self.assertNotIn(good, self.listed("--state", "failed,cancelled"))
        self.assertIn(good, self.listed("--since", "1h", "-u", user))
        self.assertNotIn(good, self.listed("--state", "waiting,running"))
        self.assertEqual(self.listed("-a", "-u", "nobody-of-this-name"), [])
        self.assertEqual(self.listed("--state", "failed", "--since", "2999-01-01"), [])

    # ---- History -----------------------------------------------------------------------------

    def test_the_history_says_what_a_job_took(self):
        supersteps = 300
        job = self.cluster.submit("-n", 4, "--nodes", 2, path_of("mixed"), supersteps, 50_000)
        self.cluster.bsp("wait", job)
        shown, = json.loads(self.cluster.bsp("history", "--json", job).stdout)
        self.assertGreater(shown["cpu_ns"], 10**7)
        self.assertGreater(shown["peak_memory_bytes"], 10**6)
        self.assertLess(shown["peak_memory_bytes"], 10**9)
        row = next(row for row in csv.DictReader(io.StringIO(
            self.cluster.bsp("history", "--csv").stdout)) if row["job"] == str(job))
        self.assertEqual((row["state"], row["nprocs"], row["exit_status"]),
                         ("succeeded", "4", "0"))
        self.assertEqual(int(row["cpu_ns"]), shown["cpu_ns"])
        self.assertEqual(int(row["supersteps"]), shown["totals"]["supersteps"])
        self.assertIn("MEMORY", self.cluster.bsp("history").stdout)

    def test_processes_that_are_killed_count(self):
        job = self.cluster.submit("-n", 2, *misbehaviour("sleep"))
        self.cluster.await_state(job, "running")
        self.cluster.bsp("cancel", job)
        self.cluster.await_state(job, "cancelled")
        self.assertGreater(self.cluster.show(job)["cpu_ns"], 0)

    def test_the_history_of_a_job_that_never_was_is_an_error(self):
        done = self.cluster.bsp("history", 4711, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no job 4711 of yours", done.stderr)

    def test_one_that_never_was_does_not_keep_the_others(self):
        job = self.cluster.submit("-n", 2, path_of("mixed"), 300, 50_000)
        done = self.cluster.bsp("wait", 4711, job, check=False)
        self.assertEqual(done.returncode, 125)
        self.assertEqual(self.cluster.state(job), "succeeded")
        for command in ("show", "history"):
            done = self.cluster.bsp(command, 4711, job, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("there is no job 4711", done.stderr)
            self.assertIn("mixed", done.stdout)


class RestartTest(unittest.TestCase):
    def test_a_coordinator_that_is_killed_remembers_what_jobs_wait_for(self):
        with Cluster(workers=1, slots=4) as cluster:
            first = cluster.submit("-n", 1, *misbehaviour("nothing"))
            cluster.bsp("wait", first)
            sleeping = cluster.submit("-n", 1, *misbehaviour("sleep"))
            last = cluster.submit("--after", f"{first},{sleeping}:any", "-n", 1,
                                  *misbehaviour("nothing"))
            cluster.await_state(sleeping, "running")
            cluster.coordinator.kill()
            cluster.restart_coordinator()
            cluster.await_workers(1)
            self.assertEqual(cluster.show(last)["awaits"], [sleeping])
            cluster.bsp("cancel", sleeping)
            cluster.bsp("wait", last)


if __name__ == "__main__":
    unittest.main(verbosity=2)
