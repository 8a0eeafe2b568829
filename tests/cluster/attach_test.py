#!/usr/bin/env python3
"""bsprun, and bsp where it follows a job, outlive the coordinator: that is killed at seeded moments
and started again, and what they print, read and return is the same as without."""

import os
import random
import signal
import sys
import time
import unittest

sys.dont_write_bytecode = True

from harness.client import Client, lone_job
from harness.cluster import COMMAND_S, Cluster
from harness.daemon import Daemon
from harness.disturbances import processes_of
from harness.enduring import Enduring
from harness.programs import path_of
from harness.seed import seed
from harness.shards import load_tests  # unittest looks for it here.
from harness.waiting import wait_until

SEED = seed()
NOBODY = {"w1": [], "w2": []}


class AttachTest(unittest.TestCase):
    def setUp(self):
        self.chance = random.Random(SEED)

    def cluster(self, **options):
        return self.enterContext(Cluster(workers=2, slots=2, seed=SEED, **options))

    def restart_coordinator(self, cluster, end=Daemon.kill):
        end(cluster.coordinator)
        time.sleep(self.chance.uniform(0.5, 3.0))
        cluster.restart_coordinator()

    def assert_lost(self, client, name, times):
        self.assertEqual(client.error.count(f"{name}: lost the coordinator "), times, client.error)

    def await_none_left(self, cluster):
        wait_until(lambda: processes_of(cluster) == NOBODY, "no process is left", COMMAND_S)

    # ---- Output -----------------------------------------------------------------------------

    def test_bsprun_outlives_a_coordinator_that_is_killed(self):
        job = Enduring(supersteps=200)  # Longer than the coordinator is away, twice.
        cluster = self.cluster()
        client = job.attach(cluster)
        for end in (Daemon.kill, Daemon.stop):
            at = os.path.getsize(client.paths[0])
            client.await_output(at + self.chance.randrange(100, 1000))
            self.restart_coordinator(cluster, end)
        job.check_client(client)
        self.assert_lost(client, "bsprun", 2)
        self.assertNotIn("resumed", client.error)
        job.check_file_in(client.directory, "bsprun")

    def test_bsprun_gives_the_status_of_a_job_that_ended_meanwhile(self):
        cluster = self.cluster()
        client = Client(cluster, "bsprun", "-n", 2, path_of("misbehaviour"), "sleep")
        job = lone_job(cluster)
        cluster.await_state(job, "running")
        client.process.send_signal(signal.SIGSTOP)
        self.restart_coordinator(cluster)
        cluster.await_workers(2)
        cluster.bsp("cancel", job)
        cluster.await_state(job, "cancelled")
        client.process.send_signal(signal.SIGCONT)
        self.assertGreater(client.end(), 0)
        self.assertIn(f"job {job} is over: cancelled by ", client.error)

    def survive_connection_that_is(self, how):
        job = Enduring(supersteps=100)
        cluster = self.cluster(proxied=["control"])
        client = Client(cluster, "bsprun", *job.arguments(),
                        variables={"BSP_COORDINATOR": cluster.control_address})
        client.await_output(500)
        cluster.proxy.now(how, "control")
        job.check_client(client)
        self.assertIn("lost the coordinator", client.error)

    def test_connection_that_is_reset_changes_nothing(self):
        self.survive_connection_that_is("reset")

    def test_connection_that_is_half_open_is_noticed_and_replaced(self):
        self.survive_connection_that_is("halfopen")

    def test_followers_outlive_a_coordinator_that_is_killed(self):
        job = Enduring(supersteps=200)  # Longer than the coordinator is away, twice.
        cluster = self.cluster()
        number = job.submit(cluster)
        logs = Client(cluster, "bsp", "logs", "-f", number)
        wait = Client(cluster, "bsp", "wait", number)
        top = Client(cluster, "bsp", "top", "-b", "--count", 15, "--interval", 0.5)
        top.await_output(1)  # Without a coordinator it would not begin.
        for end in (Daemon.kill, Daemon.stop):
            at = os.path.getsize(logs.paths[0])
            logs.await_output(at + self.chance.randrange(100, 500))
            self.restart_coordinator(cluster, end)
        self.assertEqual(logs.end(), 0, logs.error)
        job.reference.check(logs.output, "bsp logs")
        self.assert_lost(logs, "bsp", 2)
        for follower in (wait, top):
            self.assertEqual(follower.end(), 0, follower.error)
            self.assertIn("bsp: lost the coordinator ", follower.error)

    # ---- Input ------------------------------------------------------------------------------

    def test_standard_input_is_neither_lost_nor_repeated(self):
        lines = [f"{self.chance.getrandbits(64):x}" * self.chance.randrange(1, 5) + "\n"
                 for _ in range(50_000)]
        cluster = self.cluster()
        given = cluster.path("given")
        with open(given, "w", encoding="ascii") as file:
            file.writelines(lines)
        with open(given, "rb") as file:
            client = Client(cluster, "bsprun", "-n", 3, path_of("lines"), 50, stdin=file)
        for _ in range(2):
            at = os.path.getsize(client.paths[0])
            client.await_output(at + self.chance.randrange(1, 300_000))
            self.restart_coordinator(cluster)
        self.assertEqual(client.end(), 0, client.error)
        self.assert_lost(client, "bsprun", 2)
        total = sum(sum(line.encode()) for line in lines)
        printed = client.output.splitlines(keepends=True)
        self.assertEqual(printed.pop(), f"sum {total}\n")
        self.assertTrue(printed == [f"{at} {line}" for at, line in enumerate(lines)],
                        "the lines differ")

    # ---- Ends -------------------------------------------------------------------------------

    def sleeping(self, cluster, timeout):
        client = Client(cluster, "bsprun", "--reconnect-timeout", timeout, "-n", 3,
                        path_of("misbehaviour"), "sleep")
        job = lone_job(cluster)
        cluster.await_state(job, "running")
        return client, job

    def test_job_of_a_bsprun_that_is_killed_meanwhile_is_cancelled(self):
        cluster = self.cluster()
        client, job = self.sleeping(cluster, "2s")
        cluster.coordinator.kill()
        client.process.kill()
        client.end()
        cluster.restart_coordinator()
        cluster.await_state(job, "cancelled")
        self.assertIn("its client left", cluster.show(job)["reason"])
        self.await_none_left(cluster)

    def test_bsprun_gives_up_when_the_coordinator_stays_away(self):
        cluster = self.cluster()
        client, job = self.sleeping(cluster, "3s")
        cluster.coordinator.kill()
        self.assertEqual(client.end(), 1)
        self.assert_lost(client, "bsprun", 1)
        self.assertIn("for 3 s; gave up", client.error)
        cluster.restart_coordinator()
        cluster.await_state(job, "cancelled")
        self.await_none_left(cluster)

    def interrupt_while_away(self, cluster, client):
        cluster.coordinator.kill()
        client.await_error("lost the coordinator")
        client.process.send_signal(signal.SIGINT)
        client.await_error("cancelled as soon as the coordinator is back")

    def test_interrupt_while_the_coordinator_is_away_cancels_the_job_when_it_is_back(self):
        cluster = self.cluster()
        client, job = self.sleeping(cluster, "10m")
        self.interrupt_while_away(cluster, client)
        cluster.restart_coordinator()
        self.assertIn(client.end(), (-signal.SIGINT, 128 + signal.SIGINT))
        cluster.await_state(job, "cancelled", "failed")
        self.await_none_left(cluster)

    def test_second_interrupt_while_the_coordinator_is_away_leaves(self):
        cluster = self.cluster()
        client, job = self.sleeping(cluster, "5s")
        self.interrupt_while_away(cluster, client)
        client.process.send_signal(signal.SIGINT)
        self.assertIn(client.end(), (-signal.SIGINT, 128 + signal.SIGINT))
        cluster.restart_coordinator()
        cluster.await_state(job, "cancelled")
        self.await_none_left(cluster)

    def test_interrupt_ends_who_waits_for_a_coordinator_that_is_stopped(self):
        cluster = self.cluster()
        cluster.coordinator.pause()
        for command in ("bsprun",), ("bsp", "submit"):
            client = Client(cluster, *command, "-n", 1, "/bin/true")
            tasks = f"/proc/{client.process.pid}/task"
            wait_until(lambda: len(os.listdir(tasks)) > 1, "it connects", COMMAND_S)
            client.process.send_signal(signal.SIGTERM)
            self.assertEqual(client.process.wait(timeout=3), 128 + signal.SIGTERM)
        cluster.coordinator.resume()
        self.assertEqual(cluster.jobs(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
