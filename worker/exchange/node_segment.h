// The worker's side of runtime/link: makes the segment of a job on this node and reads it. What a
// process wrote there is not trusted.
#ifndef WORKER_EXCHANGE_NODE_SEGMENT_H_
#define WORKER_EXCHANGE_NODE_SEGMENT_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "runtime/link/link_segment.h"

namespace bspnow::worker {

/// What a job did, over all its supersteps; see SuperstepTotals.
struct JobMeasurements {
  std::uint32_t processes;
  SuperstepTotals totals;
};

/// What the processes are to do at a checkpoint; see ImageOrder in runtime/link/link.h.
struct ImagePlan {
  std::uint64_t checkpoint;
  std::uint64_t base;
  enum class After { kGoOn, kHold } after;
};

/// Whether a job waits for a barrier at which an image can be taken.
struct ImageWait {
  bool due = false;           ///< As far as is known here.
  std::uint64_t chances = 0;  ///< Such barriers so far. While an image is due none is missed.
};

class NodeSegment {
 public:
  static absl::StatusOr<NodeSegment> Create(const SegmentPlan& plan);

  /// Spreads the processes over the nodes of the job: hosts[k] are the pids of node k, and `node`
  /// is this one. Before any process runs; without it all live here.
  void Place(std::uint32_t node, const std::vector<std::vector<Pid>>& hosts);

  /// The segment is for an epoch that resumes; `participants` 0: its processes begin in `main`.
  /// Before any process runs.
  void Resume(std::uint64_t first_superstep, std::uint32_t participants);

  /// Nobody here leaves a barrier after this moment (NowNs). Until the first call there
  /// is no lease.
  void SetLease(std::uint64_t until_ns);

  /// The processes here will be in this control group, and be killed when they have more. Before
  /// any runs.
  void SetMemoryGroup(const std::string& path, std::uint64_t limit_bytes);

  /// Fills the order; BarrierPhase::save makes it valid, or RaiseWanted.
  void OrderImage(const ImagePlan& plan);

  /// If the whole job lives here: the order holds from the next bsp_sync.
  void RaiseWanted();

  /// Processes that wait after their images of this checkpoint go on.
  void ReleaseHeld(std::uint64_t checkpoint);

  int fd() const { return memory_.get(); }
  const Segment& segment() const { return segment_; }
  std::uint64_t bytes() const { return segment_.bytes(); }

  /// The checkpoint that was ordered last; 0: none was.
  std::uint64_t ordered_image() const { return ordered_; }
  /// An outcome of this checkpoint has come. False: it was not ordered, or had one before. The
  /// processes can write the order, and make one up at each barrier.
  bool TakeOutcome(std::uint64_t checkpoint);

  /// p; 0 before bsp_begin.
  std::uint32_t participants() const;

  /// For how long the last image held a process.
  std::uint64_t image_pause_ns(Pid pid) const { return segment_.cell(pid).image_pause_ns; }

  /// See NodeHeader.
  std::uint64_t first_superstep() const { return segment_.header().first_superstep; }

  /// Passed here in this epoch.
  std::uint32_t barriers() const { return segment_.header().barrier.released.value.load(); }

  ProcessState state(Pid pid) const { return segment_.cell(pid).state.load(); }
  Superstep superstep(Pid pid) const;

  /// What it has done so far, by the measurements that are complete. Folds nothing.
  JobMeasurements Progress() const;

  /// Folds what is still in the rings. When all processes have ended.
  JobMeasurements Measure();

 private:
  NodeSegment(UniqueFd memory, Segment segment)
      : memory_(std::move(memory)), segment_(std::move(segment)) {}

  std::uint64_t recorded(std::uint32_t p) const;

  UniqueFd memory_;
  Segment segment_;
  std::uint64_t ordered_ = 0;
  std::set<std::uint64_t> awaited_;  ///< Ordered, without an outcome.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_NODE_SEGMENT_H_
