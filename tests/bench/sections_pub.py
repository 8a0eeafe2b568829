"""What is measured of PUB over TCP: supersteps that end by counting, groups, the paper's broadcast
beside those that a user can write, and its binary search.
"""

from figures import Figure, Section, Summary, Target
from sections import MIB, Run, size_text

PATTERNS = (("", "no message"), (".ring", "8 B round the ring"), (".pair", "8 B, 0 to 1"))
STAGES = ("1b", "2a", "2b", "3a", "3b")


def places(bench):
    """(system, number of processes, where they are) that groups are measured in."""
    return ((bench.bspnow, 2, "p = 2 on two workers"), (bench.bspnow, 4, "p = 4 on two"),
            (bench.four, 4, "p = 4 on four"))


def share_of(summary, factor):
    """At most so much of that."""
    if summary.median is None:
        return None
    return Target(float("%.3g" % (factor * summary.median)), "at most")


def groups(bench):
    """Ends of supersteps; barriers of halves."""
    ends, halves = [], []
    for system, p, where in places(bench):
        results = bench.interleave("groups, %s" % where, [
            Run(system, "groups", p, (bench.choose(7, 15), 200))], bench.choose(3, 5))

        def of(figure, name=system.name, results=results):
            return results.summary(name, figure, 1e6)

        ends += [Figure("%s, %s" % (text, where), "us",
                        {"bspnow": of("oblsync" + suffix), "sync": of("sync" + suffix)},
                        share_of(of("sync" + suffix), 0.4), parameters={"p": p})
                 for suffix, text in PATTERNS]
        if p > 2:
            halves.append(Figure(where, "us", {"bspnow": of("half.both"), "one": of("half.one"),
                                               "made": of("group")},
                                 share_of(of("half.one"), 1), parameters={"p": p}))
    return [Section("pub_ends", "PUB: supersteps that end by a count, and by a barrier; at most "
                    "0.4 of that", ends, (("bspnow", "bsp_oblsync"), ("sync", "bsp_sync"))),
            Section("pub_halves", "PUB: the barriers of two halves at once, and of one; two halves "
                    "made and left", halves,
                    (("bspnow", "both"), ("one", "one half"), ("made", "made and left")))]


def best(results, system, kind, size):
    """Of the ways of that kind: the samples of the one with the least median."""
    names = [name for name in results.samples.get(system, {})
             if name.startswith(kind) and name.endswith(".%d" % size)]
    found = [results.summary(system, name, 1e6) for name in names]
    found = [summary for summary in found if summary.median is not None]
    return min(found, key=lambda summary: summary.median, default=Summary([], "-"))


def broadcast(bench):
    """The paper's Figure 5, on two workers."""
    rows = []
    sizes = (8, 1024, 16 * 1024, 64 * 1024, 256 * 1024, MIB, 16 * MIB)
    for p in (4, 8):
        results = bench.interleave("bsp_gsend, p = %d" % p, [
            Run(bench.bspnow, "broadcast", p, (bench.choose(5, 15), *sizes))],
            bench.choose(1, 3))
        for size in sizes:
            columns = {column: best(results, "bspnow", kind, size) for column, kind in (
                ("bspnow", "gsend"), ("tree", "tree."), ("ptree", "ptree."), ("scaga", "scaga"))}
            users = [summary for column, summary in columns.items()
                     if column != "bspnow" and summary.median is not None]
            target = share_of(min(users, key=lambda one: one.median), 1) if users else None
            rows.append(Figure("%s, p = %d" % (size_text(size), p), "us", columns, target,
                               parameters={"p": p, "bytes": size}))
    return Section("pub_broadcast", "PUB: a broadcast by bsp_gsend beside a user's own, two "
                   "workers (Figure 5 of the paper)", rows,
                   (("bspnow", "bsp_gsend"), ("tree", "tree"), ("ptree", "pipelined tree"),
                    ("scaga", "scatter, gather")))


def search(bench):
    """The paper's binary search in its stages: ns for a query on each process."""
    queries = (16, 128, 512, 2048, 8192)
    results = bench.interleave("binary search", [
        Run(bench.bspnow, "search", 4, (bench.choose(31, 101), *queries))], bench.choose(3, 5))
    rows = [Figure("%d queries" % count, "ns",
                   {stage: results.summary("bspnow", "%s.%d" % (stage, count), 1)
                    for stage in STAGES}, parameters={"p": 4}) for count in queries]
    return Section("pub_search", "PUB: binary search, p = 4 on two workers, time of a query: "
                   "combined (1b), in bulk (2a, 2b), in groups (3a), by counting (3b)", rows,
                   tuple((stage, stage) for stage in STAGES))


def pub(bench):
    return [*groups(bench), broadcast(bench), search(bench)]
