#!/usr/bin/env python3
"""A job outlives its processes, its workers and the coordinator: whatever happens, its output and
its file are those of an undisturbed run, byte by byte. A seed decides what chance decides.

With another seed: bazel run //tests/cluster:recovery_test -- 7
"""

import random
import socket
import sys
import unittest

sys.dont_write_bytecode = True

from harness import disturbances
from harness.cluster import COMMAND_S, Cluster
from harness.enduring import Enduring
from harness.recovery import CHECKPOINTS, SEED, MainRecoveries, RecoveryCase
from harness.shards import load_tests  # unittest looks for it here.
from harness.waiting import wait_until

HELLO_BYTES = 224  # Hello and kProof, with their headers: net/frame.h.
UNREACHABLE = {"proxied": ["data"], "worker_options": ["--unreachable-ms", "2000"]}


class BsplibRecoveryTest(MainRecoveries, RecoveryCase):
    """A program of BSPlib alone, whose messages have tags."""

    program = "mixed"


class SectionsRecoveryTest(RecoveryCase):
    """A program of several SPMD sections is saved in those of all processes, and between them."""

    program = "sections"

    def test_process_is_killed(self):
        self.assertIn("resumed from", self.survive(disturbances.kill_process))

    def test_worker_is_killed(self):
        self.assertIn("lost at superstep", self.survive(disturbances.kill_worker, commits=2))

    def test_coordinator_is_killed(self):
        shown = self.survive(disturbances.kill_coordinator)
        self.assertNotIn("resumed from", shown, "the job was rolled back")


