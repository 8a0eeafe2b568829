"""What is measured over TCP: as in sections.py, on clusters; and what the daemons cost.

Bounds in time are for two workers. What stands beside MPI, which has an end point for each process,
is bspnow on as many workers as there are processes.
"""

import contextlib
import sys
import time

import sections
import systems_tcp
from figures import Figure, Section, Summary, Target
from sections import (MIB, ONE_PUT_NBYTES, UPDATES, Run, exchange_rows, memory_without_put,
                      payload_multiples, put_peaks, random_row, size_text)
from sections_programs import applications, pieces, sort
from sections_pub import pub
from systems import CORES, Failed
from systems_tcp import COLUMNS, SPREAD

IDLE_WORKERS = 200
# With one slot each, so that each process of a job has a worker of its own; more than release
# themselves (kDirectHostsMax in coordinator/core/jobs/job_record.h).
BARRIER_WORKERS = (32, 64)
BARRIERS = "bspnow_barriers_total"


class TcpBench(sections.Bench):
    """Starts the clusters, and ends them at the end of the `with`."""

    def __init__(self, bspnow, mpis, machine, quick):
        super().__init__(systems_tcp.OnCluster(bspnow, "bspnow", 2, "reno"), mpis, machine, quick)
        self.four = systems_tcp.OnCluster(bspnow, "four", 4, "reno")
        self.eight = systems_tcp.OnCluster(bspnow, "eight", 8, "reno")
        self.unset = systems_tcp.OnCluster(bspnow, "unset", 2, "default")
        self.programs = bspnow
        self.open = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as opening:
            for cluster in (self.bspnow, self.four, self.eight, self.unset):
                opening.enter_context(cluster)
            self.open = opening.pop_all()
        return self

    def __exit__(self, *exception):
        return self.open.__exit__(*exception)

    def on_all(self, program, nprocs, arguments, **options):
        """On two workers, on as many as there are processes, and on each MPI. MPICH spins without
        yielding: where processes exceed the cores it can take minutes."""
        runs = self.runs(program, nprocs, arguments, **options)
        if self.quick and nprocs > CORES:
            runs = [run for run in runs if run.column != "mpich"]
        spread = {cluster.name: cluster for cluster in (self.four, self.eight)}
        if SPREAD[nprocs] in spread:
            runs.append(Run(spread[SPREAD[nprocs]], program, nprocs, arguments, **options))
        return runs

    def interleave(self, title, runs, repetitions):
        results = super().interleave(title, runs, repetitions)
        for mpi in self.mpis:
            if mpi.name not in results.samples:
                results.samples[mpi.name] = {}
                results.missing[mpi.name] = "skipped"
        return results


def sync(bench):
    """Empty bsp_sync beside MPI_Barrier and a central barrier over TCP."""
    targets = {2: 15, 4: 25, 8: 50}
    budget_s = bench.choose(0.2, 0.5)
    rows, tails = [], []
    for p, bound in targets.items():
        runs = bench.on_all("sync", p, (budget_s,))
        runs.append(Run(bench.machine, "barrier", p, (budget_s,)))
        results = bench.interleave("empty sync, p = %d" % p, runs, bench.choose(3, 5))
        rows.append(Figure("p = %d, median" % p, "us", results.columns("sync", 1e6),
                           Target(bound, "at most"), parameters={"p": p},
                           beside_mpi=SPREAD[p]))
        tails.append(Figure("p = %d, p99" % p, "us", results.columns("sync.p99", 1e6),
                            parameters={"p": p}, beside_mpi=SPREAD[p]))
        rows.append(Figure("p = %d, blocking at once" % p, "us",
                           {"machine": results.summary("machine", "blocking", 1e6)},
                           parameters={"p": p}))
    return [Section("sync", "Empty bsp_sync; MPI_Barrier; a central process with epoll that polls "
                    "before it blocks", rows + tails, COLUMNS)]


