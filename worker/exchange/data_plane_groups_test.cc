// Groups over two data planes, each with a loop of its own, so that a test decides who runs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "net/event_loop.h"
#include "runtime/link/link.h"
#include "worker/exchange/data_plane.h"
#include "worker/exchange/doorbell_ends.h"
#include "worker/exchange/testing/group_fixture.h"

namespace bspnow::worker {
namespace {

constexpr unsigned kHangsS = 30;
constexpr std::uint64_t kKey = std::uint64_t{1} << 40;
constexpr std::uint64_t kOther = std::uint64_t{3} << 40;
const std::vector<std::uint32_t> kMembers{1, 2};  // One on each node.

class GroupsTest : public testing::Test {
 protected:
  struct Side {
    explicit Side(std::uint32_t number) : node(number) {}

    GroupNode node;
    DoorbellEnds doorbell = *MakeDoorbell();
    MailboxEnds mailbox = *MakeMailbox();
    EventLoop loop;
    std::unique_ptr<DataPlane> plane;
    std::string broken;
    ExchangeFault fault{};
  };

  GroupsTest() {
    alarm(kHangsS);
    std::vector<std::string> addresses;
    std::uint32_t worker = 0;
    for (Side* const side : {&a_, &b_}) {
      Join(*side, WorkerId{++worker});
      addresses.push_back(side->plane->data_address());
    }
    for (Side* const side : {&a_, &b_}) {
      JobPlan plan = side->node.Plan(addresses);
      plan.doorbell = side->doorbell.worker.get();
      side->plane->AddJob(plan);
    }
  }

