#include "worker/exchange/standstill.h"

#include <gtest/gtest.h>

#include <vector>

#include "worker/exchange/testing/group_fixture.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kPatienceNs = 5'000;

// Pids 0 and 1 live here, 2 and 3 elsewhere.
class StandstillTest : public testing::Test {
 protected:
  StandstillTest() {
    node_.whole().header().participants.value.store(4);
    node_.whole().header().nodes = 2;
    node_.whole().header().barrier.released.value.store(7);
    for (std::uint32_t pid = 0; pid < 4; ++pid) {
      node_.whole().cell(Pid{pid}).arrived.store(7);
      node_.whole().cell(Pid{pid}).started.value.store(7);
    }
  }

  proto::StandStill Say() {
    const auto has_one = [this](const ProcessCell& cell) { return cell.os_pid != threads_; };
    const auto heard_from = [this](std::uint64_t, std::uint64_t) { return heard_; };
    return StandStillOf(FactsOf(node_.segment()), node_.whole(),
                        {.has_one_thread = has_one, .heard_from = heard_from});
  }
  /// Of the group that was opened last.
  std::string WaitsAt(std::uint32_t here) {
    const proto::StandStill said = Say();
    return said.groups(said.groups_size() - 1).here(static_cast<int>(here)).waits_at();
  }

  GroupNode node_{0};
  std::uint32_t threads_ = 4711;  ///< The number of a process that has several.
  std::vector<std::uint32_t> heard_;
};

TEST_F(StandstillTest, SaysWhoHasArrivedWhereAndWhoElseIsKnownToHave) {
  const Segment group = node_.Open(0, 5, {1, 2, 3});
  group.header().nodes = 2;
  node_.slot(0).child = 1;
  group.cell(Pid{0}).started.value.store(1);
  Arrive(group, 0);
  heard_ = {2, 7};  // In the group; and one that is no member.
  const proto::StandStill said = Say();
  ASSERT_EQ(said.groups_size(), 2);
  EXPECT_EQ(said.groups(0).key(), 0u);
  EXPECT_EQ(said.groups(0).here_size(), 2);
  EXPECT_EQ(said.groups(0).all_below(), 0u) << "nobody waits there";
  const proto::StandingGroup& in = said.groups(1);
  EXPECT_EQ(in.key(), 5u);
  EXPECT_EQ(std::vector<std::uint32_t>(in.members().begin(), in.members().end()),
            (std::vector<std::uint32_t>{1, 2, 3}));
  ASSERT_EQ(in.here_size(), 1);
  EXPECT_EQ(in.here(0).pid(), 1u);
  EXPECT_EQ(in.here(0).arrived(), 2u);
  EXPECT_EQ(in.here(0).waits_at(), "at the end of superstep 0 of group 1 (pids 1-3)");
  ASSERT_EQ(in.heard_size(), 1);
  EXPECT_EQ(in.heard(0), 3u);
}

TEST_F(StandstillTest, AnotherThreadMayDoSomething) {
  const Segment group = node_.Open(0, 5, {0, 2});
  Arrive(group, 0);
  node_.whole().cell(Pid{0}).os_pid = threads_;
  EXPECT_EQ(WaitsAt(0), "");
  node_.whole().cell(Pid{0}).os_pid = 1;
  EXPECT_NE(WaitsAt(0), "");
}

TEST_F(StandstillTest, WhoMayGoAheadOfABarrierByLanesSaysThat) {
  const auto waits_ahead_at = [this] { return Say().groups(0).here(0).waits_ahead_at(); };
  ProcessCell& cell = node_.whole().cell(Pid{0});
  Arrive(node_.whole(), 0);
  EXPECT_EQ(WaitsAt(0), "at the end of superstep 6 of the job");
  EXPECT_EQ(waits_ahead_at(), "");
  cell.counted_wait.superstep.store(7);
  EXPECT_EQ(WaitsAt(0), "") << "it waits for messages";
  EXPECT_EQ(waits_ahead_at(), "at the end of superstep 6 of the job");
  Arrive(node_.whole(), 1);
  node_.whole().cell(Pid{1}).os_pid = threads_;
  EXPECT_EQ(waits_ahead_at(), "") << "the other one may see to the lanes";
  node_.whole().cell(Pid{1}).os_pid = 1;
  node_.whole().lanes().state.ahead.store(8);
  EXPECT_EQ(waits_ahead_at(), "") << "all here may go on";
  cell.started.value.store(8);
  EXPECT_EQ(WaitsAt(0) + waits_ahead_at(), "") << "it is about to go on";
  cell.counted_wait.superstep.store(0);
  EXPECT_EQ(WaitsAt(0) + waits_ahead_at(), "") << "it has gone on";
  cell.counted_wait.superstep.store(9);
  EXPECT_EQ(WaitsAt(0), "at the end of superstep 7 of the job") << "for the barrier before";
}