class RecoveryTest(MainRecoveries, RecoveryCase):
    """A program of PUB with BSPlib's puts and gets: it is saved where its groups have come
    together."""

    # ---- Kills ------------------------------------------------------------------------------

    def test_worker_is_killed_and_stays_away(self):
        def kill(cluster, number, chance):
            name = disturbances.hosting_worker(cluster, chance)
            cluster.workers[name].kill()
            return f"killed {name} for good"
        self.assertIn("lost at superstep", self.survive(kill, commits=2))

    def test_two_workers_are_killed(self):
        self.survive(disturbances.kill_two_workers)

    def test_coordinator_of_another_cluster_is_not_obeyed(self):
        def images(cluster):
            return {image for worker in cluster.workers.values()
                    for image in disturbances.images(worker)}

        def start_with_an_empty_directory(cluster, number, chance):
            coordinator, workers = cluster.coordinator, cluster.workers
            host = disturbances.hosting_worker(cluster, chance)
            right = coordinator.state_dir
            coordinator.kill()
            workers[host].kill()  # Then it knows only what is on its disk.
            kept = images(cluster)
            coordinator.use_state_dir(right + ".empty")
            cluster.restart_coordinator()
            workers[host].start()
            for name, worker in workers.items():
                wait_until(lambda worker=worker: "it is the coordinator of" in worker.log(),
                           f"{name} refuses the coordinator of another cluster")
            self.assertEqual(cluster.nodes(), {})
            self.assertTrue(disturbances.images(workers[host]))
            self.assertLessEqual(kept, images(cluster))
            coordinator.kill()
            coordinator.use_state_dir(right)
            cluster.restart_coordinator()
            cluster.await_workers(3)
            return "started the coordinator with an empty directory, then with its own"
        self.survive(start_with_an_empty_directory)

    # ---- Pauses -----------------------------------------------------------------------------

    def test_short_stop_of_a_worker_rolls_nothing_back(self):
        shown = self.survive(lambda *where: disturbances.stop_worker(*where, seconds=5.0))
        self.assertNotIn("resumed from", shown, "the job was rolled back")

    def test_long_stop_of_a_worker(self):
        shown = self.survive(lambda *where: disturbances.stop_worker(*where, seconds=15.0))
        self.assertIn("lost at superstep", shown)

    def test_stop_of_the_coordinator_rolls_nothing_back(self):
        shown = self.survive(lambda *where: disturbances.stop_coordinator(*where, seconds=5.0))
        self.assertNotIn("resumed from", shown, "the job was rolled back")

    def test_workers_end_the_processes_of_a_coordinator_that_is_stopped_for_long(self):
        shown = self.survive(lambda *where: disturbances.stop_coordinator(*where, seconds=6.0),
                             cluster_options={"worker_options": ["--orphan-timeout", "2s"]})
        self.assertIn("no coordinator has renewed its lease", shown)

    # ---- Disks ------------------------------------------------------------------------------

    def survive_disk(self, what, reason):
        """On two nodes, both of which the job needs: so it comes back to the one that fails."""
        def fail(cluster, number, chance):
            def await_failure():
                wait_until(lambda: reason in cluster.show(number)["checkpoints"]["last_failure"],
                           "a checkpoint is given up", COMMAND_S)
            return disturbances.failing_disk(cluster, number, chance, what=what,
                                             wait=await_failure)
        self.job = self.long_job
        self.survive(fail, cluster_options={"workers": 2})

    def test_sync_fails(self):
        self.survive_disk("error", "Input/output error")

    def test_disk_is_full(self):
        self.survive_disk("enospc", "No space left on device")

    def test_log_is_damaged(self):
        def damage(cluster, number, chance):
            told = []
            for how in disturbances.LOG_DAMAGES:
                commits = cluster.show(number)["checkpoints"]["count"]
                told.append(disturbances.damage_log(cluster, number, chance, how))
                self.job.await_commits(cluster, number, commits + 2)
            return "; ".join(told)
        self.job = self.long_job
        shown = self.survive(damage, commits=2)
        self.assertIn("resumed from the start", shown)

    def test_journal_is_lost(self):
        def lose(cluster, number, chance):
            coordinator = cluster.coordinator
            disturbances.await_copy(coordinator)
            coordinator.kill()
            disturbances.remove_journal(coordinator)
            coordinator.start()
            self.assertEqual(coordinator.process.wait(COMMAND_S), 3)
            self.assertIn("jobs.sqlite is missing", coordinator.log())
            disturbances.rebuild_journal(coordinator)
            cluster.restart_coordinator()
            return "the journal was lost, and rebuilt"
        self.job = self.long_job
        self.assertNotIn("resumed from", self.survive(lose))

    def test_state_is_an_older_copy(self):
        def put_back(cluster, number, chance):
            cluster.coordinator.kill()
            saved = disturbances.save_journal(cluster.coordinator)
            cluster.restart_coordinator()
            cluster.await_workers(3)
            lost = self.job.submit(cluster, CHECKPOINTS)
            cluster.bsp("suspend", number)
            self.job.await_commits(cluster, lost)
            cluster.bsp("suspend", lost)
            cluster.coordinator.kill()
            disturbances.put_back(cluster.coordinator, saved)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
                systemd.bind("")  # A name of the kernel's, which is short.
                systemd.settimeout(COMMAND_S)
                name = systemd.getsockname().decode().replace("\0", "@")
                cluster.coordinator.environment["NOTIFY_SOCKET"] = name
                cluster.restart_coordinator()
                self.assertEqual([systemd.recv(64) for _ in range(2)], 2 * [b"READY=1"])
            cluster.await_workers(3)
            self.assertIn("event=journal_is_older", cluster.coordinator.log())
            self.assertNotIn("event=stream_closed worker=0", cluster.coordinator.log())
            self.assertEqual(cluster.coordinator.command_name(), "bsp-coordinator")
            keepers = [name for name, node in cluster.nodes().items()
                       if node["unknown_jobs"] == [lost]]
            self.assertGreaterEqual(len(keepers), 2)  # A copy may lie on a third node.
            self.assertEqual(self.job.submit(cluster), lost + 1)
            cluster.bsp("cancel", lost + 1)
            for name in keepers:
                disturbances.forget_images(cluster.workers[name], lost)
            return f"put back an older journal; {' and '.join(keepers)} kept job {lost}"
        self.job = self.long_job
        self.survive(put_back)

    # ---- Connections ------------------------------------------------------------------------

    def test_cut_one_way(self):
        self.cut_for("cut-to", 3.0)
        self.cut_for("cut-from", 3.0)

    def test_half_of_a_connection_to_the_coordinator_costs_nothing(self):
        """Bytes go nowhere, one way, on the connections of now; new ones are sound."""
        def swallow(cluster, number, chance):
            for way in ("swallow-from", "swallow-to"):
                cluster.proxy.now(way, "barrier")
                before = self.long_job.superstep(cluster, number)
                self.long_job.await_superstep(cluster, number, before + 10)
            self.assertEqual(cluster.show(number)["losses"], [])
            return "swallowed both ways"
        self.job = self.long_job
        self.survive(swallow, cluster_options={"proxied": ["barrier"]})

    def test_workers_without_control_streams_are_lost(self):
        """Their frames go through, so leases are renewed; but no order and no end does."""
        def cut(cluster, number, chance):
            cluster.proxy.now("cut", "control")
            # Not just any node: one has none of the job, and may be lost first.
            losses = wait_until(lambda: cluster.show(number)["losses"], "a loss is recorded",
                                COMMAND_S)
            cluster.proxy.now("heal", "control")
            return losses[0]["reason"]
        self.job = Enduring(supersteps=300)  # Longer than 10 s, and what a lease has left.
        shown = self.survive(cut, cluster_options={"proxied": ["control"]})
        self.assertIn("no control stream", shown)

    def test_peer_that_swallows_everything_ends_the_epoch(self):
        def swallow(cluster, number, chance):
            for name in cluster.workers:
                cluster.proxy.now("swallow-to", name, HELLO_BYTES)
            wait_until(lambda: cluster.show(number)["losses"], "a loss is recorded", COMMAND_S)
            cluster.proxy.now("heal", "*")
            for name in cluster.workers:
                cluster.proxy.now("reset", name)  # What was swallowed is missing in them.
            return cluster.show(number)["losses"][0]["reason"]
        shown = self.survive(swallow, cluster_options=UNREACHABLE)
        self.assertRegex(shown, r"worker w\d: worker w\d cannot be reached at \S+ for 2 s")

    @staticmethod
    def cut_workers_apart(cluster):
        """The workers do not reach each other; the coordinator reaches all."""
        for name in cluster.workers:
            cluster.proxy.now("cut", name)

    def test_workers_that_do_not_reach_each_other_end_the_epoch(self):
        def cut(cluster, number, chance):
            self.cut_workers_apart(cluster)
            wait_until(lambda: cluster.show(number)["losses"], "a loss is recorded", COMMAND_S)
            cluster.proxy.now("heal", "*")
            return cluster.show(number)["losses"][0]["reason"]
        shown = self.survive(cut, cluster_options=UNREACHABLE)
        self.assertRegex(shown, r"worker w\d: worker w\d cannot be reached at \S+ for 2 s")

    def test_a_job_waits_until_its_workers_reach_each_other(self):
        with self.cluster(**UNREACHABLE) as cluster:
            number = self.job.submit(cluster, "--nodes", 3)
            self.job.await_superstep(cluster, number, 5)
            self.cut_workers_apart(cluster)
            wait_until(lambda: "do not reach each other" in cluster.show(number)["reason"],
                       "`bsp show` names the reason", COMMAND_S)
            cluster.proxy.now("heal", "*")
            self.job.check_end(cluster, number)
            self.assertEqual(cluster.show(number)["restarts"], 1)

    # ---- Users ------------------------------------------------------------------------------

    def test_suspended_job_outlives_everything(self):
        def suspend(cluster, number, chance):
            cluster.bsp("suspend", number)
            cluster.coordinator.kill()
            for name in disturbances.running_workers(cluster):
                cluster.workers[name].kill()
            cluster.restart_coordinator()
            for worker in cluster.workers.values():
                worker.start()
            cluster.await_workers(3)
            cluster.bsp("resume", number)
            return "suspended, everything restarted, resumed"
        self.survive(suspend)

    def test_drained_node_is_left_after_a_restart_of_the_coordinator(self):
        def drain(cluster, name):
            spare = next(other for other, pids in disturbances.processes_of(cluster).items()
                         if not pids)
            cluster.workers[spare].kill()  # There is no room elsewhere.
            wait_until(lambda: spare not in cluster.nodes_up(), f"{spare} is lost", COMMAND_S)
            cluster.bsp("drain", name)
            cluster.coordinator.kill()
            cluster.restart_coordinator()
            cluster.workers[spare].start()
        self.leave_drained(drain)


class FailpointTest(unittest.TestCase):
    """A daemon dies at a failpoint, in a cluster of two nodes, both of which the job needs."""

    job = Enduring(supersteps=100)

    def dies(self, failpoint, fail):
        chance = random.Random(SEED)
        with Cluster(workers=2, slots=2, seed=SEED) as cluster:
            for _ in range(3):  # The job may have ended before the daemon got there.
                number = self.job.submit(cluster, CHECKPOINTS)
                self.job.await_commits(cluster, number)
                did = fail(cluster, number, chance, failpoint=failpoint, wait_s=30.0)
                self.job.check_end(cluster, number)
                print(did, flush=True)
                if "died at" in did:
                    return
        self.fail(did)


def add_failpoints(failpoints, fail):
    for failpoint in failpoints:
        name = "test_" + failpoint.replace(".", "_")
        setattr(FailpointTest, name,
                lambda self, failpoint=failpoint: self.dies(failpoint, fail))


add_failpoints(disturbances.WORKER_FAILPOINTS, disturbances.fail_worker_at)
add_failpoints(disturbances.COORDINATOR_FAILPOINTS, disturbances.fail_coordinator_at)


if __name__ == "__main__":
    unittest.main(verbosity=2)
