#!/usr/bin/env python3
"""Jobs as users see them: many at once, clients that leave, workers that come and go, a coordinator
that starts again."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from harness.cluster import Cluster
from harness.disturbances import processes_of
from harness.programs import path_of
from harness.reference import Reference
from harness.waiting import wait_until

JOBS_AT_ONCE = 20
JOB_S = 300


def mixed(supersteps=12):
    return [path_of("mixed"), supersteps, 50_000]


class TogetherTest(unittest.TestCase):
    """All jobs share one cluster, as those of users do."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(workers=3, slots=4))

    def test_twenty_jobs_at_once(self):
        """12 slots: some run together, some wait for their turn."""
        references = [Reference(p, mixed()) for p in (1, 2, 4, 7)]
        jobs = [(reference, self.cluster.submit("-n", reference.nprocs, *mixed()))
                for reference in (references * JOBS_AT_ONCE)[:JOBS_AT_ONCE]]
        for reference, job in jobs:
            reference.check_job(self.cluster, job)
            self.assertEqual(self.cluster.state(job), "succeeded")

    def test_a_job_without_free_slots_shows_why_it_waits(self):
        sleeping = self.cluster.submit("-n", 12, path_of("misbehaviour"), "sleep")
        self.cluster.await_state(sleeping, "running")
        waiting = self.cluster.submit("-n", 2, *mixed())
        wait_until(lambda: "slots" in self.cluster.show(waiting)["reason"],
                   "`bsp show` names what the job waits for")
        self.cluster.bsp("cancel", sleeping)
        self.cluster.bsp("wait", waiting)
        self.assertEqual(self.cluster.state(sleeping), "cancelled")

    def test_a_waiting_job_that_is_cancelled_never_starts(self):
        sleeping = self.cluster.submit("-n", 12, path_of("misbehaviour"), "sleep")
        waiting = self.cluster.submit("-n", 12, path_of("misbehaviour"), "sleep")
        self.cluster.bsp("cancel", waiting)
        self.cluster.bsp("cancel", sleeping)
        self.cluster.await_state(waiting, "cancelled")
        self.assertIsNone(self.cluster.show(waiting)["started_unix_ms"])
        self.cluster.await_state(sleeping, "cancelled")

    def test_killed_bsprun_ends_its_job(self):
        client = self.cluster.start_client(
            ["bsprun", "--reconnect-timeout", "1s", "--name", "orphan", "-n", 3,
             path_of("misbehaviour"), "sleep"])
        job = self.job_named("orphan")
        self.cluster.await_state(job, "running")
        client.kill()
        client.wait()
        self.cluster.await_state(job, "cancelled", "failed")

    def test_bsprun_that_is_interrupted_ends_with_its_job(self):
        client = self.cluster.start_client(
            ["bsprun", "--name", "interrupted", "-n", 3, path_of("misbehaviour"), "sleep"])
        job = self.job_named("interrupted")
        self.cluster.await_state(job, "running")
        client.send_signal(signal.SIGINT)
        self.assertIn(client.wait(timeout=JOB_S), (-signal.SIGINT, 128 + signal.SIGINT))
        self.cluster.await_state(job, "cancelled", "failed")

    def test_a_job_runs_on_after_its_follower_is_killed(self):
        job = self.cluster.submit("-n", 4, *mixed(40))
        follower = self.cluster.start_client(["bsp", "logs", "-f", job],
                                             stdout=subprocess.DEVNULL)
        follower.kill()
        follower.wait()
        Reference(4, mixed(40)).check_job(self.cluster, job)

    def test_the_exit_status_is_the_jobs(self):
        job = self.cluster.submit("-n", 3, path_of("misbehaviour"), "leave")
        self.assertEqual(self.cluster.bsp("wait", job, check=False).returncode, 3)
        self.assertIn("pid 1", self.cluster.show(job)["reason"])

    def test_a_jobs_time_is_where_it_went_on_one_node_and_on_three(self):
        counted = set()
        for nodes in (1, 3):
            # Long beside what one process may begin or end later than another.
            job = self.cluster.submit("-n", 3, "--nodes", nodes, *mixed(300))
            self.cluster.bsp("wait", job)
            totals = self.cluster.show(job)["totals"]
            parts_ns = totals["compute_ns"] + totals["wait_ns"] + totals["exchange_ns"]
            self.assertAlmostEqual(parts_ns / totals["total_ns"], 1, delta=0.1)
            self.assertGreater(totals["wait_ns"], 0)
            self.assertGreater(totals["exchange_ns"], 0)
            counted.add(totals["supersteps"])
        self.assertEqual(len(counted), 1)  # The one that bsp_end ends, too.

    def test_lanes_that_only_one_node_uses_do_not_fill(self):
        """Each superstep goes by the workers, since one node asks for more than a frame of answers
        holds. What the other has put into its lane is far more than a connection holds."""
        job = self.cluster.submit("-n", 2, "--nodes", 2, path_of("uneven"), 2000, 30_000, 100_000)
        self.cluster.bsp("wait", job)
        logs = "".join(worker.log() for worker in self.cluster.workers.values())
        self.assertIn(f"event=lanes_open job={job} ", logs)
        self.assertNotIn(f"event=no_lanes job={job} ", logs)

    def test_names_need_not_be_utf8(self):
        """Linux takes any bytes for the name of a file, an argument or a variable."""
        name, left = os.fsdecode(b"na\xffme"), os.fsdecode(b"le\xfft")
        program, fetched = self.cluster.path(name), self.cluster.path("fetched")
        shutil.copy(path_of("misbehaviour"), program)
        job = self.cluster.submit("-n", 2, "--env", f"NAME={name}", program, "name", left)
        self.cluster.bsp("wait", job)
        self.cluster.bsp("fetch", job, left, "--dir", fetched, errors="surrogateescape")
        self.assertEqual(os.listdir(fetched), [left])
        self.cluster.bsprun("-n", 2, program, "name", left, variables={"NAME": name}, cwd=fetched)

    def test_a_drained_node_takes_no_jobs(self):
        self.cluster.bsp("drain", "w2")
        job = self.cluster.submit("-n", 8, *mixed())
        self.cluster.bsp("wait", job)
        self.cluster.bsp("undrain", "w2")
        nodes = {place["node"] for place in self.cluster.show(job)["placement"]}
        self.assertEqual(nodes, {"w1", "w3"})

    def job_named(self, name):
        def find():
            return [job["job"] for job in self.cluster.jobs() if job["name"] == name]
        return wait_until(find, f"the job {name} is listed")[0]


