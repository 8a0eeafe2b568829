// pagerank.cc: PageRank (Brin and Page, 1998) of a graph, for instance that of Debian's packages.
//
//   examples/debian-graph > packages.graph
//   bspc++ -O2 pagerank.cc -o pagerank && bsprun -n 4 ./pagerank packages.graph
//
// A node hands its rank, in equal parts, to the nodes that it points to: with n nodes and damping d
//   rank'(v) = (1 - d) / n + d (sum over edges u -> v of rank(u) / outdegree(u) + D / n),
// where D is the rank of all dangling nodes, which point nowhere and are taken to point everywhere.
// Nodes are distributed in blocks. An iteration is one superstep: a process adds up what its nodes
// have for one node elsewhere and sends that once, and the sums that all must know, D and the
// change, travel in the same superstep. With m edges, and at most c contributions that leave or
// enter a process, an iteration costs
//   2 m/p + 5 n/p + 2 c + (8 c + 16 p) g + l    with puts; 12 c g in place of 8 c g with messages.
#include <bsp.h>
#include <getopt.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "distribution.h"
#include "edge_list.h"
#include "options.h"
#include "pagerank_check.h"
#include "pagerank_exchange.h"

namespace {

constexpr char kUsage[] =
    "usage: pagerank [OPTION...] FILE\n"
    "PageRank of the graph in FILE (- is standard input), a line for each edge: FROM TO.\n"
    "A line with a single name is a node. Names the nodes of highest rank.\n"
    "  --method=put|message  communicate with bsp_put (default) or with bsp_send\n"
    "  --damping=D           part of the rank that follows the edges; default 0.85\n"
    "  --tolerance=T         stop when an iteration changes less (L1 norm); default 1e-10\n"
    "  --iterations=K        stop after K iterations at the latest; default 1000\n"
    "  --top=K               how many nodes to name; default 20\n"
    "  --verify              compare with a sequential computation\n";

enum class Method { kPut, kMessage };

/// What all processes must know: set on process 0 before bsp_begin, and broadcast.
struct Parameters {
  int node_count = 0;
  int iterations_max = 1000;
  double damping = 0.85;
  double tolerance = 1e-10;
  Method method = Method::kPut;
};

struct Result {
  std::vector<double> rank;  ///< Of all nodes, on process 0.
  int iterations = 0;
  double change = 0.0;   ///< L1 norm of what the last iteration changed.
  double seconds = 0.0;  ///< For the iterations, without handing out the graph.
  int nprocs = 0;
};

// BSPlib's SPMD part is a function without arguments: what it takes from the sequential part of
// process 0, and gives back to it, is global.
Parameters parameters;
EdgeList graph;
Result result;

/// The edges that start at nodes of this process: process 0 sends each its own, in one message.
std::vector<Edge> DistributeEdges() {
  if (bsp_pid() == 0) {
    auto begin = graph.edges.begin();
    for (int pid = 0; pid < bsp_nprocs(); ++pid) {
      const int node_end = BlockBegin(parameters.node_count, bsp_nprocs(), pid + 1);
      const auto end = std::lower_bound(begin, graph.edges.end(), Edge{node_end, 0});
      bsp_send(pid, nullptr, graph.edges.data() + (begin - graph.edges.begin()),
               SizeInBytes(end - begin, sizeof(Edge)));
      begin = end;
    }
  }
  bsp_sync();
  int nbytes;
  bsp_get_tag(&nbytes, nullptr);  // The tag size is 0 as yet.
  std::vector<Edge> edges(nbytes / sizeof(Edge));
  bsp_move(edges.data(), nbytes);
  return edges;
}

/// The nodes of one process.
class Part {
 public:
  Part() : edges_(DistributeEdges()), targets_(FindTargets(edges_, parameters.node_count)) {
    const int n = parameters.node_count;
    const int first = BlockBegin(n, bsp_nprocs(), bsp_pid());
    const int size = BlockSize(n, bsp_nprocs(), bsp_pid());
    rank_.assign(size, 1.0 / n);
    incoming_.resize(size);
    out_degree_.resize(size);
    contribution_.resize(targets_.node.size());
    for (Edge& edge : edges_) {  // From node numbers to places in this process's vectors.
      edge.from -= first;
      edge.to =
          static_cast<int>(std::lower_bound(targets_.node.begin(), targets_.node.end(), edge.to) -
                           targets_.node.begin());
      ++out_degree_[edge.from];
    }
    if (parameters.method == Method::kPut)
      exchange_ = std::make_unique<PutExchange>(targets_, n);
    else
      exchange_ = std::make_unique<MessageExchange>(targets_, n);
  }

  /// Iterates until the change is within the tolerance. The totals are of the ranks before the
  /// superstep, so the last exchange serves only to learn that it is over: cheaper than a second
  /// superstep in every iteration.
  void Iterate() {
    const double start = bsp_time();
    Totals mine{DanglingRank(), std::numeric_limits<double>::infinity()};
    for (int iterations = 0;; ++iterations) {
      std::fill(contribution_.begin(), contribution_.end(), 0.0);
      for (const Edge& edge : edges_)
        contribution_[edge.to] += rank_[edge.from] / out_degree_[edge.from];
      const Totals all = exchange_->Deliver(contribution_, mine, incoming_);
      if (all.change <= parameters.tolerance || iterations == parameters.iterations_max) {
        result = {{}, iterations, all.change, bsp_time() - start, bsp_nprocs()};
        return;
      }
      mine.change = UpdateRanks(all.dangling);
      mine.dangling = DanglingRank();
    }
  }