def spread(bench):
    """p processes on p workers beside MPI's p end points; with pauses; and many processes."""
    budget_s = bench.choose(0.2, 0.5)
    clusters = {cluster.workers: cluster for cluster in (bench.bspnow, bench.four, bench.eight)}

    def beside_mpi(title, program, p, arguments, figure, target):
        cluster = clusters[p]
        runs = [Run(cluster, program, p, arguments)]
        runs += [Run(mpi, program, p, arguments) for mpi in bench.mpis
                 if mpi.name != "mpich" or p <= CORES or not bench.quick]
        results = bench.interleave(title, runs, bench.choose(3, 5))
        columns = {mpi.name: results.summary(mpi.name, figure, 1e6) for mpi in bench.mpis}
        columns["bspnow"] = results.summary(cluster.name, figure, 1e6)
        return Figure(title, "us", columns, target, parameters={"p": p})

    rows = [beside_mpi("empty sync, p = %d" % p, "sync", p, (budget_s,), "sync",
                       Target(bound, "times MPI"))
            for p, bound in ((2, 1 / 1.3), (4, 1), (8, 1))]
    rows += [beside_mpi("empty sync after %d ms of computing, p = 2" % ms, "sync", 2,
                        (budget_s, 1000 * ms), "sync", None) for ms in (1, 10)]
    rows += [beside_mpi("inner product, p = %d" % p, "inner_product", p, (budget_s,), "inner", None)
             for p in (2, 4, 8)]
    results = bench.interleave("8 B to all, p = 128", [
        Run(bench.eight, "exchange", 128, ("even", budget_s, 1024))], bench.choose(2, 5))
    rows += [Figure("8 B to all by %s, p = 128 on 8 workers" % means, "us",
                    {"bspnow": results.summary("eight", means + ".1024", 1e6)}, target,
                    parameters={"p": 128})
             for means, target in (("put", Target(4000, "at most")), ("get", None),
                                   ("send", None))]
    return [Section("spread", "As many workers as processes, beside MPI; pauses; many processes",
                    rows, (("bspnow", "bspnow"), ("mpich", "MPICH"), ("openmpi", "Open MPI")))]


MEANS = ("put", "hpput", "get", "hpget", "send")
EXCHANGE_COLUMNS = (*((means, means) for means in MEANS), ("mpich.counted", "MPICH"),
                    ("openmpi.counted", "Open MPI"), ("machine.exchange", "raw TCP"))


def exchange_targets(results):
    """p = 2, all to the other process: what the targets are for."""
    def columns(means, size, convert):
        named = {"bspnow": ("bspnow", means), "mpich": ("mpich", "counted"),
                 "openmpi": ("openmpi", "counted"), "machine": ("machine", "exchange")}
        return {column: results.summary(system, "%s.%d" % (figure, size), 1).scaled(convert)
                for column, (system, figure) in named.items()}

    def rate(means, size, target):
        return Figure("%s by %s" % (size_text(size), means), "GB/s",
                      columns(means, size, lambda s: size / s / 1e9), target, True)

    return [rate("hpput", 64 * MIB, Target(1 / 0.7, "times MPI")),
            rate("put", 64 * MIB, Target(1 / 1.1, "times MPI")),
            rate("hpput", MIB, Target(1 / 0.8, "times MPI")),
            rate("put", MIB, Target(1, "times MPI")),
            Figure("64 B by put", "us", columns("put", 64, lambda s: s * 1e6),
                   Target(1, "times MPI"))]


def exchange(bench):
    """The total exchange, by each means of BSPlib, beside counts and MPI_Alltoallv, and raw TCP."""
    sizes = bench.choose([64, 16 * 1024, MIB, 64 * MIB],
                         [64 * 4**i for i in range(11)])
    budget_s = bench.choose(0.03, 0.1)
    runs = bench.runs("exchange", 2, ("other", budget_s, *sizes))
    runs.append(Run(bench.machine, "exchange", 2, ("reno", budget_s, *sizes)))
    title = "total exchange, p = 2"
    results = bench.interleave(title, runs, bench.choose(2, 3))
    of_two = Section("exchange", "Total exchange, p = 2, two workers: the same number of bytes "
                     "out of each process, all to the other; MPI: counts, then MPI_Alltoallv",
                     exchange_rows(results, 2, "other", sizes, EXCHANGE_COLUMNS),
                     EXCHANGE_COLUMNS)
    targets = Section("exchange_targets", "Total exchange, beside counts and MPI_Alltoallv",
                      exchange_targets(results), (("bspnow", "2 workers"), *COLUMNS[3:]))
    larger = sizes[-2:]
    runs = bench.on_all("exchange", 4, ("even", budget_s, *larger))
    results = bench.interleave("total exchange, p = 4", runs, bench.choose(1, 3))
    of_four = [Section("exchange", "Total exchange, p = 4, %s: an equal share to every process, "
                       "itself included" % workers,
                       exchange_rows(results, 4, "even", larger, EXCHANGE_COLUMNS, column),
                       EXCHANGE_COLUMNS)
               for column, workers in (("bspnow", "two workers"), ("four", "four workers"))]
    return [of_two, targets, *of_four, congestion(bench, larger, budget_s)]