TEST_F(StandstillTest, WhoWaitsForMessagesNeedsOneThatMaySendSome) {
  const Segment group = node_.Open(0, 5, {0, 1});
  CountedWait& wait = group.cell(Pid{0}).counted_wait;
  wait.expected.store(2);
  wait.superstep.store(3);
  const proto::StandStill said = Say();
  ASSERT_EQ(said.groups(1).here(0).any_of_size(), 1);
  EXPECT_EQ(said.groups(1).here(0).any_of(0), 1u);
  group.stamp(Pid{1}, Pid{0}, 0).store(3);
  group.entry(Pid{1}, Pid{0}, 0).message_count = 2;
  EXPECT_EQ(WaitsAt(0), "") << "it has them";
}

TEST_F(StandstillTest, WhoWaitsForRoomNeedsWhoHasNotLeft) {
  const Segment group = node_.Open(0, 5, {0, 1});
  group.cell(Pid{0}).state.store(ProcessState::kEnded);
  node_.whole().cell(Pid{0}).room_waits.store(1);
  const proto::StandingMember root = Say().groups(0).here(0);
  EXPECT_EQ(root.waits_at(), kAtRoom);
  ASSERT_EQ(root.any_of_size(), 1);
  EXPECT_EQ(root.any_of(0), 1u);
}

// Others may not have heard of that end, and the word lacks it.
TEST_F(StandstillTest, NothingIsSaidWhileAGroupThatAllHereHaveLeftIsToBeFreed) {
  Arrive(node_.whole(), 0);
  EXPECT_NE(WaitsAt(0), "");
  node_.Open(0, 5, {0, 2});
  node_.SetState(0, GroupSlot::kLeft);
  EXPECT_EQ(Say().groups_size(), 0);
}

TEST(StandstillWatchTest, SpeaksOnceNothingHasMovedAndSomebodyWaits) {
  StandstillWatch watch;
  proto::StandStill now;
  const auto describe = [&now] { return now; };
  EXPECT_FALSE(watch.OnLook(1, describe, 1'000, kPatienceNs));
  EXPECT_FALSE(watch.OnLook(1, describe, 6'000, kPatienceNs)) << "nobody waits";
  now.add_groups()->add_here()->set_waits_at("here");
  const auto first = watch.OnLook(1, describe, 7'000, kPatienceNs);
  ASSERT_TRUE(first);
  EXPECT_FALSE(watch.OnLook(1, describe, 8'000, kPatienceNs)) << "that is said";
  EXPECT_EQ(watch.Answer(1, describe, 3).number(), first->number());
  EXPECT_EQ(watch.Answer(1, describe, 3).look(), 3u);
  watch.SayAgain();
  EXPECT_TRUE(watch.OnLook(1, describe, 9'000, kPatienceNs));
}

TEST(StandstillWatchTest, ItsNumberChangesWithAnythingThatIsSaid) {
  StandstillWatch watch;
  proto::StandStill now;
  const auto describe = [&now] { return now; };
  proto::StandingGroup& group = *now.add_groups();
  group.add_here()->set_waits_at("here");
  EXPECT_FALSE(watch.OnLook(1, describe, 1'000, kPatienceNs));
  const std::uint64_t number = watch.OnLook(1, describe, 9'000, kPatienceNs)->number();
  group.add_heard(3);
  EXPECT_NE(watch.Answer(1, describe, 1).number(), number) << "a frame has come";
  group.clear_heard();
  EXPECT_NE(watch.Answer(1, describe, 2).number(), number);
  const std::uint64_t later = watch.Answer(1, describe, 3).number();
  EXPECT_EQ(watch.Answer(1, describe, 4).number(), later);
  EXPECT_NE(watch.Answer(2, describe, 5).number(), later) << "a process has moved";
}

}  // namespace
}  // namespace bspnow::worker
