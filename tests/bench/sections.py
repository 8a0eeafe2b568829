"""What is measured: one function per section of the report.

Each function lists the runs that it compares; Bench.interleave takes them in turn, again and again,
so that other load of the machine slows all systems alike.
"""

import collections
import dataclasses
import sys

import memory
from figures import Figure, Section, Summary, Target
from systems import Failed, System

MIB = 1 << 20
UPDATES = 10**6
ONE_PUT_NBYTES = 128 * MIB
REGISTRATIONS = 10**5


@dataclasses.dataclass
class Run:
    system: System
    program: str
    nprocs: int
    arguments: tuple
    watch_memory: bool = False

    @property
    def column(self):
        return self.system.name


class Bench:
    """The systems, how thorough to be, and what went wrong so far."""

    def __init__(self, bspnow, mpis, machine, quick):
        """`bspnow`: that which the targets are for."""
        self.bspnow, self.mpis, self.machine = bspnow, mpis, machine
        self.quick = quick
        self.failures = []

    def choose(self, quick, full):
        return quick if self.quick else full

    def interleave(self, title, runs, repetitions):
        """column -> figure -> Summary. Also the figures "wall" (s) and "peak" (bytes)."""
        samples = {run.column: collections.defaultdict(list) for run in runs}
        missing = {run.column: run.system.missing for run in runs}
        for repetition in range(repetitions):
            for run in runs:
                if missing[run.column]:
                    continue
                print("bench: %s: %s, %d of %d" % (title, run.column, repetition + 1, repetitions),
                      file=sys.stderr, flush=True)
                try:
                    self.run_once(run, samples[run.column])
                except Failed as failure:
                    missing[run.column] = "FAILED"
                    self.failures.append("%s, %s: %s" % (title, run.column, failure))
        return Results(samples, missing)

    @staticmethod
    def run_once(run, samples):
        peak = memory.Peak(run.system.daemons()) if run.watch_memory else None
        outcome = run.system.run(run.program, run.nprocs, run.arguments, peak)
        for name, seconds in outcome.figures.items():
            samples[name].append(seconds)
        samples["wall"].append(outcome.wall_s)
        samples["peak"].append(outcome.peak_nbytes)

    def runs(self, program, nprocs, arguments, **options):
        """The same program on bspnow and on each MPI."""
        return [Run(system, program, nprocs, arguments, **options)
                for system in [self.bspnow, *self.mpis]]


class Results:
    def __init__(self, samples, missing):
        self.samples, self.missing = samples, missing

    def summary(self, column, figure, scale):
        """A system that failed once shows no figures: none of them can be trusted."""
        why = self.missing.get(column, "")
        samples = [] if why else self.samples.get(column, {}).get(figure, [])
        return Summary([sample * scale for sample in samples], why or "-")

    def columns(self, figure, scale, others=None):
        """`others`: what the figure is called in columns that name it differently."""
        names = {column: (others or {}).get(column, figure) for column in self.samples}
        return {column: self.summary(column, name, scale) for column, name in names.items()}


def sync(bench):
    """Empty bsp_sync beside MPI_Barrier and the barest barrier."""
    targets = {2: Target(1.2, "at most"), 4: Target(5, "at most"), 8: Target(10, "at most"),
               64: Target(100, "below")}
    budget_s = bench.choose(0.2, 0.5)
    medians, tails = [], []
    for p in (1, 2, 4, 8, 64):
        runs = bench.runs("sync", p, (budget_s,))
        runs.append(Run(bench.machine, "barrier", p, (budget_s,)))
        absent = {}
        if p == 64 and bench.quick:
            # MPICH spins without yielding: one barrier of 64 processes takes most of a second.
            runs = [run for run in runs if run.column != "mpich"]
            absent = {"mpich": Summary([], "skipped")}
        repetitions = bench.choose(2, 3) if p == 64 else bench.choose(3, 5)
        results = bench.interleave("empty sync, p = %d" % p, runs, repetitions)
        medians.append(Figure("p = %d, median" % p, "us",
                              {**results.columns("sync", 1e6), **absent},
                              targets.get(p), parameters={"p": p}))
        tails.append(Figure("p = %d, p99" % p, "us",
                            {**results.columns("sync.p99", 1e6), **absent}, parameters={"p": p}))
    return [Section("sync", "Empty bsp_sync; MPI_Barrier; a barrier of one counter with "
                    "sched_yield", medians + tails)]


EXCHANGE_COLUMNS = (
    ("put", "put"), ("hpput", "hpput"), ("get", "get"), ("hpget", "hpget"), ("send", "send"),
    ("mpich.alltoallv", "MPICH"), ("mpich.counted", "counted"),
    ("openmpi.alltoallv", "Open MPI"), ("openmpi.counted", "counted"), ("machine.copy", "memcpy"))


