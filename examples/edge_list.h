// edge_list.h: a directed graph as a text file: a line for each edge, FROM TO, or a single name for
// a node. Empty lines and those that start with # do not count; an edge given twice counts once.
#ifndef EXAMPLES_EDGE_LIST_H_
#define EXAMPLES_EDGE_LIST_H_

#include <err.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "options.h"

struct Edge {
  int from;
  int to;
  bool operator<(const Edge& b) const { return from != b.from ? from < b.from : to < b.to; }
  bool operator==(const Edge& b) const { return from == b.from && to == b.to; }
};

struct EdgeList {
  std::vector<std::string> names;  ///< Of the nodes, numbered as they occur in the file.
  std::vector<Edge> edges;         ///< Sorted, each once.
};

/// Reads the file `path`, or standard input if that is "-". Leaves the program with status 1 and a
/// message if the file cannot be read, holds no node, or has a line of more than two names.
inline EdgeList ReadEdgeList(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) err(kExitFailed, "%s", path.c_str());
  }
  std::istream& in = path == "-" ? std::cin : file;

  EdgeList graph;
  std::unordered_map<std::string, int> number_of;
  const auto node = [&](const std::string& name) {
    const auto found = number_of.emplace(name, static_cast<int>(graph.names.size()));
    if (found.second) graph.names.push_back(name);
    return found.first->second;
  };

  std::string line;
  for (long line_number = 1; std::getline(in, line); ++line_number) {
    std::istringstream words(line);
    std::string from, to, more;
    words >> from >> to >> more;
    if (from.empty() || from[0] == '#') continue;
    if (!more.empty())
      errx(kExitFailed, "%s, line %ld: more than two names", path.c_str(), line_number);
    const int source = node(from);
    if (!to.empty()) graph.edges.push_back({source, node(to)});
  }
  if (in.bad()) err(kExitFailed, "%s", path.c_str());
  if (graph.names.empty()) errx(kExitFailed, "%s: no graph in it", path.c_str());
  std::sort(graph.edges.begin(), graph.edges.end());
  graph.edges.erase(std::unique(graph.edges.begin(), graph.edges.end()), graph.edges.end());
  return graph;
}

#endif  // EXAMPLES_EDGE_LIST_H_
