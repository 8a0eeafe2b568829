// Groups within one node.
#include <gtest/gtest.h>
#include <sched.h>

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "runtime/link/link_segment.h"
#include "runtime/testing/group_tree.h"
#include "runtime/testing/nodes.h"

namespace bspnow::runtime {
namespace {

enum class Checks { kUsual, kFull };

JobOutcome RunOnOneNode(std::uint32_t p, const std::function<void(Process&)>& program,
                        Checks checks = Checks::kUsual) {
  return RunOnNodes(
      {.node_of = std::vector<std::uint32_t>(p, 0), .check_full = checks == Checks::kFull},
      [&](Process& process) {
        process.Begin(p);
        program(process);
        process.End(0);
      });
}

// So that the worker gets its turn.
void SyncSlowly(Process& process, int supersteps) {
  for (int s = 0; s < supersteps; ++s) {
    for (const std::uint64_t start = NowNs(); NowNs() - start < 2'000'000;) sched_yield();
    process.Sync(0);
  }
}

TEST(GroupsTest, RandomTreesGiveWhatTheModelSays) {
  for (const std::uint32_t p : {1u, 2u, 3u, 5u, 8u}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(testing::Message() << "p = " << p << ", seed " << seed);
      ExpectAllEndWell(
          RunOnOneNode(p, [&](Process& process) { RunGroupTree(process, seed * 100 + p); }));
    }
  }
}

TEST(GroupsTest, RandomTreesGiveTheSameWithBspCheckFull) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    ExpectAllEndWell(RunOnOneNode(
        4, [&](Process& process) { RunGroupTree(process, seed); }, Checks::kFull));
  }
}

// Slots, address space and memory: a program may go on for days.
TEST(GroupsTest, GroupsThatWereLeftLeaveNothing) {
  ExpectAllEndWell(RunOnOneNode(3, [](Process& process) {
    const Segment& segment = process.root().segment();
    const std::uint64_t held = segment.heap_memory();
    process.Sync(0);  // Nobody has sent anything before.
    std::vector<std::byte> large(4 << 20);
    for (std::uint32_t i = 0; i < 2 * kGroupSlotsMax; ++i) {
      Group& group = process.Duplicate(process.root());
      if (i % 512 == 0) {
        group.Send("test", (Value(group.self()) + 1) % 3, nullptr, large.data(), large.size());
        group.Sync(0);
      }
      process.Leave(group);
    }
    process.Sync(0);
    Require(segment.header().groups.used.load() <= 20, "slots are used again");
    for (std::uint32_t i = 0; i < segment.header().groups.used.load(); ++i)
      Require(segment.group_slot(i).state.load() == GroupSlot::kFree, "all slots are free");
    Require(segment.heap_memory() == held, "no memory is held for groups that were left");
  }));
}

TEST(GroupsTest, GroupsThatAreOpenAtTheEndAreNamed) {
  const JobOutcome outcome =
      RunOnOneNode(2, [](Process& process) { process.Duplicate(process.root()); });
  EXPECT_NE(outcome.errors.find("is in 1 groups still"), std::string::npos) << outcome.errors;
}

TEST(GroupsTest, TooManyOpenGroupsAreAnErrorThatSaysWhatToDo) {
  const JobOutcome outcome = RunOnOneNode(2, [](Process& process) {
    for (std::uint32_t i = 0; i <= kGroupSlotsMax; ++i) process.Duplicate(process.root());
  });
  EXPECT_NE(outcome.errors.find("no room for one more group, of 2 processes"), std::string::npos)
      << outcome.errors;
}

TEST(GroupsTest, NoImageIsTakenWhileGroupsAreOpen) {
  const JobOutcome outcome =
      RunOnNodes({.node_of = {0, 0}, .saves = {SaveForTest{.superstep = 3}}}, [](Process& process) {
        process.Begin(2);
        Group& group = process.Duplicate(process.root());
        SyncSlowly(process, 30);
        process.Leave(group);
        SyncSlowly(process, 30);
        process.End(0);
      });
  ExpectAllEndWell(outcome);
  ASSERT_EQ(outcome.taken.size(), 2u);
  EXPECT_GT(outcome.taken[0].superstep, 30u);
}

}  // namespace
}  // namespace bspnow::runtime
