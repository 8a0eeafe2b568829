#!/usr/bin/env python3
"""Coordinator, workers and clients speak TLS, with certificates of `bsp certs`: a job runs, its
images travel, certificates are replaced meanwhile; others are told why they are refused. And the
streams of supersteps speak TLS by the key of the cluster."""

import os
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from harness import processes
from harness.cluster import COMMAND_S, Cluster
from harness.enduring import Enduring
from harness.programs import path_of
from harness.scratch import scratch_directory
from harness.waiting import wait_until

HERE = "127.0.0.1"


class TlsTest(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(scratch_directory())
        os.symlink(os.path.abspath(path_of("bsprun")), self.path("bsp"))
        for ca in ("ca", "foreign"):
            self.certs("init", self.path(ca))
        self.issue("head", "coordinator", "--host", HERE)
        self.issue("node", "worker", "--host", HERE, "--host", "localhost")
        self.issue("anna", "client")
        self.issue("eve", "client", ca="foreign")
        os.environ["BSP_TLS"] = self.path("anna")
        self.addCleanup(os.environ.pop, "BSP_TLS")

    def path(self, name):
        return os.path.join(self.directory, name)

    def certs(self, *arguments):
        subprocess.run([self.path("bsp"), "certs", *arguments], check=True,
                       stdout=subprocess.DEVNULL, timeout=COMMAND_S)

    def issue(self, name, role, *more, ca="ca"):
        self.certs("issue", self.path(ca), "--role", role, "--name", name, "--out",
                   self.path(name), *more)

    def cluster(self, **options):
        return self.enterContext(Cluster(slots=2, **{
            "workers": 2, "coordinator_options": ["--tls", self.path("head")],
            "worker_options": ["--tls", self.path("node")], **options}))

    def assert_refused(self, cluster, tls_dir, *words, command=("nodes",)):
        """One line, in our own words."""
        done = cluster.bsp(*command, check=False, variables={"BSP_TLS": tls_dir})
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_job_runs_and_its_images_travel(self):
        cluster = self.cluster()
        job = Enduring(nprocs=4, supersteps=60)
        number = job.submit(cluster, "--checkpoint=every=20")
        job.await_commits(cluster, number)
        holders = cluster.show(number)["checkpoints"]["holders"]
        self.assertEqual(set(holders), {"w1", "w2"})
        for name in ("head", "node", "anna"):  # Nothing is started again.
            self.certs("rotate", self.path(name), "--ca", self.path("ca"))
        worker = cluster.workers["w2"]
        images = worker.addresses()["images"]
        worker.command += ["--images-port", images.rpartition(":")[2]]
        worker.kill()
        worker.start()
        job.check_end(cluster, number)
        self.assertEqual(worker.addresses()["images"], images)
        attached = job.attach(cluster, "--tls", self.path("anna"))
        job.check_client(attached)

    def test_others_are_told_why_they_are_refused(self):
        cluster = self.cluster()
        self.assert_refused(cluster, "", "wants TLS", "--tls DIR or BSP_TLS")
        self.assert_refused(cluster, self.path("eve"), "was not signed by the CA in",
                            self.path("eve"))
        shutil.copy(self.path("ca/ca.crt"), self.path("eve/ca.crt"))
        self.assert_refused(cluster, self.path("eve"), "does not go with ca.crt")
        self.assert_refused(cluster, self.path("nothing"), self.path("nothing/ca.crt"))

    def revoke(self, role, name):
        """At the coordinator, at once and as a whole."""
        self.certs("revoke", self.path("ca"), "--role", role, "--name", name)
        shutil.copy(self.path("ca/revoked"), self.path("head/revoked.next"))
        os.rename(self.path("head/revoked.next"), self.path("head/revoked"))

    def test_who_is_revoked_is_refused_and_nobody_else(self):
        cluster = self.cluster()
        self.issue("bob", "client")
        self.revoke("client", "bob")
        self.assert_refused(cluster, self.path("bob"),
                            "the certificate of client bob was revoked", "bsp certs rotate")
        job = cluster.submit("-n", 2, path_of("misbehaviour"), "variable")
        cluster.bsp("wait", job)
        self.certs("rotate", self.path("bob"), "--ca", self.path("ca"))
        self.assertEqual(set(cluster.nodes()), {"w1", "w2"})
        done = cluster.bsp("nodes", variables={"BSP_TLS": self.path("bob")})
        self.assertIn("w1", done.stdout)
        self.issue("second", "worker", "--host", HERE)
        self.revoke("worker", "second")
        cluster.worker_options = ["--tls", self.path("second")]
        worker = cluster.add_worker("second", 1)
        wait_until(lambda: "worker second was revoked" in worker.log(), "it is in the log",
                   COMMAND_S)
        self.assertEqual(set(cluster.nodes()), {"w1", "w2"})

    def test_whose_certificate_counts_no_more_is_written_down(self):
        cluster = self.cluster(workers=0)
        self.assertEqual(cluster.nodes(), {})
        shutil.copy(self.path("foreign/ca.crt"), self.path("head/ca.next"))
        os.rename(self.path("head/ca.next"), self.path("head/ca.crt"))
        why = "the certificate shown is not one that the CA of this cluster has made"
        self.assert_refused(cluster, self.path("anna"), why)
        def is_written_down():
            path = os.path.join(cluster.coordinator.state_dir, "refused.log")
            with open(path, encoding="utf-8") as log:
                return re.search(f'user="" .* call=ListNodes outcome=.* reason="{why}', log.read())
        wait_until(is_written_down, "it is written down", COMMAND_S)

    def test_who_has_the_certificate_of_another_role_does_not_start(self):
        worker = ["bsp-worker", "--coordinator", f"{HERE}:1", "--accounts", "own:everybody"]
        for (program, *options), tls_dir, role in ((["bsp-coordinator"], "node", "coordinator"),
                                                   (["bsp-coordinator"], "anna", "coordinator"),
                                                   (worker, "head", "worker")):
            with self.subTest(program=program, tls_dir=tls_dir):
                command = [path_of(program), *options, "--tls", self.path(tls_dir), "--state-dir",
                           self.path("state"), "--listen", f"{HERE}:0"]
                done = subprocess.run(processes.as_ordinary_user(command), capture_output=True,
                                      text=True, timeout=COMMAND_S)
                self.assertEqual(done.returncode, 1, done)
                self.assertIn(f"{tls_dir}/tls.crt is that of a ", done.stderr)
                self.assertIn(f", not of a {role}; `bsp certs issue CA --role {role}", done.stderr)

    def test_worker_in_the_coordinators_place_gets_no_token(self):
        cluster = self.cluster(workers=0)
        # Changed while it runs, as by who has taken the coordinator's address.
        shutil.copytree(self.path("node"), self.path("head"), dirs_exist_ok=True)
        wait_until(lambda: "is that of a worker, not of a coordinator" in cluster.bsp(
            "nodes", check=False).stderr, "the other certificate is served", COMMAND_S)

    def test_client_whose_credentials_end_while_it_runs_is_told(self):
        cluster = self.cluster(workers=0, proxied=["control"])
        top = cluster.start_client(["bsp", "top", "--json", "--interval", "100ms"], text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   variables={"BSP_COORDINATOR": cluster.control_address})
        self.addCleanup(top.stderr.close)
        self.addCleanup(top.wait)
        self.addCleanup(top.kill)
        wait_until(lambda: cluster.proxy.counts()["bytes"] > 0, "it has looked", COMMAND_S)
        self.issue("other", "coordinator", "--host", HERE, ca="foreign")
        # Clients are still those of the same CA.
        shutil.copytree(self.path("other"), self.path("head"), dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("ca.crt"))
        wait_until(lambda: "was not signed by" in cluster.bsp("nodes", check=False).stderr,
                   "the other certificate is served", COMMAND_S)
        self.assertIsNone(top.poll())
        cluster.proxy.now("reset", "control")
        said = top.stderr.readline()
        self.assertIn("was not signed by the CA in", said)

    def test_client_with_tls_is_told_that_a_coordinator_has_none(self):
        os.environ["BSP_TLS"] = ""
        cluster = self.cluster(coordinator_options=[], worker_options=[])
        self.assert_refused(cluster, self.path("anna"), "does not speak TLS")

    def test_worker_says_what_keeps_it_from_its_coordinator(self):
        cluster = self.cluster(workers=0, worker_options=[])
        worker = cluster.add_worker("plain", 1)
        wait_until(lambda: "wants TLS" in worker.log(), "it is in the log", COMMAND_S)
        self.issue("far", "worker", "--host", HERE, ca="foreign")
        worker = cluster.add_worker("foreign", 1, options=["--tls", self.path("far")])
        wait_until(lambda: "was not signed by the CA in" in worker.log(), "it is in the log",
                   COMMAND_S)
        self.assertEqual(cluster.nodes(), {})

    def test_worker_that_was_here_says_what_keeps_it_from_its_coordinator_now(self):
        cluster = self.cluster(workers=1)
        worker = cluster.workers["w1"]
        cluster.coordinator.kill()
        self.issue("other", "coordinator", "--host", HERE, ca="foreign")
        shutil.copytree(self.path("other"), self.path("head"), dirs_exist_ok=True)
        os.environ["BSP_TLS"] = self.path("eve")
        cluster.restart_coordinator()
        wait_until(lambda: re.search(r"event=detached coordinator=\S+ reason=.*was not signed by "
                                     "the CA in", worker.log()), "it is in the log", COMMAND_S)

    def test_worker_whose_images_nobody_could_fetch_does_not_start(self):
        cluster = self.cluster(workers=0, worker_options=[])
        self.issue("named", "worker", "--host", "somewhere.example")
        options = ["--tls", self.path("named")]
        worker = cluster.add_worker("named", 1, options=options)
        wait_until(lambda: not worker.running, "it ends", COMMAND_S)
        self.assertIn(f"is for somewhere.example, not for {HERE}", worker.log())
        self.assertIn(f"issue it with --host {HERE}", worker.log())
        del cluster.workers["named"]
        # Nobody asks it for images that lie where all see them.
        share = cluster.path("share")
        os.mkdir(share, 0o700)
        cluster.add_worker("sharer", 1, options=[*options, "--checkpoint-share", share])
        cluster.await_workers(1)


class NewKeyTest(unittest.TestCase):
    """Whoever has been given the cluster's key, and is not to have it any more."""

    def test_workers_take_a_new_key_and_their_job_goes_on(self):
        for options in ((), ("--data-tls",)):
            with Cluster(workers=3, slots=2, coordinator_options=options) as cluster:
                job = Enduring(nprocs=6, supersteps=120)
                number = job.submit(cluster, "--checkpoint=every=20", "--nodes", 3)
                job.await_commits(cluster, number)
                cluster.coordinator.kill()
                os.remove(os.path.join(cluster.coordinator.state_dir, "stream.key"))
                cluster.restart_coordinator()
                for worker in cluster.workers.values():
                    wait_until(lambda log=worker.log: " term=2 " in log(), "it has been told",
                               COMMAND_S)
                # The first of two nodes to hear of it closes the streams between them.
                self.assertIn("the cluster has a new key",
                              "".join(worker.log() for worker in cluster.workers.values()))
                committed = cluster.show(number)["checkpoints"]["superstep"]
                wait_until(lambda: cluster.show(number)["checkpoints"]["superstep"] > committed,
                           "images travel with the new key", COMMAND_S)
                self.assertEqual(cluster.show(number)["losses"], [])
                job.check_end(cluster, number)


class DataTlsTest(unittest.TestCase):
    """With --data-tls the streams of supersteps and barriers are encrypted; no certificates."""

    # Any but kAbort, by which a worker that is not registered yet refuses TLS.
    FRAME = rb"BSNF..(?!\n\0)"

    def cluster(self, workers, *options):
        return Cluster(workers=workers, slots=2, proxied=("data", "barrier"),
                       coordinator_options=options)

    def record(self, cluster):
        cluster.proxy.record(cluster.path("wire"))

    def seen(self, cluster, pattern):
        with open(cluster.path("wire"), "rb") as wire:
            return re.search(pattern, wire.read(), re.DOTALL) is not None

    def test_wire_shows_no_frames(self):
        for options in ((), ("--data-tls",)):
            with self.cluster(2, *options) as cluster:
                self.record(cluster)
                done = cluster.bsprun("--nodes", 2, "-n", 4, path_of("mixed"), 20, 20_000)
                self.assertIn("superstep 19", done.stdout)
                self.assertGreater(cluster.proxy.counts()["bytes"], 100_000)
                self.assertEqual(self.seen(cluster, self.FRAME), not options, options)

    def test_job_over_three_workers_survives_cuts_and_the_loss_of_one(self):
        with self.cluster(3, "--data-tls") as cluster:
            self.record(cluster)
            job = Enduring(nprocs=6, supersteps=60)
            number = job.submit(cluster, "--checkpoint=every=20", "--nodes", 3)
            job.await_superstep(cluster, number, 5)
            cluster.proxy.faults("*", reset=1_000_000, flip=1_000_000)
            for route in (*cluster.workers, "barrier"):
                cluster.proxy.now("reset", route)
            job.await_commits(cluster, number)
            worker = cluster.workers["w2"]
            worker.kill()
            worker.start()
            job.check_end(cluster, number)
            self.assertGreater(cluster.proxy.counts()["flip"], 0)
            self.assertFalse(self.seen(cluster, self.FRAME))

    def test_coordinator_that_is_started_with_it_makes_workers_encrypt(self):
        with self.cluster(2) as cluster:
            job = Enduring(nprocs=4, supersteps=120)
            number = job.submit(cluster, "--nodes", 2)
            job.await_superstep(cluster, number, 5)
            cluster.coordinator.kill()
            cluster.coordinator.command.append("--data-tls")
            cluster.restart_coordinator()
            for worker in cluster.workers.values():
                wait_until(lambda log=worker.log: "data_tls=true" in log(), "it has been told",
                           COMMAND_S)
            superstep = job.superstep(cluster, number)
            job.await_superstep(cluster, number, superstep + 3)  # All connections are new.
            self.record(cluster)
            job.check_end(cluster, number)
            self.assertFalse(self.seen(cluster, self.FRAME))
            for worker in cluster.workers.values():
                self.assertIn("streams are encrypted from now on", worker.log())


if __name__ == "__main__":
    unittest.main()
