// What the supersteps of one job cost: sums as BSP counts them (Q&A about BSP, section 4), and
// histograms. One thread records, any thread may look.
#ifndef COORDINATOR_CORE_SUPERSTEP_STATS_H_
#define COORDINATOR_CORE_SUPERSTEP_STATS_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/superstep_totals.h"
#include "coordinator/core/histogram.h"
#include "net/frame.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

/// What supersteps took, of all jobs since the coordinator's start: of a process on average where
/// processes differ.
struct SuperstepHistograms {
  static constexpr std::uint64_t kTimeBaseNs = 1000;
  static constexpr std::uint64_t kBytesBase = 64;

  Histogram superstep_ns{kTimeBaseNs}, computing_ns{kTimeBaseNs}, waiting_ns{kTimeBaseNs};
  Histogram release_ns{kTimeBaseNs}, exchange_ns{kTimeBaseNs}, h_bytes{kBytesBase};
};

/// Where supersteps are recorded beside the totals. Both outlive the epoch: what went back with a
/// job has taken its time all the same.
struct SuperstepRecorders {
  std::shared_ptr<Histogram> of_job =
      std::make_shared<Histogram>(SuperstepHistograms::kTimeBaseNs);  ///< What a superstep took.
  std::shared_ptr<SuperstepHistograms> of_all = std::make_shared<SuperstepHistograms>();
};

class SuperstepStats {
 public:
  /// Where an epoch goes on.
  struct Start {
    proto::JobTotals totals;
    std::uint64_t repeats;  ///< Supersteps of its own counting that were counted before.
    /// It ran before this coordinator did, which counts what comes after the first report.
    bool adopted = false;
    SuperstepRecorders recorders{};
  };

  SuperstepStats() : SuperstepStats(Start{.totals = {}, .repeats = 0}) {}
  explicit SuperstepStats(const Start& start);

  /// The p of bsp_begin.
  void SetProcesses(std::uint32_t processes);

  /// There were at least this many; an earlier coordinator knew what they cost.
  void SkipTo(std::uint64_t supersteps);

  /// One superstep of all workers: see AddNode.
  void Record(const SuperstepSums& sums);

  /// One that counts already, though not what it brings: see TakeGroups.
  void RecordRepeated(const SuperstepSums& sums);

  /// A job that releases itself counts itself, from the start of its epoch; what came since the
  /// last report goes into the histograms as that many average supersteps.
  void RecordProgress(const ProgressBody& progress);

  proto::JobTotals totals() const;
  /// For the recording thread.
  std::uint64_t supersteps() const { return totals_.supersteps; }
  /// From which this coordinator counts. For the recording thread.
  const proto::JobTotals& counted_from() const { return counted_from_; }
  const SuperstepRecorders& recorders() const { return recorders_; }

 private:
  void RecordGrowth(const SuperstepTotals& now, std::uint64_t p);
  /// With superstep 0 of their epoch processes that were put back say all that they did in groups
  /// before the image. Of that the totals that the epoch goes on from may lack the end, which was
  /// still to be reported when the memory was lost that it lay in. With the lock held.
  void TakeGroups(const SuperstepSums& sums);

  const SuperstepTotals start_;
  const std::uint64_t repeats_;
  const SuperstepRecorders recorders_;
  bool adopted_;
  proto::JobTotals counted_from_;
  mutable std::mutex mutex_;  ///< Guards the next two.
  SuperstepTotals totals_;
  std::uint32_t processes_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_SUPERSTEP_STATS_H_
