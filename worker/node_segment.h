// The worker's side of runtime/link: makes the segment of a job on this node and reads it. What a
// process wrote there is not trusted.
#ifndef WORKER_NODE_SEGMENT_H_
#define WORKER_NODE_SEGMENT_H_

#include <absl/status/statusor.h>

#include <vector>

#include "base/unique_fd.h"
#include "runtime/link_segment.h"

namespace bspnow {

/// What a job did, over all its supersteps; see JobTotals.
struct JobMeasurements {
  std::uint32_t processes;
  JobTotals totals;
};

class NodeSegment {
 public:
  static absl::StatusOr<NodeSegment> Create(const SegmentPlan& plan);

  /// Spreads the processes over the nodes of the job: hosts[k] are the pids of node k, and `node`
  /// is this one. Before any process runs; without it all live here.
  void Place(std::uint32_t node, const std::vector<std::vector<Pid>>& hosts);

  int fd() const { return memory_.get(); }
  const Segment& segment() const { return segment_; }
  std::uint64_t bytes() const { return segment_.bytes(); }

  ProcessState state(Pid pid) const { return segment_.cell(pid).state.load(); }
  Superstep superstep(Pid pid) const;

  /// What it has done so far, by the measurements that are complete. Folds nothing.
  JobMeasurements Progress() const;

  /// Folds what is still in the rings. When all processes have ended.
  JobMeasurements Measure();

 private:
  NodeSegment(UniqueFd memory, Segment segment)
      : memory_(std::move(memory)), segment_(std::move(segment)) {}

  std::uint32_t participants() const;
  std::uint64_t recorded(std::uint32_t p) const;

  UniqueFd memory_;
  Segment segment_;
};

}  // namespace bspnow

#endif  // WORKER_NODE_SEGMENT_H_
