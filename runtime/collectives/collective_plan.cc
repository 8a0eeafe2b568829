#include "runtime/collectives/collective_plan.h"

namespace bspnow::runtime {
namespace {

constexpr double kFlopsPerByte = 1.0 / sizeof(double);  // Of a fold's operation.
// A transfer into an area that is not the library's waits for the receiver to begin the superstep,
// and is a system call, or a chunk of its own: measured, on one node.
constexpr double kDirectHalfBytes = 8192;
// What lands in the library's area is copied once more, within the caches.
constexpr double kBuffered = 1.05;
// Neighbours by pid mostly share a node: of what they send each other a part goes no further.
constexpr double kAmongNeighbours = 0.7;
constexpr std::uint32_t kPiecesMax = 1024;
constexpr std::uint32_t kPieceBytesMin = 4096;

class Costs {
 public:
  Costs(const Machine& machine, std::uint32_t p, std::size_t bytes)
      : machine_(machine), p_(p), bytes_(static_cast<double>(bytes)) {}

  double l() const { return machine_.l_ns; }
  /// Of `count` messages with `share` of the bytes.
  double Send(double count, double share = 1) const {
    return count * (bytes_ * share + machine_.half_bytes) * machine_.g_ns_per_byte;
  }
  /// The same while only one process sends.
  double SendAlone(double count, double share = 1) const {
    return count * (bytes_ * share + machine_.half_bytes) * machine_.alone_g_ns_per_byte;
  }
  double Combine(double count) const {
    return count * bytes_ * kFlopsPerByte / machine_.s_flops * 1e9;
  }
  /// For what does not fit into the library's own area: a superstep, and what all compare at its
  /// end and at the last one's.
  double Registration(double landing_bytes) const { return IsDirect(landing_bytes) ? 2 * l() : 0; }
  /// In which `count` messages with `share` of the bytes are sent to where so much lands.
  double Superstep(double landing_bytes, double count, double share = 1) const {
    if (!IsDirect(landing_bytes)) return l() + kBuffered * Send(count, share);
    return 2 * l() + Send(count, share) + count * kDirectHalfBytes * machine_.g_ns_per_byte;
  }
  /// Of what a byte costs, one that stays on its node.
  double near_share() const {
    return machine_.g_ns_per_byte > 0 ? machine_.near_g_ns_per_byte / machine_.g_ns_per_byte : 1;
  }
  double bytes() const { return bytes_; }
  std::uint32_t p() const { return p_; }

  // In two supersteps: the pieces to one process each, and from there to all.
  double BroadcastInPieces() const {
    const double share = 1.0 / p_;
    return Registration(bytes_) + 2 * l() + SendAlone(p_ - 1.0, share) + Send(p_ - 1.0, share);
  }
  double Broadcast(std::uint32_t ways) const {
    if (ways >= p_ && machine_.near_processes < p_) {
      return Registration(bytes_) + l() + SendAlone(p_ - 1.0);
    }
    double cost = Registration(bytes_);
    for (std::uint32_t size = p_; size > 1; size = (size + ways - 1) / ways) {
      const double sent = Send((ways < size ? ways : size) - 1);
      cost += l() + (size > machine_.near_processes ? sent : sent * near_share());
    }
    return cost;
  }
  double Pipeline(std::uint32_t pieces) const {
    return Registration(bytes_) + (p_ + pieces - 2.0) * (l() + Send(1, 1.0 / pieces));
  }
  double Fold(std::uint32_t ways) const {
    const double landing = bytes_ * (2.0 * ways + 3);
    double cost = Registration(landing);
    for (std::uint64_t block = 1; block < p_; block *= ways) {
      const double sent = Sent({p_, ways, static_cast<std::uint32_t>(block)});
      cost += Superstep(landing, sent) + Combine(ways - 1);
    }
    return cost;
  }
  // Of `results` pieces that a process has to send: one if all get the same.
  double FoldInPieces(double results) const {
    const double landing = bytes_ * (2 + (results + 1) / p_);
    return Registration(landing) + 2 * Superstep(landing, p_ - 1.0, 1.0 / p_) +
           Combine((p_ - 1.0) / p_);
  }
  double ScanInPipeline(std::uint32_t pieces) const {
    const double landing = 3 * bytes_ / pieces;
    const double share = (machine_.nodes == Nodes::kOne ? 1 : kAmongNeighbours) / pieces;
    return Registration(landing) +
           (p_ + pieces - 2.0) * (Superstep(landing, 1, share) + Combine(1.0 / pieces));
  }
  double Scan(std::uint32_t ways) const {
    const double landing = bytes_ * (2.0 * ways + 3);
    double cost = Registration(landing);
    for (std::uint64_t known = 1; known < p_; known *= ways) {
      cost += Superstep(landing, ways - 1) + Combine(ways - 1);
    }
    return cost;
  }

