"""The fault proxy (tests/cluster/fault_proxy.cc), which is sent commands and answers each by a
line."""

import subprocess

from harness.daemon import END_S
from harness.waiting import Failed


class Proxy:
    """Ends with its standard input, so that it cannot outlive the test."""

    def __init__(self, program, seed):
        self.process = subprocess.Popen([program, "--seed", str(seed)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)

    def command(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        answer = self.process.stdout.readline().split()
        if not answer or answer[0] != "ok":
            raise Failed(f"fault proxy: {' '.join(map(str, words))}: {' '.join(answer)}")
        return answer[1:]

    def listen(self, route):
        """Opens a route; returns the HOST:PORT that others connect to."""
        return self.command("listen", route)[0]

    def target(self, route, address):
        self.command("target", route, address)

    def faults(self, route, **means):
        """Sets what happens by chance from now on, on open and on new connections: `reset=100000`
        means every 100,000 bytes on average. fault_proxy.cc lists the faults."""
        self.command("faults", route, *[f"{name}={value}" for name, value in means.items()])

    def now(self, what, route, *after_bytes):
        """Causes one fault now: reset, halfopen, cut, cut-to, cut-from, swallow-to, swallow-from;
        or heals them. Swallowing may begin after some bytes of each connection."""
        self.command(what, route, *after_bytes)

    def record(self, path):
        """From now on what all routes pass on is written to this file, too."""
        self.command("record", path)

    def counts(self):
        """What has happened so far: resets, stalls, flips, connections, bytes."""
        return {name: int(value) for name, value in
                (word.split("=") for word in self.command("counts"))}

    def stop(self):
        self.process.stdin.close()
        try:
            status = self.process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return ["the fault proxy did not end"]
        self.process.stdout.close()
        return [] if status == 0 else [f"the fault proxy ended with status {status}"]
