// Virtual time and chance of one schedule: events in the order of their times, everything decided
// by one seed.
#ifndef TESTS_SIMULATION_SIM_LOOP_H_
#define TESTS_SIMULATION_SIM_LOOP_H_

#include <cstdint>
#include <functional>
#include <vector>

namespace bspnow {

inline constexpr std::uint64_t kMicrosecond = 1'000;
inline constexpr std::uint64_t kMillisecond = 1'000'000;
inline constexpr std::uint64_t kSecond = 1'000'000'000;

class SimLoop {
 public:
  using Event = std::function<void()>;

  explicit SimLoop(std::uint64_t seed) : state_(seed) {}

  std::uint64_t now_ns() const { return now_ns_; }
  void After(std::uint64_t delay_ns, Event event);

  /// False if nothing is left to happen.
  bool RunNext();
  std::uint64_t events() const { return last_order_; }

  /// Uniform in [0, end).
  std::uint64_t Below(std::uint64_t end);
  bool Chance(std::uint32_t percent) { return Below(100) < percent; }
  /// Of a message: short as a rule, long now and then.
  std::uint64_t Delay();

 private:
  struct Due {
    std::uint64_t time_ns;
    std::uint64_t order;  ///< Of two at one time, the one that was asked for first.
    Event event;
  };
  static bool Later(const Due& a, const Due& b);

  std::uint64_t state_;
  std::uint64_t now_ns_ = kSecond;
  std::uint64_t last_order_ = 0;
  std::vector<Due> heap_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_LOOP_H_
