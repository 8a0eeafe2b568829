// Lanes (runtime/link/lane.h) and bulk lanes (runtime/link/bulk_plan.h) of all simulated jobs:
// connections between the processes of two nodes of an epoch. They open some time after the start,
// or some never do, and like all connections they break, stall and swallow.
#ifndef TESTS_SIMULATION_SIM_LANES_H_
#define TESTS_SIMULATION_SIM_LANES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "runtime/link/bulk_plan.h"
#include "tests/simulation/sim_link.h"
#include "tests/simulation/sim_loop.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_pipe.h"
#include "tests/simulation/sim_streams.h"
#include "worker/exchange/node_exchange.h"

namespace bspnow {

using SimMessagesByHost = std::vector<std::vector<SimFrame>>;

/// What a node sends another at a barrier, or sends on for it; or after it, the answers to gets.
struct SimLaneFrame {
  std::uint32_t host;  ///< Whose it is.
  std::uint32_t barrier;
  std::uint32_t direct;  ///< To these hosts, a bit each, that sends it itself.
  worker::BarrierCounts counts;
  std::vector<SimFrame> messages;
  bool answers = false;
  /// Of kSameToAll: what each host has of it.
  std::shared_ptr<const SimMessagesByHost> same{};
};
using SimLaneFramePtr = std::shared_ptr<const SimLaneFrame>;

/// The processes of a node, as their lanes see them.
class SimLaneEnd {
 public:
  /// It has come, and waits to be read.
  virtual void OnLaneFrame(std::uint32_t from_host, const SimLaneFramePtr& frame) = 0;
  virtual void OnLaneBroken(std::uint32_t to_host) = 0;

 protected:
  ~SimLaneEnd() = default;
};

class SimLanes {
 public:
  SimLanes(SimLoop& loop, SimOracle& oracle) : loop_(loop), oracle_(oracle) {}

  static SimLink::End EndOf(std::uint32_t self, std::uint32_t other) {
    return self < other ? SimLink::kCaller : SimLink::kCalled;
  }

  /// The node has the job; the lanes to those that have it, too, open soon.
  void Join(const SimPlace& place, const BulkPlan& plan, SimLaneEnd& end, SimLoop::ActorPtr actor);
  /// It is gone, and so are its lanes.
  void Leave(const SimPlace& place);
  /// Its worker shuts them down, and knows no new ones.
  void ShutDown(const SimPlace& place);

  /// It has lanes to all others, or had.
  bool Ready(const SimPlace& place) const;
  void Send(const SimPlace& from, std::uint32_t to_host, SimLaneFramePtr frame);
  /// Of those to that host, the one with this number (BulkPlan::Place). All are there if Ready.
  std::shared_ptr<SimPipe> Bulk(const SimPlace& place, std::uint32_t to_host,
                                std::uint32_t number) const;

  /// Its machine has another address: what is sent either way is lost, until that is seen.
  void OnMoved(const SimPlace& place);

  /// Something befalls one of them, if there is one.
  void Disturb();
  void DisturbBulk();

 private:
  struct Node {
    SimLaneEnd* end;
    SimLoop::ActorPtr actor;
    BulkPlan plan;
    std::map<std::uint32_t, std::shared_ptr<SimLink>> links;  ///< By the other host's number.
    std::map<std::uint32_t, std::vector<std::shared_ptr<SimPipe>>> bulk;  ///< The same.
    std::set<std::uint32_t> swallow_answers;  ///< Those that swallow from the next answers on.
    std::set<std::uint32_t> swallow_heads;    ///< The same, from the next head of another node on.
  };

  void Open(const SimPlace& one, const SimPlace& other);
  SimLoop& loop_;
  SimOracle& oracle_;
  std::map<SimPlace, Node> nodes_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_LANES_H_
