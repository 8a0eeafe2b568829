#!/usr/bin/env python3
"""Somebody on the machine who has no rights scans it: the daemons listen where they say, each port
bears noise, and nothing acts without a proof. The job that runs meanwhile is right. A worker joins
by a token for that."""

import contextlib
import os
import random
import re
import socket
import sys
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True

from harness import raw_grpc
from harness.cluster import Cluster
from harness.enduring import Enduring
from harness.programs import path_of
from harness.seed import seed
from harness.waiting import wait_until

SEED = seed()
TIMEOUT_S = 20
METRICS = ["--metrics", "127.0.0.1:0"]
IMAGE_CALLS = ("ListImages", "GetImage", "PutImage")


def listening_ports(pid):
    """Of the TCP sockets of one process, as the kernel knows them."""
    sockets = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            sockets.update(re.findall(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{fd}")))
        except FileNotFoundError:
            continue
    ports = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as lines:
            rows = [line.split() for line in lines][1:]
        ports.update(int(row[1].rsplit(":", 1)[1], 16) for row in rows
                     if row[3] == "0A" and row[9] in sockets)
    return ports


def port_of(address):
    return int(address.rsplit(":", 1)[1])


def ports_of(daemon):
    """By name, without the login socket, which has a path."""
    return {name: port_of(address) for name, address in daemon.addresses().items()
            if not address.startswith("/")}


def connect(address):
    if not address.startswith("/"):
        return socket.create_connection(("127.0.0.1", port_of(address)), timeout=TIMEOUT_S)
    directory = os.open(os.path.dirname(address), os.O_PATH)  # A path of a socket must be short.
    try:
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(f"/proc/self/fd/{directory}/{os.path.basename(address)}")
    finally:
        os.close(directory)
    return stream


class OutsidersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(
            Cluster(workers=2, slots=2, worker_options=METRICS,
                    coordinator_options=[*METRICS, "--web", "127.0.0.1:0"]))
        cls.job = Enduring(nprocs=4, supersteps=100)
        cls.number = cls.job.submit(cls.cluster)

    @classmethod
    def tearDownClass(cls):
        cls.job.check_end(cls.cluster, cls.number)
        for daemon in cls.cluster.daemons():
            assert daemon.running, daemon.name

    def metric(self, daemon, name):
        """The sum over its labels."""
        with urllib.request.urlopen(f"http://{daemon.addresses()['metrics']}/metrics") as page:
            lines = page.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))

    def test_each_port_is_one_that_is_told(self):
        for daemon in self.cluster.daemons():
            self.assertEqual(listening_ports(daemon.process.pid),
                             set(ports_of(daemon).values()), daemon.name)

    def test_each_port_bears_noise(self):
        noise = random.Random(SEED)
        for daemon in self.cluster.daemons():
            for name, address in daemon.addresses().items():
                for start in (b"", b"GET / HTTP/1.1\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                              b"\x16\x03\x01", b"BSNF\x08\0\1\0"):
                    with self.subTest(daemon=daemon.name, port=name, start=start), \
                            connect(address) as stream, contextlib.suppress(ConnectionError):
                        stream.sendall(start + noise.randbytes(2000))
            self.assertTrue(daemon.running, daemon.name)

    def test_frames_without_a_proof_are_refused_and_counted(self):
        for daemon in self.cluster.daemons():
            is_worker = "data" in daemon.addresses()
            counter = f"bspnow_{'worker_' if is_worker else ''}frames_refused_total"
            before = self.metric(daemon, counter)
            address = daemon.addresses()["data" if is_worker else "barrier"]
            with connect(address) as stream:
                stream.sendall(b"injected" * 100)
                while stream.recv(4096):  # Until it is closed.
                    pass
            wait_until(lambda: self.metric(daemon, counter) > before, f"{daemon.name} counts it")
            wait_until(lambda: "bad_magic" in daemon.log(), f"{daemon.name} logs who it was")

    def test_images_are_refused_and_that_is_counted(self):
        for worker in self.cluster.workers.values():
            for call in IMAGE_CALLS:
                raw_grpc.call(worker.addresses()["images"], "/bspnow.proto.Images/" + call)
            self.assertEqual(self.metric(worker, "bspnow_worker_image_calls_refused_total"),
                             len(IMAGE_CALLS))

    def test_calls_without_a_token_are_refused_counted_and_written_down(self):
        coordinator = self.cluster.coordinator
        before = self.metric(coordinator, "bspnow_calls_refused_total")
        for call in ("Jobs/SubmitJob", "Jobs/CancelJob", "Jobs/ListNodes", "Workers/Register"):
            raw_grpc.call(coordinator.addresses()["listen"], "/bspnow.proto." + call)
        self.assertEqual(self.metric(coordinator, "bspnow_calls_refused_total") - before, 4)
        def submissions():
            with open(os.path.join(coordinator.state_dir, "refused.log"), encoding="utf-8") as log:
                refused = [line for line in log if "outcome=unauthenticated" in line]
            return len([line for line in refused if "call=SubmitJob" in line])
        wait_until(lambda: submissions() > 0, "what was refused is written down")
        self.assertEqual(submissions(), 1)

    def test_the_page_shows_nobody_anything(self):
        web = self.cluster.coordinator.addresses()["web"]
        for path in ("/", "/events", "/page.js", "/open?ticket=00", "/../state/tokens"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"http://{web}{path}", timeout=TIMEOUT_S)
            self.assertIn(refused.exception.code, (401, 404), path)


class JoinTokenTest(unittest.TestCase):
    def test_a_worker_joins_by_a_token_for_that_and_by_no_other(self):
        with Cluster(workers=0) as cluster:
            cluster.add_worker("far", 2, ["--token-file", cluster.token_file("far", "join")])
            cluster.await_workers(1)
            cluster.bsprun("-n", 2, path_of("everybody"), 1)
            users = cluster.token_file("anna", "read,submit")
            refused = cluster.add_worker("refused", 2, ["--token-file", users])
            wait_until(lambda: "user anna may not join as a worker" in refused.log(),
                       "it is in its log")
            self.assertEqual(set(cluster.nodes()), {"far"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
