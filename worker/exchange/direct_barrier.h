// When a barrier is over that needs no coordinator: each node sends each other one its arrival, and
// whoever has them all goes on. Pure; one for each job and epoch. See "Nodes that release
// themselves" in docs/design.md.
//
// A peer can be one barrier ahead, as in NodeExchange. What is decided at a barrier follows from
// the arrivals alone, which all nodes see: so all decide the same.
#ifndef WORKER_EXCHANGE_DIRECT_BARRIER_H_
#define WORKER_EXCHANGE_DIRECT_BARRIER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/superstep_sums.h"
#include "net/frame.h"
#include "worker/exchange/node_exchange.h"

namespace bspnow::worker {

class DirectBarrier {
 public:
  /// The first barrier is the coordinator's: nobody sends anything before all are there.
  static constexpr std::uint64_t kFirst = 1;

  DirectBarrier(std::uint32_t self, std::uint32_t hosts) : self_(self), hosts_(hosts) {}

  /// What a host sends, or this one itself: PeerArrival and, if some but not all of its processes
  /// are in bsp_end, a bitmap of the job's processes. `taking_part`: processes of that host below
  /// p. False if it makes no sense; nothing has changed then.
  bool OnArrival(std::uint32_t host, std::span<const std::byte> data, std::uint32_t taking_part);

  struct Outcome {
    BarrierCounts counts;
    std::vector<std::uint64_t> frames;  ///< Owed by each host to this one.
    /// The checkpoint to be taken now: the newest order of every node is for it, and no process has
    /// another group open. 0: none.
    std::uint64_t checkpoint;
    /// All nodes of the job take part, and have lanes to all others.
    bool lanes_ready;
    /// Of the superstep before.
    std::optional<SuperstepSums> sums;
  };
  /// The barriers below `barrier` are over, without this: their arrivals went by lanes.
  void OnPassed(std::uint64_t barrier) { barrier_ = std::max(barrier_, barrier); }

  /// Of the barrier that is not over yet, if all hosts are there of which processes take part.
  std::optional<Outcome> Finish(std::span<const std::uint32_t> taking_part);

  /// At that barrier, or a later one.
  bool HasArrived(std::uint32_t host, std::uint64_t barrier) const {
    return hosts_[host].next > barrier;
  }

  /// Whether that process came to the barrier of the last Outcome by bsp_end.
  bool InEnd(std::uint32_t host, Pid pid) const;

 private:
  struct Arrival {
    PeerArrival body{};
    std::vector<std::byte> ending;
  };
  struct Host {
    std::uint64_t next = kFirst;      ///< The first barrier at which it may arrive next.
    std::array<Arrival, 2> arrivals;  ///< By parity of the barrier.
  };

  std::uint32_t self_;
  std::vector<Host> hosts_;
  std::uint64_t barrier_ = kFirst;  ///< That is not over yet.
  std::uint64_t taken_ = 0;         ///< The newest checkpoint that was decided.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_DIRECT_BARRIER_H_
