"""Input for PageRank, made up."""

import random


def write_graph(path, nodes):
    """A graph in which few nodes have many of the edges, as in those of packages or pages."""
    drawn = random.Random(nodes)
    with open(path, "w", encoding="ascii") as file:
        for node in range(nodes):
            for _ in range(drawn.randrange(1, 9)):
                file.write(f"n{node} n{int(nodes * drawn.random() ** 3)}\n")
    return path
