// A bulk lane (runtime/link/bulk_plan.h) as TCP has it: bytes each way, in order, cut anywhere, and
// no more under way than the buffers hold. So who does not read stops who sends.
#ifndef TESTS_SIMULATION_SIM_PIPE_H_
#define TESTS_SIMULATION_SIM_PIPE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>

#include "tests/simulation/sim_link.h"
#include "tests/simulation/sim_loop.h"

namespace bspnow {

class SimPipe : public std::enable_shared_from_this<SimPipe> {
 public:
  using End = SimLink::End;

  /// As recv and send: what a call did, or that there will be nothing more.
  struct Moved {
    std::size_t bytes;
    bool over;
  };

  static std::shared_ptr<SimPipe> Make(SimLoop& loop, SimLink::Ends ends);
  SimPipe(SimLoop& loop, SimLink::Ends ends);

  /// Called when this end may read or write more than before.
  void OnNews(End end, std::function<void()> news) { news_[end] = std::move(news); }

  Moved Write(End from, std::span<const std::byte> bytes);
  Moved Read(End at, std::span<std::byte> to);
  /// Both directions, as shutdown(2).
  void ShutDown(End end);
  bool over(End end) const { return link_->broken(end); }

  enum class Fault { kNone, kBreak, kSwallow, kStall, kDamage };
  /// What goes wrong with what `from` sends, once it has sent `after_bytes` more bytes. kDamage
  /// changes the next one.
  void Disturb(End from, Fault fault, std::size_t after_bytes) {
    disturbances_[from] = {fault, after_bytes};
  }

 private:
  /// Of a direction: less than most puts, so that they stop in the middle.
  static constexpr std::size_t kBufferBytes = 300;

  struct Disturbance {
    Fault fault = Fault::kNone;
    std::size_t after_bytes = 0;
  };

  void Tell(End end);
  void Befall(End from, std::span<std::byte> sent);

  SimLoop& loop_;
  const std::shared_ptr<SimLink> link_;
  std::array<std::function<void()>, 2> news_;
  std::array<std::deque<std::byte>, 2> arrived_;  ///< By the end that reads.
  std::array<std::size_t, 2> under_way_{};        ///< Sent, not read, by the end that sends.
  std::array<Disturbance, 2> disturbances_{};
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_PIPE_H_
