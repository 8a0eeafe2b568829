#!/usr/bin/env python3
"""What people do who share a cluster: pick out jobs and cancel them, change what waits, look into a
process that runs, find out which one crashed; and nodes that do not come back."""

import glob
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from harness.cluster import COMMAND_S, Cluster
from harness.disturbances import processes_of
from harness.programs import path_of
from harness.waiting import wait_until

SLEEP = (path_of("misbehaviour"), "sleep")
CRASH = (path_of("misbehaviour"), "crash")
VARIABLE = (path_of("misbehaviour"), "variable")


def os_pids(job):
    """By pid, the node and the number of each process there."""
    return {pid: (place["node"], os_pid) for place in job["placement"]
            for pid, os_pid in zip(place["pids"], place["os_pids"])}


class SharingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(workers=2, slots=2))

    def tearDown(self):
        alive = sorted(self.cluster.jobs_alive())
        if alive:
            self.cluster.bsp("cancel", *alive)
            self.cluster.bsp("wait", *alive, check=False)

    def sleeping(self, *options, nprocs=4):
        return self.cluster.submit("-n", nprocs, *options, *SLEEP)

    def running(self, *options, nprocs=4):
        job = self.sleeping(*options, nprocs=nprocs)
        self.cluster.await_state(job, "running")
        wait_until(lambda: all(os_pid for _, os_pid in os_pids(self.cluster.show(job)).values())
                   and len(os_pids(self.cluster.show(job))) == nprocs,
                   f"the processes of job {job} are known")
        return job

    def refused(self, *arguments):
        """What bsp says when it fails."""
        done = self.cluster.bsp(*arguments, check=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    # ---- cancel ------------------------------------------------------------------------------

    def test_cancel_takes_ranges_names_and_states(self):
        running = self.running("--name", "first")
        a, b, c, d = [self.sleeping("--name", name) for name in ("a", "b", "a", "d")]
        told = self.cluster.bsp("cancel", f"{a}-{b}", "--name", "b").stdout
        self.assertEqual(told, f"cancelled job {b} (b)\n")
        self.assertEqual(self.cluster.state(a), "waiting")
        told = self.cluster.bsp("cancel", "--name", "a").stdout
        self.assertEqual(told, f"cancelled job {a} (a)\ncancelled job {c} (a)\n")
        told = json.loads(self.cluster.bsp("cancel", "--state", "pending", "--json").stdout)
        self.assertEqual(told["job"], d)
        self.assertEqual(self.cluster.jobs_alive(), {running})
        user = self.cluster.show(running)["user"]
        self.assertIn("no job of user nobody-else waits or runs; nothing was cancelled",
                      self.refused("cancel", "-u", "nobody-else"))
        self.assertIn(f"no job of user {user} with the name typo is waiting",
                      self.refused("cancel", "--name", "typo", "--state", "pending"))
        self.assertIn("among these ids waits or runs", self.refused("cancel", "900-901"))
        self.assertEqual(self.cluster.bsp("cancel", "-u", user).stdout,
                         f"cancelled job {running} (first)\n")
        self.cluster.await_state(running, "cancelled")
        self.assertIn(f"cancelled by {user}", self.cluster.bsp("history", running).stdout)

    def test_cancel_names_what_is_unknown_or_over(self):
        job = self.cluster.submit("-n", 1, *VARIABLE)
        self.cluster.bsp("wait", job)
        self.assertIn("had ended: succeeded", self.cluster.bsp("cancel", job).stdout)
        self.assertIn("1000000", self.refused("cancel", 1_000_000))
        self.assertIn("which jobs?", self.refused("cancel"))
        self.assertIn("x is no job", self.refused("cancel", "x"))

    # ---- alter -------------------------------------------------------------------------------

    def test_what_waits_can_be_altered_and_that_survives_the_coordinator(self):
        self.running()
        first, second = self.sleeping(), self.sleeping()
        self.cluster.bsp("alter", second, "--name", "new", "--priority", 5, "--time", "90s",
                         "--memory", "64M", "--checkpoint", "off", "--per-node", 2)
        self.cluster.coordinator.kill()
        self.cluster.restart_coordinator()
        shown = self.cluster.show(second)
        self.assertEqual([shown[key] for key in ("name", "priority", "time_limit_s", "memory_bytes",
                                                 "checkpoint_policy", "state")],
                         ["new", 5, 90, 64 << 20, "off", "waiting"])
        self.cluster.await_workers(2)
        self.cluster.bsp("cancel", "--state", "running")
        self.cluster.await_state(second, "running")
        self.assertEqual(self.cluster.state(first), "waiting")

    def test_a_job_may_ask_for_other_nodes_than_it_was_submitted_for(self):
        job = self.sleeping("--constraint", "gpu", "--constraint", "disk=ssd")
        self.assertIn("label gpu", self.cluster.show(job)["reason"])
        self.assertIn("neither NAME nor NAME=VALUE",
                      self.refused("alter", job, "--constraint", "=ssd"))
        self.assertIn("excludes",
                      self.refused("alter", job, "--constraint", "a", "--no-constraint"))
        self.cluster.bsp("alter", job, "--constraint", "fast")
        self.assertEqual(self.cluster.show(job)["constraints"], ["fast"])
        self.cluster.bsp("alter", job, "--no-constraint")
        self.cluster.await_state(job, "running")
        self.assertIn("--constraint is settled", self.refused("alter", job, "--constraint", "a"))

    def test_what_runs_keeps_what_it_began_with(self):
        job = self.running()
        self.assertIn("it has started, and --memory is settled then",
                      self.refused("alter", job, "--memory", "1G", "--name", "other"))
        self.assertIn("priority of a job that runs", self.refused("alter", job, "--priority", 1))
        self.assertNotEqual(self.cluster.show(job)["name"], "other")
        self.assertIn("nothing to change", self.refused("alter", job))
        self.assertIn("--nodes 9 with 4", self.refused("alter", self.sleeping(), "--nodes", 9))
        self.cluster.bsp("alter", job, "--name", "other", "--time-limit", "1s")
        self.cluster.await_state(job, "failed", "cancelled")
        self.assertEqual(self.cluster.show(job)["name"], "other")
        self.assertIn("it is over", self.refused("alter", job, "--name", "late"))

    # ---- processes ---------------------------------------------------------------------------

    def test_a_crash_names_process_and_node(self):
        job = self.cluster.submit("-n", 4, "--max-restarts", 0, *CRASH)
        self.cluster.bsp("wait", job, check=False)
        reason = r"pid 1 \(OS pid \d+ on w\d\) was killed by signal 11 \(Segmentation fault\)"
        self.assertRegex(self.cluster.show(job)["reason"], reason)
        self.assertRegex(self.cluster.bsp("logs", job).stderr, reason)

    def test_each_process_knows_its_pid_by_its_environment(self):
        job = self.cluster.submit("-n", 3, "--env", "BSP_PID=9", *VARIABLE)
        self.cluster.bsp("wait", job)
        lines = sorted(self.cluster.bsp("logs", job).stdout.splitlines())
        self.assertEqual(lines, [*(f"{pid} is {pid}" for pid in range(3)), *["done"] * 3])

    def test_core_files_come_back_from_all_nodes(self):
        with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as pattern:
            if not pattern.read().startswith("core"):
                self.skipTest("this machine has core files written elsewhere")
        if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            self.skipTest("this machine allows no core files")
        directory = self.cluster.path("cores")
        job = self.cluster.submit("-n", 2, "--nodes", 2, "--max-restarts", 0, "--core", *CRASH)
        self.cluster.bsp("wait", job, check=False)
        self.cluster.bsp("fetch", job, "--dir", directory)
        crashed_on = {pid: place["node"] for place in self.cluster.show(job)["placement"]
                      for pid in place["pids"]}[1]
        cores = [os.path.basename(path) for path in glob.glob(directory + "/core*")]
        self.assertEqual(len(cores), 1)
        self.assertTrue(cores[0].endswith("." + crashed_on), cores)

    def test_attach_debugs_the_process_that_has_the_pid(self):
        job = self.running()
        gdb = self.cluster.path("bin", "gdb")
        with open(gdb, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\necho \"debugging $1 $2\"\n")
        os.chmod(gdb, stat.S_IRWXU)
        shown = os_pids(self.cluster.show(job))
        self.assertEqual(sorted(shown), [0, 1, 2, 3])
        hosted = {os_pid for os_pids_ in processes_of(self.cluster).values()
                  for os_pid in os_pids_}
        self.assertTrue(hosted.issuperset(os_pid for _, os_pid in shown.values()))
        for pid, (_, os_pid) in shown.items():
            attached = self.cluster.bsp("attach", job, "--pid", pid).stdout
            self.assertEqual(attached, f"debugging -p {os_pid}\n")
        self.assertEqual(self.cluster.bsp("attach", job, "--pid", 2, "--print").stdout,
                         f"gdb -p {shown[2][1]}\n")
        self.assertIn("has 4 processes, and no pid 4", self.refused("attach", job, "--pid", 4))
        self.cluster.coordinator.kill()
        self.cluster.restart_coordinator()
        wait_until(lambda: os_pids(self.cluster.show(job)) == shown,
                   "the processes are known again")
        self.cluster.bsp("cancel", job)
        self.cluster.await_state(job, "cancelled")
        self.assertIn("runs: cancelled", self.refused("attach", job, "--pid", 0))

    def test_attach_says_how_to_debug_a_process_on_another_machine(self):
        far = "192.0.2.1"  # For documentation (RFC 5737): no machine's here.
        self.cluster.add_worker("far", 4, options=["--advertise", f"{far}:7001", "--label", "far"])
        self.addCleanup(self.cluster.bsp, "drain", "far")  # Other tests count on four slots.
        job = self.running("--constraint", "far")
        node, os_pid = os_pids(self.cluster.show(job))[3]
        self.assertEqual(node, "far")
        command = f"ssh -t {far} gdb -p {os_pid}"
        self.assertEqual(self.cluster.bsp("attach", job, "--pid", 3).stdout, command + "\n")
        told = json.loads(self.cluster.bsp("attach", job, "--pid", 3, "--json").stdout)
        self.assertEqual(told, {"job": job, "pid": 3, "os_pid": os_pid, "node": "far",
                                "command": command})

    def test_a_variable_that_is_given_replaces_what_bsprun_has(self):
        done = self.cluster.bsprun("-n", 1, "--env", "THREADS=2", "--env", "THREADS=1",
                                   path_of("environment"), "THREADS", "OTHER",
                                   variables={"THREADS": "8", "OTHER": "kept"})
        self.assertEqual(done.stdout, "1 kept\n")

    # ---- output ------------------------------------------------------------------------------

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return sorted(file.read().splitlines())

    def test_output_goes_to_the_file_that_was_named(self):
        said = ["0 is 0", "1 is 1", "done", "done"]
        directory = self.cluster.path("results")
        os.makedirs(directory)
        job = self.cluster.submit("-n", 2, "--output", "out-%j.txt", *VARIABLE)
        self.cluster.bsp("wait", job)
        told = self.cluster.bsp("fetch", job, "--dir", directory).stdout
        self.assertEqual(told, f"{directory}/out-{job}.txt\n")
        self.assertEqual(self.read(f"{directory}/out-{job}.txt"), said)
        for name in ("../out", f"{directory}/absolute"):  # Who fetches may be somebody else.
            astray = self.cluster.submit("-n", 2, "--output", name, *VARIABLE)
            self.cluster.bsp("wait", astray)
            done = self.cluster.bsp("fetch", astray, "--dir", directory, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"bsp logs {astray} --output FILE", done.stderr)
        self.assertEqual(os.listdir(directory), [f"out-{job}.txt"])
        done = self.cluster.bsp("logs", job, "--output", "again", cwd=directory)
        self.assertEqual((done.stdout, self.read(f"{directory}/again")), ("", said))
        done = self.cluster.bsp("submit", "-n", 2, "--wait", "--output", "%j", *VARIABLE,
                                cwd=directory)
        self.assertEqual(self.read(os.path.join(directory, done.stdout.strip())), said)
        done = self.cluster.bsp("submit", "-n", 2, "--wait", "--output", "/dev/full", *VARIABLE,
                                check=False)
        self.assertEqual(done.returncode, 1)  # Not that of a job of which nothing is known.
        self.assertIn("writing --output /dev/full: No space left on device", done.stderr)
        for name in ("plain", "numbered-%j"):
            done = self.cluster.bsprun("-n", 2, "--output", name, *VARIABLE, cwd=directory)
            self.assertEqual(done.stdout, "")
        self.assertEqual(self.read(f"{directory}/plain"), said)
        self.assertEqual(self.read(glob.glob(f"{directory}/numbered-*")[0]), said)

    def test_what_cannot_be_printed_is_no_success_and_a_job_is_named_all_the_same(self):
        for command, says in (("jobs", ""), ("submit", "bsp: submitted job ")):
            arguments = ("-n", 2, *VARIABLE) if command == "submit" else ()
            with open("/dev/full", "wb") as full:
                client = self.cluster.start_client(["bsp", command, *arguments], stdout=full,
                                                   stderr=subprocess.PIPE, text=True)
            error = client.communicate(timeout=COMMAND_S)[1]
            self.assertEqual(client.returncode, 1, error)
            self.assertIn(says, error)
            self.assertIn("bsp: writing standard output: No space left on device\n", error)

    def test_what_cannot_be_printed_is_said_whatever_the_status(self):
        job = self.cluster.submit("-n", 3, path_of("misbehaviour"), "leave")
        for command, status in ((["wait", job, "--json"], 3), (["top", "--count", 1], 1)):
            with open("/dev/full", "wb") as full:
                client = self.cluster.start_client(["bsp", *command], stdout=full,
                                                   stderr=subprocess.PIPE, text=True)
            error = client.communicate(timeout=COMMAND_S)[1]
            self.assertEqual(client.returncode, status, error)
            self.assertIn("bsp: writing standard output: No space left on device\n", error)

    def test_lines_of_two_processes_stay_apart_though_none_is_ended(self):
        done = self.cluster.bsp("submit", "-n", 2, "--wait", "--output", "unended",
                                "/bin/echo", "-n", "end", check=False, cwd=self.cluster.directory)
        self.assertEqual(self.read(self.cluster.path("unended")), ["end", "end"])
        job = done.stdout.strip()
        self.assertEqual(self.cluster.bsp("logs", job).stdout, "end\nend")
        prefixed = self.cluster.bsp("logs", job, "--prefix-output").stdout
        self.assertEqual(sorted(prefixed.split("\n")), ["[0] end", "[1] end"])

    def test_wait_gives_the_status_of_the_job(self):
        done = self.cluster.bsp("submit", "-n", 3, "--wait", path_of("misbehaviour"), "leave",
                                check=False)
        self.assertEqual(done.returncode, 3)

    def test_who_stops_waiting_is_told_how_to_go_on(self):
        client = self.cluster.start_client(
            ["bsp", "submit", "-n", 3, "--wait", "--output", "later", *SLEEP],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        job = client.stdout.readline().strip()
        self.cluster.await_state(job, "running")
        client.send_signal(signal.SIGINT)
        error = client.communicate(timeout=COMMAND_S)[1]
        self.assertEqual(client.returncode, -signal.SIGINT)
        self.assertIn(f"`bsp wait {job}` waits for {job}, `bsp logs {job} --out",
                      error)
        self.cluster.bsp("cancel", job)

    def test_bsprun_whose_file_cannot_be_written_leaves_no_job(self):
        for name in ("/no/such/file", "/no/such/%j"):
            done = self.cluster.bsprun("-n", 2, "--output", name, *SLEEP, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("No such file", done.stderr)
        wait_until(lambda: not self.cluster.jobs_alive(), "no job is left")


class QuotasTest(unittest.TestCase):
    def test_one_user_takes_no_more_than_a_share(self):
        quotas = ["--user-slots", "2", "--user-jobs", "2"]
        with Cluster(workers=1, slots=4, coordinator_options=quotas) as cluster:
            first = cluster.submit("-n", 2, *SLEEP)
            second = cluster.submit("-n", 2, *SLEEP)
            cluster.await_state(first, "running")
            wait_until(lambda: "at most 2 slots for jobs of user" in cluster.show(second)["reason"],
                       "the second one says why it waits")
            third = cluster.bsp("submit", "-n", 1, *SLEEP, check=False)
            self.assertIn("--user-jobs of the coordinator", third.stderr)
            cluster.bsp("cancel", first)
            cluster.await_state(second, "running")
            large = cluster.bsp("submit", "-n", 3, *SLEEP, check=False)
            self.assertIn("--user-slots of the coordinator", large.stderr)
            cluster.bsp("cancel", second)
            cluster.bsp("wait", second, check=False)

    def test_one_user_keeps_no_more_than_a_share(self):
        with Cluster(workers=1, coordinator_options=["--user-bytes", "1kB"]) as cluster:
            large = cluster.bsp("submit", "-n", 1, path_of("misbehaviour"), check=False)
            self.assertEqual(large.returncode, 1)
            self.assertIn("--user-bytes of the coordinator", large.stderr)
            with open(cluster.path("small"), "w", encoding="ascii") as program:
                program.write("#!/bin/sh\nexit 3\n")
            os.chmod(program.name, 0o755)
            ended = cluster.bsp("wait", cluster.submit("-n", 1, program.name), check=False)
            self.assertEqual(ended.returncode, 3)


class ForgottenTest(unittest.TestCase):
    def test_a_node_that_is_gone_can_be_forgotten_and_come_back(self):
        with Cluster(workers=1, slots=1) as cluster:
            worker = cluster.add_worker("gone", 1)
            cluster.await_workers(2)
            refused = cluster.bsp("forget", "gone", check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("node gone is up; `bsp drain gone`", refused.stderr)
            cluster.bsp("drain", "gone")
            worker.kill()
            wait_until(lambda: cluster.nodes()["gone"]["state"] == "lost", "the node is lost")
            cluster.bsp("forget", "gone")
            self.assertNotIn("gone", cluster.nodes())
            again = cluster.bsp("forget", "gone", check=False)
            self.assertIn("there is no node gone", again.stderr)
            cluster.coordinator.kill()
            cluster.restart_coordinator()
            self.assertNotIn("gone", cluster.nodes())
            worker.start()
            wait_until(lambda: cluster.nodes().get("gone", {}).get("state") == "up",
                       "the node is back, and not drained")


if __name__ == "__main__":
    unittest.main()
