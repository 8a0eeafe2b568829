// Who has proven nothing may come as often as he likes: of those that are refused a log gets one
// line a second, with their number. May be used by any thread.
#ifndef NET_LOG_REFUSAL_PACE_H_
#define NET_LOG_REFUSAL_PACE_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace bspnow {

class RefusalPace {
 public:
  /// Counts another one. How many there were so far, with and without a line, if it gets one.
  std::optional<std::uint64_t> Next() {
    const std::uint64_t count = count_.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::uint64_t now_ns = NowNs();
    std::uint64_t logged_ns = logged_ns_.load(std::memory_order_relaxed);
    if (now_ns - logged_ns < kNsPerS ||
        !logged_ns_.compare_exchange_strong(logged_ns, now_ns, std::memory_order_relaxed))
      return std::nullopt;
    return count;
  }

  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_ = 0;
  std::atomic<std::uint64_t> logged_ns_ = 0;
};

}  // namespace bspnow

#endif  // NET_LOG_REFUSAL_PACE_H_