def size_text(nbytes):
    for unit, size in (("MiB", MIB), ("KiB", 1024)):
        if nbytes >= size:
            return "%d %s" % (nbytes // size, unit)
    return "%d B" % nbytes


def exchange_rows(results, p, pattern, sizes, shown=EXCHANGE_COLUMNS, column="bspnow"):
    """Rates of bspnow's means, in `column` of the results, and of the other systems."""
    rows = []
    for size in sizes:
        columns = {}
        for key, _ in shown:
            system, _, means = key.rpartition(".")
            seconds = results.summary(system or column, "%s.%d" % (means, size), 1)
            columns[key] = seconds.scaled(lambda s, size=size: size / s / 1e9)
        rows.append(Figure(size_text(size), "GB/s", columns, higher_is_better=True,
                           parameters={"p": p, "pattern": pattern, "bytes": size}))
    return rows


def exchange_targets(row):
    """The rows of the total exchange that have a target, in the layout of the other sections."""
    rows = []
    for means, against, times_mpi in (("hpput", "alltoallv", 1.5), ("put", "alltoallv", 0.6)):
        columns = {"bspnow": row.columns[means], "machine": row.columns["machine.copy"]}
        for mpi in ("mpich", "openmpi"):
            columns[mpi] = row.columns["%s.%s" % (mpi, against)]
        rows.append(Figure("%s, %s, p = %d" % (means, row.what, row.parameters["p"]), "GB/s",
                           columns, Target(times_mpi, "times MPI"), higher_is_better=True,
                           parameters=row.parameters))
    return rows


def exchange(bench):
    """The total exchange, by each means of BSPlib, beside MPI_Alltoallv and memcpy."""
    factor = bench.choose(16, 4)
    sizes = [64 * factor**i for i in range(20) if 64 * factor**i < 64 * MIB] + [64 * MIB]
    budget_s = bench.choose(0.03, 0.1)
    sections, targets = [], []
    for p, pattern in bench.choose([(2, "even"), (2, "other")],
                                   [(2, "even"), (4, "even"), (2, "other")]):
        chosen = sizes[-1:] if bench.quick and pattern == "other" else sizes
        arguments = (pattern, budget_s, *chosen)
        runs = bench.runs("exchange", p, arguments)
        runs.append(Run(bench.machine, "memcpy", p, (budget_s, *chosen)))
        where = {"even": "an equal share to every process, itself included",
                 "other": "all of it to the other process"}[pattern]
        results = bench.interleave("total exchange, p = %d, %s" % (p, pattern), runs, 3)
        rows = exchange_rows(results, p, pattern, chosen)
        sections.append(Section("exchange", "Total exchange, p = %d: the same number of bytes "
                                "out of each process, %s" % (p, where), rows, EXCHANGE_COLUMNS))
        if p == 2 and pattern == "even":
            targets = exchange_targets(rows[-1])
    return sections + [Section("exchange_targets", "Total exchange, beside MPI_Alltoallv with "
                               "sizes known beforehand", targets)]


def random_row(bench, results, means, p, target, others=(), beside_mpi="bspnow"):
    """Updates or gets of one kind; by hand an MPI program has puts and gets only."""
    by_hand = {mpi.name: "get" if means == "get" else "put" for mpi in bench.mpis}
    return Figure("%s, p = %d" % (means, p), "ns each",
                  results.columns(means, 1e9 / UPDATES, {**dict(others), **by_hand}),
                  target, parameters={"p": p}, beside_mpi=beside_mpi)


def random(bench):
    """10^6 small updates and gets per process in one superstep."""
    targets = {"put": Target(1 / 1.5, "times MPI"), "send": Target(1 / 2, "times MPI"),
               "hpmove": Target(1 / 2, "times MPI"), "get": Target(1 / 2, "times MPI")}
    budget_s = bench.choose(0.15, 0.4)
    rows = []
    for p in (2, 4):
        runs = bench.runs("random", p, (budget_s, UPDATES))
        runs.append(Run(bench.machine, "stores", p, (budget_s, UPDATES)))
        results = bench.interleave("random updates, p = %d" % p, runs, bench.choose(2, 5))
        rows += [random_row(bench, results, means, p, target if p == 2 else None,
                            {"machine": "store"}) for means, target in targets.items()]
        rows.append(Figure("put, first superstep, p = %d" % p, "ns each",
                           results.columns("put.cold", 1e9 / UPDATES, {"machine": "store.cold"}),
                           parameters={"p": p}))
    return [Section("random", "10^6 updates of 8 bytes from each process to random places, one "
                    "superstep; MPI: combined by hand; machine: stores to own memory", rows)]


def one_put_time(bench):
    arguments = ("time", bench.choose(8, 14), ONE_PUT_NBYTES)
    results = bench.interleave("one put of 128 MiB", bench.runs("one_put", 4, arguments)
                               + [Run(bench.machine, "memcpy", 1, (0.3, ONE_PUT_NBYTES))],
                               bench.choose(2, 5))
    copy = "copy.%d" % ONE_PUT_NBYTES
    return [Figure(what, "ms", results.columns(figure, 1e3, {"machine": limit}), target)
            for what, figure, limit, target in (
                ("repeated", "one", copy, Target(100, "at most")),
                ("the first", "one.cold", copy + ".cold", Target(100, "at most")),
                ("the second", "one.second", copy, None))]


def put_peaks(bench, start, repetitions, nputs, nbytes):
    """column -> peak of memory of all processes, launcher and daemons; `start` gives the runs."""
    runs = start("one_put", 4, ("hold", nputs, nbytes), watch_memory=True)
    title = "memory of %d puts of %s" % (nputs, size_text(nbytes))
    return bench.interleave(title, runs, repetitions).columns("peak", 1)


def payload_multiples(peaks, empty):
    """Memory beyond that of the same processes when the put is empty, arrays included."""
    return {column: total.scaled(lambda t, column=column:
                                 round((t - empty[column].median) / ONE_PUT_NBYTES, 2))
            if empty[column].samples else empty[column] for column, total in peaks.items()}


def memory_without_put(empty, who):
    return Figure("memory without a put (%s)" % who, "MiB",
                  {column: total.scaled(lambda t: t / MIB) for column, total in empty.items()})


def one_put_memory(bench):
    empty, one, four = (put_peaks(bench, bench.runs, bench.choose(1, 3), nputs, nbytes)
                        for nputs, nbytes in ((1, 0), (1, ONE_PUT_NBYTES), (4, ONE_PUT_NBYTES)))
    return [Figure("memory in all, one put", "x payload", payload_multiples(one, empty),
                   Target(3, "at most")),
            Figure("memory in all, a put in each of 4 supersteps", "x payload",
                   payload_multiples(four, empty)),
            memory_without_put(empty, "processes, launcher")]


def one_put(bench):
    """One large put while two other processes wait."""
    return [Section("one_put", "One process puts 128 MiB to one other, p = 4; MPI: counts by "
                    "MPI_Alltoall, then MPI_Alltoallv; machine: memcpy",
                    one_put_time(bench) + one_put_memory(bench))]


def registrations(bench):
    """Puts with one and with many live registrations."""
    run = Run(bench.bspnow, "registrations", 2, (bench.choose(0.2, 0.5), REGISTRATIONS))
    results = bench.interleave("registrations", [run], bench.choose(3, 5))

    def ns(figure):
        return results.summary("bspnow", figure, 1e9 / REGISTRATIONS)

    def ratio(figure):
        pairs = zip(ns(figure).samples, ns("one.live").samples)
        return Summary([many / one for many, one in pairs], ns(figure).missing)

    rows = [Figure(what, unit, {"bspnow": summary}, target) for what, unit, summary, target in (
        ("one registration, random places in its area", "ns each", ns("one.live"), None),
        ("10^5 registrations, the same area and places", "ns each", ns("same.live"), None),
        ("10^5 registrations, a random one for each put", "ns each", ns("random.live"), None),
        ("ratio, the same area", "x", ratio("same.live"), Target(1.1, "at most")),
        ("ratio, a random one for each put", "x", ratio("random.live"), None),
        ("to register 10^5 areas", "ns each", ns("register"), None))]
    return [Section("registrations", "Puts of 8 bytes with one and with 10^5 live registrations, "
                    "p = 2", rows, (("bspnow", "bspnow"),))]


COLLECTIVES = (("bcast", "MPI_Bcast and a barrier"), ("reduce", "MPI_Allreduce"),
               ("scan", "MPI_Scan and a barrier"))
COLLECTIVE_SIZES = (8, 1024, 16 * 1024, 256 * 1024, MIB, 16 * MIB)


def collective_rows(bench, runs, p, beside_mpi="bspnow", sizes=COLLECTIVE_SIZES):
    """A row for each collective and size, of runs of the program with these sizes."""
    results = bench.interleave("collectives, p = %d" % p, runs, bench.choose(2, 3))
    return [Figure("%s, %s" % (name, size_text(size)), "us",
                   results.columns("%s.%d" % (name, size), 1e6), Target(1 / 1.1, "times MPI"),
                   parameters={"p": p, "bytes": size}, beside_mpi=beside_mpi)
            for name, _ in COLLECTIVES for size in sizes]


def collectives_title(p):
    return "Broadcast, sum on all and prefix sums of doubles, p = %d; " % p + "; ".join(
        "%s: %s" % pair for pair in COLLECTIVES)


def collectives(bench):
    """bsp_bcast, bsp_fold and bsp_scan beside MPI's."""
    sections = []
    for p in (4, 8):
        runs = bench.runs("collectives", p, (bench.choose(0.1, 0.3), *COLLECTIVE_SIZES))
        if bench.quick:
            # MPICH spins without yielding where processes exceed the cores.
            runs = [run for run in runs if run.column != "mpich"]
        sections.append(Section("collectives", collectives_title(p),
                                collective_rows(bench, runs, p)))
    return sections


def start(bench):
    """The shortest program, from the launcher's start to its end."""
    results = bench.interleave("start and end", bench.runs("nothing", 2, ()), 10)
    return [Section("start", "Start and end of the shortest program, p = 2",
                    [Figure("wall time", "ms", results.columns("wall", 1e3),
                            Target(50, "at most"))])]


ALL = {"sync": sync, "exchange": exchange, "random": random, "one-put": one_put,
       "registrations": registrations, "collectives": collectives, "start": start}
