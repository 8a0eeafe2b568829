// For tests: a node of a job of two nodes, and what its processes do to have a group.
#ifndef WORKER_EXCHANGE_TESTING_GROUP_FIXTURE_H_
#define WORKER_EXCHANGE_TESTING_GROUP_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "worker/exchange/job_plan.h"
#include "worker/exchange/node_segment.h"
#include "worker/exchange/testing/batch_fixture.h"

namespace bspnow::worker {

/// Pids 0 and 1 live on node 0, 2 and 3 on node 1.
class GroupNode {
 public:
  explicit GroupNode(std::uint32_t node)
      : segment_(MakeSegment(node, std::uint64_t{64} << 30)), node_(node) {}

  NodeSegment& segment() { return segment_; }
  const Segment& whole() const { return segment_.segment(); }
  GroupSlot& slot(std::uint32_t i) const { return whole().group_slot(i); }
  std::uint64_t part_bytes(std::uint32_t members) const {
    return SegmentBytes(LayOutGroup(whole().layout(), members));
  }

  /// As the first member here does it.
  Segment Open(std::uint32_t i, std::uint64_t key, const std::vector<std::uint32_t>& members) {
    const auto count = static_cast<std::uint32_t>(members.size());
    GroupSlot& slot = this->slot(i);
    if (State(i) == GroupSlot::kKept) whole().TakeUpPart(slot);
    slot.members = count;
    slot.key = key;
    slot.bytes = part_bytes(count);
    slot.offset = whole().layout().parts_offset + i * part_bytes(4);
    slot.large = 0;
    slot.here = 1;
    slot.nodes = 2;
    const Segment part = Part(i);
    part.header().barrier.released.value.store(1);
    for (std::uint32_t pid = 0; pid < count; ++pid) {
      part.cell(Pid{pid}).member = members[pid];
      part.cell(Pid{pid}).node = members[pid] / 2;
    }
    SetState(i, GroupSlot::kOpen);
    return Part(i);
  }
  Segment Part(std::uint32_t i) const {
    return whole().Part(slot(i).offset, LayOutGroup(whole().layout(), slot(i).members));
  }

  void SetState(std::uint32_t i, GroupSlot::State state) {
    if (whole().header().groups.used <= i) whole().header().groups.used = i + 1;
    slot(i).state.store(state);
    whole().header().bell.groups += 1;
  }
  std::uint32_t State(std::uint32_t i) const { return slot(i).state.load(); }
  bool IsFree(std::uint32_t i) const {
    return State(i) == GroupSlot::kFree || State(i) == GroupSlot::kKept;
  }

  JobPlan Plan(const std::vector<std::string>& addresses) {
    JobPlan plan{.job = JobId{1},
                 .epoch = Epoch{1},
                 .hosts = {},
                 .segment = &segment_,
                 .doorbell = -1,
                 .participants = kProcs,
                 .key = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'j'))};
    for (std::uint32_t k = 0; k < 2; ++k) {
      plan.hosts.push_back({.worker = WorkerId{k + 1},
                            .data_address = addresses[k],
                            .node = "w",
                            .pids = Shape(0).hosts[k]});
    }
    return plan;
  }
  JobShape shape() const { return Shape(node_); }

 private:
  NodeSegment segment_;
  std::uint32_t node_;
};

/// Member `member` comes to the group's next barrier.
inline void Arrive(const Segment& group, std::uint32_t member) {
  group.cell(Pid{member}).arrived.store(group.header().barrier.released.value.load() + 1);
}

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_TESTING_GROUP_FIXTURE_H_
