// All exchanges of one job on this node: that of the root group, which is all of the job, and those
// of the groups on several nodes that processes here have open. And the job's lanes.
#ifndef WORKER_EXCHANGE_JOB_GROUPS_H_
#define WORKER_EXCHANGE_JOB_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "net/receiving_streams.h"
#include "worker/exchange/group_reader.h"
#include "worker/exchange/job_exchange.h"
#include "worker/exchange/job_lanes.h"
#include "worker/exchange/job_plan.h"
#include "worker/exchange/peer_streams.h"

namespace bspnow::worker {

/// How the other nodes are reached.
struct JobNetwork {
  PeerStreams& peers;
  ReceivingStreams& receiving;
  LaneNetwork lanes;
};

class JobGroups final : private JobExchangeOwner {
 public:
  /// All that is borrowed is the owner's and stays. `owner` hears at most once that it is broken.
  JobGroups(const JobPlan& plan, WorkerId self, const JobNetwork& network, JobExchangeOwner& owner);

  JobExchange& root() { return *root_; }
  /// Null: the job has none.
  JobLanes* lanes() { return lanes_.get(); }
  const JobPlan& plan() const { return root_->plan(); }
  /// Null: no such group is open here.
  JobExchange* Find(GroupId group);

  // As JobExchange has them, of all groups.
  bool Poll();
  bool Sleep();
  void Awake();
  void OnDelivered(GroupId group, std::uint64_t token);

  /// Now and then: frees what processes have left.
  void LookAfterGroups();

  /// A worker knows a group that is not open here yet.
  void OnEarlyHere(WorkerId from, GroupId group);

 private:
  struct Group {
    std::uint32_t slot;
    std::unique_ptr<JobExchange> exchange;
  };

  void SendToCoordinator(const FrameHeader& header, std::span<const std::byte> payload) override;
  void ReportBroken(JobId job, Epoch epoch, ExchangeFault fault,
                    const std::string& reason) override;
  bool LanesReady() override { return lanes_ != nullptr && lanes_->ready(); }
  bool HandLanesOver() override { return lanes_ != nullptr && lanes_->HandOver(); }
  void ShutDownLanes(const std::string& reason) override {
    if (lanes_ != nullptr) lanes_->GiveUp(reason);
  }
  const Segment& segment() const { return plan().segment->segment(); }
  void LookAtSlots();
  void LookAtSlot(std::uint32_t slot);
  void Adopt(std::uint32_t slot, OpenGroup group);
  void FreeIfUnused(GroupId id);
  void Free(std::uint32_t slot, const OpenGroup& group, Segment::PartUse use);

  const WorkerId self_;
  PeerStreams& peers_;
  ReceivingStreams& receiving_;
  JobExchangeOwner& owner_;
  bool broken_ = false;
  std::unique_ptr<JobLanes> lanes_;
  std::unique_ptr<JobExchange> root_;
  std::uint32_t seen_ = 0;       ///< WorkerBell::groups.
  std::vector<OpenGroup> open_;  ///< Those that have an exchange.
  std::unordered_map<GroupId, Group> groups_;
  std::unordered_map<std::uint32_t, GroupId> by_slot_;
  std::map<GroupId, std::vector<WorkerId>> early_;  ///< Workers that know groups not open here.
  std::size_t early_words_ = 0;                     ///< Those in `early_`.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_JOB_GROUPS_H_
