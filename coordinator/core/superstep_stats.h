// What the supersteps of one job cost: sums as BSP counts them (Q&A about BSP, section 4), and
// histograms. One thread records, any thread may look.
#ifndef COORDINATOR_CORE_SUPERSTEP_STATS_H_
#define COORDINATOR_CORE_SUPERSTEP_STATS_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/superstep_sums.h"
#include "base/superstep_times.h"
#include "net/frame.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

/// A histogram whose buckets end at 4^i times a base. One thread records; recording is a few plain
/// instructions, because it happens in each superstep.
class Histogram {
 public:
  static constexpr std::size_t kBuckets = 16;  ///< The last one has no upper bound.

  /// `base`: the upper bound of the first bucket, in the recorded unit.
  explicit Histogram(std::uint64_t base) : base_(base) {}

  /// `value`, that many times.
  void Record(std::uint64_t value, std::uint64_t times);

  struct Snapshot {
    std::array<std::uint64_t, kBuckets> bounds;  ///< Upper, inclusive; the last one is the maximum.
    std::array<std::uint64_t, kBuckets> counts;  ///< Of this bucket alone.
    std::uint64_t sum;
  };
  Snapshot Look() const;

 private:
  std::uint64_t base_;
  std::array<std::atomic<std::uint64_t>, kBuckets> counts_{};
  std::atomic<std::uint64_t> sum_{0};
};

class SuperstepStats {
 public:
  /// Where an epoch goes on.
  struct Start {
    proto::JobTotals totals;
    std::uint64_t repeats;  ///< Supersteps of its own counting that were counted before.
  };

  SuperstepStats() : SuperstepStats(Start{.totals = {}, .repeats = 0}) {}
  explicit SuperstepStats(const Start& start);

  /// The p of bsp_begin.
  void SetProcesses(std::uint32_t processes);

  /// There were at least this many; an earlier coordinator knew what they cost.
  void SkipTo(std::uint64_t supersteps);

  /// One superstep, folded over all workers: see FoldSums.
  void Record(const SuperstepSums& sums);

  /// A job that releases itself counts itself, from the start of its epoch; what came since the
  /// last report goes into the histograms as that many average supersteps.
  void RecordProgress(const ProgressBody& progress);

  proto::JobTotals totals() const;
  Histogram::Snapshot superstep_time_ns() const { return superstep_.Look(); }
  Histogram::Snapshot compute_ns() const { return compute_.Look(); }
  Histogram::Snapshot exchange_ns() const { return exchange_.Look(); }
  Histogram::Snapshot wait_ns() const { return wait_.Look(); }
  Histogram::Snapshot h_bytes() const { return h_.Look(); }

 private:
  using Counter = std::atomic<std::uint64_t>;

  void Store(const proto::JobTotals& totals);

  static constexpr std::uint64_t kTimeBaseNs = 1000;
  static constexpr std::uint64_t kBytesBase = 64;

  Start start_;
  Counter supersteps_{0}, total_ns_{0}, compute_ns_{0}, wait_ns_{0}, exchange_ns_{0};
  Counter w_ns_{0}, h_bytes_{0}, messages_{0};
  Counter l_ns_{0}, silent_{0};  ///< As they were told, by what came before or by progress;
  Counter silent_here_{0};       ///< and what is measured here.
  std::array<std::atomic<std::uint32_t>, kDurationBuckets> silent_by_time_{};
  std::atomic<std::uint32_t> processes_{0};
  Histogram superstep_{kTimeBaseNs}, compute_{kTimeBaseNs}, exchange_{kTimeBaseNs};
  Histogram wait_{kTimeBaseNs}, h_{kBytesBase};
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_SUPERSTEP_STATS_H_