class ComingAndGoingTest(unittest.TestCase):
    def test_workers_come_and_go_while_jobs_wait(self):
        reference = Reference(6, mixed())
        with Cluster(workers=1, slots=2) as cluster:
            jobs = [cluster.submit("-n", 6, *mixed()) for _ in range(3)]
            cluster.add_worker("gone", 2)
            cluster.await_workers(2)
            self.assertEqual({cluster.state(job) for job in jobs}, {"waiting"})
            cluster.workers["gone"].kill()
            wait_until(lambda: cluster.nodes_up() == {"w1"}, "the killed worker is lost")
            self.assertEqual({cluster.state(job) for job in jobs}, {"waiting"})
            cluster.add_worker("w2", 2)
            cluster.add_worker("w3", 2)
            for job in jobs:
                reference.check_job(cluster, job)

    def test_a_worker_that_is_killed_fails_its_unrepeatable_jobs_and_no_others(self):
        with Cluster(workers=3, slots=2) as cluster:
            lost = cluster.submit("-n", 6, "--max-restarts", 0, path_of("misbehaviour"), "sleep")
            cluster.await_state(lost, "running")
            waiting = cluster.submit("-n", 4, *mixed())
            cluster.workers["w2"].kill()
            cluster.await_state(lost, "failed")
            self.assertIn("w2", cluster.show(lost)["reason"])
            cluster.bsp("wait", waiting)

    def test_a_coordinator_that_is_killed_keeps_running_and_waiting_jobs(self):
        reference = Reference(4, mixed())
        with Cluster(workers=2, slots=2) as cluster:
            running = cluster.submit("-n", 4, path_of("misbehaviour"), "sleep")
            cluster.await_state(running, "running")
            waiting = [cluster.submit("-n", 4, "--priority", i, *mixed()) for i in range(3)]
            processes = processes_of(cluster)
            cluster.coordinator.kill()
            cluster.restart_coordinator()
            cluster.await_workers(2)
            self.assertEqual(cluster.state(running), "running")
            self.assertEqual(processes_of(cluster), processes)
            cluster.bsp("cancel", running)
            for job in waiting:
                reference.check_job(cluster, job)
            self.assertEqual(cluster.state(running), "cancelled")


class DescriptorsTest(unittest.TestCase):
    def test_lanes_on_their_way_to_processes_hold_up_nobody(self):
        """A user may have as many descriptors on their way as he may have open. The lanes of eight
        processes on two nodes are more."""
        reference = Reference(8, mixed())
        with Cluster(workers=2, slots=4) as cluster:
            for worker in cluster.workers.values():
                resource.prlimit(worker.process.pid, resource.RLIMIT_NOFILE, (64, 64))
            for _ in range(2):
                reference.check_job(cluster, cluster.submit("-n", 8, *mixed()))


class MemoryTest(unittest.TestCase):
    def test_a_workers_memory_does_not_grow_with_its_jobs(self):
        with Cluster(workers=1, slots=4) as cluster:
            def kilobytes_after(jobs):
                for job in [cluster.submit("-n", 2, *mixed(2)) for _ in range(jobs)]:
                    cluster.bsp("wait", job)
                with open(f"/proc/{cluster.workers['w1'].process.pid}/status") as status:
                    fields = dict(line.split(":", 1) for line in status)
                return int(fields["RssAnon"].split()[0])

            first = kilobytes_after(50)
            self.assertLess(kilobytes_after(200) - first, 400)


if __name__ == "__main__":
    unittest.main(verbosity=2)
