// One connection through the fault proxy: two sockets, and the bytes on their way between them.
#ifndef TESTS_CLUSTER_PROXY_CONNECTION_H_
#define TESTS_CLUSTER_PROXY_CONNECTION_H_

#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <fstream>
#include <limits>
#include <random>
#include <string>

#include "base/unique_fd.h"
#include "tests/cluster/fault_plan.h"

namespace bspnow {

struct ProxyCounts {
  std::array<std::uint64_t, kFaultKinds> faults{};
  std::uint64_t connections = 0;
  std::uint64_t bytes = 0;  ///< Passed on.
  std::ofstream record{};   ///< If it is open: these bytes.
};

enum class Way : std::size_t {
  kTo,    ///< From the side that connected to the target.
  kFrom,  ///< From the target.
};

inline constexpr std::uint64_t kAllBytes = std::numeric_limits<std::uint64_t>::max();

class ProxyConnection {
 public:
  /// Both sockets nonblocking, `to_target` perhaps not connected yet.
  ProxyConnection(UniqueFd accepted, UniqueFd to_target, std::uint64_t seed);

  /// What to poll for: of the accepted socket, then of the other.
  std::array<pollfd, 2> Interests(std::uint64_t now_ns) const;
  /// When to call Move even if no socket is ready; UINT64_MAX: never.
  std::uint64_t due_ns() const;
  /// Reads and writes what is possible now. False: the connection is over.
  bool Move(const FaultSettings& settings, std::uint64_t now_ns, ProxyCounts& counts);

  /// Both ends see a reset. The connection is over.
  void ResetBoth();
  void Cut(Way way) { at(way).cut = true; }
  /// What the source sends after its first `bytes` is read, and goes nowhere.
  void SwallowAfter(Way way, std::uint64_t bytes) { at(way).passes_bytes = bytes; }
  void Heal();

 private:
  struct Piece {
    std::uint64_t due_ns;
    std::string bytes;
  };
  struct Direction {
    explicit Direction(std::uint64_t seed) : plan(seed), chance(seed ^ 1) {}
    FaultPlan plan;
    std::mt19937_64 chance;    ///< For the sizes of pieces.
    std::deque<Piece> pieces;  ///< Read, not yet decided upon.
    std::string decided;       ///< To be written unchanged.
    std::size_t queued_bytes = 0;
    std::uint64_t read_bytes = 0;            ///< Since the connection began.
    std::uint64_t passes_bytes = kAllBytes;  ///< The rest is swallowed.
    std::uint64_t stalled_until_ns = 0;
    bool cut = false;
    bool ended = false;  ///< The source has closed its side.
    bool end_passed_on = false;
  };
  enum class Outcome { kGoesOn, kOver };

  Direction& at(Way way) { return directions_[static_cast<std::size_t>(way)]; }
  Outcome Read(Direction& direction, int from, const FaultSettings& settings, std::uint64_t now_ns);
  Outcome Write(Direction& direction, int to, const FaultSettings& settings, std::uint64_t now_ns,
                ProxyCounts& counts);
  Outcome Decide(Direction& direction, const FaultSettings& settings, std::uint64_t now_ns,
                 ProxyCounts& counts);
  Outcome Cause(Fault fault, const FaultSettings& settings, std::uint64_t now_ns);

  std::array<UniqueFd, 2> sockets_;
  std::array<Direction, 2> directions_;
};

}  // namespace bspnow

#endif  // TESTS_CLUSTER_PROXY_CONNECTION_H_
