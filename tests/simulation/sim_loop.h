// Virtual time and chance of one schedule: events in the order of their times, everything decided
// by one seed.
#ifndef TESTS_SIMULATION_SIM_LOOP_H_
#define TESTS_SIMULATION_SIM_LOOP_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace bspnow {

inline constexpr std::uint64_t kMicrosecond = 1'000;
inline constexpr std::uint64_t kMillisecond = 1'000'000;
inline constexpr std::uint64_t kSecond = 1'000'000'000;

/// How much faster than time a machine's clock goes, in millionths; less than 0: slower.
using SimDrift = std::int64_t;

class SimLoop {
 public:
  using Event = std::function<void()>;

  /// What stops and goes on as a whole: a daemon, the processes of a node.
  struct Actor {
    std::uint64_t pauses = 0;  ///< Under way.
    std::uint64_t paused_since_ns = 0;
    std::uint64_t paused_ns = 0;  ///< In pauses that are over.
    std::deque<Event> missed;
    std::uint64_t slow_until_ns = 0;
    std::uint64_t event_ns = 0;  ///< That each event takes at most, until then.
    bool busy = false;           ///< With one.
  };
  using ActorPtr = std::shared_ptr<Actor>;

  explicit SimLoop(std::uint64_t seed) : state_(seed) {}

  std::uint64_t now_ns() const { return now_ns_; }
  /// What a clock of such a machine shows.
  std::uint64_t ClockNs(SimDrift ppm) const {
    return now_ns_ +
           static_cast<std::uint64_t>(static_cast<std::int64_t>(now_ns_) * ppm / 1'000'000);
  }
  void After(std::uint64_t delay_ns, Event event) { On(nullptr, delay_ns, std::move(event)); }
  /// Not before the actor goes on, if it is paused then.
  void On(const ActorPtr& actor, std::uint64_t delay_ns, Event event);
  /// Its events wait until then; time does not.
  void Pause(const ActorPtr& actor, std::uint64_t ns);
  /// Until then each of its events takes up to `event_ns`, and the next ones wait.
  void SlowDown(const ActorPtr& actor, std::uint64_t ns, std::uint64_t event_ns);

  /// False if nothing is left to happen.
  bool RunNext();
  std::uint64_t events() const { return last_order_; }

  /// Uniform in [0, end).
  std::uint64_t Below(std::uint64_t end);
  bool Chance(std::uint32_t percent) { return Below(100) < percent; }
  /// Uniform, both included.
  std::uint64_t Between(std::uint64_t least, std::uint64_t most) {
    return least + Below(most - least + 1);
  }
  /// Of a message: short as a rule, long now and then.
  std::uint64_t Delay();

 private:
  struct Due {
    std::uint64_t time_ns;
    std::uint64_t order;  ///< Of two at one time, the one that was asked for first.
    ActorPtr actor;
    Event event;
  };
  static bool Later(const Due& a, const Due& b);
  void Run(const ActorPtr& actor, const Event& event);
  void GoOn(const ActorPtr& actor);

  std::uint64_t state_;
  std::uint64_t now_ns_ = kSecond;
  std::uint64_t last_order_ = 0;
  std::vector<Due> heap_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_LOOP_H_
