#!/usr/bin/env python3
"""bsp top at a terminal: however it ends, the terminal is as it was, and it ends when it is asked
to, be the coordinator silent; a pipe that nobody reads ends it without a word."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import unittest

sys.dont_write_bytecode = True

from harness.cluster import COMMAND_S, Cluster
from harness.waiting import wait_until

TAKEN, GIVEN_BACK = b"\033[?1049h", b"\033[?1049l"


class Terminal:
    """One that bsp top has, and what it has printed there."""

    def __init__(self, cluster, **options):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.shown = b""
        threading.Thread(target=self._read, daemon=True).start()
        self.top = cluster.start_client(["bsp", "top", "--interval", "100ms"], stdin=self.slave,
                                        stdout=self.slave, stderr=self.slave,
                                        variables={"TERM": "xterm"}, **options)

    def _read(self):
        while True:
            try:
                self.shown += os.read(self.master, 1 << 16)
            except OSError:
                return

    def is_as_before(self):
        return termios.tcgetattr(self.slave) == self.before

    def await_shown(self, text, times=1):
        wait_until(lambda: self.shown.count(text) >= times, f"{text} is shown", COMMAND_S)

    def is_stopped(self):
        with open(f"/proc/{self.top.pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] == "T"

    def close(self):
        self.top.kill()
        self.top.wait()
        os.close(self.slave)
        os.close(self.master)


class TopTest(unittest.TestCase):
    def setUp(self):
        self.cluster = self.enterContext(Cluster(workers=1, slots=1))

    def terminal(self, **options):
        terminal = Terminal(self.cluster, **options)
        self.addCleanup(terminal.close)
        terminal.await_shown(b"q quits")
        self.assertFalse(terminal.is_as_before())
        return terminal

    def assert_ends(self, terminal):
        self.assertEqual(terminal.top.wait(COMMAND_S), 0)
        terminal.await_shown(GIVEN_BACK)
        self.assertTrue(terminal.is_as_before())

    def test_signals_give_the_terminal_back(self):
        for ending in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(ending):
                terminal = self.terminal()
                terminal.top.send_signal(ending)
                self.assert_ends(terminal)

    def test_terminal_is_given_back_while_it_is_stopped(self):
        terminal = self.terminal(process_group=0)  # As a shell starts it.
        terminal.top.send_signal(signal.SIGTSTP)
        wait_until(terminal.is_stopped, "it is stopped", COMMAND_S)
        self.assertTrue(terminal.is_as_before())
        terminal.top.send_signal(signal.SIGCONT)
        terminal.await_shown(TAKEN, 2)
        os.write(terminal.master, b"q")
        self.assert_ends(terminal)

    # As the system does it for others: nobody there could continue it.
    def test_it_goes_on_where_no_shell_looks_after_it(self):
        terminal = self.terminal(start_new_session=True)
        terminal.top.send_signal(signal.SIGTSTP)
        terminal.await_shown(TAKEN, 2)
        os.write(terminal.master, b"q")
        self.assert_ends(terminal)

    def test_key_is_heard_before_the_first_look_has_come_back(self):
        coordinator = self.cluster.coordinator.process
        coordinator.send_signal(signal.SIGSTOP)
        self.addCleanup(coordinator.send_signal, signal.SIGCONT)
        terminal = Terminal(self.cluster)
        self.addCleanup(terminal.close)
        wait_until(lambda: not terminal.is_as_before(), "it takes keys", COMMAND_S)
        os.write(terminal.master, b"q")
        self.assertEqual(terminal.top.wait(20), 0)
        self.assertTrue(terminal.is_as_before())
        self.assertNotIn(TAKEN, terminal.shown)

    # A call gives up after half a minute.
    def test_silent_coordinator_keeps_nobody(self):
        for key in (b"q", None):
            with self.subTest(key):
                terminal = self.terminal()
                coordinator = self.cluster.coordinator.process
                coordinator.send_signal(signal.SIGSTOP)
                self.addCleanup(coordinator.send_signal, signal.SIGCONT)
                if key:
                    os.write(terminal.master, key)
                else:
                    terminal.top.send_signal(signal.SIGINT)
                self.assertEqual(terminal.top.wait(20), 0)
                coordinator.send_signal(signal.SIGCONT)
                self.assert_ends(terminal)

    def test_pipe_that_nobody_reads_ends_it_without_a_word(self):
        top = self.cluster.start_client(["bsp", "top", "--batch", "--interval", "100ms"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        top.stdout.readline()
        top.stdout.close()
        self.assertEqual(top.stderr.read(), b"")
        top.stderr.close()
        self.assertEqual(top.wait(COMMAND_S), -signal.SIGPIPE)


if __name__ == "__main__":
    unittest.main()
