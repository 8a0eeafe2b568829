// When a job takes a checkpoint by itself: pure; times come in as arguments.
//
// With failures every mu on average and checkpoints that cost C, the least is lost if one is taken
// whenever the work since the last is worth sqrt(2 mu C) (Young 1974). C is what checkpoints of
// this job have cost so far; see "Checkpoints" in docs/design.md.
#ifndef COORDINATOR_CORE_CHECKPOINTS_CHECKPOINT_POLICY_H_
#define COORDINATOR_CORE_CHECKPOINTS_CHECKPOINT_POLICY_H_

#include <cstdint>

#include "base/ids.h"

namespace bspnow::coordinator {

/// What the user asked for.
struct CheckpointRule {
  enum class Kind { kAutomatic, kEverySupersteps, kEveryTime, kOff };
  Kind kind;
  std::uint64_t every;  ///< Supersteps, or ns; meaningless for the others.
};

/// Work between one checkpoint and another that is taken only because the first has lost copies: at
/// least this, and this many times what one costs.
inline constexpr std::uint64_t kRenewalNsMin = 10'000'000'000;
inline constexpr std::uint64_t kRenewalCosts = 4;

struct CheckpointLimits {
  std::uint64_t mtbf_ns;  ///< mu: between failures that cost a job its processes.
  double overhead_max;    ///< Of a job's time, for kAutomatic.
  std::uint64_t renewal_ns_min = kRenewalNsMin;
};

/// What a checkpoint took of a job's time: C.
struct CheckpointCost {
  std::uint64_t pause_ns;       ///< Of the process that it held longest.
  std::uint64_t background_ns;  ///< The writers' CPU time, shared over the cores of their node.
  std::uint64_t total_ns() const { return pause_ns + background_ns; }
};

/// Of a job that has not taken one yet.
inline constexpr std::uint64_t kFirstCostNs = 100'000'000;
/// After a failure the policy waits for this time, after the next for twice as long, and so on.
inline constexpr std::uint64_t kRetryNsMin = 500'000'000;
inline constexpr std::uint64_t kRetryNsMax = 600'000'000'000;

class CheckpointPolicy {
 public:
  CheckpointPolicy(const CheckpointRule& rule, const CheckpointLimits& limits)
      : rule_(rule), limits_(limits) {}

  /// After a restart of the coordinator, before anything else: as spent_ns() and run_ns() were, and
  /// what the last one took.
  void Restore(std::uint64_t spent_ns, std::uint64_t run_ns, const CheckpointCost& last);

  /// Its processes run, from the superstep `at`; work is counted from here.
  void OnStarted(std::uint64_t now_ns, Superstep at);
  /// They do not, any more.
  void OnStopped(std::uint64_t now_ns);

  /// One was asked for, by the policy or a user: work is counted from here.
  void OnTaken(std::uint64_t now_ns, Superstep at);
  enum class Ended { kCommitted, kGivenUp };
  /// What the last one took; of one that was given up, as far as it is known.
  void OnEnd(std::uint64_t now_ns, const CheckpointCost& cost, Ended ended);

  enum class Copies {
    kEnough,
    kTooFew,  ///< Of an image of the last one, though there are nodes for more: another loss may
              ///< cost the work since the one before. Unless it takes none at all, the policy takes
              ///< one without waiting for its interval.
  };
  void OnCopies(Copies copies) { copies_ = copies; }

  /// At a barrier, or between two of a job on one node. Cheap.
  bool IsDue(std::uint64_t now_ns, Superstep at) const;

  /// Work between two checkpoints as things stand; 0 if that is not counted in time.
  std::uint64_t interval_ns() const { return interval_ns_; }
  /// Of the job's time, by all checkpoints.
  std::uint64_t spent_ns() const { return spent_ns_; }
  /// That its processes ran, checkpoints included.
  std::uint64_t run_ns(std::uint64_t now_ns) const;
  /// What the next one is expected to take.
  std::uint64_t expected_cost_ns() const { return expected_ns_; }

 private:
  static std::uint64_t IntervalOf(const CheckpointRule& rule, const CheckpointLimits& limits,
                                  std::uint64_t cost_ns);
  void Expect(const CheckpointCost& cost);
  bool IsRenewalDue(std::uint64_t now_ns) const;

  CheckpointRule rule_;
  CheckpointLimits limits_;
  std::uint64_t expected_ns_ = kFirstCostNs;
  std::uint64_t interval_ns_ = IntervalOf(rule_, limits_, kFirstCostNs);
  bool running_ = false;
  bool measured_ = false;
  std::uint64_t started_ns_ = 0;  ///< If running_.
  std::uint64_t earlier_run_ns_ = 0;
  std::uint64_t last_ns_ = 0;  ///< Work since then is at stake.
  Superstep last_at_{0};
  std::uint64_t spent_ns_ = 0;
  std::uint32_t failures_ = 0;       ///< In a row.
  std::uint64_t not_before_ns_ = 0;  ///< After a failure.
  Copies copies_ = Copies::kEnough;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_CHECKPOINTS_CHECKPOINT_POLICY_H_
