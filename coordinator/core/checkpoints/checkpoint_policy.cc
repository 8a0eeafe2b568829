#include "coordinator/core/checkpoints/checkpoint_policy.h"

#include <algorithm>
#include <cmath>

namespace bspnow::coordinator {

// At least C / overhead_max: in the long run the cap is kept by the interval alone.
std::uint64_t CheckpointPolicy::IntervalOf(const CheckpointRule& rule,
                                           const CheckpointLimits& limits, std::uint64_t cost_ns) {
  if (rule.kind == CheckpointRule::Kind::kEveryTime) return rule.every;
  if (rule.kind != CheckpointRule::Kind::kAutomatic) return 0;
  const auto cost = static_cast<double>(cost_ns);
  const double best = std::sqrt(2 * static_cast<double>(limits.mtbf_ns) * cost);
  return static_cast<std::uint64_t>(std::max(best, cost / limits.overhead_max));
}

void CheckpointPolicy::Restore(std::uint64_t spent_ns, std::uint64_t run_ns,
                               const CheckpointCost& last) {
  spent_ns_ = spent_ns;
  earlier_run_ns_ = run_ns;
  Expect(last);
}

void CheckpointPolicy::OnStarted(std::uint64_t now_ns, Superstep at) {
  OnStopped(now_ns);
  running_ = true;
  started_ns_ = now_ns;
  last_ns_ = now_ns;
  last_at_ = at;
}

void CheckpointPolicy::OnStopped(std::uint64_t now_ns) {
  earlier_run_ns_ = run_ns(now_ns);
  running_ = false;
}

void CheckpointPolicy::OnTaken(std::uint64_t now_ns, Superstep at) {
  last_ns_ = now_ns;
  last_at_ = at;
}

void CheckpointPolicy::OnEnd(std::uint64_t now_ns, const CheckpointCost& cost, Ended ended) {
  spent_ns_ += cost.total_ns();
  if (ended == Ended::kGivenUp) {
    const std::uint64_t wait_ns = kRetryNsMin << std::min(failures_, 20u);
    not_before_ns_ = now_ns + std::min(wait_ns, kRetryNsMax);
    failures_ += 1;
    return;
  }
  failures_ = 0;
  not_before_ns_ = 0;
  Expect(cost);
}

// Full and incremental ones take turns, and differ: the mean of the last ones is what counts.
void CheckpointPolicy::Expect(const CheckpointCost& cost) {
  const std::uint64_t least = 1;  // A cost of nothing would mean one at each barrier.
  const std::uint64_t measured = std::max(cost.total_ns(), least);
  expected_ns_ = measured_ ? (expected_ns_ + measured + 1) / 2 : measured;
  measured_ = true;
  interval_ns_ = IntervalOf(rule_, limits_, expected_ns_);
}

std::uint64_t CheckpointPolicy::run_ns(std::uint64_t now_ns) const {
  return earlier_run_ns_ + (running_ && now_ns > started_ns_ ? now_ns - started_ns_ : 0);
}

bool CheckpointPolicy::IsRenewalDue(std::uint64_t now_ns) const {
  return copies_ == Copies::kTooFew &&
         now_ns >= last_ns_ + std::max(limits_.renewal_ns_min, kRenewalCosts * expected_ns_);
}

bool CheckpointPolicy::IsDue(std::uint64_t now_ns, Superstep at) const {
  if (!running_ || now_ns < not_before_ns_) return false;
  if (rule_.kind != CheckpointRule::Kind::kOff && IsRenewalDue(now_ns)) return true;
  switch (rule_.kind) {
    case CheckpointRule::Kind::kOff:
      return false;
    case CheckpointRule::Kind::kEverySupersteps:
      return at > last_at_ && Value(at) - Value(last_at_) >= rule_.every;
    case CheckpointRule::Kind::kEveryTime:
      return now_ns >= last_ns_ + interval_ns_;
    case CheckpointRule::Kind::kAutomatic:
      break;
  }
  if (now_ns < last_ns_ + interval_ns_) return false;
  // One that cost more than was expected is paid off first.
  return static_cast<double>(spent_ns_ + expected_ns_) <=
         limits_.overhead_max * static_cast<double>(run_ns(now_ns));
}

}  // namespace bspnow::coordinator
