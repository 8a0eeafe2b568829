"""What a program prints when it runs undisturbed, on one node and without a service."""

import os
import re
import subprocess

from harness.daemon import Binaries, Failed

REFERENCE_S = 600


def path_of(program, binaries=None):
    """A program that is built beside the tests."""
    return (binaries or Binaries())[program]


def arranged(output):
    """Lines of one process keep their order. How those of several mix is nobody's promise, so they
    are taken apart: what begins with `pid N` by its pid, the rest as it is."""
    by_pid = {}
    for line in output.splitlines():
        match = re.match(r"pid (\d+) ", line)
        by_pid.setdefault(int(match[1]) if match else -1, []).append(line)
    return by_pid


def alone(nprocs, command, binaries=None):
    """The output of bsprun with no coordinator, arranged."""
    environment = {name: value for name, value in os.environ.items() if name != "BSP_COORDINATOR"}
    launcher = (binaries or Binaries())["bsprun"]
    done = subprocess.run([launcher, "-n", str(nprocs), *map(str, command)],
                          env=environment, capture_output=True, text=True, check=False,
                          timeout=REFERENCE_S, stdin=subprocess.DEVNULL)
    if done.returncode != 0 or done.stderr or not done.stdout:
        raise Failed(f"without a cluster, {command} fails: {done.returncode} {done.stderr}")
    return arranged(done.stdout)