  /// Collects the ranks on process 0, which receives 8 n bytes.
  void Gather() {
    const int n = parameters.node_count;
    std::vector<double> all(bsp_pid() == 0 ? n : 1);
    bsp_push_reg(all.data(), SizeInBytes(all.size(), sizeof(double)));
    bsp_sync();
    bsp_hpput(0, rank_.data(), all.data(),
              BlockBegin(n, bsp_nprocs(), bsp_pid()) * static_cast<int>(sizeof(double)),
              SizeInBytes(rank_.size(), sizeof(double)));
    bsp_pop_reg(all.data());
    bsp_sync();
    if (bsp_pid() == 0) result.rank = std::move(all);
  }

 private:
  double DanglingRank() const {
    double sum = 0.0;
    for (std::size_t v = 0; v < rank_.size(); ++v)
      if (out_degree_[v] == 0) sum += rank_[v];
    return sum;
  }

  /// Takes what has come in; returns the L1 norm of the change.
  double UpdateRanks(double dangling) {
    const double n = parameters.node_count, d = parameters.damping;
    double change = 0.0;
    for (std::size_t v = 0; v < rank_.size(); ++v) {
      const double next = (1.0 - d) / n + d * (incoming_[v] + dangling / n);
      change += std::fabs(next - rank_[v]);
      rank_[v] = next;
    }
    return change;
  }

  std::vector<Edge> edges_;  ///< `from` counts from this process's first node, `to` is a place in
  Targets targets_;          ///< targets_.node and contribution_.
  std::vector<int> out_degree_;
  std::vector<double> rank_;
  std::vector<double> incoming_;
  std::vector<double> contribution_;
  std::unique_ptr<Exchange> exchange_;
};

void Spmd() {
  bsp_begin(bsp_nprocs());
  BroadcastFromZero(&parameters, sizeof parameters);
  Part part;
  part.Iterate();
  part.Gather();
  bsp_end();
}

/// The nodes of highest rank. Ranks that print alike go by name: the last bits of a rank depend on
/// the number of processes, the list must not.
void PrintTop(int count) {
  std::vector<int> order(graph.names.size());
  std::iota(order.begin(), order.end(), 0);
  const auto printed = [](int v) { return std::llround(result.rank[v] * 1e8); };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return printed(a) != printed(b) ? printed(a) > printed(b) : graph.names[a] < graph.names[b];
  });
  order.resize(std::min<std::size_t>(count, order.size()));
  for (std::size_t i = 0; i < order.size(); ++i)
    std::printf("%4zu  %.8f  %s\n", i + 1, printed(order[i]) * 1e-8, graph.names[order[i]].c_str());
}

struct Options {
  const char* path = nullptr;
  int top = 20;
  bool verify = false;
};

Options ParseOptions(int argc, char** argv) {
  static const option kOptions[] = {{"method", required_argument, nullptr, 'm'},
                                    {"damping", required_argument, nullptr, 'd'},
                                    {"tolerance", required_argument, nullptr, 't'},
                                    {"iterations", required_argument, nullptr, 'i'},
                                    {"top", required_argument, nullptr, 'k'},
                                    {"verify", no_argument, nullptr, 'v'},
                                    {"help", no_argument, nullptr, 'h'},
                                    {nullptr, 0, nullptr, 0}};
  Options options;
  int name;
  while ((name = getopt_long(argc, argv, "h", kOptions, nullptr)) != -1) {
    switch (name) {
      case 'm':
        if (std::strcmp(optarg, "put") != 0 && std::strcmp(optarg, "message") != 0)
          errx(kExitUsage, "--method: '%s' is neither put nor message", optarg);
        parameters.method = optarg[0] == 'p' ? Method::kPut : Method::kMessage;
        break;
      case 'd':
        parameters.damping = RealOption("--damping", optarg, 0.0, 0.999);
        break;
      case 't':
        parameters.tolerance = RealOption("--tolerance", optarg, 1e-14, 1.0);
        break;
      case 'i':
        parameters.iterations_max = IntegerOption("--iterations", optarg, 0, 1000000);
        break;
      case 'k':
        options.top = IntegerOption("--top", optarg, 0, 1000000000);
        break;
      case 'v':
        options.verify = true;
        break;
      default:
        ExitWithUsage(name, kUsage);
    }
  }
  if (optind + 1 != argc) errx(kExitUsage, "expected one FILE; see --help");
  options.path = argv[optind];
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  bsp_init(Spmd, argc, argv);  // Only process 0 comes back from here; the others wait in bsp_begin.
  const Options options = ParseOptions(argc, argv);
  graph = ReadEdgeList(options.path);
  parameters.node_count = static_cast<int>(graph.names.size());

  Spmd();

  std::printf("%zu nodes, %zu edges; %d iterations, last change %.2g, %.3f s (%s, p = %d)\n",
              graph.names.size(), graph.edges.size(), result.iterations, result.change,
              result.seconds, parameters.method == Method::kPut ? "put" : "message", result.nprocs);
  if (result.change > parameters.tolerance) warnx("not converged; see --iterations");
  PrintTop(options.top);
  if (options.verify)
    VerifyPageRank(graph, result.rank, parameters.damping, parameters.tolerance,
                   parameters.iterations_max);
  return 0;
}
