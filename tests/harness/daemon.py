"""One daemon of a cluster: how it is started, killed, paused and ended, and its log."""

import os
import signal
import subprocess
import sys

from harness import processes
from harness.waiting import Failed, wait_until

END_S = 60.0


def begin():
    """In the child. It gets a group of its own, but no session: the scheduler keeps each session's
    yields within it (sched_autogroup), and the daemons here share two processors."""
    os.setpgrp()
    processes.end_with_parent()


class Daemon:
    """A process with a state directory, in which it writes its addresses once it serves."""

    def __init__(self, name, command, directory, state_dir, environment):
        self.name, self.directory = name, directory
        self.state_dir, self.environment = state_dir, environment
        self.command = [*command, "--state-dir", state_dir]
        self.log_path = os.path.join(directory, "log")
        os.makedirs(self.state_dir, exist_ok=True)
        self.start()

    def start(self):
        """Starts it; after it has ended, with the state that it left."""
        self.was_killed = False
        if os.path.exists(self._address_path()):
            os.unlink(self._address_path())
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.directory, env=self.environment, preexec_fn=begin)

    def use_state_dir(self, directory):
        """Sets the state directory for the next start."""
        os.makedirs(directory, exist_ok=True)
        self.command[self.command.index("--state-dir") + 1] = directory
        self.state_dir = directory

    def _address_path(self):
        return os.path.join(self.state_dir, "address")

    def _read_addresses(self):
        if self.process.poll() is not None:
            raise Failed(f"{self.name} ended with status {self.process.returncode}")
        try:
            with open(self._address_path(), encoding="ascii") as file:
                return dict(line.strip().split("=", 1) for line in file)
        except FileNotFoundError:
            return None

    def addresses(self):
        """The addresses that it listens on, HOST:PORT, by name: listen, data, images, ..."""
        return wait_until(self._read_addresses, f"{self.name} writes its address")

    @property
    def running(self):
        return self.process.poll() is None

    def command_name(self):
        """As ps and pgrep know it."""
        with open(f"/proc/{self.process.pid}/comm", encoding="ascii") as file:
            return file.read().strip()

    def kill(self):
        """By SIGKILL, as a failpoint does it. One that has crashed would be started again, and
        nobody would hear of it."""
        status = self.process.poll()
        if status is not None and status < 0 and status != -signal.SIGKILL:
            raise Failed(f"{self.name} had crashed: {signal.Signals(-status).name}")
        self.process.kill()
        self.process.wait()
        self.was_killed = True

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Sends SIGTERM and waits; returns complaints if it does not end well."""
        if self.running:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        try:
            status = self.process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return [f"{self.name} still ran {END_S:.0f} s after SIGTERM"]
        if status != (-signal.SIGKILL if self.was_killed else 0):
            return [f"{self.name} ended with status {status}"]
        return []

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def print_log(self, lines_max=200):
        lines = self.log().splitlines()
        print(f"---- {self.name}: {' '.join(self.command)}", file=sys.stderr)
        if len(lines) > lines_max:
            print(f"({len(lines) - lines_max} lines before)", file=sys.stderr)
        print("\n".join(lines[-lines_max:]), file=sys.stderr, flush=True)
