#include "worker/exchange/deadlock_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <thread>
#include <vector>

#include "worker/exchange/testing/group_fixture.h"

namespace bspnow::worker {
namespace {

bool Single(const ProcessCell&) { return true; }

// Of the processes on a node, 0 and 1; 2 and 3 are on another.
class DeadlockWatchTest : public testing::Test {
 protected:
  DeadlockWatchTest() {
    node_.whole().header().participants.value.store(4);
    node_.whole().header().barrier.released.value.store(7);
    for (std::uint32_t pid = 0; pid < 4; ++pid) node_.whole().cell(Pid{pid}).arrived.store(7);
  }

  static void Count(const Segment& group, std::uint32_t member, std::uint64_t messages) {
    CountedWait& wait = group.cell(Pid{member}).counted_wait;
    wait.expected.store(messages);
    wait.superstep.store(3);
  }
  std::vector<Pid> Look() {
    last_ = watch_.OnLook(node_.segment());
    std::vector<Pid> pids;
    for (const StuckProcess& stuck : last_) pids.push_back(Pid{stuck.pid});
    return pids;
  }
  void ExpectStuck(const std::vector<Pid>& stuck) {
    EXPECT_EQ(Look(), std::vector<Pid>()) << "one look is none";
    EXPECT_EQ(Look(), stuck);
    EXPECT_EQ(Look(), std::vector<Pid>()) << "it is said once";
  }