  static void Join(Side& side, WorkerId self) {
    auto plane = DataPlane::Create(
        side.loop, {.listen = "127.0.0.1:0", .congestion = "default", .incarnation = 1},
        {.broken =
             [&side](JobId, Epoch, ExchangeFault fault, const std::string& reason) {
               EXPECT_EQ(side.broken, "") << "again";
               side.broken = reason;
               side.fault = fault;
             },
         .lease_renewed = [](std::uint64_t) {}});
    EXPECT_TRUE(plane.ok());
    side.plane = *std::move(plane);
    side.plane->JoinCoordinator(
        {.self = self,
         .barrier_address = "127.0.0.1:9",
         .heartbeat_ms = 1000,
         .stream_key = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'))});
  }

  static void Turn(Side& side) {
    side.loop.AddTimer(1, [] {});
    side.loop.RunOnce();
  }
  template <typename Condition>
  void RunUntil(std::vector<Side*> sides, Condition condition) {
    while (!condition()) {
      for (Side* const side : sides) Turn(*side);
    }
  }
  // That long, and as many turns: a loaded machine may take the time away.
  void RunFor(std::vector<Side*> sides, std::uint64_t ms) {
    const std::uint64_t end_ns = NowNs() + ms * kNsPerMs;
    std::uint64_t turns = 0;
    RunUntil(std::move(sides), [&] { return ++turns > ms && NowNs() >= end_ns; });
  }

  // All members on the node are at the barrier.
  static void Arrive(Side& side, std::uint32_t slot, std::uint32_t barrier) {
    side.node.Part(slot).header().bell.barriers.store(barrier + 1);
  }
  static std::uint32_t Passed(const Side& side, std::uint32_t slot) {
    return side.node.Part(slot).header().barrier.released.value.load();
  }
  void PassBoth(std::uint32_t slot, std::uint32_t barrier) {
    Arrive(a_, slot, barrier);
    Arrive(b_, slot, barrier);
    RunUntil({&a_, &b_},
             [&] { return Passed(a_, slot) == barrier + 1 && Passed(b_, slot) == barrier + 1; });
  }
  std::uint64_t Unknown(const Side& side) {
    const auto refused = side.plane->statistics().refused_frames;
    const auto found = refused.find("unknown_group");
    return found == refused.end() ? 0 : found->second;
  }

  Side a_{0};
  Side b_{1};
};

TEST_F(GroupsTest, KeepsBackWhatTheOtherNodeDoesNotKnowYet) {
  const Segment part = a_.node.Open(0, kKey, kMembers);
  Outbox sender(part, Pid{0});
  sender.entry(Pid{1}, 0).puts = sender.Chunk(0, "12345678", 0);
  sender.entry(Pid{1}, 0).bytes_to = 8;
  part.header().barrier.phases[1].with_data = 1;
  Arrive(a_, 0, 1);
  RunUntil({&a_, &b_}, [&] { return b_.plane->statistics().frames_in != 0; });
  RunFor({&a_, &b_}, 60);
  EXPECT_EQ(b_.plane->statistics().frames_in, 1u) << "that the group is there, and no more";
  b_.node.Open(0, kKey, kMembers);
  Arrive(b_, 0, 1);
  RunUntil({&a_, &b_}, [&] { return Passed(a_, 0) == 2 && Passed(b_, 0) == 2; });
  EXPECT_EQ(b_.node.Part(0).header().barrier.phases[1].with_data.load(), 1u);
  const DirectoryEntry& entry = b_.node.Part(0).entry(Pid{0}, Pid{1}, 0);
  EXPECT_EQ(entry.bytes_to, 8u);
  EXPECT_NE(entry.puts, 0u);
  EXPECT_EQ(Unknown(a_) + Unknown(b_), 0u);
  EXPECT_EQ(a_.broken + b_.broken, "");
}

TEST_F(GroupsTest, AChunkThatWasHandedOverIsDeliveredInItsGroup) {
  const Segment part = a_.node.Open(0, kKey, kMembers);
  Outbox sender(part, Pid{0});
  sender.Hand(0, 0, Pid{1}, sender.Chunk(0, "12345678", 0));
  part.header().bell.handed += 1;
  const HandedChunk& handed = part.handed(Pid{0}, 0)[0];
  RunFor({&a_, &b_}, 40);
  EXPECT_EQ(handed.state.load(), HandedChunk::kHanded);
  b_.node.Open(0, kKey, kMembers);
  Arrive(b_, 0, 1);
  RunUntil({&a_, &b_}, [&] { return handed.state.load() == HandedChunk::kDelivered; });
  EXPECT_EQ(a_.node.whole().handed(Pid{0}, 0)[0].state.load(), HandedChunk::kEmpty);
  Arrive(a_, 0, 1);
  RunUntil({&a_, &b_}, [&] { return Passed(b_, 0) == 2; });
}

TEST_F(GroupsTest, GroupsOfAJobCountTheirSuperstepsApart) {
  for (Side* const side : {&a_, &b_}) {
    side->node.Open(0, kKey, kMembers);
    side->node.Open(1, kOther, {0, 1, 2, 3});
  }
  Arrive(a_, 1, 1);
  for (const std::uint32_t barrier : {1, 2, 3, 4}) PassBoth(0, barrier);
  EXPECT_EQ(Passed(a_, 1), 1u);
  Arrive(b_, 1, 1);
  RunUntil({&a_, &b_}, [&] { return Passed(a_, 1) == 2 && Passed(b_, 1) == 2; });
  PassBoth(0, 5);
  EXPECT_EQ(a_.broken + b_.broken, "");
}

TEST_F(GroupsTest, AGroupThatWasLeftIsFreedWhenTheOtherNodeHasItsLastFrame) {
  a_.node.Open(0, kKey, kMembers);
  b_.node.Open(0, kKey, kMembers);
  PassBoth(0, 1);
  RunFor({&a_, &b_}, 60);  // Acks of what was.
  Arrive(b_, 0, 2);
  RunFor({&b_}, 30);
  Arrive(a_, 0, 2);
  RunUntil({&a_}, [&] { return Passed(a_, 0) == 3; });  // The other one has not read anything.
  a_.node.slot(0).large = 1;
  a_.node.SetState(0, GroupSlot::kLeft);
  RunFor({&a_}, 600);
  EXPECT_EQ(a_.node.State(0), GroupSlot::kLeft);
  EXPECT_EQ(Passed(a_, 0), 3u);
  EXPECT_EQ(Passed(b_, 0), 2u);
  RunUntil({&a_, &b_}, [&] { return a_.node.State(0) == GroupSlot::kFree; });
  EXPECT_EQ(Passed(a_, 0), 0u) << "its memory is zero again";
  EXPECT_EQ(Passed(b_, 0), 3u);
  b_.node.SetState(0, GroupSlot::kLeft);
  RunUntil({&a_, &b_}, [&] { return b_.node.State(0) == GroupSlot::kKept; });
  EXPECT_EQ(Unknown(a_) + Unknown(b_), 0u);
  // The slot and the part are taken again.
  a_.node.Open(0, kOther, kMembers);
  b_.node.Open(0, kOther, kMembers);
  PassBoth(0, 1);
}

TEST_F(GroupsTest, AGroupThatWasLeftIsFreedWithoutWaitingForAnAckThatIsPutOff) {
  constexpr std::uint64_t kTries = 50;  // All of them slower only if each waits for it.
  std::uint64_t fastest_ns = ~std::uint64_t{0};
  for (std::uint64_t i = 0; i < kTries; ++i) {
    const std::uint64_t start_ns = NowNs();
    for (Side* const side : {&a_, &b_}) side->node.Open(0, kKey + i, kMembers);
    PassBoth(0, 1);
    for (Side* const side : {&a_, &b_}) side->node.SetState(0, GroupSlot::kLeft);
    RunUntil({&a_, &b_}, [&] { return a_.node.IsFree(0) && b_.node.IsFree(0); });
    fastest_ns = std::min(fastest_ns, NowNs() - start_ns);
  }
  EXPECT_LT(fastest_ns, 20 * kNsPerMs) << "that is how long an Ack is put off that nobody awaits";
}

TEST_F(GroupsTest, AGroupThatWasOpenedAndLeftUnseenIsFreed) {
  const Segment part = a_.node.Open(0, kKey, kMembers);
  a_.node.slot(0).large = 1;
  a_.node.SetState(0, GroupSlot::kLeft);
  RunUntil({&a_}, [&] { return a_.node.State(0) == GroupSlot::kFree; });
  EXPECT_EQ(part.header().barrier.released.value.load(), 0u);
  EXPECT_EQ(b_.plane->statistics().frames_in, 0u);
}

TEST_F(GroupsTest, ADamagedTableBreaksTheJobOnce) {
  a_.node.Open(0, kKey, kMembers);
  RunFor({&a_}, 20);
  a_.node.Open(1, kKey, kMembers);
  a_.node.Open(2, kKey, kMembers);
  RunUntil({&a_}, [&] { return !a_.broken.empty(); });
  EXPECT_EQ(a_.fault, ExchangeFault::kProgram);
  EXPECT_NE(a_.broken.find("damaged"), std::string::npos);
  Arrive(a_, 0, 7);  // Damaged, too.
  RunFor({&a_}, 20);
}

TEST_F(GroupsTest, ADamagedBellOfAGroupBreaksTheJob) {
  a_.node.Open(0, kKey, kMembers);
  Arrive(a_, 0, 2);  // At the second barrier before the first.
  RunUntil({&a_}, [&] { return !a_.broken.empty(); });
  EXPECT_EQ(a_.fault, ExchangeFault::kProgram);
}

TEST_F(GroupsTest, RemovingAJobRemovesItsGroups) {
  a_.node.Open(0, kKey, kMembers);
  b_.node.Open(0, kKey, kMembers);
  PassBoth(0, 1);
  Arrive(a_, 0, 2);
  RunFor({&a_}, 20);
  a_.plane->RemoveJob(JobId{1}, Epoch{1});
  Arrive(b_, 0, 2);
  RunFor({&a_, &b_}, 60);
  EXPECT_EQ(a_.plane->statistics().refused_frames["unknown_job"], 1u);
}

// What the plan of its job says does not count any more, not even for a group that is opened later.
TEST_F(GroupsTest, StreamsFollowAWorkerThatHasMoved) {
  a_.plane->RemoveJob(JobId{1}, Epoch{1});
  JobPlan plan = a_.node.Plan({a_.plane->data_address(), "127.0.0.1:9"});
  plan.doorbell = a_.doorbell.worker.get();
  a_.plane->AddJob(plan);
  for (Side* const side : {&a_, &b_}) {
    side->node.Open(0, kKey, kMembers);
    Arrive(*side, 0, 1);
  }
  RunFor({&a_, &b_}, 60);
  EXPECT_EQ(Passed(b_, 0), 1u);
  a_.plane->SetPeerAddress(WorkerId{2}, b_.plane->data_address());
  RunUntil({&a_, &b_}, [&] { return Passed(a_, 0) == 2 && Passed(b_, 0) == 2; });
  for (Side* const side : {&a_, &b_}) side->node.Open(1, kOther, kMembers);
  PassBoth(1, 1);
  PassBoth(0, 2);
  EXPECT_EQ(a_.broken + b_.broken, "");
}

// It has the cluster's key, knows all ids, and calls itself b.
TEST_F(GroupsTest, AWorkerThatHostsNothingOfTheJobGetsNoFrameIn) {
  Side impostor(1);
  Join(impostor, WorkerId{2});
  JobPlan plan = impostor.node.Plan({a_.plane->data_address(), impostor.plane->data_address()});
  plan.doorbell = impostor.doorbell.worker.get();
  plan.key = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'g'));
  impostor.plane->AddJob(plan);
  for (Side* const side : {&a_, &b_, &impostor}) side->node.Open(0, kKey, kMembers);
  Arrive(a_, 0, 1);
  Arrive(impostor, 0, 1);
  RunUntil({&a_, &impostor}, [&] { return !impostor.broken.empty(); });
  EXPECT_NE(impostor.broken.find("does not prove the key of the job"), std::string::npos);
  EXPECT_EQ(a_.plane->statistics().refused_frames["bad_job_proof"], 5u);
  EXPECT_EQ(Passed(a_, 0), 1u);
  impostor.plane.reset();
  Arrive(b_, 0, 1);
  RunUntil({&a_, &b_}, [&] { return Passed(a_, 0) == 2 && Passed(b_, 0) == 2; });
  EXPECT_EQ(a_.broken + b_.broken, "");
}

/// The same nodes, but the job has lanes.
class PlaneLanesTest : public GroupsTest {
 protected:
  PlaneLanesTest() {
    const std::vector<std::string> addresses{a_.plane->data_address(), b_.plane->data_address()};
    for (Side* const side : {&a_, &b_}) {
      side->plane->RemoveJob(JobId{1}, Epoch{1});
      JobPlan plan = side->node.Plan(addresses);
      plan.doorbell = side->doorbell.worker.get();
      plan.mailbox = side->mailbox.worker.get();
      plan.direct = true;
      side->plane->AddJob(plan);
    }
  }
};

TEST_F(PlaneLanesTest, AJobIsRemovedWhileItsLanesAreOpened) {
  RunFor({&a_}, 20);
  a_.plane->RemoveJob(JobId{1}, Epoch{1});
  RunFor({&a_, &b_}, 300);
  EXPECT_EQ(a_.broken + b_.broken, "") << "nobody needs a lane";
}

TEST_F(PlaneLanesTest, AnOrderThatIsGivenUpHoldsNoBarrierAnyMore) {
  const LaneState& lanes = a_.node.segment().segment().lanes().state;
  a_.plane->OrderImage(JobId{1}, Epoch{1},
                       {.checkpoint = 3, .base = 0, .after = ImagePlan::After::kGoOn});
  EXPECT_EQ(lanes.hold, kHoldForImage);
  a_.plane->WithdrawImage(JobId{1}, Epoch{1}, 2);
  EXPECT_EQ(lanes.hold, kHoldForImage) << "that was an older one";
  a_.plane->WithdrawImage(JobId{1}, Epoch{1}, 3);
  EXPECT_EQ(lanes.hold, kHoldNone);
}

}  // namespace
}  // namespace bspnow::worker
