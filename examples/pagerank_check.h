// pagerank_check.h: PageRank on one process, without a line of the parallel program.
#ifndef EXAMPLES_PAGERANK_CHECK_H_
#define EXAMPLES_PAGERANK_CHECK_H_

#include <err.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "edge_list.h"
#include "options.h"

/// The definition, edge by edge.
inline std::vector<double> SequentialPageRank(const EdgeList& graph, double damping,
                                              double tolerance, int iterations_max) {
  const std::size_t n = graph.names.size();
  std::vector<double> rank(n, 1.0 / n), next(n);
  std::vector<int> out_degree(n);
  for (const Edge& edge : graph.edges) ++out_degree[edge.from];
  for (int iteration = 0; iteration < iterations_max; ++iteration) {
    double everywhere = 1.0 - damping;  // What is spread over all nodes.
    for (std::size_t v = 0; v < n; ++v)
      if (out_degree[v] == 0) everywhere += damping * rank[v];
    std::fill(next.begin(), next.end(), everywhere / n);
    for (const Edge& edge : graph.edges)
      next[edge.to] += damping * rank[edge.from] / out_degree[edge.from];
    double change = 0.0;
    for (std::size_t v = 0; v < n; ++v) change += std::fabs(next[v] - rank[v]);
    rank.swap(next);
    if (change <= tolerance) break;
  }
  return rank;
}

/// Leaves the program with status 1 unless `rank` is the PageRank of the graph.
inline void VerifyPageRank(const EdgeList& graph, const std::vector<double>& rank, double damping,
                           double tolerance, int iterations_max) {
  const std::vector<double> expected =
      SequentialPageRank(graph, damping, tolerance, iterations_max);
  double sum = 0.0, difference = 0.0;
  for (std::size_t v = 0; v < expected.size(); ++v) {
    sum += rank[v];
    difference += std::fabs(rank[v] - expected[v]);
  }
  // An iterate whose last change was t is within t d / (1 - d) of the limit; rounding comes on top.
  const double limit = 2.0 * tolerance * damping / (1.0 - damping) + 1e-12;
  if (!(difference <= limit && std::fabs(sum - 1.0) <= 1e-9))
    errx(kExitFailed, "verification failed: off by %.2g (L1; limit %.2g), ranks add up to %.12f",
         difference, limit, sum);
  std::printf("verified: sequential PageRank differs by %.2g (L1; limit %.2g), ranks add up to 1\n",
              difference, limit);
}

#endif  // EXAMPLES_PAGERANK_CHECK_H_
