#include "worker/exchange/groups_watch.h"

#include <gtest/gtest.h>

#include "worker/exchange/testing/group_fixture.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kPatienceNs = 5'000;

TEST(LookAtGroupsTest, CountsProcessesHereOnceEach) {
  GroupNode node(0);
  node.segment().segment().header().node = 0;
  EXPECT_EQ(LookAtGroups(node.segment()).in_groups, 0u);
  const Segment first = node.Open(0, 7, {0, 1, 2});
  node.Open(1, 8, {1, 3});
  EXPECT_EQ(LookAtGroups(node.segment()).in_groups, 2u);
  first.cell(Pid{0}).state.store(ProcessState::kEnded);  // It has left.
  EXPECT_EQ(LookAtGroups(node.segment()).in_groups, 1u);
  node.slot(0).members = 5;  // Nonsense is passed over.
  EXPECT_EQ(LookAtGroups(node.segment()).in_groups, 1u);
  node.SetState(1, GroupSlot::kLeft);
  EXPECT_EQ(LookAtGroups(node.segment()).in_groups, 0u);
}

TEST(LookAtGroupsTest, ReadsTheLastBarrierOfTheRootGroup) {
  GroupNode node(0);
  NodeBarrier& barrier = node.whole().header().barrier;
  barrier.released.value.store(6);
  barrier.phases[1].with_groups.store(3);
  barrier.phases[0].with_groups.store(4);  // Of the next one.
  const GroupsLook look = LookAtGroups(node.segment());
  EXPECT_EQ(look.passed, 6u);
  EXPECT_EQ(look.apart, 3u);
}

TEST(GroupsWatchTest, SaysSinceWhenAndWhenItIsOver) {
  GroupsWatch watch;
  EXPECT_EQ(watch.OnLook({.passed = 3, .in_groups = 0}, 1'000, kPatienceNs), std::nullopt);
  EXPECT_EQ(watch.OnLook({.passed = 3, .in_groups = 4}, 2'000, kPatienceNs), std::nullopt);
  EXPECT_EQ(watch.OnLook({.passed = 3, .in_groups = 4}, 7'000, kPatienceNs),
            (GroupsWord{4, 2'000}));
  EXPECT_EQ(watch.OnLook({.passed = 3, .in_groups = 4}, 9'000, kPatienceNs), std::nullopt);
  EXPECT_EQ(watch.OnLook({.passed = 3, .in_groups = 2}, 9'500, kPatienceNs),
            (GroupsWord{2, 2'000}));
  EXPECT_EQ(watch.OnLook({.passed = 3, .in_groups = 0}, 9'600, kPatienceNs), (GroupsWord{0, 0}));
  EXPECT_EQ(watch.OnLook({.passed = 3, .in_groups = 0}, 9'700, kPatienceNs), std::nullopt);
}

TEST(GroupsWatchTest, BarriersWithGroupsOpenHinderToo) {
  GroupsWatch watch;
  EXPECT_EQ(watch.OnLook({.passed = 3, .in_groups = 4}, 1'000, kPatienceNs), std::nullopt);
  EXPECT_EQ(watch.OnLook({.passed = 5, .apart = 4, .in_groups = 4}, 3'000, kPatienceNs),
            std::nullopt);
  EXPECT_EQ(watch.OnLook({.passed = 9, .apart = 1, .in_groups = 4}, 6'000, kPatienceNs),
            (GroupsWord{4, 1'000}));
}

// It splits into groups in each superstep, and comes together at its end.
TEST(GroupsWatchTest, ABarrierWithoutGroupsStartsAnew) {
  GroupsWatch watch;
  for (std::uint32_t i = 1; i < 9; ++i) {
    EXPECT_EQ(watch.OnLook({.passed = i, .in_groups = 4}, i * 4'000, kPatienceNs), std::nullopt);
  }
  EXPECT_EQ(watch.OnLook({.passed = 8, .in_groups = 4}, 37'000, kPatienceNs),
            (GroupsWord{4, 32'000}));
}

// In collective calls a program with areas arrives as if it was in other groups.
TEST(GroupsWatchTest, AnImageThatIsDueAndFindsOnlyCollectiveCallsIsSaid) {
  GroupsWatch watch;
  const auto look = [](std::uint32_t passed, std::uint64_t chances) {
    return GroupsLook{.passed = passed, .apart = 2, .image = {.due = true, .chances = chances}};
  };
  EXPECT_EQ(watch.OnLook(look(5, 0), 1'000, kPatienceNs), std::nullopt);
  EXPECT_EQ(watch.OnLook(look(9, 0), 3'000, kPatienceNs), std::nullopt);
  EXPECT_EQ(watch.OnLook(look(13, 0), 7'000, kPatienceNs), (GroupsWord{0, 1'000, true}));
  EXPECT_EQ(watch.OnLook(look(15, 0), 9'000, kPatienceNs), std::nullopt);
  EXPECT_EQ(watch.OnLook(look(17, 1), 11'000, kPatienceNs), GroupsWord{}) << "a bsp_sync between";
  EXPECT_EQ(watch.OnLook(look(19, 1), 17'000, kPatienceNs), (GroupsWord{0, 11'000, true}));
}

TEST(GroupsWatchTest, CollectiveCallsHinderNothingWhileNoImageIsDue) {
  GroupsWatch watch;
  for (std::uint32_t i = 1; i < 9; ++i)
    EXPECT_EQ(watch.OnLook({.passed = i, .apart = 2}, i * 4'000, kPatienceNs), std::nullopt);
}

TEST(GroupsWatchTest, SaysItAgainForACoordinatorThatWasStartedAgain) {
  GroupsWatch watch;
  const GroupsLook look{.passed = 3, .in_groups = 4};
  EXPECT_EQ(watch.OnLook(look, 1'000, kPatienceNs), std::nullopt);
  EXPECT_NE(watch.OnLook(look, 6'000, kPatienceNs), std::nullopt);
  EXPECT_EQ(watch.OnLook(look, 60'000, kPatienceNs), std::nullopt);
  watch.SayAgain();
  EXPECT_EQ(watch.OnLook(look, 61'000, kPatienceNs), (GroupsWord{4, 1'000}));
  EXPECT_EQ(watch.OnLook(look, 62'000, kPatienceNs), std::nullopt);
}

TEST(GroupsWatchTest, WithNothingToSayNothingIsSaidAgain) {
  GroupsWatch watch;
  watch.SayAgain();
  EXPECT_EQ(watch.OnLook({.passed = 3, .in_groups = 4}, 1'000, kPatienceNs), std::nullopt);
}

}  // namespace
}  // namespace bspnow::worker