def congestion(bench, sizes, budget_s):
    """Reno and large buffers, which are asked for at each socket, or what the system has."""
    arguments = (budget_s, *sizes)
    ours = bench.interleave("congestion control", [
        Run(bench.bspnow, "exchange", 2, ("other", *arguments)),
        Run(bench.unset, "exchange", 2, ("other", *arguments))], 2)
    rows = []
    for program, what in (("exchange", "both ways"), ("stream", "one way")):
        raw = {name: bench.interleave("raw TCP, %s, %s" % (what, name), [
            Run(bench.machine, program, 2, (name, *arguments))], 2) for name in ("reno", "default")}
        for size in sizes:
            columns = {"raw." + name: raw[name].summary("machine", "%s.%d" % (program, size), 1)
                       for name in raw}
            if program == "exchange":
                columns.update({"%s.%s" % (system, means): ours.summary(
                    system, "%s.%d" % (means, size), 1)
                    for system in ("bspnow", "unset") for means in ("hpput", "put")})
            rows.append(Figure("%s, %s" % (size_text(size), what), "GB/s",
                               {key: summary.scaled(lambda s, size=size: size / s / 1e9)
                                for key, summary in columns.items()}, higher_is_better=True))
    return Section("congestion", "Congestion control, p = 2: reno and 4 MiB of buffers beside the "
                   "system's own", rows,
                   (("bspnow.hpput", "hpput"), ("unset.hpput", "system's"), ("bspnow.put", "put"),
                    ("unset.put", "system's"), ("raw.reno", "raw TCP"),
                    ("raw.default", "system's")))


PROTECTION_COLUMNS = (("bspnow", "checksums"), ("trusting", "TCP's own"), ("tls", "data TLS"))


def protection(bench):
    """The same exchange on clusters that differ in what protects data between the nodes."""
    def cluster(name, **options):
        return systems_tcp.OnCluster(bench.programs, name, 2, "reno", **options)

    budget_s, sizes = bench.choose(0.2, 0.5), (MIB, 16 * MIB)
    with contextlib.ExitStack() as stack:
        clusters = [bench.bspnow, *map(stack.enter_context, (
            cluster("trusting", worker_options=["--integrity", "tcp"]),
            cluster("tls", coordinator_options=["--data-tls"])))]
        rates = bench.interleave("protection, exchange", [
            Run(system, "exchange", 2, ("other", budget_s, *sizes)) for system in clusters],
            bench.choose(3, 7))
        syncs = bench.interleave("protection, empty sync", [
            Run(system, "sync", 2, (budget_s,)) for system in clusters], bench.choose(3, 7))
    rows, lost = [], []
    for size in sizes:
        for means in ("put", "hpput"):
            what = "%s by %s" % (size_text(size), means)
            of = {system.name: rates.summary(system.name, "%s.%d" % (means, size), 1).scaled(
                lambda s, size=size: size / s / 1e9) for system in clusters}
            rows.append(Figure(what, "GB/s", of, None, True))
            lost += [Figure("%s, lost by %s" % (what, name), "%",
                            {"bspnow": Summary([100 * (1 - one / other) for one, other in
                                                zip(of[less].samples, of[more].samples)])},
                            Target(bound, "at most"))
                     for name, less, more, bound in (("checksums", "bspnow", "trusting", 5),
                                                     ("data TLS", "tls", "bspnow", 40))
                     if of[less].samples and of[more].samples]
    rows.append(Figure("empty sync", "us", syncs.columns("sync", 1e6)))
    return [Section("protection", "What protects data between the nodes, p = 2 on two workers",
                    rows, PROTECTION_COLUMNS),
            Section("protection_lost", "What that costs, of the throughput", lost,
                    (("bspnow", "lost"),))]


def random(bench):
    """10^6 small updates and gets per process in one superstep."""
    rows = []
    for p in (2, 4):
        runs = bench.on_all("random", p, (bench.choose(0.15, 0.4), UPDATES))
        results = bench.interleave("random updates, p = %d" % p, runs, bench.choose(2, 5))
        rows += [random_row(bench, results, means, p, Target(1 / 1.5, "times MPI"),
                            beside_mpi=SPREAD[p])
                 for means in ("put", "send", "hpmove", "get")]
    return [Section("random", "10^6 updates of 8 bytes from each process to random places, one "
                    "superstep; MPI: combined by hand", rows, COLUMNS[:-1])]


def one_put(bench):
    """One large put while two other processes wait; memory of all processes, daemons included."""
    results = bench.interleave(
        "one put of 128 MiB",
        bench.on_all("one_put", 4, ("time", bench.choose(6, 14), ONE_PUT_NBYTES))
        + [Run(bench.machine, "stream", 2, ("reno", 0.3, ONE_PUT_NBYTES))], bench.choose(2, 5))
    limit = {"machine": "stream.%d" % ONE_PUT_NBYTES}
    rows = [Figure(what, "ms", results.columns(figure, 1e3, limit), target, beside_mpi=SPREAD[4])
            for what, figure, target in (("repeated", "one", Target(150, "at most")),
                                         ("the first", "one.cold", Target(150, "at most")))]
    return [Section("one_put", "One process puts 128 MiB to one other, p = 4; MPI: counts, then "
                    "MPI_Alltoallv", rows + one_put_memory(bench), COLUMNS)]


