// Which algorithm a collective uses: that of the least cost in the BSP model, with n1/2 for the
// start-up of a message, without which the model prefers scatter and gather even for a few bytes
// (Bonorden et al. 2003, section 4.3). Pure: all processes come to the same plan.
#ifndef RUNTIME_COLLECTIVES_COLLECTIVE_PLAN_H_
#define RUNTIME_COLLECTIVES_COLLECTIVE_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "runtime/collectives/machine.h"

namespace bspnow::runtime {

enum class Collective : std::uint8_t {
  kBroadcast,
  kScatter,
  kGather,
  kExchange,
  kFold,
  kScan,
  kFoldElements,  ///< Of vectors, which are combined element by element, so that they may be cut.
  kScanElements,
};
inline constexpr std::size_t kCollectives = 8;

enum class Algorithm : std::uint8_t {
  kDirect,    ///< Each byte goes to where it belongs in one superstep.
  kTree,      ///< Levels of fan-out `ways`; of a fold or scan, of that many values at a time.
  kTwoPhase,  ///< Everybody gets a piece, of all values if it combines them; then sends it to all.
  kPipeline,  ///< From process to process, in `ways` pieces, of prefixes if it combines them.
  kRead,      ///< Everybody reads from the root's memory, at once; on one node.
};
inline constexpr std::size_t kAlgorithms = 5;

/// What arrives in one superstep lies in the library's own area, unless it is larger: then in the
/// user's, for which a registration is due. That costs a superstep, and between nodes one that goes
/// by their workers, so there the area has room for prefixes of vectors of 1 MiB.
constexpr std::size_t ScratchBytes(Nodes nodes) {
  return nodes == Nodes::kOne ? std::size_t{128} << 10 : std::size_t{3264} << 10;
}

struct Plan {
  struct Candidate {
    double cost_ns;  ///< Negative: not for this collective.
    std::uint32_t ways;
  };
  Candidate candidates[kAlgorithms];
  Algorithm algorithm;  ///< The cheapest.

  std::uint32_t ways() const { return candidates[static_cast<std::size_t>(algorithm)].ways; }
};

/// For p > 1 processes and `bytes` as the user's call names them.
Plan MakePlan(Collective collective, const Machine& machine, std::uint32_t p, std::size_t bytes);

/// A vector of elements, cut into a piece for each process.
struct VectorPieces {
  std::uint32_t p;
  std::size_t elements;
  std::size_t element_bytes;

  /// In bytes; of process p, the end.
  std::size_t Begin(std::uint32_t pid) const {
    return elements * pid / p * element_bytes;  // Both factors are below 2^32.
  }
  std::size_t Bytes(std::uint32_t pid) const { return Begin(pid + 1) - Begin(pid); }
  std::size_t bytes_max() const { return (elements + p - 1) / p * element_bytes; }
};

/// One process in a step of a fold: blocks of `block` processes that know their fold are joined,
/// `ways` at a time.
struct FoldStep {
  std::uint32_t p;
  std::uint32_t ways;
  std::uint32_t block;

  std::uint32_t Begin(std::uint32_t pid) const { return pid / Joined() * Joined(); }
  /// Which of the blocks that are joined holds `pid`.
  std::uint32_t Part(std::uint32_t pid) const { return (pid - Begin(pid)) / block; }
  /// Processes in part `part` of those joined from `begin` on; the last may be short, or missing.
  std::uint32_t Size(std::uint32_t begin, std::uint32_t part) const {
    const std::uint64_t first = begin + std::uint64_t{part} * block;
    if (first >= p) return 0;
    return static_cast<std::uint32_t>(p - first < block ? p - first : block);
  }

 private:
  // Not beyond p, so that nothing overflows.
  std::uint32_t Joined() const {
    const std::uint64_t joined = std::uint64_t{ways} * block;
    return static_cast<std::uint32_t>(joined < p ? joined : p);
  }
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_COLLECTIVES_COLLECTIVE_PLAN_H_
