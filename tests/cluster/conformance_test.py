#!/usr/bin/env python3
"""The conformance programs on three nodes: tests/conformance/run runs each, on one cluster for all.
With arguments it runs only those programs whose paths contain one of them."""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

from harness.cluster import Cluster
from harness.shards import mine

CONFORMANCE = "tests/conformance"
SPREAD = os.path.join(os.path.dirname(os.path.realpath(__file__)), "spread")
PROCS = "2 7"  # A node with none, and nodes with unequal numbers.
# bsp_direct_get reads memory at once, so it is an error across nodes; and BSP_CHECK=full compares
# memory under unbuffered transfers only within a node. Processes of different nodes may wait for
# each other for good, and for all where they end a superstep by counting.
ON_ONE_NODE = ("cpp/array_elements_go_about.cc", "dialect/mcbsp_h.c",
               "dialect/c23/usable_from_c23.c", "dialect/c89/usable_from_c89.c",
               "dialect/cxx98/usable_from_cxx98.cc", "dialect/multicore_direct_get_is_at_once.c",
               "dialect/multicore_direct_get_large.c", "dialect/multicore_every_call.c",
               "dialect/multicore_offsets_beyond_4_gib.c",
               "full_check/memory_changes_under_an_unbuffered_transfer.c",
               "pub/far_ahead_of_who_waits_for_it.c", "pub/groups_in_different_order.c",
               "pub/groups_of_different_processes.c",
               "pub/oblsync_waits_for_messages_alone.c")
SECONDS = os.environ.get("BSP_CONFORMANCE_SECONDS", "300")


def programs():
    """Pairs of a program, in C or Fortran, and the file with its header."""
    found = []
    for at, _, names in os.walk(CONFORMANCE, followlinks=True):
        for name in names:
            path = os.path.join(at, name)
            if name.endswith(".program"):
                found.append((path, path.removesuffix(".program")))
            elif match := re.fullmatch(r"(\w+)_(include|module)", name):
                found.append((path, os.path.join(at, match[1] + ".header")))
    return sorted(found)


def run(cluster, program, source):
    variables = {"BSP_LAUNCH": SPREAD, "BSP_CONFORMANCE_PROCS": PROCS,
                 "BSP_CONFORMANCE_SECONDS": SECONDS}
    if source.endswith(ON_ONE_NODE):
        variables["SPREAD_NODES"] = "1"
    if "full_check" in os.path.basename(source):
        variables["BSP_CHECK"] = "full"
    done = subprocess.run([os.path.join(CONFORMANCE, "run"), "none", program, source],
                          env=cluster.client_environment(**variables), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        print(f"FAILED: {source}\n{done.stdout}", flush=True)
    return done.returncode == 0, done.stdout.count("ok      p = ")


def main():
    everything = programs()
    if len(everything) < 200:
        sys.exit(f"only {len(everything)} programs found: this test would show nothing")
    chosen = mine([(program, source) for program, source in everything if not sys.argv[1:]
                   or any(word in source for word in sys.argv[1:])])
    failed = runs = 0
    with Cluster(workers=3, slots=8) as cluster:
        for program, source in chosen:
            passed, count = run(cluster, program, source)
            failed += not passed
            runs += count
        print(f"{len(chosen)} programs, {failed} failed; {runs} runs passed")
        if failed:
            cluster.print_logs()
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
