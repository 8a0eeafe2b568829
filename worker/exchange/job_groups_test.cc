#include "worker/exchange/job_groups.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/event_loop.h"
#include "net/resolver.h"
#include "worker/exchange/testing/group_fixture.h"

namespace bspnow::worker {
namespace {

class NoFrames final : public BatchSink {
 public:
  std::span<std::byte> Place(WorkerId, const FrameHeader&, const BatchPiece&) override {
    return {};
  }
  FrameFault OnBatch(WorkerId, const FrameHeader&, const BatchPiece&,
                     std::span<const std::byte>) override {
    return FrameFault::kNone;
  }
  const StreamKey* KeyOf(JobId, Epoch) override { return nullptr; }
  bool WantsLane(const LaneName&) override { return false; }
  void TakeLane(const LaneName&, UniqueFd) override {}
};

class Owner final : public JobExchangeOwner {
 public:
  void SendToCoordinator(const FrameHeader&, std::span<const std::byte>) override {}
  void ReportBroken(JobId, Epoch, ExchangeFault, const std::string& reason) override {
    reasons.push_back(reason);
  }
  std::vector<std::string> reasons;
};

TEST(JobGroupsTest, KeepsAsManyEarlyWordsAsProcessesCanWait) {
  GroupNode node(0);
  EventLoop loop;
  Resolver resolver(loop);
  NoFrames sink;
  Owner owner;
  const StreamKey key;
  PeerStreams peers(loop, resolver, {.key = key, .socket = {}}, {}, nullptr);
  peers.SetSelf(WorkerId{1});
  ReceivingStreams receiving(loop, {}, sink, nullptr);
  const JobNetwork network{peers, receiving, LaneNetwork{loop, resolver, key, {}}};
  JobGroups groups(node.Plan({"127.0.0.1:9", "127.0.0.1:9"}), WorkerId{1}, network, owner);
  for (std::uint32_t i = 1; i <= kProcessesMax; ++i) groups.OnEarlyHere(WorkerId{2}, GroupId{i});
  EXPECT_TRUE(owner.reasons.empty());
  node.Open(0, 5, {0, 3});  // One of them is used up.
  EXPECT_TRUE(groups.Poll());
  EXPECT_NE(groups.Find(GroupId{5}), nullptr);
  groups.OnEarlyHere(WorkerId{2}, GroupId{kProcessesMax + 1});
  EXPECT_TRUE(owner.reasons.empty());
  groups.OnEarlyHere(WorkerId{2}, GroupId{kProcessesMax + 2});
  groups.OnEarlyHere(WorkerId{2}, GroupId{kProcessesMax + 3});
  ASSERT_EQ(owner.reasons.size(), 1u);
  EXPECT_NE(owner.reasons[0].find("that no process here has opened"), std::string::npos);
}

}  // namespace
}  // namespace bspnow::worker
