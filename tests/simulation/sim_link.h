// A connection between two parties of the simulation, as TCP gives it: in order each way, after any
// delay, and it may break at any moment. Then what is under way is lost, and each end hears of it
// in its own time.
#ifndef TESTS_SIMULATION_SIM_LINK_H_
#define TESTS_SIMULATION_SIM_LINK_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/simulation/sim_loop.h"

namespace bspnow {

class SimLink : public std::enable_shared_from_this<SimLink> {
 public:
  /// The one that connected, and the one that accepted.
  enum End : std::uint32_t { kCaller = 0, kCalled = 1 };

  static std::shared_ptr<SimLink> Make(SimLoop& loop);
  explicit SimLink(SimLoop& loop) : loop_(loop) {}

  /// `deliver` runs at the other end, behind all that was sent from this one before.
  void Send(End from, SimLoop::Event deliver);

  /// Called once when this end hears that the connection is gone.
  void OnBroken(End end, SimLoop::Event broken) { broken_[end] = std::move(broken); }

  /// The network's doing: both ends hear of it.
  void Break();
  /// This end's doing: only the other one hears of it.
  void Close(End end);

  bool broken() const { return gone_; }

 private:
  void Tell(End end);

  SimLoop& loop_;
  std::array<std::uint64_t, 2> busy_until_ns_{};
  std::array<SimLoop::Event, 2> broken_;
  bool gone_ = false;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_LINK_H_