 private:
  bool IsDirect(double landing_bytes) const {
    return landing_bytes > static_cast<double>(ScratchBytes(machine_.nodes));
  }

  // The most that a process sends: where the last part is short, it serves more than one of each
  // other part.
  double Sent(const FoldStep& step) const {
    const std::uint32_t begin = step.Begin(p_ - 1);
    const std::uint32_t last = step.Part(p_ - 1);
    const std::uint32_t size = step.Size(begin, last);
    const double by_the_last = static_cast<double>(last) * ((step.block + size - 1) / size);
    // All parts of the first ones are whole, if there is more than one joined block.
    const double by_the_first = begin > 0 ? step.ways - 1 : last;
    return by_the_last > by_the_first ? by_the_last : by_the_first;
  }

  const Machine& machine_;
  std::uint32_t p_;
  double bytes_;
};

constexpr Plan::Candidate kNone{.cost_ns = -1, .ways = 0};

// The best of powers of two: between them costs hardly differ.
template <typename Cost>
Plan::Candidate Cheapest(std::uint32_t first, std::uint32_t end, const Cost& cost) {
  Plan::Candidate best = kNone;
  for (std::uint32_t ways = first; ways < end; ways *= 2) {
    const double cost_ns = cost(ways);
    if (best.cost_ns < 0 || cost_ns < best.cost_ns) best = {.cost_ns = cost_ns, .ways = ways};
  }
  return best;
}

std::uint32_t PiecesEnd(double bytes) {
  const double pieces = bytes / kPieceBytesMin;
  return pieces < kPiecesMax ? static_cast<std::uint32_t>(pieces) : kPiecesMax;
}

}  // namespace

Plan MakePlan(Collective collective, const Machine& machine, std::uint32_t p, std::size_t bytes) {
  const Costs costs(machine, p, bytes);
  const bool one_node = machine.nodes == Nodes::kOne;
  Plan::Candidate direct = kNone, tree = kNone, two_phase = kNone, pipeline = kNone, read = kNone;
  switch (collective) {
    case Collective::kBroadcast:
      direct = {.cost_ns = costs.Broadcast(p), .ways = p};
      tree = Cheapest(2, p, [&](std::uint32_t ways) { return costs.Broadcast(ways); });
      two_phase = {.cost_ns = costs.BroadcastInPieces(), .ways = 2};
      pipeline = Cheapest(2, PiecesEnd(costs.bytes()),
                          [&](std::uint32_t pieces) { return costs.Pipeline(pieces); });
      if (one_node) read = {.cost_ns = 2 * costs.l() + costs.Send(1), .ways = 1};
      break;
    case Collective::kScatter:
      direct = {.cost_ns = costs.Registration(costs.bytes()) + costs.l() + costs.SendAlone(p - 1),
                .ways = p};
      if (one_node) read = {.cost_ns = 2 * costs.l() + costs.Send(1), .ways = 1};
      break;
    case Collective::kGather:
    case Collective::kExchange:
      direct = {.cost_ns = costs.Registration(costs.bytes() * p) + costs.l() + costs.Send(p - 1),
                .ways = p};
      break;
    case Collective::kFoldElements:
      two_phase = {.cost_ns = costs.FoldInPieces(1), .ways = 2};
      [[fallthrough]];
    case Collective::kFold:
      direct = {.cost_ns = costs.Fold(p), .ways = p};
      tree = Cheapest(2, p, [&](std::uint32_t ways) { return costs.Fold(ways); });
      break;
    case Collective::kScanElements:
      two_phase = {.cost_ns = costs.FoldInPieces(p), .ways = 2};
      pipeline = Cheapest(2, PiecesEnd(costs.bytes()),
                          [&](std::uint32_t pieces) { return costs.ScanInPipeline(pieces); });
      [[fallthrough]];
    case Collective::kScan:
      direct = {.cost_ns = costs.Scan(p), .ways = p};
      tree = Cheapest(2, p, [&](std::uint32_t ways) { return costs.Scan(ways); });
      break;
  }
  Plan plan{.candidates = {direct, tree, two_phase, pipeline, read},
            .algorithm = Algorithm::kDirect};
  for (std::size_t i = 1; i < kAlgorithms; ++i) {
    const double least_ns = plan.candidates[static_cast<std::size_t>(plan.algorithm)].cost_ns;
    const double cost_ns = plan.candidates[i].cost_ns;
    if (cost_ns >= 0 && cost_ns < least_ns) plan.algorithm = static_cast<Algorithm>(i);
  }
  return plan;
}

}  // namespace bspnow::runtime
