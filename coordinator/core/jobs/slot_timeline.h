// How many slots of each node are taken, from now on: by jobs that run, until their time limits,
// and by promises to jobs that wait. Pure.
#ifndef COORDINATOR_CORE_JOBS_SLOT_TIMELINE_H_
#define COORDINATOR_CORE_JOBS_SLOT_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/jobs/placement.h"

namespace bspnow::coordinator {

class SlotTimeline {
 public:
  /// Only `nodes`, ascending by worker id, are looked at, and they must outlive this; shares
  /// elsewhere do not count.
  SlotTimeline(const std::vector<const SchedulerNode*>& nodes, std::uint64_t now_ns);

  void Take(const std::vector<NodeShare>& shares, std::uint64_t memory_bytes_per_process,
            std::uint64_t from_ns, std::uint64_t until_ns);
  /// What was taken so.
  void GiveBack(const std::vector<NodeShare>& shares, std::uint64_t memory_bytes_per_process,
                std::uint64_t from_ns, std::uint64_t until_ns);

  /// What is free at each moment in [from_ns, until_ns).
  std::vector<FreeNode> FreeDuring(std::uint64_t from_ns, std::uint64_t until_ns) const;

  /// When something changes, ascending, with how many more slots are taken from then on, of all
  /// nodes together. The first is now.
  const std::map<std::uint64_t, std::int64_t>& changes() const { return changes_; }

 private:
  struct Taken {
    std::uint64_t slots = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t accounts = 0;
  };

  /// Of one node, until the next one of it.
  struct Step {
    std::uint64_t from_ns;
    Taken taken;
  };

  struct Use {
    std::uint64_t memory_bytes_per_process;
    std::uint64_t from_ns;
    std::uint64_t until_ns;
    std::int64_t times;  ///< 1, or -1: given back.
  };
  void Add(const std::vector<NodeShare>& shares, const Use& use);
  static std::size_t StepFrom(std::vector<Step>& steps, std::uint64_t time_ns);

  std::vector<const SchedulerNode*> nodes_;
  std::vector<std::vector<Step>> steps_;  ///< By node; the first of each is from now.
  std::map<std::uint64_t, std::int64_t> changes_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_SLOT_TIMELINE_H_
