#!/usr/bin/python3
"""PageRank of a graph, by messages that are agreed on once and puts in each iteration.

    bsprun -n 4 python3 pagerank.py --verify [FILE]

FILE has an edge a line, two numbers of nodes; without it the graph is random. Process s has a block
of the nodes, and the edges that begin there. An iteration is a superstep of h = 8 c, where c is the
number of nodes to which edges of a process lead, and the reduction of what nodes without edges
have.
"""

import argparse
import sys

import bsp
import numpy as np

import blocks

DAMPING = 0.85


def read_graph(path, nodes):
    """(number of nodes, beginnings of edges, ends of edges)."""
    if path is None:
        edges = np.random.default_rng(1).integers(0, nodes, (8 * nodes, 2)) ** 2 // nodes
    else:
        edges = np.loadtxt(path, dtype=np.int64, ndmin=2)
    edges = np.unique(edges, axis=0)
    return max(nodes if path is None else 0, int(edges.max()) + 1), edges[:, 0], edges[:, 1]


class Links:
    """Where what this process gives its neighbours goes, and where theirs has arrived."""

    def __init__(self, n, heads):
        p, me = bsp.nprocs(), bsp.pid()
        targets, self.slot_of_edge = np.unique(heads, return_inverse=True)
        self.slots = len(targets)
        cuts = np.searchsorted(targets, [blocks.begin(n, p, s) for s in range(p + 1)])
        self.parts = [slice(cuts[s], cuts[s + 1]) for s in range(p)]
        for s, part in enumerate(self.parts):
            bsp.send(s, targets[part] - blocks.begin(n, p, s))
        places = np.zeros(p, dtype=np.int64)
        bsp.push_reg(places)
        bsp.sync()
        arrived = [message.copy() for message in bsp.messages(np.int64)]  # One of each process.
        starts = np.cumsum([0] + [len(nodes) for nodes in arrived])
        for s in range(p):
            bsp.put(s, starts[s], places, me)  # Where, at me, process s begins.
        self.node_of_place = np.concatenate(arrived)
        self.inbox = np.zeros(len(self.node_of_place))
        bsp.push_reg(self.inbox)
        bsp.sync()
        self.places = places

    def exchange(self, given):
        """Adds up what all edges of this process give, and puts it where it belongs."""
        sums = np.bincount(self.slot_of_edge, given, self.slots)
        for s, part in enumerate(self.parts):
            if part.stop > part.start:
                bsp.put(s, sums[part], self.inbox, self.places[s])
        bsp.sync()
        return self.inbox


def rank(n, tails, heads, iterations):
    """The ranks of this process's nodes; tails are counted from its first one."""
    first, end = (blocks.begin(n, bsp.nprocs(), bsp.pid() + i) for i in (0, 1))
    degree = np.bincount(tails, minlength=end - first)
    links = Links(n, heads)
    ranks = np.full(end - first, 1 / n)
    for _ in range(iterations):
        lost = bsp.reduce(ranks[degree == 0].sum())
        share = ranks / np.maximum(degree, 1)
        got = np.bincount(links.node_of_place, links.exchange(share[tails]), end - first)
        ranks = (1 - DAMPING + DAMPING * lost) / n + DAMPING * got
    return ranks


def verify(n, tails, heads, iterations, ranks):
    wanted = np.full(n, 1 / n)
    degree = np.bincount(tails, minlength=n)
    for _ in range(iterations):
        share = np.where(degree > 0, wanted / np.maximum(degree, 1), 0)
        lost = wanted[degree == 0].sum()
        wanted = (1 - DAMPING + DAMPING * lost) / n
        wanted = wanted + DAMPING * np.bincount(heads, share[tails], n)
    if not np.allclose(ranks, wanted, rtol=1e-9, atol=0):
        sys.exit("verification failed: sequential iterations give other ranks")
    print(f"verified: {n} ranks as by sequential iterations")


def main():
    parser = argparse.ArgumentParser(description="PageRank of a graph")
    parser.add_argument("file", nargs="?", help="edges, two numbers of nodes a line [random]")
    parser.add_argument("--nodes", type=int, default=2000, help="of the random graph [2000]")
    parser.add_argument("--iterations", type=int, default=30, help="[30]")
    parser.add_argument("--verify", action="store_true", help="compare with sequential iterations")
    options = parser.parse_args()
    bsp.begin()
    p, me = bsp.nprocs(), bsp.pid()
    n, tails, heads = read_graph(options.file, options.nodes)  # Each process keeps its part.
    first, end = blocks.begin(n, p, me), blocks.begin(n, p, me + 1)
    mine = (tails >= first) & (tails < end)
    ranks = rank(n, tails[mine] - first, heads[mine], options.iterations)
    bsp.send(0, ranks)
    bsp.sync()
    if me == 0:
        ranks = np.concatenate([part.copy() for part in bsp.messages(np.float64)])
    bsp.end()
    if me == 0:
        print(f"{n} nodes, {len(tails)} edges; the highest ranks:")
        for node in np.argsort(-ranks, kind="stable")[:3]:
            print(f"  {node}: {ranks[node]:.8f}")
        if options.verify:
            verify(n, tails, heads, options.iterations, ranks)


if __name__ == "__main__":
    main()
