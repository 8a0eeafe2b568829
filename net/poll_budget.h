// How long a loop polls before it blocks. Pure: the times are arguments. Polling pays if work comes
// soon after the last work; so the budget follows how soon it came, within bounds.
#ifndef NET_POLL_BUDGET_H_
#define NET_POLL_BUDGET_H_

#include <algorithm>
#include <cstdint>

namespace bspnow {

class PollBudget {
 public:
  static constexpr std::uint64_t kMaxNs = 100'000;  // A few wake-ups' worth.
  static constexpr std::uint64_t kMinNs = 5'000;    // Less is not worth it: block at once.

  /// There was work at `now_ns`. Faster up than OnBlock goes down: work that comes regularly soon
  /// after the loop blocked makes it poll long enough.
  void OnWork(std::uint64_t now_ns) {
    if (now_ns - last_work_ns_ < kMaxNs)
      budget_ns_ = std::clamp(budget_ns_ * 4, 2 * kMinNs, kMaxNs);
    last_work_ns_ = now_ns;
  }

  /// Whether to look again, rather than block.
  bool KeepPolling(std::uint64_t now_ns) const { return now_ns - last_work_ns_ < budget_ns_; }

  /// Polling was in vain, the loop blocks.
  void OnBlock() { budget_ns_ = budget_ns_ / 2 < kMinNs ? 0 : budget_ns_ / 2; }

  std::uint64_t budget_ns() const { return budget_ns_; }

 private:
  std::uint64_t budget_ns_ = kMaxNs;
  std::uint64_t last_work_ns_ = 0;
};

}  // namespace bspnow

#endif  // NET_POLL_BUDGET_H_