def one_put_memory(bench):
    empty, one = (put_peaks(bench, bench.on_all, bench.choose(1, 3), 1, nbytes)
                  for nbytes in (0, ONE_PUT_NBYTES))
    return [Figure("memory in all", "x payload", payload_multiples(one, empty),
                   Target(3, "at most")),
            memory_without_put(empty, "processes, launcher, daemons")]


def start(bench):
    """The shortest program, from the launcher's start to its end."""
    results = bench.interleave("start and end", bench.on_all("nothing", 4, ()),
                               bench.choose(5, 10))
    return [Section("start", "Start and end of the shortest program, p = 4",
                    [Figure("wall time", "ms", results.columns("wall", 1e3),
                            beside_mpi=SPREAD[4])], COLUMNS[:-1])]


# ---- What the daemons cost ----------------------------------------------------------------------


def at_rest(daemon, seconds):
    """Percent of one core while nothing happens."""
    before_s = systems_tcp.processor_s(daemon)
    time.sleep(seconds)
    return (systems_tcp.processor_s(daemon) - before_s) / seconds * 100


def per_barrier_and_worker(bench, system, workers):
    """The coordinator's processor time (us) for one worker's part of one barrier. It polls while it
    waits, and that counts."""
    coordinator = system.cluster.coordinator

    def spent_s(program, arguments):
        before_s = systems_tcp.processor_s(coordinator)
        outcome = system.run(program, workers, arguments)
        return systems_tcp.processor_s(coordinator) - before_s, outcome

    samples = []
    for _ in range(bench.choose(2, 5)):
        besides_s, _ = spent_s("nothing", ())
        released = systems_tcp.counter(coordinator, BARRIERS)
        total_s, outcome = spent_s("sync", (bench.choose(0.5, 2),))
        released = systems_tcp.counter(coordinator, BARRIERS) - released
        steps = outcome.figures["sync.steps"]
        if released < steps:
            raise Failed("of %d barriers the coordinator released %d" % (steps, released))
        samples.append((total_s - besides_s) / steps / workers * 1e6)
    return samples


def cost(bench):
    """Processor time of daemons that have nothing to do, and of the coordinator at a barrier."""
    seconds = bench.choose(4, 20)
    rows = [Figure(what, "% of a core", {"bspnow": Summary([at_rest(daemon, seconds)])}, target)
            for what, daemon, target in (
                ("a worker at rest", bench.bspnow.cluster.workers["w1"], Target(0.1, "below")),
                ("a coordinator of two workers at rest", bench.bspnow.cluster.coordinator, None))]
    print("bench: starting %d workers" % IDLE_WORKERS, file=sys.stderr, flush=True)
    many = systems_tcp.OnCluster(bench.programs, "many", IDLE_WORKERS, "reno", slots=1,
                                 coordinator_options=("--metrics", "127.0.0.1:0"))
    with many:
        rows.append(Figure("a coordinator of %d workers at rest" % IDLE_WORKERS, "% of a core",
                           {"bspnow": Summary([at_rest(many.cluster.coordinator, seconds)])},
                           Target(1, "below")))
        for workers in BARRIER_WORKERS:
            try:
                summary = Summary(per_barrier_and_worker(bench, many, workers))
            except Failed as failure:
                bench.failures.append("cost of a barrier, %d workers: %s" % (workers, failure))
                summary = Summary([], "FAILED")
            rows.append(Figure("the coordinator, each barrier and worker, of %d" % workers, "us",
                               {"bspnow": summary}, Target(3, "at most")))
    return [Section("cost", "Processor time of the daemons", rows, (("bspnow", "bspnow"),))]


def collectives(bench):
    """As in shared memory, on two workers and on as many as there are processes."""
    arguments = (bench.choose(0.1, 0.3), *sections.COLLECTIVE_SIZES)
    return [Section("collectives", sections.collectives_title(p), sections.collective_rows(
        bench, bench.on_all("collectives", p, arguments), p, SPREAD[p]), COLUMNS) for p in (4, 8)]


ALL = {"sync": sync, "spread": spread, "exchange": exchange, "pieces": pieces, "random": random,
       "protection": protection, "one-put": one_put, "collectives": collectives,
       "applications": applications, "sort": sort, "pub": pub, "start": start,
       "cost": cost}
