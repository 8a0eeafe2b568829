"""What is measured over TCP with the patterns of users' programs: many pieces, sample sort's
communication, and the examples.
"""

import os

import systems_tcp
from figures import Figure, Section, Target
from graphs import write_graph
from harness.scratch import scratch_directory
from sections import MIB, Run, size_text
from systems_tcp import COLUMNS, SPREAD

PIECES_COLUMNS = (("bspnow", "2 workers"), ("four", "4 workers"), ("eight", "8 workers"),
                  ("shm", "shared memory"))


def where_processes_are(bench, program, nprocs, arguments):
    """On two workers, on as many as there are processes, and without any."""
    spread = {2: [], 4: [bench.four], 8: [bench.eight]}[nprocs]
    return [Run(system, program, nprocs, arguments)
            for system in (bench.bspnow, *spread, systems_tcp.InSharedMemory(bench.programs))]


def pieces(bench):
    """Many transfers to many places, by which it shows when buffers are given back."""
    rows = []
    for p, size, count in ((2, 16 * 1024, 512), (4, 256 * 1024, 16), (8, MIB, 8)):
        arguments = (bench.choose(0.1, 0.3), size, count)
        title = "%d of %s, p = %d" % (count, size_text(size), p)
        results = bench.interleave(title, where_processes_are(bench, "pieces", p, arguments),
                                   bench.choose(2, 5))
        rows += [Figure("%s, %s" % (title, means), "ms", results.columns(means, 1e3),
                        parameters={"p": p, "bytes": size}) for means in ("put", "hpput")]
    return [Section("pieces", "Transfers out of each process, in turn to all others, one "
                    "superstep", rows, PIECES_COLUMNS)]


def applications(bench):
    """The examples. A byte of h may take what it takes in the raw stream, all else half as long
    again as in shared memory."""
    raw = bench.interleave("raw TCP, 64 MiB", [
        Run(bench.machine, "exchange", 2, ("reno", bench.choose(0.2, 0.5), 64 * MIB))], 3)
    a_byte_s = raw.summary("machine", "exchange.%d" % (64 * MIB), 1 / (64 * MIB)).median
    rows = []
    with scratch_directory() as directory:
        graph = write_graph(os.path.join(directory, "graph"), 100_000)
        for program, arguments, what in (
                ("fft", ("--log2=21", "--top=0"), "FFT of 2^21 points"),
                ("heat", ("--size=1000x1000", "--steps=500"), "heat, 1000 x 1000, 500 steps"),
                ("lu", ("--random=1000",), "LU, order 1000"),
                ("sort_numbers", ("--n=4000000",), "sort of 4,000,000 numbers"),
                ("pagerank", ("--top=0", "--iterations=40", graph), "PageRank, 100,000 nodes")):
            for p in (2, 4):
                title = "%s, p = %d" % (what, p)
                results = bench.interleave(
                    title, where_processes_are(bench, program, p, arguments), bench.choose(3, 5))
                rows.append(Figure(title, "ms", results.columns("seconds", 1e3),
                                   application_target(results, a_byte_s), parameters={"p": p}))
    return [Section("applications", "The examples, all their supersteps; at most 1.5 times shared "
                    "memory and h bytes at raw TCP's rate", rows, PIECES_COLUMNS)]


def application_target(results, a_byte_s):
    shared_s = results.summary("shm", "seconds", 1).median
    h_bytes = results.summary("shm", "h", 1).median
    if a_byte_s is None or shared_s is None or h_bytes is None:
        return None
    return Target(float("%.3g" % (1e3 * (1.5 * shared_s + h_bytes * a_byte_s))), "at most")


def sort(bench):
    """The communication of sample sort: on two workers, on as many as processes, and by MPI."""
    rows = []
    sizes = (1_000, 10_000, 100_000, 1_000_000)
    for p in (2, 4):
        results = bench.interleave("sample sort, p = %d" % p, bench.on_all(
            "sort", p, (bench.choose(0.2, 0.5), *sizes)), bench.choose(3, 5))
        rows += [Figure("%d numbers a process, p = %d" % (n, p), "us",
                        results.columns("sort.%d" % n, 1e6), Target(1, "times MPI"),
                        parameters={"p": p}, beside_mpi=SPREAD[p]) for n in sizes]
    return [Section("sort", "The communication of sample sort: samples to all, then runs; MPI: "
                    "MPI_Allgather, MPI_Alltoall, MPI_Alltoallv", rows, COLUMNS[:-1])]
