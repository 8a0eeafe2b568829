// Images of jobs that have groups, on one node and on several.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "runtime/testing/nodes.h"

namespace bspnow::runtime {
namespace {

// So that the worker gets its turn.
void Rest() {
  for (const std::uint64_t start = NowNs(); NowNs() - start < 2'000'000;) sched_yield();
}

void SyncSlowly(Process& process, int supersteps) {
  for (int s = 0; s < supersteps; ++s) {
    Rest();
    process.Sync(0);
  }
}

TEST(GroupImagesTest, NoneIsTakenWhileGroupsAreOpen) {
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

// Pid 1 opens a group of the two when pid 0 has sent it a message there and left.
void LeaveAGroupLongBeforeAnotherOpensIt(Process& process) {
  process.Begin(3);
  const std::uint32_t self = process.pid();
  const auto take_part = [&process, self] {
    const std::uint32_t parts[] = {0, 0, 1};
    Group& group = process.Partition(process.root(), parts);
    if (self == 0) group.Send("test", 1, nullptr, &self, sizeof self);
    process.SyncCounted(group, "test", self == 1 ? 1 : 0);
    Require(group.inbox().count() == (self == 1 ? 1u : 0u), "the message is there");
    process.Leave(group);
  };
  if (self == 0) take_part();
  SyncSlowly(process, 30);
  if (self != 0) take_part();
  SyncSlowly(process, 30);
  process.End(0);
}

TEST(GroupImagesTest, NoneIsTakenWhileSomeHaveLeftAGroupThatOthersHaveYetToOpen) {
  JobOutcome outcome = RunOnNodes({.node_of = {0, 0, 0}, .saves = {SaveForTest{.superstep = 3}}},
                                  LeaveAGroupLongBeforeAnotherOpensIt);
  ExpectAllEndWell(outcome);
  ASSERT_EQ(outcome.taken.size(), 3u);
  EXPECT_GT(outcome.taken[0].superstep, 30u);
  ExpectAllEndWell(ResumeOnNodes({.node_of = {0, 0, 0}}, std::move(outcome.images)));
  // On several nodes the stand-in takes it at this very barrier, or not at all.
  outcome = RunOnNodes({.node_of = {0, 0, 1}, .saves = {SaveForTest{.superstep = 3}}},
                       LeaveAGroupLongBeforeAnotherOpensIt);
  ExpectAllEndWell(outcome);
  EXPECT_TRUE(outcome.taken.empty());
}

}  // namespace
}  // namespace bspnow::runtime
