#!/usr/bin/env python3
"""The fault proxy does what its commands say, between a client and a server of a few lines."""

import socket
import sys
import threading
import unittest

from harness.programs import path_of
from harness.proxy import Proxy
from harness.waiting import wait_until

TIMEOUT_S = 60
SHORT_S = 0.3
DATA = bytes(i * 7 % 251 for i in range(300_000))


class Echo:
    """A server that sends back what it receives, and keeps a copy."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.got = b""
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:  # Closed.
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            try:
                while piece := connection.recv(1 << 16):
                    self.got += piece
                    connection.sendall(piece)
            except OSError:  # Reset.
                pass


class ProxyTest(unittest.TestCase):
    def setUp(self):
        self.echo = Echo()
        self.proxy = self.start(seed=5)

    def start(self, seed):
        proxy = Proxy(path_of("fault_proxy"), seed)
        self.addCleanup(lambda: self.assertEqual(proxy.stop(), []))
        self.addCleanup(self.echo.listener.close)
        self.route = proxy.listen("w1")
        proxy.target("w1", self.echo.address)
        return proxy

    def connect(self):
        host, port = self.route.split(":")
        connection = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
        self.addCleanup(connection.close)
        return connection

    @staticmethod
    def receive(connection, nbytes):
        got = b""
        while len(got) < nbytes and (piece := connection.recv(1 << 16)):
            got += piece
        return got

    def echo_of(self, data):
        connection = self.connect()
        sender = threading.Thread(target=connection.sendall, args=(data,))
        sender.start()
        got = self.receive(connection, len(data))
        sender.join()
        connection.shutdown(socket.SHUT_WR)
        self.assertEqual(connection.recv(1), b"")
        return got

    def assert_silent(self, connection):
        connection.settimeout(SHORT_S)
        with self.assertRaises(TimeoutError):
            connection.recv(1)
        connection.settimeout(TIMEOUT_S)

    def test_passes_bytes_on(self):
        self.assertEqual(self.echo_of(DATA), DATA)
        self.assertEqual(self.proxy.counts()["bytes"], 2 * len(DATA))

    def test_small_pieces_delays_and_stalls_change_no_byte(self):
        for faults in ({"piece": 1}, {"piece": 9}, {"delay_ms": 20},
                       {"stall": 40_000, "stall_ms": 30}):
            self.proxy.faults("*", **faults)
            self.assertEqual(self.echo_of(DATA), DATA, faults)
        self.assertGreater(self.proxy.counts()["stall"], 0)

    def test_flips_as_many_bits_as_it_counts(self):
        self.proxy.faults("w1", flip=20_000)
        got = self.echo_of(DATA)
        bits = sum((a ^ b).bit_count() for a, b in zip(DATA, got))
        self.assertEqual(len(got), len(DATA))
        self.assertGreater(bits, 0)
        self.assertEqual(bits, self.proxy.counts()["flip"])

    def test_the_same_seed_flips_the_same_bits(self):
        def flipped(seed):
            self.echo.got = b""
            proxy = self.start(seed)
            proxy.faults("w1", flip=20_000)
            return self.echo_of(DATA)
        self.assertEqual(flipped(3), flipped(3))
        self.assertNotEqual(flipped(3), flipped(4))

    def test_resets_by_chance(self):
        self.proxy.faults("w1", reset=50_000)
        connection = self.connect()
        with self.assertRaises(OSError):
            for _ in range(1000):
                connection.sendall(DATA)
                self.receive(connection, 1)
        self.assertGreater(self.proxy.counts()["reset"], 0)

    def test_resets_now(self):
        connection = self.connect()
        connection.sendall(b"x")
        self.assertEqual(connection.recv(1), b"x")
        self.proxy.now("reset", "w1")
        with self.assertRaises(ConnectionResetError):
            connection.recv(1)
        self.assertEqual(self.echo_of(b"again"), b"again")

    def test_half_open_is_silent_and_can_heal(self):
        connection = self.connect()
        connection.sendall(b"x")
        self.assertEqual(connection.recv(1), b"x")
        self.proxy.now("halfopen", "w1")
        connection.sendall(b"y")
        self.assert_silent(connection)
        self.assertEqual(self.echo_of(b"another"), b"another")
        self.proxy.now("heal", "w1")
        self.assertEqual(connection.recv(1), b"y")

    def test_one_way_cut_lets_the_other_way_pass(self):
        connection = self.connect()
        connection.sendall(b"x")
        self.assertEqual(connection.recv(1), b"x")
        self.proxy.now("cut-from", "w1")
        connection.sendall(b"y")
        wait_until(lambda: self.echo.got == b"xy", "the server gets it", TIMEOUT_S)
        self.assert_silent(connection)

    def test_cut_holds_for_new_connections_until_it_heals(self):
        self.proxy.now("cut", "w1")
        connection = self.connect()
        connection.sendall(b"x")
        self.assert_silent(connection)
        self.assertEqual(self.echo.got, b"")
        self.proxy.now("heal", "w1")
        self.assertEqual(connection.recv(1), b"x")

    def test_swallows_one_way_and_goes_on_reading(self):
        connection = self.connect()
        connection.sendall(b"x")
        self.assertEqual(connection.recv(1), b"x")
        self.proxy.now("swallow-to", "w1")
        connection.sendall(100 * DATA)  # More than the buffers of all sockets hold.
        self.assert_silent(connection)
        self.assertEqual(self.echo.got, b"x")
        self.assertEqual(self.echo_of(b"another"), b"another")

    def test_swallows_after_some_bytes_of_new_connections_until_it_heals(self):
        self.proxy.now("swallow-from", "w1", 3)
        connection = self.connect()
        connection.sendall(b"abcdef")
        self.assertEqual(self.receive(connection, 3), b"abc")
        self.assert_silent(connection)
        self.proxy.now("heal", "w1")
        connection.sendall(b"g")
        self.assertEqual(connection.recv(1), b"g")

    def test_refuses_commands_that_it_does_not_know(self):
        for command in ("nonsense w1", "faults w1 wrong=1", "reset w2", "target w1 nowhere"):
            with self.assertRaisesRegex(Exception, "error"):
                self.proxy.command(*command.split())


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
