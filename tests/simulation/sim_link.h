// A connection between two parties of the simulation, as TCP gives it: in order each way, after any
// delay, and it may break at any moment. Then what is under way is lost, and each end hears of it
// in its own time.
#ifndef TESTS_SIMULATION_SIM_LINK_H_
#define TESTS_SIMULATION_SIM_LINK_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "tests/simulation/sim_loop.h"

namespace bspnow {

class SimLink : public std::enable_shared_from_this<SimLink> {
 public:
  /// The one that connected, and the one that accepted.
  enum End : std::uint32_t { kCaller = 0, kCalled = 1 };

  /// What is at each end; nullptr if nobody can be paused there.
  using Ends = std::array<SimLoop::ActorPtr, 2>;

  static std::shared_ptr<SimLink> Make(SimLoop& loop, Ends ends);
  SimLink(SimLoop& loop, Ends ends) : loop_(loop), ends_(std::move(ends)) {}

  /// `deliver` runs at the other end, after all that was sent from this one before.
  void Send(End from, SimLoop::Event deliver);

  /// Called once, with this link, when this end hears that the connection is gone.
  using Broken = std::function<void(const std::shared_ptr<SimLink>&)>;
  void OnBroken(End end, Broken broken) { broken_[end] = std::move(broken); }

  /// The network's doing: what is under way is lost, and both ends hear of it.
  void Break();
  /// What is sent from there is lost from now on.
  void Swallow(End from) { swallows_[from] = true; }
  /// All that is sent either way is lost, until somebody sees that, after so long.
  void LoseAll(std::uint64_t ns);
  /// This end's doing: it hears nothing more. The other one hears what was sent before, then of it.
  void Close(End end);

  /// What this end sends is under way until then: a cut of one direction, which ends in time.
  void Stall(End from, std::uint64_t until_ns);

  /// This end can use it no more, as far as it knows or not.
  bool broken(End end) const { return gone_ || closed_[end]; }

 private:
  static End Other(End end);
  void Transmit(End from, SimLoop::Event arrives);
  void Tell(End end);
  void Hear(End end);

  SimLoop& loop_;
  Ends ends_;
  std::array<std::uint64_t, 2> busy_until_ns_{};
  std::array<Broken, 2> broken_;
  std::array<bool, 2> closed_{};
  std::array<bool, 2> swallows_{};
  bool gone_ = false;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_LINK_H_