  GroupNode node_{0};
  DeadlockWatch watch_{Single};
  std::vector<StuckProcess> last_;
};

const std::vector<Pid> kNobody;
const std::vector<Pid> kBoth = {Pid{0}, Pid{1}};

TEST_F(DeadlockWatchTest, TwoThatWaitInTwoGroupsAreStuck) {
  const Segment group = node_.Open(0, 5, {0, 1});
  Arrive(group, 0);
  ExpectStuck(kNobody);
  Arrive(node_.whole(), 1);
  ExpectStuck(kBoth);
}

TEST_F(DeadlockWatchTest, SaysWhoWaitsWhereForWhom) {
  const Segment outer = node_.Open(0, 5, {0, 1});
  node_.slot(0).child = 2;
  const Segment inner = node_.Open(1, 6, {0, 1});
  node_.slot(1).parent = 5;
  node_.slot(1).child = 1;
  inner.cell(Pid{0}).started.value.store(4);
  node_.whole().cell(Pid{1}).started.value.store(1);
  node_.whole().header().first_superstep = 10;
  Arrive(inner, 0);
  Arrive(node_.whole(), 1);
  EXPECT_EQ(Look(), kNobody);
  EXPECT_EQ(Look(), kBoth);
  const std::vector<StuckProcess> stuck = {
      {.pid = 0, .where = "at the end of superstep 3 of group 2.1 (pids 0 1)", .awaits = 1},
      {.pid = 1, .where = "at the end of superstep 10 of the job", .awaits = 0}};
  EXPECT_EQ(last_, stuck);
}

TEST_F(DeadlockWatchTest, SoAreThoseWhoWaitForThemWhereverTheRestIs) {
  const Segment group = node_.Open(0, 5, {0, 1, 2});
  Arrive(group, 0);
  Arrive(node_.Open(1, 6, {0, 1, 3}), 1);
  ExpectStuck(kBoth);
}

TEST_F(DeadlockWatchTest, WhoMovesMeanwhileIsNotStuck) {
  const Segment group = node_.Open(0, 5, {0, 1});
  Arrive(group, 0);
  Arrive(node_.whole(), 1);
  EXPECT_EQ(Look(), kNobody);
  node_.whole().cell(Pid{2}).arrived += 1;
  EXPECT_EQ(Look(), kNobody);
  node_.slot(0).key = 6;  // Another group, where the first one was.
  EXPECT_EQ(Look(), kNobody);
  EXPECT_EQ(Look(), kBoth);
}

TEST_F(DeadlockWatchTest, WhoWaitsForRoomWaitsForThoseThatHaveNotLeft) {
  const Segment group = node_.Open(0, 5, {0, 1});
  node_.whole().cell(Pid{0}).room_waits.store(1);
  ExpectStuck(kNobody);  // It has left none: it is about to end with an error.
  group.cell(Pid{0}).state.store(ProcessState::kEnded);
  ExpectStuck(kNobody);  // The other one may leave the group.
  Arrive(node_.whole(), 1);
  node_.SetState(1, GroupSlot::kLeft);
  ExpectStuck(kNobody);  // The worker frees that.
  node_.SetState(1, GroupSlot::kFree);
  ExpectStuck(kBoth);
}

TEST_F(DeadlockWatchTest, WhoIsFarAheadWaitsForWhoIsBehind) {
  const Segment group = node_.Open(0, 5, {0, 1});
  node_.slot(0).child = 1;
  group.cell(Pid{0}).started.value.store(9);
  group.cell(Pid{1}).started.value.store(7);
  group.cell(Pid{0}).counted_wait.behind.store(CountedWait::WordOf(1, 8));
  ExpectStuck(kNobody);  // The other one computes.
  Arrive(node_.whole(), 1);
  group.cell(Pid{1}).started.value.store(8);
  ExpectStuck(kNobody);  // It is there.
  group.cell(Pid{0}).counted_wait.behind.store(CountedWait::WordOf(1, 9));
  EXPECT_EQ(Look(), kNobody);
  EXPECT_EQ(Look(), kBoth);
  EXPECT_EQ(last_[0].where,
            "in bsp_oblsync, superstep 8 of group 1 (pids 0 1), which others are far behind,");
  EXPECT_EQ(last_[0].awaits, 1u);
}

// Room is that of all groups here, so it may have left none.
TEST_F(DeadlockWatchTest, WhoWaitsForRoomIsSaidToDoThat) {
  node_.whole().cell(Pid{0}).room_waits.store(1);
  Arrive(node_.whole(), 1);
  EXPECT_EQ(Look(), kNobody);
  EXPECT_EQ(Look(), kBoth);
  EXPECT_EQ(last_[0].where, kAtRoom);
  EXPECT_EQ(last_[0].awaits, 1u);
}

// The last to arrive has still to release the others.
TEST_F(DeadlockWatchTest, ABarrierAtWhichAllHaveArrivedHoldsNobody) {
  const Segment group = node_.Open(0, 5, {0, 1});
  Arrive(group, 0);
  Arrive(group, 1);
  ExpectStuck(kNobody);
}

TEST_F(DeadlockWatchTest, OtherNodesMayArrive) {
  Arrive(node_.Open(0, 5, {0, 2}), 0);
  Arrive(node_.whole(), 1);
  ExpectStuck(kNobody);
}

TEST_F(DeadlockWatchTest, WhoGoesOnAheadOfABarrierIsNotStuck) {
  for (const std::uint32_t pid : {0u, 1u}) Arrive(node_.whole(), pid);
  Arrive(node_.Open(0, 5, {0, 1}), 0);
  ExpectStuck(kNobody);
}

TEST_F(DeadlockWatchTest, AnotherThreadMayDoWhatAllWaitFor) {
  DeadlockWatch watch([](const ProcessCell& cell) { return cell.os_pid == 0; });
  Arrive(node_.Open(0, 5, {0, 1}), 0);
  Arrive(node_.whole(), 1);
  node_.whole().cell(Pid{1}).os_pid = 1;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(watch.OnLook(node_.segment()).empty());
}

TEST_F(DeadlockWatchTest, WhoWaitsForMessagesWaitsForThoseThatCanSendThem) {
  const Segment group = node_.Open(0, 5, {0, 1});
  ASSERT_EQ(group.header().nodes, 0u) << "not several";
  Count(group, 0, 2);
  ExpectStuck(kNobody);
  Arrive(node_.whole(), 1);
  DirectoryEntry& entry = group.entry(Pid{1}, Pid{0}, 0);
  group.stamp(Pid{1}, Pid{0}, 0).store(3);
  entry.message_count = 2;
  ExpectStuck(kNobody);  // It has them.
  entry.message_count = 1;
  group.cell(Pid{0}).announced.value += 1;
  ExpectStuck(kBoth);
}

TEST_F(DeadlockWatchTest, WhatProcessesHaveWrittenOverIsPassedOver) {
  const Segment group = node_.Open(0, 5, {0, 1});
  Arrive(group, 0);
  Arrive(node_.whole(), 1);
  group.cell(Pid{1}).member = 4'000'000;
  ExpectStuck(kNobody);
}

// Whatever a program does, somebody goes on; a look may fall anywhere, and reads while all change.
TEST_F(DeadlockWatchTest, NobodyIsStuckWhereSomebodyAlwaysGoesOn) {
  const Segment group = node_.Open(0, 5, {0, 1});
  std::jthread looks([this](std::stop_token stop) {
    while (!stop.stop_requested()) EXPECT_EQ(Look(), kNobody);
  });
  std::mt19937 chance(1);
  for (int i = 0; i < 200'000; ++i) {
    const Segment& where = chance() % 2 == 0 ? group : node_.whole();
    const std::uint32_t first = chance() % 2;
    for (const std::uint32_t member : {first, 1 - first}) Arrive(where, member);
    where.header().barrier.released.value += 1;
  }
}

TEST(HasOneThreadTest, AsksTheProcessThatHasTheProbe) {
  const std::uint64_t probe = 4711;
  ProcessCell cell{};
  cell.os_pid = static_cast<std::uint32_t>(getpid());
  cell.probe_address = reinterpret_cast<std::uintptr_t>(&probe);
  cell.probe_value = probe;
  EXPECT_TRUE(HasOneThread(cell));
  std::jthread([&cell] { EXPECT_FALSE(HasOneThread(cell)); }).join();
  cell.probe_value = 4712;
  EXPECT_FALSE(HasOneThread(cell)) << "that is another process";
}

}  // namespace
}  // namespace bspnow::worker
