"""What is measured on networks that are slower than the machine: see systems_network.py."""

import contextlib

import sections
from figures import Figure, Section, Target
from sections import MIB, Run, size_text
from systems_network import (BYTES_S, FAR_US, QUEUE_TEXT, RATE_TEXT, FarNetwork, Network,
                             OnNetwork, OpenMpiOnNetwork)

MACHINES = 8
COLUMNS = (("bspnow", "bspnow"), ("openmpi", "Open MPI"))
COLLECTIVE_SIZES = sections.COLLECTIVE_SIZES[:-1]  # 16 MiB would take minutes.
EXCHANGE_SIZES = (16 * 1024, 256 * 1024, MIB, 4 * MIB)
WHERE = f"machines of {RATE_TEXT} each, a switch that keeps {QUEUE_TEXT} for each"


class NetworkBench(sections.Bench):
    """Makes the machines, and ends all at the end of the `with`."""

    def __init__(self, bspnow, build_dir, quick, network=None):
        self.network = network or Network(MACHINES)
        super().__init__(OnNetwork(bspnow, self.network),
                         [OpenMpiOnNetwork(build_dir, self.network)], None, quick)
        self.plain, self.build_dir = bspnow, build_dir
        self.open = contextlib.ExitStack()

    def far(self):
        """The same on a network of the other kind."""
        return NetworkBench(self.plain, self.build_dir, self.quick,
                            FarNetwork(MACHINES, self.build_dir))

    def __enter__(self):
        with contextlib.ExitStack() as opening:
            opening.enter_context(self.network)
            opening.enter_context(self.bspnow)
            self.open = opening.pop_all()
        return self

    def __exit__(self, *exception):
        return self.open.__exit__(*exception)


def exchange(bench):
    """The total exchange; and what h bytes take on a cable that carries nothing else."""
    rows = []
    for p in (4, 8):
        results = bench.interleave("total exchange, p = %d" % p, bench.runs(
            "exchange", p, ("even", bench.choose(0.3, 1), *EXCHANGE_SIZES)), bench.choose(2, 3))
        for size in EXCHANGE_SIZES:
            cable_ms = 1e3 * size * (p - 1) / p / BYTES_S
            for means in ("put", "hpput", "get", "send"):
                rows.append(Figure(
                    "%s by %s, p = %d (the cable: %.3g)" % (size_text(size), means, p, cable_ms),
                    "ms", results.columns("%s.%d" % (means, size), 1e3,
                                          {"openmpi": "counted.%d" % size}),
                    Target(1, "times MPI"), parameters={"p": p, "bytes": size}))
    return [Section("network_exchange", "Total exchange, an equal share to every process, itself "
                    "included; %s; MPI: MPI_Alltoallv with sizes known beforehand" % WHERE, rows,
                    COLUMNS)]


def collectives(bench):
    """After `bsp probe`, by which they know the network, as on any cluster."""
    for p in (4, 8):
        bench.bspnow.cluster.bsp("probe", "-n", p, "--nodes", p)
    arguments = (bench.choose(0.1, 0.3), *COLLECTIVE_SIZES)
    return [Section("network_collectives", sections.collectives_title(p) + "; " + WHERE,
                    sections.collective_rows(bench, bench.runs("collectives", p, arguments), p,
                                             sizes=COLLECTIVE_SIZES), COLUMNS) for p in (4, 8)]


def sort(bench):
    rows = []
    sizes = (1_000, 10_000, 100_000)
    for p in (4, 8):
        results = bench.interleave("sample sort, p = %d" % p, bench.runs(
            "sort", p, (bench.choose(0.2, 0.5), *sizes)), bench.choose(2, 3))
        rows += [Figure("%d numbers a process, p = %d" % (n, p), "ms",
                        results.columns("sort.%d" % n, 1e3), Target(1, "times MPI"),
                        parameters={"p": p}) for n in sizes]
    return [Section("network_sort", "The communication of sample sort; " + WHERE, rows, COLUMNS)]


def far(bench):
    """How many ways follow each other: a way takes far longer than what is done at its ends."""
    rows = []
    with bench.far() as there:
        for p in (2, 4, 8):
            for program, arguments, figures in (
                    ("sync", (0.5,), {"empty sync": ("sync", None)}),
                    ("exchange", ("even", 0.5, 8 * p),
                     {f"8 B to all by {means}": (f"{means}.{8 * p}", f"counted.{8 * p}")
                      for means in ("put", "get", "send")}),
                    ("inner_product", (0.5,), {"inner product": ("inner", None)}),
                    ("collectives", (0.3, 8, 16 * 1024),
                     {f"{call}, {size_text(size)}": (f"{call}.{size}", None)
                      for size in (8, 16 * 1024) for call in ("bcast", "reduce", "scan")})):
                results = there.interleave(f"far: {program}, p = {p}", there.runs(
                    program, p, arguments), bench.choose(2, 3))
                for what, (own, counted) in figures.items():
                    columns = results.columns(own, 1e6 / FAR_US, {"openmpi": counted or own})
                    rows.append(Figure(f"{what}, p = {p}", "ways", columns,
                                       Target(1 / 1.1, "times MPI"), parameters={"p": p}))
    bench.failures += there.failures
    return [Section("network_far", "Machines far from each other: times in ways, of which each "
                    f"takes {FAR_US} us; MPI: MPI_Barrier, counts and MPI_Alltoallv, "
                    "MPI_Allreduce, and as above", rows, COLUMNS)]


ALL = {"exchange": exchange, "collectives": collectives, "sort": sort, "far": far}
